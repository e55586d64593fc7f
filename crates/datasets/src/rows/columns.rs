//! Contents of a Parquet file's columns, by its own schema. It is read before any column is decoded.

use crate::DataError;
use crate::calendar::iso_day;
use mercer_parquet::FileMetadata;
use polars_parquet::parquet::schema::Repetition;
use polars_parquet::parquet::schema::types::{
    IntegerType, ParquetType, PhysicalType, PrimitiveConvertedType as Old, PrimitiveLogicalType,
    PrimitiveType, TimeUnit,
};
use polars_parquet::read::schema::SchemaDescriptor;
use std::collections::HashSet;

/// A footer by which numbers and text can be decoded, and what else is known of its columns.
pub(super) struct Kept {
    pub(super) metadata: FileMetadata,
    pub(super) columns: Sorted,
    /// The columns that pandas calls the index, which are left out.
    pub(super) index: Vec<String>,
}

/// Columns by name, and what each holds that can be neither number nor text.
#[derive(Default)]
pub(super) struct Sorted {
    pub(super) names: Vec<String>,
    pub(super) refused: Vec<Option<&'static str>>,
    /// What the whole numbers of a column count, where they are dates or times.
    pub(super) clocks: Vec<Option<Clock>>,
}

/// What a whole number counts, from the beginning of 1970 on if it is a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clock {
    Days,
    /// So many a second.
    Ticks(i64),
    /// No time, but so many powers of ten of a decimal number: hundredths, say.
    Decimals(i32),
}

