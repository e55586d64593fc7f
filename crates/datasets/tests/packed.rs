//! Packed files: read however packed, refused when cut short or when they explode.

use mercer_datasets::{DataError, Limits, decompress};
use proptest::prelude::*;
use std::io::{Read, Write};

const TEXT: &[u8] = b"1 1:0.5\n2 1:1.5\n";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    let mut encoder = bzip2::bufread::BzEncoder::new(bytes, bzip2::Compression::best());
    encoder.read_to_end(&mut packed).unwrap();
    packed
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    liblzma::bufread::XzEncoder::new(bytes, 6).read_to_end(&mut packed).unwrap();
    packed
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap()
}

#[test]
fn all_shells_are_opened_also_several_in_a_row() {
    let limits = Limits::default();
    assert_eq!(decompress(TEXT.to_vec(), "f", &limits).unwrap(), TEXT);
    let named = decompress(TEXT.to_vec(), "f.svm.xz", &limits).unwrap_err().to_string();
    assert!(named.contains("f.svm.xz") && named.contains("does not begin as xz does"), "{named}");
    for pack in [gzip, bzip2, xz, zstd] {
        assert_eq!(decompress(pack(TEXT), "f", &limits).unwrap(), TEXT);
        let twice = [pack(TEXT), pack(TEXT)].concat();
        assert_eq!(decompress(twice, "f", &limits).unwrap(), [TEXT, TEXT].concat());
    }
}

#[test]
fn damage_is_refused() {
    for (pack, kind) in [(gzip as fn(&[u8]) -> Vec<u8>, "gzip"), (bzip2, "bzip2"), (xz, "xz")] {
        let packed = pack(TEXT);
        let cut = packed[..packed.len() - 5].to_vec();
        let error = decompress(cut, "f", &Limits::default()).unwrap_err().to_string();
        assert!(error.contains(&format!("inside its {kind} shell")), "{error}");
        let mut flipped = packed.clone();
        let middle = flipped.len() / 2;
        flipped[middle] ^= 0x55;
        assert!(decompress(flipped, "f", &Limits::default()).is_err(), "{kind}");
    }
}

/// Rows are read while they are unpacked: what the decoder says there had no word of the file being damaged.
#[test]
fn rows_cut_short_are_no_error_of_the_system() {
    let folder = tempfile::tempdir().unwrap();
    let rows: Vec<String> = (0..4000).map(|row| format!("{row},{}", row * row % 97)).collect();
    let text = rows.join("\n");
    for (pack, end) in [(gzip as fn(&[u8]) -> Vec<u8>, "gz"), (bzip2, "bz2"), (xz, "xz")] {
        let packed = pack(format!("a,b\n{text}").as_bytes());
        let path = folder.path().join(format!("rows.csv.{end}"));
        std::fs::write(&path, &packed[..packed.len() / 2]).unwrap();
        let read = || -> Result<usize, DataError> {
            let file = mercer_datasets::RowFile::open(&path, None)?;
            let (mut rows, mut count) = (file.rows()?, 0);
            while rows.next()?.is_some() {
                count += 1;
            }
            Ok(count)
        };
        let error = read().unwrap_err();
        assert!(matches!(error, DataError::Format { .. }), "{error:?}");
        let said = error.to_string();
        assert!(said.contains("rows.csv") && said.contains("cut short"), "{said}");
    }
}

#[test]
fn a_bomb_stops_at_the_limit() {
    let limits = Limits { bytes: 1 << 20, ..Limits::default() };
    let zeros = vec![0; 8 << 20];
    for pack in [gzip, bzip2, xz, zstd] {
        let bomb = pack(&zeros);
        assert!(bomb.len() < 1 << 17);
        let error = decompress(bomb, "f", &limits).unwrap_err();
        assert!(matches!(&error, DataError::TooLarge { field: "bytes", .. }), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn damaged_files_never_panic_nor_exceed_the_limit(
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        kind in 0usize..3,
    ) {
        let mut bytes = [gzip, bzip2, xz][kind](&TEXT.repeat(50));
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let limits = Limits { bytes: 4096, ..Limits::default() };
        if let Ok(out) = decompress(bytes, "f", &limits) {
            prop_assert!(out.len() <= 4096);
        }
    }
}
