use super::{Categories, LEVELS};
use crate::number::MARKS;
use crate::rows::Field;
use crate::schema::reading::DASHES;
use crate::schema::{Holds, MISSING, alike, shown, spelled_twice};
use crate::shell::shell_word;
use crate::table::sort_labels;
use mercer_learning::counted;
use std::collections::HashSet;

/// Rows from which on a column that counts them is no accident.
pub(super) const COUNTED: usize = 20;

/// Categories from which on a column of inputs each is worth a word.
const MANY: usize = 50;

/// How the user wants a column to be read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Asked {
    /// As categories.
    pub forced: bool,
    /// What is missing as a category of its own.
    pub counts_missing: bool,
    /// Dashes among numbers as missing: not where the user says what is.
    pub dashes_are_missing: bool,
}

/// How the numbers of a column are spelled, and whether they are one.
#[derive(Debug, Default)]
struct Spelling {
    /// The first that is spelled like a code: `00123`.
    code: Option<String>,
    /// The first with a point and three digits behind it, and whether another has other digits.
    pointed: Option<String>,
    other_points: bool,
    /// The largest without a point.
    largest_whole: f64,
    last: Option<f64>,
    varies: bool,
}

/// What was seen of an input column. What it holds is decided after all rows, not by the first.
#[derive(Default)]
pub(super) struct Seen {
    asked: Asked,
    /// Whether any field is missing.
    missing: bool,
    numbers: usize,
    /// Texts that are no finite number: all, the dashes, and texts meant to be a number.
    texts: usize,
    dashes: usize,
    broken: usize,
    /// The first text that is no dash, and its line.
    first: Option<(usize, String)>,
    levels: HashSet<String>,
    /// The different texts that are no numbers and have no digits, and those that were read as missing: a few of them.
    words: Vec<String>,
    holes: Vec<String>,
    /// The line with the first level too many.
    crowded: Option<usize>,
    /// The last number, as long as each is the next of the one before.
    counting: Option<f64>,
    spelling: Spelling,
}

impl Spelling {
    fn see(&mut self, field: Field<'_>, value: f64) {
        self.varies |= self.last.replace(value).is_some_and(|last| last.total_cmp(&value).is_ne());
        let Field::Text(text) = field else { return };
        if self.code.is_none() && is_code(text) {
            self.code = Some(text.to_owned());
        }
        let Some((whole, rest)) = text.split_once('.') else {
            self.largest_whole = self.largest_whole.max(value.abs());
            return;
        };
        let whole = whole.trim_start_matches(['-', '+']);
        let grouped = rest.len() == 3 && (1..=3).contains(&whole.len()) && !whole.starts_with('0');
        self.other_points |= !grouped;
        if grouped && self.pointed.is_none() {
            self.pointed = Some(text.to_owned());
        }
    }

    /// Says what may be read in another way than it was meant. Points may stand between thousands where numbers go up to
    /// 999 without one, and each with a point has three digits behind it.
    fn say(&self, name: &str, rows: usize) {
        if let Some(code) = &self.code {
            tracing::warn!(
                "column `{name}` is read as numbers, {code} as {}; if these are codes, name it a \
                 category (--categorical {typed}) or leave it out (--drop {typed})",
                code.trim_start_matches('0'),
                typed = shell_word(name)
            );
        }
        let below = (100.0..1000.0).contains(&self.largest_whole);
        if let Some(text) = self.pointed.as_ref().filter(|_| below && !self.other_points) {
            tracing::warn!(
                "column `{name}` has whole numbers up to {}, and `{text}`: if points stand between thousands, read them \
                 so (--decimal ,)",
                self.largest_whole
            );
        }
        if let Some(value) = self.last.filter(|_| !self.varies && rows > 1) {
            tracing::info!("column `{name}` is {value} wherever it has a value: it tells nothing");
        }
    }
}

/// What a column holds.
pub(super) enum Verdict {
    /// Numbers or categories.
    Holds(Holds),
    /// Nothing: it is missing in every row.
    Nothing,
    /// Texts among which are numbers, whose spellings are not known yet: look again.
    Mixed,
}

impl Seen {
    pub(super) fn new(asked: Asked) -> Self {
        Self { asked, ..Self::default() }
    }

