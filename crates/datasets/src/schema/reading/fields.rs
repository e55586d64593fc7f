//! From the fields of a row to numbers and a target.

use super::super::{
    Categories, Holds, InputColumn, MISSING, Schema, TargetColumnKept, Truth, alike_key, plainly,
    shown, some_of,
};
use super::{DASHES, Unknown};
use crate::Kind;
use crate::rows::Field;
use std::collections::BTreeMap;

/// Reads an svmlight row into `sparse`, what is not 0 of it, or else into `row`; returns a column that no row of the fit
/// has.
pub(super) fn read_entries(
    schema: &Schema,
    entries: &[(u32, f64)],
    sparse: Option<&mut Vec<(u32, f64)>>,
    row: &mut [f64],
) -> Result<Option<u32>, String> {
    let Some(kept) = sparse else {
        row.fill(0.0);
        return put_entries(schema, entries, |at, value| row[at] = value);
    };
    kept.clear();
    put_entries(schema, entries, |at, value| {
        if value != 0.0 {
            kept.push((at as u32, value));
        }
    })
}

/// Puts the numbers of an svmlight row in their places; also returns a column that no row of the fit has.
fn put_entries(
    schema: &Schema,
    entries: &[(u32, f64)],
    mut put: impl FnMut(usize, f64),
) -> Result<Option<u32>, String> {
    let columns = schema.columns.as_slice();
    let [first, last] =
        [columns.first(), columns.last()].map(|end| end.map_or(0, |c| c.position as u32));
    let base = schema.numbering.map_or(first, |numbering| numbering.first);
    let (mut at, mut unseen) = (0, None);
    for &(column, value) in entries {
        if column < base {
            let hint = match (base, column) {
                (1, 0) => "; number the columns from 1, or fit to rows that are numbered from 0",
                _ => "; remove it, or fit to rows that have it",
            };
            return Err(format!("has column {column}, but the model knows {base} to {last}{hint}"));
        }
        at += columns[at..].partition_point(|known| known.position < column as usize);
        match columns.get(at) {
            Some(known) if known.position == column as usize => put(at, value),
            _ => unseen = Some(column),
        }
    }
    Ok(unseen)
}

/// The field of an input: missing where it is one of these texts, or of the usual ones; of a literal column only
/// nothing is missing.
pub(in crate::schema) fn input<'a>(
    fields: &'a dyn crate::rows::Fields,
    at: usize,
    literal: bool,
    missing: Option<&[String]>,
) -> Field<'a> {
    match missing {
        _ if literal => fields.raw(at),
        None => fields.field(at),
        Some(texts) => match fields.raw(at) {
            Field::Text(text) if texts.iter().any(|own| own == text) => Field::Missing,
            Field::Text(text) => Field::Text(text),
            Field::Missing => Field::Missing,
            // A number of a file with types.
            other if texts.contains(&other.text()) => Field::Missing,
            other => other,
        },
    }
}

