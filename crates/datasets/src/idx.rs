//! IDX, the binary format of MNIST.

use crate::{DataError, Limits};
use ndarray::Array2;

/// An IDX file: a header and then the numbers, big-endian. The header has the kind of number and the dimensions.
///
/// ```
/// use mercer_datasets::{Limits, idx::Idx};
/// // Two images of 1 × 2 bytes.
/// let bytes = [0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 10, 20, 30, 40];
/// let images = Idx::parse(&bytes, "images", &Limits::default())?;
/// assert_eq!((images.rows(), images.features()), (2, 2));
/// let mut values = Vec::new();
/// images.append("images", &mut values)?;
/// assert_eq!(values, [10.0, 20.0, 30.0, 40.0]);
/// assert!(Idx::parse(&bytes[..19], "images", &Limits::default()).is_err()); // a byte is missing
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idx<'a> {
    kind: Kind,
    dimensions: Vec<usize>,
    data: &'a [u8],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    U8,
    I8,
    I16,
    I32,
    F32,
    F64,
}

impl Kind {
    const fn size(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::I16 => 2,
            Self::I32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }
}

/// The product, or the largest number: a later dimension of 0 makes 0 of either.
fn product(dimensions: &[usize]) -> usize {
    dimensions.iter().fold(1, |product: usize, &size| product.saturating_mul(size))
}

impl<'a> Idx<'a> {
    /// Reads the header and checks that exactly the promised data follows.
    ///
    /// # Errors
    /// [`DataError::Format`] on a wrong magic number or length, [`DataError::TooLarge`] if the
    /// dimensions exceed the limits.
    pub fn parse(bytes: &'a [u8], file: &str, limits: &Limits) -> Result<Self, DataError> {
        let wrong = |problem: String| DataError::format(file, problem);
        let &[0, 0, code, rank, ref rest @ ..] = bytes else {
            return Err(wrong("is not an IDX file: it must begin with two zero bytes".to_owned()));
        };
        let kind = match code {
            0x08 => Kind::U8,
            0x09 => Kind::I8,
            0x0b => Kind::I16,
            0x0c => Kind::I32,
            0x0d => Kind::F32,
            0x0e => Kind::F64,
            _ => return Err(wrong(format!("has the unknown IDX data type {code:#04x}"))),
        };
        let header = 4 * usize::from(rank);
        if rank == 0 || rest.len() < header {
            return Err(wrong(format!("ends inside its header of {rank} dimensions")));
        }
        let (sizes, data) = rest.split_at(header);
        let dimensions: Vec<usize> = sizes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|&size| u32::from_be_bytes(size) as usize)
            .collect();
        let features = product(&dimensions[1..]);
        limits.check(file, dimensions[0], features)?;
        let expected = dimensions[0] * features * kind.size();
        if data.len() != expected {
            return Err(wrong(format!(
                "holds {} bytes of data, but its header {dimensions:?} promises {expected}",
                data.len()
            )));
        }
        Ok(Self { kind, dimensions, data })
    }

    /// Returns the number of rows: the first dimension.
    pub fn rows(&self) -> usize {
        self.dimensions[0]
    }

    /// Returns the number of columns: the product of the other dimensions. It is 1 for a plain list.
    pub fn features(&self) -> usize {
        product(&self.dimensions[1..])
    }

    /// Appends the numbers, row by row.
    ///
    /// # Errors
    /// [`DataError::Format`] if one is NaN or infinite.
    pub fn append(&self, file: &str, values: &mut Vec<f64>) -> Result<(), DataError> {
        let (start, data) = (values.len(), self.data);
        values.reserve(data.len() / self.kind.size());
        match self.kind {
            Kind::U8 => values.extend(data.iter().map(|&byte| f64::from(byte))),
            Kind::I8 => values.extend(data.iter().map(|&byte| f64::from(byte.cast_signed()))),
            Kind::I16 => each(data, values, |bytes| f64::from(i16::from_be_bytes(bytes))),
            Kind::I32 => each(data, values, |bytes| f64::from(i32::from_be_bytes(bytes))),
            Kind::F32 => each(data, values, |bytes| f64::from(f32::from_be_bytes(bytes))),
            Kind::F64 => each(data, values, f64::from_be_bytes),
        }
        match values[start..].iter().position(|value| !value.is_finite()) {
            Some(at) => Err(DataError::format(
                file,
                format!("number {} is {}, which is not finite", at + 1, values[start + at]),
            )),
            None => Ok(()),
        }
    }
}