    /// Takes note of the text of a field that is missing.
    pub(super) fn see_hole(&mut self, text: &str) {
        note(&mut self.holes, text);
    }

    /// Takes note of a field.
    pub(super) fn see(&mut self, field: Field<'_>, line: usize) {
        if field == Field::Missing {
            self.missing = true;
            return;
        }
        if let Some(value) = field.number().filter(|_| !self.asked.forced) {
            let next = match self.counting {
                _ if self.texts > 0 => false,
                None => self.numbers == 0 && [0.0, 1.0].contains(&value),
                Some(last) => value.to_bits() == (last + 1.0).to_bits(),
            };
            self.counting = next.then_some(value);
            self.numbers += 1;
            self.spelling.see(field, value);
            return;
        }
        let text = field.text();
        self.texts += 1;
        self.counting = None;
        if self.asked.dashes_are_missing && DASHES.contains(&text.as_str()) {
            self.dashes += 1;
        } else {
            self.broken += usize::from(almost_number(&text));
            if !text.bytes().any(|byte| byte.is_ascii_digit()) {
                note(&mut self.words, &text);
            }
            if self.first.is_none() {
                self.first = Some((line, text.clone()));
            }
        }
        if self.levels.len() < LEVELS {
            self.levels.insert(text);
        } else if self.crowded.is_none() && !self.levels.contains(&text) {
            self.crowded = Some(line);
        }
    }

    /// What a column meant as numbers holds, or the error of its first text among so many entries.
    fn numbers(&self, name: &str, rows: usize, entries: usize) -> Result<Verdict, (usize, String)> {
        if let Some((line, text)) = &self.first {
            let missing = [self.holes.as_slice(), &self.words].concat();
            return Err((*line, not_a_number(name, text, (self.numbers, entries), &missing)));
        }
        if self.counting.is_some() && rows >= COUNTED {
            tracing::warn!(
                "column `{name}` counts the rows; is it an input? leave it out with --drop {}",
                shell_word(name)
            );
        }
        self.spelling.say(name, rows);
        Ok(Verdict::Holds(Holds::Numbers))
    }

    /// What a column of `rows` rows holds, or the error in it, with its line.
    pub(super) fn conclude(
        self,
        name: &str,
        rows: usize,
        encoding: Categories,
    ) -> Result<Verdict, (usize, String)> {
        if self.numbers + self.texts == 0 {
            return Ok(Verdict::Nothing);
        }
        let words = self.texts - self.dashes - self.broken;
        let meant = self.numbers + self.broken;
        if !self.asked.forced && meant > 0 && meant >= words {
            return self.numbers(name, rows, meant + words);
        }
        let texts = self.texts - self.dashes;
        let different = self
            .levels
            .iter()
            .filter(|own| !(self.asked.dashes_are_missing && DASHES.contains(&own.as_str())))
            .count();
        if self.numbers > 0 && different >= COUNTED && 10 * different >= 9 * texts {
            return Err((
                self.first.map_or(1, |(line, _)| line),
                all_different(name, different, rows),
            ));
        }
        if self.numbers > 0 {
            tracing::warn!(
                "column `{name}` has {} among {}: all are read as categories",
                counted(self.numbers, "number", "numbers"),
                counted(self.texts, "text", "texts")
            );
            return Ok(Verdict::Mixed);
        }
        if let Some(line) = self.crowded {
            let problem = format!(
                "column `{name}` has more than {LEVELS} different texts; leave it out (--drop {}), or \
                 correct its numbers",
                shell_word(name)
            );
            return Err((line, problem));
        }
        let missing = self.asked.counts_missing && self.missing;
        let levels = sorted_levels(name, self.levels, missing);
        if !self.asked.forced && levels.len() >= COUNTED && 10 * levels.len() >= 9 * rows {
            let problem = all_different(name, levels.len(), rows);
            return Err((self.first.map_or(1, |(line, _)| line), problem));
        }
        if encoding == Categories::OneHot {
            say_of_many(name, levels.len(), rows);
        }
        Ok(Verdict::Holds(Holds::Categories { encoding, levels }))
    }
}

