//! Words of messages.

use std::borrow::Cow;

/// Returns the known name that may have been meant. The fewest slips (a letter too many, missing, wrong, or two
/// exchanged) turn it into `name`, if these are a quarter of its letters at most. Capitals are no slips.
///
/// ```
/// use mercer_learning::nearest;
/// let known = ["kernel-ridge", "rf", "mnist", "askl-rate", "Species"];
/// assert_eq!(nearest("kernl-ridge", &known), Some("kernel-ridge"));
/// assert_eq!(nearest("askl-rtae", &known), Some("askl-rate"));
/// assert_eq!(nearest("SPECIES", &known), Some("Species"));
/// assert_eq!(nearest("iris", &known), None);
/// assert_eq!(nearest("y", &["x"]), None); // no letter is left
/// ```
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let name = name.to_lowercase();
    let slips =
        |known: &&'a str| (strsim::damerau_levenshtein(&known.to_lowercase(), &name), *known);
    let (count, near) = known.iter().map(slips).min()?;
    let letters = name.chars().count();
    (count <= (letters / 4).max(1) && count < letters).then_some(near)
}

/// Formats a number of things: one is called `one`, several `many`.
///
/// ```
/// use mercer_learning::counted;
/// assert_eq!(counted(1, "row", "rows"), "1 row");
/// assert_eq!(counted(0, "row", "rows"), "0 rows");
/// assert_eq!(counted(3, "category", "categories"), "3 categories");
/// ```
pub fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Makes a text keep to its line and to the order of its letters. Anything that would begin a new line, ring a bell,
/// turn the direction or command a terminal is written as in a string of Rust.
///
/// ```
/// use mercer_learning::one_line;
/// assert_eq!(one_line("rose\nthorn"), r"rose\nthorn");
/// assert_eq!(one_line("\u{1b}[31mred"), r"\u{1b}[31mred");
/// assert_eq!(one_line("größe, µm"), "größe, µm");
/// ```
pub fn one_line(text: &str) -> Cow<'_, str> {
    let breaks = |letter: char| {
        letter.is_control()
            || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(breaks) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        if breaks(letter) {
            kept.extend(letter.escape_default());
        } else {
            kept.push(letter);
        }
    }
    Cow::Owned(kept)
}
