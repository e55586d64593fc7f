/// Quotes a word for a shell where it has to be.
///
/// ```
/// use mercer_datasets::shell_word;
/// assert_eq!(shell_word("data/wine.csv"), "data/wine.csv");
/// assert_eq!(shell_word("two words"), "'two words'");
/// assert_eq!(shell_word("it's"), r"'it'\''s'");
/// ```
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./:=@+%,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