/// The categories in order, with one for what is missing where that is one. What may be a slip in them is said.
fn sorted_levels(name: &str, levels: HashSet<String>, missing: bool) -> Vec<String> {
    let mut levels: Vec<String> = levels.into_iter().collect();
    if missing {
        if levels.iter().any(|level| level == MISSING) {
            tracing::warn!(
                "column `{name}`: its category `{MISSING}` and what is missing are one category; write that \
                 category in another way if they are two"
            );
        } else {
            levels.push(MISSING.to_owned());
        }
    }
    sort_labels(&mut levels);
    say_of_units(name, &levels);
    if let Some((a, b)) = spelled_twice(&levels) {
        tracing::warn!("column `{name}`: `{a}` and `{b}` are one number and two categories");
    }
    if let Some(told) = alike(&levels, "categories") {
        tracing::warn!("column `{name}`: {told}");
    }
    levels
}

/// Categories from which on it is no accident that they begin with numbers.
const MEASURED: usize = 10;

/// A word on categories that are numbers with a unit.
fn say_of_units(name: &str, levels: &[String]) {
    let measured = |level: &&String| {
        crate::number::number(level.as_bytes())
            .is_some_and(|(_, end)| level[end..].trim().chars().all(char::is_alphabetic))
    };
    let found = levels.iter().filter(measured).count();
    if let Some(first) = levels.iter().find(measured)
        && found >= MEASURED
        && 10 * found >= 9 * levels.len()
    {
        tracing::warn!(
            "column `{name}`: {found} categories are numbers with a word (`{}`): take the words away if they are \
             quantities",
            shown(first)
        );
    }
}

/// A word on so many categories that their inputs are likely no use.
fn say_of_many(name: &str, levels: usize, rows: usize) {
    if levels > MANY || levels >= COUNTED && 2 * levels > rows {
        tracing::warn!(
            "column `{name}` has {levels} different texts in {} and becomes as many inputs; is it \
             a date or an identifier? leave it out with --drop {}",
            counted(rows, "row", "rows"),
            shell_word(name)
        );
    }
}

/// Why a column of nearly all different texts is none to learn from.
fn all_different(name: &str, different: usize, rows: usize) -> String {
    format!(
        "column `{name}` has {different} different texts in {}: a date, an identifier or a number in disguise; \
         leave it out (--drop {typed}), or name it a category (--categorical {typed})",
        counted(rows, "row", "rows"),
        typed = shell_word(name)
    )
}

/// Whether a whole number has zeros in front, as codes of places and articles have; two digits are a day
/// or a month.
fn is_code(text: &str) -> bool {
    text.len() >= 3
        && text.starts_with('0')
        && text.bytes().all(|byte| byte.is_ascii_digit())
        && text.bytes().any(|byte| byte != b'0')
}

/// Different texts that are kept for a remedy.
const NOTED: usize = 8;

fn note(texts: &mut Vec<String>, text: &str) {
    if !text.is_empty() && texts.len() < NOTED && !texts.iter().any(|own| own == text) {
        texts.push(text.to_owned());
    }
}

/// The flag that reads these texts as missing; `None` where a comma in one of them, or their number, forbids it.
fn as_missing(texts: &[String]) -> Option<String> {
    if texts.is_empty() || texts.len() >= NOTED || texts.iter().any(|text| text.contains(',')) {
        return None;
    }
    Some(format!("--missing {}", shell_word(&texts.join(","))))
}

