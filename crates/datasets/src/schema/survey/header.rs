//! Whether the first row of delimited text names its columns. The decision looks at that row and the rows below.

use super::column::almost_number;
use crate::DataError;
use crate::rows::{Field, Row, Rows};
use std::collections::BTreeSet;

/// Rows below the first that are looked at, and fields in them, at most.
const ROWS: usize = 100;
const FIELDS: usize = 1 << 20;

/// A field of the first row.
pub(super) struct Head {
    pub(super) text: String,
    number: Option<f64>,
    /// A word: neither missing nor a number, nor meant as one.
    word: bool,
}

impl Head {
    pub(super) fn of(field: Field<'_>) -> Self {
        let (text, number) = (field.text().trim().to_owned(), field.number());
        let word = field != Field::Missing && number.is_none() && !almost_number(&text);
        Self { text, number, word }
    }
}

/// What stands below a field of the first row.
#[derive(Debug, Clone, Copy)]
struct Below {
    numbers: usize,
    words: usize,
    /// Numbers with digits behind the point.
    broken: usize,
    low: f64,
    high: f64,
    /// Whether the word above occurs again, or the number.
    again: bool,
    same: bool,
}

impl Below {
    const NOTHING: Self = Self {
        numbers: 0,
        words: 0,
        broken: 0,
        low: f64::INFINITY,
        high: f64::NEG_INFINITY,
        again: false,
        same: false,
    };

    fn see(&mut self, head: &Head, field: Field<'_>) {
        if let Some(value) = field.number() {
            self.numbers += 1;
            self.broken += usize::from(value.fract() != 0.0);
            self.same |= head.number.is_some_and(|number| number.to_bits() == value.to_bits());
            (self.low, self.high) = (self.low.min(value), self.high.max(value));
        } else if field != Field::Missing {
            self.words += 1;
            self.again |= head.word && field.text() == head.text;
        }
    }

    /// Whether it is a column of numbers.
    const fn counts(&self) -> bool {
        self.numbers > 0 && self.numbers >= self.words
    }

    /// Whether a whole number is likely none of the column's entries. It stands over words, over numbers that nearly
    /// all have digits behind the point, or far from all of them.
    fn excludes(&self, value: f64) -> bool {
        if self.same || !self.counts() {
            return !self.same && self.words > 0;
        }
        let size = self.high.abs().max(self.low.abs()).max(self.high - self.low);
        let gap = (self.low - value).max(value - self.high);
        gap > size || self.numbers >= 3 && 5 * self.broken >= 4 * self.numbers
    }
}

/// The decision about the first row, and the note on it where it was a guess.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Decided {
    pub(super) named: bool,
    pub(super) told: Option<String>,
}

/// Decides by the first row and the rows below it; some of them are read.
///
/// A word over numbers is a name, and so is what the user asked for by name. Numbers are names
/// only if they rise or fall like years or wave lengths and are none of the numbers below them. In a
/// table without numbers a first row is data where one of its words occurs again below it.
pub(super) fn decide(
    first: &[Head],
    rows: &mut Rows<'_>,
    asked: &[&str],
) -> Result<Decided, DataError> {
    let mut below = vec![Below::NOTHING; first.len()];
    for _ in 0..ROWS.min(FIELDS / first.len().max(1)).max(1) {
        let Some((_, Row::Fields(fields))) = rows.next()? else { break };
        for (at, (below, head)) in below.iter_mut().zip(first).enumerate() {
            below.see(head, fields.field(at));
        }
    }
    Ok(judge(first, &below, asked))
}

/// A decision that may be wrong, with the note that says so.
fn guessed(first: &[Head], named: bool, told: &str) -> Decided {
    let shown: Vec<&str> = first.iter().take(4).map(|head| head.text.as_str()).collect();
    let more = if first.len() > shown.len() { ", ..." } else { "" };
    let (what, other) = if named {
        ("column names", "no if it is data")
    } else {
        ("data", "yes if it names the columns")
    };
    let shown: String = shown.join(", ").chars().take(60).collect();
    Decided {
        named,
        told: Some(format!(
            "the first row ({shown}{more}) is read as {what}{told}; use --header {other}"
        )),
    }
}

