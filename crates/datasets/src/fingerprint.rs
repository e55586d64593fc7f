use crate::Parts;
use mercer_learning::{Sample, Targets};
use ndarray::ArrayView1;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::ops::Range;

/// Hashes the rows, and nothing but the rows: SHA-256 in hexadecimal.
///
/// Each row is printed as `target column:value column:value ...` with columns from 1 and zeros left out:
/// - A number is its shortest decimal that reads back to the same double without exponent: `1`, not `1.0`; `-0` is `0`.
/// - A class is its name in the catalogue's encoding.
///
/// The SHA-256 digests of these texts are sorted, training rows and test rows apart, and the hash covers
/// ```text
/// "mercer rows 1\n" "<task> <d>\n" "train <n>\n" digests... "test <m>\n" digests...
/// ```
/// Hence the order of the rows within a part, the format of the file and its compression do not
/// matter; a row that moves between the parts does. A set without official test part has `test 0`.
///
/// `labels` are the class names; it is not looked at for regression.
///
/// ```
/// use mercer_datasets::{Parts, fingerprint};
/// use mercer_learning::Sample;
/// use ndarray::array;
/// let sample = Sample::regression(array![[1.0, 0.0], [2.0, 5.0]], array![0.5, -1.0])?;
/// let turned = sample.select(&[1, 0])?;
/// let whole = Parts::undivided(2);
/// assert_eq!(fingerprint(&sample, &whole, &[]), fingerprint(&turned, &whole, &[]));
/// // Which row is for testing does matter.
/// let parts = Parts::divided(1, 1);
/// assert_ne!(fingerprint(&sample, &parts, &[]), fingerprint(&turned, &parts, &[]));
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
///
/// # Panics
/// If a class has no name or `parts` reach beyond the sample.
pub fn fingerprint(sample: &Sample, parts: &Parts, labels: &[String]) -> String {
    let mut hash = Sha256::new();
    hash.update("mercer rows 1\n");
    hash.update(format!("{} {}\n", sample.task().name(), sample.features()));
    for (part, range) in [("train", &parts.train), ("test", &parts.test)] {
        hash.update(format!("{part} {}\n", range.len()));
        for digest in row_digests(sample, range.clone(), labels) {
            hash.update(digest);
        }
    }
    hexadecimal(&hash.finalize())
}

/// Bytes as lower-case hexadecimal.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}"); // writing to a string cannot fail
        text
    })
}

fn row_digests(sample: &Sample, rows: Range<usize>, labels: &[String]) -> Vec<[u8; 32]> {
    let mut text = String::new();
    let mut digests: Vec<[u8; 32]> = rows
        .map(|row| {
            text.clear();
            match sample.targets() {
                Targets::Classes { labels: classes, .. } => {
                    text.push_str(&labels[classes[row] as usize]);
                }
                Targets::Real(values) => print_number(values[row], &mut text),
            }
            print_row(sample.inputs().row(row), &mut text);
            Sha256::digest(&text).into()
        })
        .collect();
    digests.sort_unstable();
    digests
}

/// ` column:value` for each input that is not zero: also how rows are stored.
pub(crate) fn print_row(inputs: ArrayView1<'_, f64>, text: &mut String) {
    for (column, &value) in inputs.iter().enumerate().filter(|(_, value)| **value != 0.0) {
        text.push(' ');
        print_integer(column as u64 + 1, text);
        text.push(':');
        print_number(value, text);
    }
}

/// The shortest decimal; whole numbers, most of what there is, without the general machinery.
#[expect(clippy::float_cmp, reason = "asks whether the number is whole, which is exact")]
pub(crate) fn print_number(value: f64, text: &mut String) {
    let whole = value as i64; // saturates, and then differs from `value`
    if whole as f64 == value && whole.unsigned_abs() < 1 << 53 {
        if whole < 0 {
            text.push('-');
        }
        print_integer(whole.unsigned_abs(), text);
    } else {
        let _ = write!(text, "{value}"); // writing to a string cannot fail
    }
}

fn print_integer(mut value: u64, text: &mut String) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    text.extend(digits[at..].iter().map(|&digit| char::from(digit)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;
    use proptest::prelude::*;

    fn names() -> Vec<String> {
        vec!["a".to_owned(), "b".to_owned()]
    }

    #[test]
    fn the_hashed_text_is_the_documented_one() {
        let inputs = array![[0.5, 0.0, -3.0], [0.0, -0.0, 1e21]];
        let sample = Sample::classification(inputs, vec![1, 0], 2).unwrap();
        let parts = Parts { train: 0..1, test: 1..2 };
        let mut expected = b"mercer rows 1\nclassification 3\ntrain 1\n".to_vec();
        expected.extend(Sha256::digest("b 1:0.5 3:-3"));
        expected.extend(b"test 1\n");
        expected.extend(Sha256::digest("a 3:1000000000000000000000"));
        assert_eq!(fingerprint(&sample, &parts, &names()), hexadecimal(&Sha256::digest(&expected)));
    }

    #[test]
    fn order_does_not_matter_but_parts_values_and_labels_do() {
        let inputs = array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [1.0, 2.0]];
        let sample = Sample::classification(inputs, vec![0, 1, 1, 0], 2).unwrap();
        let parts = Parts { train: 0..2, test: 2..4 };
        let of = |rows: &[usize]| fingerprint(&sample.select(rows).unwrap(), &parts, &names());
        let original = of(&[0, 1, 2, 3]);
        assert_eq!(original, of(&[1, 0, 3, 2]));
        assert_eq!(original, of(&[3, 1, 2, 0])); // equal rows may change places
        assert_ne!(original, of(&[2, 1, 0, 3]));
        assert_ne!(original, of(&[0, 1, 2, 2]));
        let swapped = vec!["b".to_owned(), "a".to_owned()];
        assert_ne!(original, fingerprint(&sample, &parts, &swapped));
    }

    proptest! {
        #[test]
        fn numbers_print_as_the_standard_library_does(value in prop_oneof![
            -1e18..1e18f64,
            (-(1i64 << 54)..1i64 << 54).prop_map(|whole| whole as f64),
            (-1000i64..1000).prop_map(|whole| whole as f64),
        ]) {
            let mut text = String::new();
            print_number(value + 0.0, &mut text);
            prop_assert_eq!(text, (value + 0.0).to_string());
        }
    }
}