fn each<const N: usize>(data: &[u8], values: &mut Vec<f64>, decode: impl Fn([u8; N]) -> f64) {
    values.extend(data.as_chunks::<N>().0.iter().map(|&chunk| decode(chunk)));
}

/// Reads an IDX file as an `n × d` matrix.
///
/// ```
/// use mercer_datasets::{Limits, idx};
/// let bytes = [0, 0, 8, 2, 0, 0, 0, 1, 0, 0, 0, 3, 10, 20, 255];
/// let matrix = idx::parse(&bytes, "example", &Limits::default())?;
/// assert_eq!(matrix, ndarray::array![[10.0, 20.0, 255.0]]);
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
///
/// # Errors
/// As [`Idx::parse`] and [`Idx::append`].
pub fn parse(bytes: &[u8], file: &str, limits: &Limits) -> Result<Array2<f64>, DataError> {
    let idx = Idx::parse(bytes, file, limits)?;
    let mut values = Vec::new();
    idx.append(file, &mut values)?;
    Array2::from_shape_vec((idx.rows(), idx.features()), values)
        .map_err(|error| DataError::format(file, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;
    use proptest::prelude::*;

    /// Found by fuzzing: the product of the other dimensions overflowed before it met the 0.
    #[test]
    fn huge_dimensions_before_an_empty_one_do_not_overflow() {
        let sizes = [1u32, 0x0200_0000, 0x0200_0000, 0x0101_0203, 0x0200_0000, 0];
        let mut bytes = vec![0, 0, 0x0e, 6];
        bytes.extend(sizes.iter().flat_map(|size| size.to_be_bytes()));
        let idx = Idx::parse(&bytes, "f", &Limits::default()).unwrap();
        assert_eq!((idx.rows(), idx.features()), (1, 0));
    }

    #[test]
    fn every_kind_of_number_is_read() {
        let limits = Limits::default();
        let header = |code, count: u8| vec![0, 0, code, 1, 0, 0, 0, count];
        let read = |bytes: Vec<u8>| parse(&bytes, "f", &limits).unwrap();
        assert_eq!(read([header(0x09, 2), vec![255, 1]].concat()), array![[-1.0], [1.0]]);
        assert_eq!(read([header(0x0b, 1), vec![0xff, 0xfe]].concat()), array![[-2.0]]);
        let int = (-70_000i32).to_be_bytes().to_vec();
        assert_eq!(read([header(0x0c, 1), int].concat()), array![[-70_000.0]]);
        let float = 0.5f32.to_be_bytes().to_vec();
        assert_eq!(read([header(0x0d, 1), float].concat()), array![[0.5]]);
        let double = 1e-3f64.to_be_bytes().to_vec();
        assert_eq!(read([header(0x0e, 1), double].concat()), array![[1e-3]]);
        let nan = [header(0x0e, 1), f64::NAN.to_be_bytes().to_vec()].concat();
        assert!(parse(&nan, "f", &limits).unwrap_err().to_string().contains("not finite"));
    }

    #[test]
    fn a_wrong_header_or_length_is_refused() {
        let limits = Limits::default();
        for (bytes, part) in [
            (&b"\x1f\x8b\x08\x00"[..], "two zero bytes"),
            (b"\0\0\x07\x01\0\0\0\0", "unknown IDX data type 0x07"),
            (b"\0\0\x08\x03\0\0\0\x02", "ends inside its header"),
            (b"\0\0\x08\x01\0\0\0\x02\x01", "promises 2"),
            (b"\0\0\x08\x01\0\0\0\x01\x01\x01", "promises 1"),
            (b"\0\0\x08\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "exceeds the limit"),
        ] {
            let error = parse(bytes, "f", &limits).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(mut bytes in proptest::collection::vec(any::<u8>(), 4..80)) {
            let limits = Limits { cells: 1 << 16, ..Limits::default() };
            let _ = parse(&bytes, "f", &limits);
            bytes[..4].copy_from_slice(&[0, 0, 8, 2]);
            let _ = parse(&bytes, "f", &limits);
        }
    }
}