/// Why a text is wrong in a column of numbers, and what can be done; `missing` are the texts that would have to be
/// missing.
fn not_a_number(
    name: &str,
    text: &str,
    (numbers, entries): (usize, usize),
    missing: &[String],
) -> String {
    let shown = shown(text);
    let typed = shell_word(name);
    if let Some(plain) = comma_remedy(text) {
        return format!(
            "column `{name}` holds `{shown}`, a number with a comma; {plain}, read all numbers so \
             (--decimal ,), or name the column a category (--categorical {typed})"
        );
    }
    if let Some(plain) = with_thousands(text) {
        return format!(
            "column `{name}` holds `{shown}`, a number with its thousands apart; write {plain}, or name the \
             column a category (--categorical {typed})"
        );
    }
    if let Some(plain) = of_an_accountant(text) {
        return format!(
            "column `{name}` holds `{shown}`, a negative number as accountants write it; write {plain}, or name \
             the column a category (--categorical {typed})"
        );
    }
    if with_sign(text) {
        return format!(
            "column `{name}` holds `{shown}`, a number with a sign or with its thousands apart; write \
             digits and a point alone, or name the column a category (--categorical {typed})"
        );
    }
    let number = if almost_number(text) { "a finite number" } else { "a number" };
    let others = match (numbers, entries) {
        (0, 1) => "the only entry".to_owned(),
        (0, _) => format!("none of {entries} entries is"),
        (1, _) => format!("1 of {entries} entries is"),
        _ => format!("{numbers} of {entries} entries are"),
    };
    let missing = match as_missing(missing) {
        Some(flag) if !text.bytes().any(|byte| byte.is_ascii_digit()) => {
            let what = if missing.len() > 1 { "these" } else { "it" };
            format!("read {what} as missing ({flag} --impute mean)")
        }
        _ => "leave it empty if it is missing".to_owned(),
    };
    format!(
        "`{shown}` in column `{name}` is not {number} ({others}); correct it, {missing}, or name the column \
         a category (--categorical {typed})"
    )
}

/// Whether a text was meant as a number:
/// - infinite or beyond the largest,
/// - with a comma among its digits,
/// - with a sign of currency or of percent,
/// - or what a spreadsheet writes where a formula failed.
pub(super) fn almost_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let infinite =
        ["inf", "infinity", "nan"].iter().any(|word| unsigned.eq_ignore_ascii_case(word));
    let huge = || crate::number::number(text.as_bytes()).is_some_and(|(_, end)| end == text.len());
    let failed = || {
        ["#DIV/0!", "#NUM!", "#VALUE!", "#REF!", "#NAME?", "#NULL!"].contains(&text)
            || unsigned.starts_with("1.#")
    };
    infinite
        || huge()
        || failed()
        || with_comma(text).is_some()
        || with_thousands(text).is_some()
        || of_an_accountant(text).is_some()
        || with_sign(text)
}

/// The negative number that a text in brackets, or with its minus behind it, was meant as.
pub(super) fn of_an_accountant(text: &str) -> Option<String> {
    let inner = text
        .strip_prefix('(')
        .and_then(|text| text.strip_suffix(')'))
        .or_else(|| text.strip_suffix(['-', '\u{2212}']))?;
    if !inner.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return None;
    }
    let is_number =
        crate::number::number(inner.as_bytes()).is_some_and(|(_, end)| end == inner.len());
    let plain = if is_number { Some(inner.to_owned()) } else { with_thousands(inner) };
    let grouped = || {
        let digits = inner.bytes().all(|byte| byte.is_ascii_digit() || b",.".contains(&byte));
        (digits && with_sign(inner)).then(|| inner.replace(',', ""))
    };
    plain.or_else(|| with_comma(inner)).or_else(grouped).map(|plain| format!("-{plain}"))
}

/// How a number in disguise is to be written, or read.
pub(in crate::schema) fn plainly(text: &str) -> Option<String> {
    if let Some(plain) = comma_remedy(text) {
        return Some(format!("{plain}, or read all numbers so (--decimal ,)"));
    }
    let plain = with_thousands(text).or_else(|| of_an_accountant(text));
    plain.map(|plain| format!("write {plain}")).or_else(|| {
        with_sign(text).then(|| "write digits and a point alone, without sign or marks".to_owned())
    })
}

/// The number that a text without a comma was meant as, whose thousands are kept apart. A single point begins the
/// decimals.
pub(super) fn with_thousands(text: &str) -> Option<String> {
    let plain = text.replace('\u{2212}', "-");
    let unsigned = plain.strip_prefix(['-', '+']).unwrap_or(&plain);
    if unsigned.matches('.').count() >= 2 {
        return with_thousands(&plain.replace('.', " "));
    }
    let (whole, rest) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut groups = whole.split(MARKS);
    let first = groups.next().filter(|first| first.len() <= 3 && digits(first))?;
    let rest_of: Vec<&str> = groups.collect();
    let apart =
        !rest_of.is_empty() && rest_of.iter().all(|group| group.len() == 3 && digits(group));
    (apart && digits(rest) && !first.starts_with('0')).then(|| plain.replace(MARKS, ""))
}

