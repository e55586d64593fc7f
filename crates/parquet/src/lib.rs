//! Parquet files as data frames, and back, and Arrow files as data frames: the part of polars-io that is needed here.
//!
//! It knows neither datasets nor records.

use polars_arrow::array::{Array, DictionaryArray};
use polars_arrow::io::ipc::read::{FileReader, read_file_metadata};
use polars_compute::cast::cast_default;
use polars_core::frame::chunk_df_for_writing;
use polars_core::prelude::{
    ArrayRef, ArrowDataType, ArrowField, ArrowSchema, Column, CompatLevel, DataFrame, DataType,
    PolarsError, PolarsResult, Series,
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

pub use polars_parquet::read::{FileMetadata, read_metadata};
pub use polars_parquet::write::CompressionOptions as Compression;

/// Rows of a group at most.
const GROUP: usize = 1 << 18;

/// Returns the rows `rows` of the named columns, or of all, in the order of the file.
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

/// Returns the rows of an Arrow file (IPC, also called Feather version 2).
///
/// ```
/// use std::io::Cursor;
/// assert!(mercer_parquet::read_arrow(Cursor::new(b"ARROW1, cut short")).is_err());
/// ```
///
/// # Errors
/// [`PolarsError`] if the file is cut short, or is a stream, which has no footer.
pub fn read_arrow(mut source: impl Read + Seek) -> PolarsResult<DataFrame> {
    let metadata = read_file_metadata(&mut source)?;
    let fields: Vec<ArrowField> = metadata.schema.iter_values().map(plain).collect();
    let mut columns: Vec<Series> = fields
        .iter()
        .map(|field| Series::new_empty(field.name.clone(), &DataType::from_arrow_field(field)))
        .collect();
    let mut height = 0;
    for batch in FileReader::new(source, metadata, None, None) {
        let batch = batch?;
        height += batch.len();
        for ((array, field), column) in batch.arrays().iter().zip(&fields).zip(&mut columns) {
            let own = match array.dtype() {
                ArrowDataType::Dictionary(..) => looked_up(&**array, field)?,
                _ => Series::try_from((field, vec![array.clone()]))?,
            };
            column.append(&own)?;
        }
    }
    DataFrame::new(height, columns.into_iter().map(Column::from).collect())
}

/// What the keys of a dictionary stand for.
fn looked_up(array: &dyn Array, field: &ArrowField) -> PolarsResult<Series> {
    let mut parts = None;
    macro_rules! of_keys {
        ($($key:ty),*) => {
            $(if let Some(own) = array.as_any().downcast_ref::<DictionaryArray<$key>>() {
                parts = Some((own.keys().to_boxed(), own.values().clone()));
            })*
        };
    }
    of_keys!(i8, i16, i32, i64, u8, u16, u32, u64);
    let Some((keys, values)) = parts else {
        return Err(PolarsError::ComputeError(
            "a dictionary has keys that are no whole numbers".into(),
        ));
    };
    let keys = cast_default(&*keys, &ArrowDataType::UInt32)?;
    let keys = Series::try_from((field.name.clone(), keys))?;
    Series::try_from((field, vec![values]))?.take(keys.u32()?)
}

/// Writes a data frame with the arrow types of its columns and the least and greatest value of each page.
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
    let options = WriteOptions {
        statistics: StatisticsOptions::default(),
        version: Version::V1,
        compression,
        data_page_size: None,
    };
    let encodings = schema.iter_values().map(|field| get_dtype_encoding(&field.dtype)).collect();
    let batches = frame.iter_chunks(CompatLevel::newest(), false).filter(|rows| !rows.is_empty());
    let groups = RowGroupIterator::try_new(batches.map(Ok), &schema, options, encodings)?;
    let mut writer = FileWriter::try_new(sink, schema, options)?;
    for group in groups {
        writer.write(u64::MAX, group?)?; // the rows are counted
    }
    writer.end(None)?;
    Ok(())
}
