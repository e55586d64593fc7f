/// A paper, and what came out of it in two sentences: for the first page and the README.
#[derive(Debug, Clone, Copy)]
pub struct Paper {
    /// Its folder in the reports: `askl`.
    pub key: &'static str,
    /// Its short name.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Its authors, by their family names.
    pub authors: &'static str,
    /// Where and when it appeared.
    pub venue: &'static str,
    /// Where it can be read.
    pub link: &'static str,
    /// Its main table in the reports.
    pub table: &'static str,
    /// The words of its methods and variants, in a few sentences.
    pub terms: &'static str,
    /// What came out.
    pub results: [&'static str; 2],
    /// The gain that it stands or falls with.
    pub headline: Headline,
}

/// A claim of a paper with a printed gain.
#[derive(Debug, Clone, Copy)]
pub struct Headline {
    /// `askl-beats-nskl`.
    pub claim: &'static str,
    /// `ASKL over NSKL`.
    pub words: &'static str,
    /// The variants in which our gain is said, each in a word: `("tuned", "tuned")`.
    pub variants: &'static [(&'static str, &'static str)],
}
