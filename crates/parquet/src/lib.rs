//! Parquet files as data frames and back, and Arrow files as Parquet. It is the part of polars-io that is needed here.
//!
//! It knows neither datasets nor records.

use polars_arrow::array::DictionaryArray;
use polars_arrow::io::ipc::read::{FileReader, read_file_metadata};
use polars_arrow::record_batch::RecordBatchT;
use polars_core::frame::chunk_df_for_writing;
use polars_core::prelude::{
    ArrayRef, ArrowDataType, ArrowField, ArrowSchema, Column, CompatLevel, DataFrame, DataType,
    IdxCa, IdxSize, PolarsError, PolarsResult, Series,
};
use polars_parquet::read::{
    BasicDecompressor, ColumnChunkMetadata, Filter, PageReader, column_iter_to_arrays, infer_schema,
};
use polars_parquet::write::{
    FileWriter, RowGroupIterator, StatisticsOptions, Version, WriteOptions, get_dtype_encoding,
};
use rayon::prelude::*;
use std::io::{Cursor, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::Arc;

pub use polars_parquet::read::{FileMetadata, read_metadata};
pub use polars_parquet::write::CompressionOptions as Compression;

/// Rows of a group at most.
const GROUP: usize = 1 << 18;

/// Returns some rows of the named columns, or of all, in file order. The rows are `rows`.
///
/// `footer` is what [`read_metadata`] returns; one with fewer columns, or other types, reads those.
///
/// ```
/// use mercer_parquet::{Compression, read, read_metadata, write};
/// use polars_core::prelude::{Column, DataFrame};
/// use std::io::Cursor;
/// let columns = vec![Column::new("size".into(), [1.5, 3.0]), Column::new("kind".into(), ["a", "b"])];
/// let frame = DataFrame::new(2, columns)?;
/// let mut bytes = Vec::new();
/// write(&frame, Compression::Zstd(None), &mut bytes)?;
/// let mut file = Cursor::new(bytes);
/// let footer = read_metadata(&mut file)?;
/// assert!(read(&mut file, &footer, None, 0..2)?.equals(&frame));
/// let sizes = read(&mut file, &footer, Some(&["size".to_owned()]), 1..9)?;
/// assert_eq!(sizes.shape(), (1, 1));
/// # Ok::<(), polars_core::prelude::PolarsError>(())
/// ```
///
/// # Errors
/// [`PolarsError`] if the file is cut short, or its columns are not what the footer says.
///
/// # Panics
/// In some damaged files the decoder of polars panics.
pub fn read(
    source: &mut (impl Read + Seek),
    footer: &FileMetadata,
    columns: Option<&[String]>,
    rows: Range<usize>,
) -> PolarsResult<DataFrame> {
    let schema = infer_schema(footer)?;
    let wanted = |name: &str| columns.is_none_or(|names| names.iter().any(|known| known == name));
    let mut height = 0;
    let mut read: Vec<(ArrowField, Vec<Chunk<'_>>)> =
        schema.iter_values().filter(|f| wanted(&f.name)).map(|f| (plain(f), Vec::new())).collect();
    let mut start = 0usize;
    for group in &footer.row_groups {
        let end = start.saturating_add(group.num_rows());
        let part = rows.start.max(start)..rows.end.min(end);
        if !part.is_empty() {
            height += part.len();
            for (field, chunks) in &mut read {
                let Some(columns) = group.columns_under_root_iter(&field.name) else {
                    let told = format!("the file has no column `{}`", field.name);
                    return Err(PolarsError::ColumnNotFound(told.into()));
                };
                let columns = columns.map(|column| Ok((column, bytes_of(source, column)?)));
                let columns = columns.collect::<PolarsResult<_>>()?;
                chunks.push(Chunk { columns, rows: part.start - start..part.end - start });
            }
        }
        start = end;
    }
    let columns = read.into_par_iter().map(|(field, chunks)| decode(&field, chunks));
    DataFrame::new(height, columns.collect::<PolarsResult<_>>()?)
}

/// What one group of rows holds of a column: its packed bytes, and which of its rows are wanted.
struct Chunk<'a> {
    columns: Vec<(&'a ColumnChunkMetadata, Vec<u8>)>,
    rows: Range<usize>,
}

/// The field with its categories as what they stand for.
fn plain(field: &ArrowField) -> ArrowField {
    let mut field = field.clone();
    if let ArrowDataType::Dictionary(_, values, _) = &field.dtype {
        field.dtype = (**values).clone();
    }
    field
}

fn bytes_of(
    source: &mut (impl Read + Seek),
    column: &ColumnChunkMetadata,
) -> PolarsResult<Vec<u8>> {
    let range = column.byte_range();
    let length = range.end.saturating_sub(range.start);
    source.seek(SeekFrom::Start(range.start))?;
    let mut bytes = Vec::new();
    // No room is made for what a damaged footer promises.
    if source.take(length).read_to_end(&mut bytes)? as u64 == length {
        return Ok(bytes);
    }
    Err(PolarsError::OutOfBounds("the file ends within a column".into()))
}

fn decode(field: &ArrowField, chunks: Vec<Chunk<'_>>) -> PolarsResult<Column> {
    let mut arrays: Vec<ArrayRef> = Vec::new();
    for Chunk { columns, rows } in chunks {
        let (pages, types) = columns
            .into_iter()
            .map(|(column, bytes)| {
                let pages = PageReader::new(Cursor::new(bytes.into()), column, vec![], usize::MAX);
                let kind = &column.descriptor().descriptor.primitive_type;
                (BasicDecompressor::new(pages, vec![]), kind)
            })
            .unzip();
        let filter = Some(Filter::new_ranged(rows.start, rows.end));
        arrays.extend(column_iter_to_arrays(pages, types, field.clone(), filter)?.0);
    }
    if arrays.is_empty() {
        return Ok(Column::new_empty(field.name.clone(), &DataType::from_arrow_field(field)));
    }
    Ok(Series::try_from((field, arrays))?.into())
}

/// Writes the rows of an Arrow file as Parquet, with their types. Arrow files are IPC, also called Feather version 2.
///
/// ```
/// use std::io::Cursor;
/// assert!(mercer_parquet::write_arrow(Cursor::new(b"ARROW1, cut short"), Vec::new()).is_err());
/// ```
///
/// # Errors
/// [`PolarsError`] if the file is cut short, is a stream, which has no footer, or has a type that Parquet has not.
///
/// # Panics
/// In some damaged files the decoder of polars panics.
pub fn write_arrow(mut source: impl Read + Seek, sink: impl Write) -> PolarsResult<()> {
    let metadata = read_file_metadata(&mut source)?;
    let fields: Vec<ArrowField> = metadata.schema.iter_values().map(looked_up_field).collect();
    let schema = fields.iter().map(|field| (field.name.clone(), field.clone())).collect();
    let shared = Arc::new(ArrowSchema::clone(&schema));
    let batches = FileReader::new(source, metadata, None, None);
    let batches = batches.filter(|batch| batch.as_ref().map_or(true, |rows| !rows.is_empty()));
    let batches = batches.map(|batch| {
        let batch = batch?;
        let height = batch.len();
        let arrays = batch
            .into_arrays()
            .into_iter()
            .zip(&fields)
            .map(|(array, field)| looked_up(array, field));
        RecordBatchT::try_new(height, shared.clone(), arrays.collect::<PolarsResult<_>>()?)
    });
    write_batches(schema, batches, Compression::Uncompressed, sink)
}

/// The field of what the keys of a dictionary stand for.
fn looked_up_field(field: &ArrowField) -> ArrowField {
    let text = |dtype: &ArrowDataType| {
        matches!(dtype, ArrowDataType::Utf8 | ArrowDataType::LargeUtf8 | ArrowDataType::Utf8View)
    };
    let is_text = matches!(&field.dtype, ArrowDataType::Dictionary(_, values, _) if text(values));
    let mut field = plain(field);
    if is_text || field.dtype == ArrowDataType::Utf8 {
        field.dtype = ArrowDataType::Utf8View;
    }
    field
}

/// What the keys of a dictionary stand for; any other array as it is.
#[expect(clippy::cast_lossless, reason = "keys of all widths are taken alike")]
fn looked_up(array: ArrayRef, field: &ArrowField) -> PolarsResult<ArrayRef> {
    macro_rules! of_keys {
        ($($key:ty),*) => {
            $(if let Some(own) = array.as_any().downcast_ref::<DictionaryArray<$key>>() {
                let keys: IdxCa = own.keys().iter().map(|key| key.map(|&key| key as IdxSize)).collect();
                let values = Series::try_from((field.name.clone(), own.values().clone()))?;
                return Ok(values.take(&keys)?.rechunk().chunks()[0].clone());
            })*
        };
    }
    of_keys!(i8, i16, i32, i64, u8, u16, u32, u64);
    // Texts with offsets of 32 bits, as pyarrow writes them: Parquet is written from views.
    if *array.dtype() == ArrowDataType::Utf8 {
        let texts = Series::try_from((field.name.clone(), array))?;
        return Ok(texts.rechunk().chunks()[0].clone());
    }
    Ok(array)
}

/// Writes a data frame with the arrow types of its columns. Each page has its least and greatest value.
///
/// # Errors
/// [`PolarsError`] if the sink refuses, or a column has a type that Parquet has not.
pub fn write(frame: &DataFrame, compression: Compression, sink: impl Write) -> PolarsResult<()> {
    let mut frame = frame.clone(); // columns are shared, not copied
    let frame = chunk_df_for_writing(&mut frame, GROUP)?;
    let schema: ArrowSchema = frame
        .schema()
        .iter()
        .map(|(name, kind)| {
            (name.clone(), kind.to_arrow_field(name.clone(), CompatLevel::newest()))
        })
        .collect();
    let batches = frame.iter_chunks(CompatLevel::newest(), false).filter(|rows| !rows.is_empty());
    write_batches(schema, batches.map(Ok), compression, sink)
}

fn write_batches(
    schema: ArrowSchema,
    batches: impl Iterator<Item = PolarsResult<RecordBatchT<ArrayRef>>>,
    compression: Compression,
    sink: impl Write,
) -> PolarsResult<()> {
    let options = WriteOptions {
        statistics: StatisticsOptions::default(),
        version: Version::V1,
        compression,
        data_page_size: None,
    };
    let encodings = schema.iter_values().map(|field| get_dtype_encoding(&field.dtype)).collect();
    let groups = RowGroupIterator::try_new(batches, &schema, options, encodings)?;
    let mut writer = FileWriter::try_new(sink, schema, options)?;
    for group in groups {
        writer.write(u64::MAX, group?)?; // the rows are counted
    }
    writer.end(None)?;
    Ok(())
}
