//! Checks that a Parquet file's pages hold as many values as its footer has rows. The check comes before any page is
//! decoded.
//!
//! The decoder makes room for what the head of a page says, and an allocation that fails ends the process. The heads
//! alone are read here: what else is wrong with a page is the decoder's to say.

use crate::DataError;
use mercer_parquet::FileMetadata;
use polars_core::prelude::PolarsError;
use polars_parquet::parquet::metadata::ColumnChunkMetadata;
use polars_parquet_format::PageHeader;
use polars_parquet_format::thrift::protocol::TCompactInputProtocol;
use std::io::{Read, Seek, SeekFrom};

/// Bytes of a head at most; it may hold the least and greatest text of its page.
const HEAD: usize = 1 << 24;

/// A file whose pages are not what its footer promises, in one line.
pub(crate) fn damaged(file: &str) -> DataError {
    DataError::format(file, "is damaged: its pages do not fit its footer; write or fetch it again")
}

/// A file whose footer is none, in one line.
pub(crate) fn not_parquet(file: &str, error: &PolarsError) -> DataError {
    DataError::format(
        file,
        format!(
            "is not Parquet, or packed, which Parquet may not be, or cut short ({}); unpack it, or write \
             or fetch it again",
            first_line(error)
        ),
    )
}

/// A file whose columns are not what its footer promises, in one line.
pub(crate) fn broken(file: &str, reason: &str) -> DataError {
    DataError::format(file, format!("cannot be decoded ({reason}); write or fetch it again"))
}

/// What the library says, without what it adds for its own developers.
pub(crate) fn first_line(error: &PolarsError) -> String {
    error.to_string().lines().next().unwrap_or_default().trim().chars().take(160).collect()
}

/// Refuses a file with a page of more values than its column has, or less than none, in a column of these names.
pub(crate) fn check(
    metadata: &FileMetadata,
    wanted: impl Fn(&str) -> bool,
    source: &mut (impl Read + Seek),
    file: &str,
) -> Result<(), DataError> {
    for group in &metadata.row_groups {
        for column in group.parquet_columns() {
            let descriptor = column.descriptor();
            let name = descriptor.path_in_schema.first().map_or("", |name| name.as_str());
            if !wanted(name) {
                continue;
            }
            // Of a list in a row any number of values is right; it is neither number nor text, and refused later.
            let flat = descriptor.descriptor.max_rep_level == 0;
            let rows = i64::try_from(group.num_rows()).unwrap_or(i64::MAX);
            if (flat && column.num_values() > rows) || !fits(column, source) {
                return Err(damaged(file));
            }
        }
    }
    Ok(())
}

/// Whether no page of the column claims more values than the column has. Where a head cannot be read the rest is
/// left to the decoder, which cannot read it either.
fn fits(column: &ColumnChunkMetadata, source: &mut (impl Read + Seek)) -> bool {
    let (most, range) = (column.num_values(), column.byte_range());
    let (mut at, mut seen) = (range.start, 0);
    while seen < most && at < range.end {
        if source.seek(SeekFrom::Start(at)).is_err() {
            return true;
        }
        let mut protocol = TCompactInputProtocol::new(&mut *source, HEAD);
        let Ok(head) = PageHeader::read_from_in_protocol(&mut protocol) else { return true };
        let data = head.data_page_header.map(|page| page.num_values);
        let data = data.or(head.data_page_header_v2.map(|page| page.num_values));
        let dictionary = head.dictionary_page_header.map(|page| page.num_values);
        // Each entry of a dictionary is some value of the column.
        if data.into_iter().chain(dictionary).any(|values| !(0..=most).contains(&values.into())) {
            return false;
        }
        seen += data.map_or(0, i64::from);
        let (Ok(end), Ok(size)) =
            (source.stream_position(), u64::try_from(head.compressed_page_size))
        else {
            return true;
        };
        at = end.saturating_add(size);
    }
    true
}