/// Reads the inputs of a row of a table, by column, place and levels; whether the row is to stay.
pub(super) fn read_fields<'a>(
    schema: &Schema,
    columns: impl Iterator<Item = ((&'a InputColumn, &'a usize), &'a BTreeMap<&'a str, usize>)>,
    fields: &dyn crate::rows::Fields,
    unknown: Unknown,
    row: &mut [f64],
) -> Result<bool, String> {
    let mut to = 0;
    for ((column, &at), levels) in columns {
        let cells = &mut row[to..to + column.width()];
        to += column.width();
        let plain = column.content == Holds::Numbers && schema.missing.is_none();
        if plain && let Some(value) = fields.number(at) {
            cells[0] = value;
            continue;
        }
        let field = input(fields, at, column.literal, schema.missing.as_deref());
        let dash = plain && matches!(field, Field::Text(text) if DASHES.contains(&text));
        let hole = field == Field::Missing
            && !column.literal
            && !column.own_missing
            && !levels.contains_key(MISSING);
        if dash || hole {
            cells.fill(schema.hole_of(&fields.raw(at).text()));
        } else if !read_field(column, field, levels, unknown, cells)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Writes the numbers that a field becomes, one that is missing as a category; whether the row is to stay.
fn read_field(
    column: &InputColumn,
    field: Field<'_>,
    known: &BTreeMap<&str, usize>,
    unknown: Unknown,
    cells: &mut [f64],
) -> Result<bool, String> {
    let name = &column.name;
    let field = if field == Field::Missing { Field::Text(MISSING) } else { field };
    match &column.content {
        Holds::Numbers => {
            let Some(value) = field.number() else {
                let text = field.text();
                let remedy = plainly(&text).unwrap_or_else(|| {
                    "correct it, or remove the row; leave it empty if it is missing and the model fills"
                        .to_owned()
                });
                return Err(format!(
                    "`{}` in column `{name}` is not a finite number; {remedy}",
                    shown(&text)
                ));
            };
            cells[0] = value;
        }
        Holds::Categories { encoding, levels } => {
            let text = field.text();
            let Some(&level) = known.get(text.as_str()) else {
                return match (unknown, encoding) {
                    (Unknown::Skip, _) => Ok(false),
                    (Unknown::Zeros, encoding) => {
                        let one_hot = *encoding == Categories::OneHot;
                        cells.fill(if one_hot { 0.0 } else { f64::NAN });
                        Ok(true)
                    }
                    (Unknown::Error, encoding) => Err(format!(
                        "category `{}` in column `{name}` was not seen at fit time{}; seen were {}; fit with rows \
                         that have it, {}or leave its rows out (--unknown skip)",
                        shown(&text),
                        meant(&text, levels),
                        some_of(levels),
                        // Of numbered ones there is no such number.
                        match encoding {
                            Categories::OneHot => "or take it as none of these (--unknown zeros) ",
                            Categories::Ordinal => "",
                        },
                    )),
                };
            };
            match encoding {
                Categories::Ordinal => cells[0] = level as f64,
                Categories::OneHot => {
                    cells.fill(0.0);
                    cells[level] = 1.0;
                }
            }
        }
    }
    Ok(true)
}

/// The known label that may have been meant: one that differs in capitals, blanks or dots, or by a slip of the fingers.
fn meant(text: &str, labels: &[String]) -> String {
    let known: Vec<&str> = labels.iter().map(String::as_str).collect();
    let value = |text: &str| text.parse::<f64>().ok().filter(|value| value.is_finite());
    let same = |label: &&String| {
        let number =
            value(label).zip(value(text)).is_some_and(|(own, other)| own.total_cmp(&other).is_eq());
        number || alike_key(label) == alike_key(text)
    };
    let near = labels.iter().find(same);
    let near = near.map(String::as_str).or_else(|| mercer_learning::nearest(text, &known));
    near.map_or_else(String::new, |near| format!("; did you mean `{}`?", shown(near)))
}

/// What a line of svmlight without a target is told, where one is needed.
pub(in crate::schema) const NO_TARGET: &str =
    "has no target; begin each row with its target, or remove the row";

pub(super) fn read_truth(
    target: &TargetColumnKept,
    labels: &BTreeMap<&str, u32>,
    text: &str,
    number: Option<f64>,
) -> Result<Truth, String> {
    let name = &target.name;
    if text.is_empty() {
        return Err(format!("the target (column `{name}`) is missing; remove the row"));
    }
    if target.kind == Kind::Regression {
        let problem = || {
            let text = shown(text);
            format!(
                "the target `{text}` (column `{name}`) is not a finite number; correct it, or remove the row"
            )
        };
        return number.map(Truth::Value).ok_or_else(problem);
    }
    // By its spelling: `1` and `01` are two classes.
    labels.get(text).copied().map(Truth::Class).ok_or_else(|| {
        let seen = some_of(&target.labels);
        format!(
            "class `{}` was not seen at fit time{}; seen were {seen}; correct it, or fit with rows that have it",
            shown(text),
            meant(text, &target.labels)
        )
    })
}