/// Whether a text is a number with a sign of percent or currency before or behind it, or with its
/// thousands apart before a decimal point.
pub(super) fn with_sign(text: &str) -> bool {
    const SIGNS: [char; 8] = ['%', '‰', '$', '€', '£', '¥', '₹', '\u{a0}'];
    if text.chars().any(|letter| latin(letter) != letter) {
        let plain: String = text.chars().map(latin).collect();
        return crate::number::number(plain.as_bytes()).is_some_and(|(_, end)| end == plain.len())
            || almost_number(&plain);
    }
    if !text.contains(SIGNS) && !text.contains(',') {
        return false;
    }
    let plus = |text: &str| {
        let text = text.trim();
        text.strip_prefix(['-', '+']).unwrap_or(text).trim().to_owned()
    };
    let bare = plus(&plus(text).replace(SIGNS, " "));
    let number = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_digit() || c == '.')
            && crate::number::number(text.as_bytes()).is_some_and(|(_, end)| end == text.len())
    };
    let mut groups = bare.split(',');
    let first = groups.next().unwrap_or_default();
    let rest: Vec<&str> = groups.collect();
    let whole = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let groups_of =
        |size: usize| rest.iter().rev().skip(1).all(|group| group.len() == size && whole(group));
    // In India, thousands and then hundreds of thousands.
    let grouped = matches!(first.len(), 1..=3)
        && whole(first)
        && (groups_of(3) || groups_of(2))
        && rest.last().is_some_and(|last| last.get(..3).is_some_and(whole))
        && rest.last().is_some_and(|last| last.len() == 3 || last.as_bytes()[3] == b'.');
    let plain = bare.replace(',', "");
    if grouped {
        number(&plain) && with_comma(text).is_none()
    } else {
        text.contains(SIGNS) && (number(&bare) || with_comma(&bare).is_some())
    }
}

/// A digit of another script as one of ours.
fn latin(letter: char) -> char {
    const ZEROS: [char; 4] = ['０', '٠', '۰', '०'];
    let digit = |&zero: &char| (letter as u32).checked_sub(zero as u32).filter(|&digit| digit < 10);
    // Dashes that typesetters and word processors put for a minus.
    if ['\u{2013}', '\u{ff0d}', '\u{2012}'].contains(&letter) {
        return '-';
    }
    ZEROS.iter().find_map(digit).map_or(letter, |digit| (b'0' + digit as u8) as char)
}

/// What a number with a comma is to be written as: with three digits behind the comma it may be the
/// mark between thousands as well.
pub(super) fn comma_remedy(text: &str) -> Option<String> {
    let text = &text.replace('\u{2212}', "-");
    let decimal = with_comma(text)?;
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, rest) = unsigned.split_once(',')?;
    let thousands = rest.len() == 3
        && (1..=3).contains(&whole.len())
        && whole.bytes().all(|byte| byte.is_ascii_digit())
        && !whole.starts_with('0');
    Some(if thousands {
        let joined = text.replace(',', "");
        format!(
            "write {decimal} if the comma begins the decimals, {joined} if it stands between thousands"
        )
    } else {
        format!("write {decimal}")
    })
}

/// The number that a text with one comma among its digits was meant as, the way one writes it here. The text may have
/// points, blanks or marks between its thousands, as in another country, or the comma may stand there. As a category it
/// would be a silent mistake.
fn with_comma(text: &str) -> Option<String> {
    let text = &text.replace('\u{2212}', "-");
    let sign = if text.starts_with(['-', '+']) { &text[..1] } else { "" };
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, rest) = text[sign.len()..].split_once(',')?;
    let mut groups = whole.split(|mark| mark == '.' || MARKS.contains(&mark));
    let first = groups.next().filter(|first| digits(first))?;
    let behind = rest.split_once(['e', 'E']);
    let exponent = |text: &str| digits(text.strip_prefix(['-', '+']).unwrap_or(text));
    if !behind.map_or(digits(rest), |(rest, power)| digits(rest) && exponent(power)) {
        return None;
    }
    let mut number = format!("{sign}{first}");
    for group in groups {
        if first.len() > 3 || group.len() != 3 || !digits(group) {
            return None;
        }
        number += group;
    }
    Some(format!("{number}.{rest}"))
}