impl Clock {
    /// The date, or date and time, as `2026-11-27` and `2026-11-27T08:30:00.25`.
    pub(super) fn text(self, count: i64) -> String {
        let a_second = match self {
            Self::Days => return iso_day(count),
            Self::Ticks(a_second) => a_second,
            Self::Decimals(_) => return count.to_string(),
        };
        let (seconds, rest) = (count.div_euclid(a_second), count.rem_euclid(a_second));
        let (day, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        let digits = a_second.ilog10() as usize;
        let fraction = if rest == 0 { String::new() } else { format!(".{rest:0digits$}") };
        format!(
            "{}T{:02}:{:02}:{:02}{}",
            iso_day(day),
            second / 3600,
            second / 60 % 60,
            second % 60,
            fraction.trim_end_matches('0')
        )
    }
}

impl Kept {
    pub(super) fn of(metadata: &FileMetadata, file: &str) -> Result<Self, DataError> {
        let mut metadata = metadata.clone();
        let index = index_of(&metadata);
        let schema = metadata.schema();
        let (mut fields, mut seen) = (Vec::new(), HashSet::new());
        let (mut columns, mut left_out) = (Sorted::default(), Vec::new());
        for field in schema.fields() {
            let name = field.name();
            if !seen.insert(name) {
                let problem = format!("has two columns called `{name}`; rename one");
                return Err(DataError::format(file, problem));
            }
            let (field, refused, clock) = match readable(field) {
                Ok((primitive, clock)) => (ParquetType::PrimitiveType(primitive), None, clock),
                Err(held) => (field.clone(), Some(held), None),
            };
            fields.push(field);
            if index.iter().any(|column| column == name) {
                left_out.push(name.to_owned());
            } else {
                columns.names.push(name.to_owned());
                columns.refused.push(refused);
                columns.clocks.push(clock);
            }
        }
        let schema = SchemaDescriptor::new(schema.name().into(), fields);
        metadata.schema_descr = schema;
        // It tells how another program holds the columns, in types that are not needed here.
        metadata.key_value_metadata = None;
        Ok(Self { metadata, columns, index: left_out })
    }
}

/// The columns that pandas keeps its index in; a range of numbers is described there without one.
fn index_of(metadata: &FileMetadata) -> Vec<String> {
    let pairs = metadata.key_value_metadata().iter().flatten();
    let text = pairs.filter(|pair| pair.key == "pandas").find_map(|pair| pair.value.as_deref());
    let object: serde_json::Value =
        text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let columns = object["index_columns"].as_array().into_iter().flatten();
    columns.filter_map(|column| column.as_str().map(str::to_owned)).collect()
}

/// The column as numbers or text, and what its numbers count if they are times; or what it holds that is neither.
fn readable(field: &ParquetType) -> Result<(PrimitiveType, Option<Clock>), &'static str> {
    use PrimitiveLogicalType as Logical;
    let ParquetType::PrimitiveType(primitive) = field else {
        return Err("lists or structures");
    };
    if primitive.field_info.repetition == Repetition::Repeated {
        return Err("lists");
    }
    let mut plain = primitive.clone();
    (plain.logical_type, plain.converted_type) = (None, None);
    match (primitive.logical_type, primitive.converted_type) {
        (Some(Logical::Decimal(_, scale)), _) | (None, Some(Old::Decimal(_, scale))) => {
            let fits = match primitive.physical_type {
                PhysicalType::Int32 | PhysicalType::Int64 => true,
                PhysicalType::FixedLenByteArray(bytes) => bytes <= 16,
                _ => false,
            };
            let scale = i32::try_from(scale).ok().filter(|_| fits).ok_or("decimals")?;
            return Ok((plain, Some(Clock::Decimals(scale))));
        }
        (Some(Logical::Date), _) | (None, Some(Old::Date)) => {
            return Ok((plain, Some(Clock::Days)));
        }
        (Some(Logical::Time { .. }), _) | (None, Some(Old::TimeMillis | Old::TimeMicros)) => {
            return Err("times of day");
        }
        (Some(Logical::Timestamp { unit: TimeUnit::Milliseconds, .. }), _)
        | (None, Some(Old::TimestampMillis)) => return Ok((plain, Some(Clock::Ticks(1000)))),
        (Some(Logical::Timestamp { unit: TimeUnit::Microseconds, .. }), _)
        | (None, Some(Old::TimestampMicros)) => return Ok((plain, Some(Clock::Ticks(1_000_000)))),
        (Some(Logical::Timestamp { unit: TimeUnit::Nanoseconds, .. }), _) => {
            return Ok((plain, Some(Clock::Ticks(1_000_000_000))));
        }
        // Decoded as two bytes each.
        (Some(Logical::Float16), _)
            if primitive.physical_type == PhysicalType::FixedLenByteArray(2) =>
        {
            return Ok((plain, None));
        }
        (Some(Logical::String | Logical::Enum), _) | (None, Some(Old::Utf8 | Old::Enum)) => {
            plain.logical_type = Some(Logical::String);
        }
        // The widths below are kept in 32 bits.
        (Some(Logical::Integer(IntegerType::UInt32)), _) | (None, Some(Old::Uint32)) => {
            plain.logical_type = Some(Logical::Integer(IntegerType::UInt32));
        }
        (Some(Logical::Integer(IntegerType::UInt64)), _) | (None, Some(Old::Uint64)) => {
            plain.logical_type = Some(Logical::Integer(IntegerType::UInt64));
        }
        _ => {}
    }
    match primitive.physical_type {
        PhysicalType::Int96 => Err("timestamps"),
        PhysicalType::ByteArray if plain.logical_type.is_none() => Err("bytes"),
        PhysicalType::FixedLenByteArray(_) => Err("bytes"),
        _ => Ok((plain, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_dates_and_times_that_sort_as_they_follow() {
        let of = |count| Clock::Ticks(1000).text(count);
        let texts = [-1, 0, 250, 1000, 86_400_000 + 3_723_040].map(of);
        assert_eq!(texts[0], "1969-12-31T23:59:59.999");
        assert_eq!(texts[2], "1970-01-01T00:00:00.25");
        assert_eq!(texts[4], "1970-01-02T01:02:03.04");
        assert!(texts.is_sorted());
    }
}