fn judge(first: &[Head], below: &[Below], asked: &[&str]) -> Decided {
    let sure = |named| Decided { named, told: None };
    let guess = |named, told: &str| guessed(first, named, told);
    let each = || first.iter().zip(below);
    let different =
        first.iter().map(|head| &head.text).collect::<BTreeSet<_>>().len() == first.len();
    // A number may be the name only where it cannot be a place, from 1.
    let place = |text: &str| text.parse().is_ok_and(|at: usize| (1..=first.len()).contains(&at));
    let meant = first
        .iter()
        .any(|head| asked.contains(&head.text.as_str()) && (head.word || !place(&head.text)));
    let titles = each().any(|(head, below)| head.word && below.counts());
    if first.iter().all(|head| head.number.is_none()) {
        if meant || each().any(|(head, below)| head.number.is_none() && below.counts()) {
            return sure(true);
        }
        return match each().find(|(_, below)| below.again) {
            Some((head, _)) => {
                let why = format!(", because `{}` occurs again below it", short(&head.text));
                guess(false, &why)
            }
            None if different => guess(true, ""),
            None => guess(false, ", because it has one word twice"),
        };
    }
    // Years among the names, say, or the numbers that a program gave to columns without any.
    let some = ", though some of it are numbers";
    let counted = |value: f64| value >= 0.0 && value.fract() == 0.0;
    let whole = first.iter().all(|head| head.number.is_none_or(counted));
    let numbered = first.len() > 1
        && first[0].text.is_empty()
        && first[1..].iter().zip(0u32..).all(|(head, at)| head.text == at.to_string());
    if meant || numbered || different && whole && titles {
        return guess(true, some);
    }
    // A word that is found again below it is data, whatever stands beside it.
    let words = first.iter().all(|head| head.number.is_some() || head.word || head.text.is_empty());
    let again = below.iter().any(|below| below.again);
    let numbers: Vec<f64> = first.iter().filter_map(|head| head.number).collect();
    let steps = || numbers.windows(2).map(|pair| pair[1] - pair[0]);
    let rising = steps().all(|step| step > 0.0) || steps().all(|step| step < 0.0);
    let years = numbers.iter().all(|number| (1800.0..=2200.0).contains(number));
    let enough = numbers.len() >= 3 || numbers.len() == 2 && years;
    if !(words && !again && different && whole && rising && enough) {
        return sure(false);
    }
    // The target may hold whole numbers of any kind.
    let strange = each()
        .filter(|(head, below)| head.number.is_some_and(|number| below.excludes(number)))
        .count();
    if strange >= 2 && strange + 1 >= numbers.len() {
        return guess(true, ", because its numbers are unlike the numbers below");
    }
    let even = steps().all(|step| step.abs().to_bits() == 1f64.to_bits());
    if even || years {
        return guess(false, ", though its numbers rise or fall like names");
    }
    sure(false)
}

