use crate::{DataError, Limits};
use bzip2::bufread::BzDecoder;
use flate2::bufread::GzDecoder;
use liblzma::stream::{CONCATENATED, Stream};
use std::io::{BufRead, Read};
use std::marker::PhantomData;
use std::path::Path;

/// What a decompressor may use for its dictionary; the highest xz preset needs 65 MiB.
const XZ_MEMORY: u64 = 256 << 20;

/// The bytes of a file, at most [`Limits::bytes`] of them.
pub(crate) fn read(path: &Path, limits: &Limits) -> Result<Vec<u8>, DataError> {
    let file = std::fs::File::open(path).map_err(DataError::io(path))?;
    let metadata = file.metadata().map_err(DataError::io(path))?;
    if metadata.is_dir() {
        return Err(DataError::format(&path.display().to_string(), "is a folder, not a file"));
    }
    let name = path.display().to_string();
    pour(file, &name, limits, metadata.len())?.map_err(DataError::io(path))
}

/// How what zstd packs begins.
pub(crate) const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// Unpacks one member of a packed file.
pub(crate) trait Member<R>: Read {
    fn of(packed: R) -> Self;
    /// What follows the member.
    fn rest(self) -> R;
}

impl<R: BufRead> Member<R> for GzDecoder<R> {
    fn of(packed: R) -> Self {
        Self::new(packed)
    }

    fn rest(self) -> R {
        self.into_inner()
    }
}

impl<R: BufRead> Member<R> for BzDecoder<R> {
    fn of(packed: R) -> Self {
        Self::new(packed)
    }

    fn rest(self) -> R {
        self.into_inner()
    }
}

/// Unpacks members one after the other, with the zero bytes behind them that tapes and block devices leave.
pub(crate) struct Members<R, M>(Option<M>, PhantomData<R>);

pub(crate) type Gzip<R> = Members<R, GzDecoder<R>>;
pub(crate) type Bzip2<R> = Members<R, BzDecoder<R>>;

impl<R: BufRead, M: Member<R>> Members<R, M> {
    pub(crate) fn new(packed: R) -> Self {
        Self(Some(M::of(packed)), PhantomData)
    }
}

impl<R: BufRead, M: Member<R>> Read for Members<R, M> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        while let Some(member) = &mut self.0 {
            let count = member.read(to)?;
            if count > 0 || to.is_empty() {
                return Ok(count);
            }
            let Some(mut packed) = self.0.take().map(M::rest) else { break };
            loop {
                let start = packed.fill_buf()?;
                if start.is_empty() {
                    return Ok(0);
                }
                let zeros = start.iter().take_while(|byte| **byte == 0).count();
                let more = zeros < start.len();
                packed.consume(zeros);
                if more {
                    break;
                }
            }
            self.0 = Some(M::of(packed));
        }
        Ok(0)
    }
}

/// Removes the gzip, xz, bzip2 or zstd shell of `bytes`, known by its first bytes. Without a shell the bytes are
/// returned as they are.
///
/// ```
/// use mercer_datasets::{DataError, Limits, decompress};
/// use std::io::Write;
/// let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
/// packer.write_all(&[b'x'; 10_000])?;
/// let packed = packer.finish()?;
/// let limits = Limits::default();
/// assert_eq!(decompress(packed.clone(), "f.gz", &limits)?.len(), 10_000);
/// assert_eq!(decompress(b"a,b\n".to_vec(), "f.csv", &limits)?, b"a,b\n"); // no shell: as is
/// // A bomb is stopped at the limit.
/// let small = Limits { bytes: 1_000, ..limits };
/// assert!(matches!(decompress(packed, "f.gz", &small), Err(DataError::TooLarge { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`DataError::Format`] if the shell is damaged or cut short, [`DataError::TooLarge`] if more than
/// [`Limits::bytes`] would come out: nothing beyond the limit is ever held.
pub fn decompress(bytes: Vec<u8>, file: &str, limits: &Limits) -> Result<Vec<u8>, DataError> {
    let likely = bytes.len() as u64 * 4;
    let (kind, poured) = if bytes.starts_with(&[0x1f, 0x8b]) {
        let reader = Gzip::new(bytes.as_slice());
        ("gzip", pour(reader, file, limits, likely))
    } else if bytes.starts_with(b"\xfd7zXZ\0") {
        let stream = Stream::new_stream_decoder(XZ_MEMORY, CONCATENATED)
            .map_err(|error| DataError::format(file, format!("cannot read xz: {error}")))?;
        let reader = liblzma::bufread::XzDecoder::new_stream(bytes.as_slice(), stream);
        ("xz", pour(reader, file, limits, likely))
    } else if bytes.starts_with(b"BZh") {
        let reader = Bzip2::new(bytes.as_slice());
        ("bzip2", pour(reader, file, limits, likely))
    } else if bytes.starts_with(ZSTD) {
        let reader = zstd::Decoder::with_buffer(bytes.as_slice());
        let reader = reader
            .map_err(|error| DataError::format(file, format!("cannot read zstd: {error}")))?;
        ("zstd", pour(reader, file, limits, likely))
    } else {
        return unpacked(file, &bytes).map(|()| bytes);
    };
    poured?.map_err(|error| {
        DataError::format(file, format!("damaged or cut short inside its {kind} shell: {error}"))
    })
}

/// Refuses bytes without a shell under a name that promises one: an error page saved as `.xz`, not rows.
///
/// # Errors
/// [`DataError::Format`].
pub(crate) fn unpacked(file: &str, start: &[u8]) -> Result<(), DataError> {
    let shells = [(".gz", "gzip"), (".xz", "xz"), (".bz2", "bzip2"), (".zst", "zstd")];
    match shells.iter().find(|(suffix, _)| file.ends_with(suffix)) {
        Some((suffix, kind)) if !start.is_empty() => {
            let problem = format!(
                "does not begin as {kind} does; rename it without {suffix} if it is not packed, or fetch it again"
            );
            Err(DataError::format(file, problem))
        }
        _ => Ok(()),
    }
}

/// Reads to the end or to the limit; the outer error is the limit, the inner one the reader's.
fn pour(
    reader: impl Read,
    file: &str,
    limits: &Limits,
    likely: u64,
) -> Result<std::io::Result<Vec<u8>>, DataError> {
    let mut bytes = Vec::with_capacity(likely.min(limits.bytes).min(1 << 28) as usize);
    match reader.take(limits.bytes.saturating_add(1)).read_to_end(&mut bytes) {
        Err(error) => Ok(Err(error)),
        Ok(_) if bytes.len() as u64 > limits.bytes => Err(DataError::TooLarge {
            file: file.to_owned(),
            what: "its size in bytes, unpacked,".to_owned(),
            limit: limits.bytes,
            field: "bytes",
        }),
        Ok(_) => Ok(Ok(bytes)),
    }
}