fn short(text: &str) -> String {
    text.chars().take(32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Header, RowFile, SchemaOptions, survey};
    use proptest::prelude::*;
    use std::fmt::Write;

    fn decided(text: &str, target: Option<&str>) -> Decided {
        let file = RowFile::spooled(text.as_bytes(), "f.csv", None).unwrap();
        let mut rows = file.rows().unwrap();
        let first: Vec<Head> = match rows.next().unwrap() {
            Some((_, Row::Fields(fields))) => {
                (0..fields.len()).map(|at| Head::of(fields.field(at))).collect()
            }
            _ => panic!("a row"),
        };
        decide(&first, &mut rows, target.as_slice()).unwrap()
    }

    /// Rows of numbers with digits behind the point, then whole ones, then words.
    fn body(broken: usize, whole: usize, words: usize, rows: usize) -> String {
        let mut text = String::new();
        for row in 0..rows {
            let wave = |at: usize| ((row * 31 + at * 17) as f64 * 0.618).sin();
            let mut fields: Vec<String> =
                (0..broken).map(|at| format!("{:.3}", 3.0 * wave(at) + 4.0005)).collect();
            fields.extend((0..whole).map(|at| format!("{:.0}", 5.0 * wave(at + 7))));
            fields.extend((0..words).map(|at| ["red", "blue", "green"][(row + at) % 3].to_owned()));
            writeln!(text, "{}", fields.join(",")).unwrap();
        }
        text
    }

    /// First row, the rows below it, whether it names them, and whether that is said.
    #[test]
    fn a_table_of_small_files() {
        let (named, data) = (true, false);
        let (silent, said) = (false, true);
        for (first, rows, names, told) in [
            // Words over numbers, as most files begin.
            ("a,b,c", body(2, 1, 0, 9), named, silent),
            ("a,b,c", body(1, 0, 2, 9), named, silent),
            ("a,b,", body(2, 1, 0, 9), named, silent),
            ("a,b,c", format!("NA,NA,red\n{}", body(2, 0, 1, 9)), named, silent),
            ("a,b", "1,2\n".to_owned(), named, silent),
            // Numbers over numbers, as most others do.
            ("3.25,4.5,1", body(2, 1, 0, 9), data, silent),
            ("5,3,1", body(0, 3, 0, 9), data, silent),
            ("0,0,7,0", body(0, 4, 0, 9), data, silent),
            ("3.25,4.5,red", body(2, 0, 1, 9), data, silent),
            ("3,4,red", body(2, 0, 1, 9), data, silent),
            ("1,2,red", body(0, 2, 1, 9), data, silent),
            // Years.
            ("2019,2020,2021", body(3, 0, 0, 9), named, said),
            ("2019,2020,2021", body(2, 1, 0, 9), named, said),
            ("2021,2020,2019", body(3, 0, 0, 9), named, said),
            ("2019,2020", body(2, 0, 0, 9), named, said),
            ("2019,2020,kind", body(2, 0, 1, 9), named, said),
            ("2019,2020,2021", "1.5,2.5,1\n".to_owned(), named, said),
            (",2019,2020", format!("{}\n{}\n", "Bern,1.5,2.5", "Rome,2.5,3.5"), named, said),
            ("place,2019,2020", body(3, 0, 0, 9), named, said),
            // A word that stands below as well is no name.
            ("2019,2020,red", body(2, 0, 1, 9), data, silent),
            // Years over years.
            (
                "2019,2020,2021",
                "2010,2011,2012\n2011,2012,2013\n2012,2013,2015\n".to_owned(),
                data,
                said,
            ),
            // Wave lengths.
            ("400,410,420,430", body(4, 0, 0, 9), named, said),
            ("400,410,420,fat", body(4, 0, 0, 9), named, said),
            // What pandas writes for columns without names, with and without its index.
            ("0,1,2,3,4", body(4, 0, 1, 9), named, said),
            ("0,1,2,3,4", body(4, 1, 0, 9), named, said),
            (",0,1,2", body(3, 1, 0, 9), named, said),
            // It could be either, and the numbers below do not tell.
            ("1,2,3", "4,5,6\n7,8,9\n".to_owned(), data, said),
            ("1,2,3", "2,4,6\n3,6,9\n4,8,12\n5,10,15\n".to_owned(), data, said),
            ("0,1,2", body(0, 3, 0, 9), data, said),
            // Rising, but neither a run nor years, and like what is below.
            ("1,3,9", body(0, 3, 0, 40), data, silent),
            // Nothing but words.
            ("colour,kind", body(0, 0, 2, 9), named, said),
            ("red,blue", body(0, 0, 2, 9), data, said),
            ("red,blue", "green,red\n".to_owned(), named, said),
            ("tan,tan", body(0, 0, 2, 1), data, said),
        ] {
            let text = format!("{first}\n{rows}");
            let found = decided(&text, None);
            assert_eq!((found.named, found.told.is_some()), (names, told), "{text}{found:?}");
            if let Some(told) = found.told {
                let other = if names { "--header no" } else { "--header yes" };
                assert!(told.contains(other) && told.len() < 200, "{told}");
            }
        }
    }

    #[test]
    fn the_target_tells_that_the_first_row_has_names() {
        let rows = body(0, 0, 2, 9);
        assert!(decided(&format!("red,blue\n{rows}"), Some("blue")).named);
        let rows = body(0, 3, 0, 9);
        assert!(decided(&format!("7,9,2021\n{rows}"), Some("2021")).named);
        // A place.
        assert!(!decided(&format!("7,9,2\n{rows}"), Some("2")).named);
    }

    #[test]
    fn what_the_user_says_goes_first() {
        for (header, count) in [(Header::Yes, 9), (Header::No, 10)] {
            for first in ["2019,2020,2021", "1,2,3", "a,b,c"] {
                // Words over numbers cannot be data.
                if header == Header::No && first == "a,b,c" {
                    continue;
                }
                let text = format!("{first}\n{}", body(2, 1, 0, 9));
                let file = RowFile::spooled(text.as_bytes(), "f.csv", None).unwrap();
                let options = SchemaOptions { header, ..SchemaOptions::default() };
                let (schema, rows) = survey(&file, &options).unwrap();
                assert_eq!((schema.named, rows), (header == Header::Yes, count), "{first}");
            }
        }
    }

    proptest! {
        /// A first row of numbers that occurs again below it is data.
        #[test]
        fn a_row_that_occurs_again_is_data(
            rows in proptest::collection::vec(proptest::collection::vec(0i32..60, 4), 3..20),
            tenths in proptest::collection::vec(any::<bool>(), 4),
            again in any::<prop::sample::Index>(),
        ) {
            let line = |row: &Vec<i32>| {
                let field = |(&value, &tenths): (&i32, &bool)| {
                    if tenths { (f64::from(value) / 10.0).to_string() } else { value.to_string() }
                };
                row.iter().zip(&tenths).map(field).collect::<Vec<_>>().join(",") + "\n"
            };
            let text: String = rows.iter().map(line).collect();
            let first = line(&rows[again.index(rows.len())]);
            prop_assert!(!decided(&format!("{first}{text}"), None).named, "{}{}", first, text);
        }

        /// Words over at least one column of numbers name it, whatever else there is.
        #[test]
        fn words_over_numbers_are_names(
            broken in 0usize..3, whole in 0usize..3, words in 0usize..3, rows in 1usize..9,
        ) {
            prop_assume!(broken + whole > 0);
            let heads: Vec<String> = (0..broken + whole + words).map(|at| format!("name {at}")).collect();
            let text = format!("{}\n{}", heads.join(","), body(broken, whole, words, rows));
            prop_assert_eq!(decided(&text, None), Decided { named: true, told: None });
        }
    }
}
