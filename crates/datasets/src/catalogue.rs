use crate::source::Source;
use crate::table::sort_labels;
use crate::{DataError, Kind};
use mercer_learning::Task;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

static BUILTIN: LazyLock<Catalogue> = LazyLock::new(|| {
    Catalogue::parse(include_str!("../../../data/catalogue.toml"))
        .expect("the tests read the catalogue that is compiled in")
});

/// Every dataset of the four papers: the facts against which a file is checked.
///
/// ```
/// use mercer_datasets::Catalogue;
/// let entries = Catalogue::builtin().entries();
/// assert!(entries.windows(2).all(|pair| pair[0].name < pair[1].name));
/// assert_eq!(Catalogue::builtin().find("WINE")?, Catalogue::builtin().find("wine")?);
/// assert!(Catalogue::parse("[[dataset]]\nname = \"half\"").is_err()); // no task, no rows
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Catalogue {
    entries: Vec<Entry>,
}

/// Facts about one dataset.
///
/// ```
/// use mercer_datasets::Catalogue;
/// let letter = Catalogue::builtin().find("letter")?;
/// assert_eq!((letter.rows, letter.features, letter.classes), (20_000, 16, 26));
/// assert_eq!(letter.class_counts.values().sum::<usize>(), letter.rows);
/// assert_eq!(letter.labels()[9..11], ["10", "11"]); // in order of value, not as text
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "RawEntry")]
#[non_exhaustive]
pub struct Entry {
    /// The name by which everything calls it.
    pub name: String,
    /// Its full name.
    pub title: String,
    /// The task, with its number of classes.
    pub task: Task,
    /// Rows `n`, over both parts.
    pub rows: usize,
    /// Input columns `d`.
    pub features: usize,
    /// Number of classes; 0 for regression.
    pub classes: usize,
    /// Rows of each class, by its name; empty for regression.
    pub class_counts: BTreeMap<String, usize>,
    /// Rows of the official parts.
    pub parts: PartSizes,
    /// Official addresses, to read or to download.
    pub urls: Vec<String>,
    /// Who is to be cited.
    pub citation: String,
    /// The licence, as far as it is known.
    pub licence: String,
    /// How labels and categories are coded.
    pub encoding: String,
    /// [`crate::fingerprint`] of the rows; `None` where no copy could be had to compute it from.
    pub fingerprint: Option<String>,
    /// Short names of the papers that use it: `askl`, `rftk`, `hyper`, `mce`.
    pub papers: Vec<String>,
    /// The dataset of a paper that these rows are a subset of. They stand in for it where it is not here.
    pub subset_of: Option<String>,
    /// How the official files are read.
    pub source: Source,
}

/// Rows of the official parts; `test` is 0 where there is no official split.
///
/// ```
/// use mercer_datasets::{Catalogue, PartSizes};
/// let parts = |name| Catalogue::builtin().find(name).map(|entry| entry.parts);
/// assert_eq!(parts("letter")?, PartSizes { train: 15_000, test: 5_000 });
/// assert_eq!(parts("wine")?, PartSizes { train: 178, test: 0 }); // no official split
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartSizes {
    /// Training rows, or all rows.
    pub train: usize,
    /// Test rows.
    #[serde(default)]
    pub test: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEntry {
    name: String,
    title: String,
    task: Kind,
    features: usize,
    parts: PartSizes,
    #[serde(default)]
    class_counts: BTreeMap<String, usize>,
    urls: Vec<String>,
    citation: String,
    licence: String,
    encoding: String,
    fingerprint: Option<String>,
    papers: Vec<String>,
    subset_of: Option<String>,
    source: Source,
}

impl TryFrom<RawEntry> for Entry {
    type Error = String;

    fn try_from(raw: RawEntry) -> Result<Self, String> {
        let rows = raw.parts.train + raw.parts.test;
        let classes = raw.class_counts.len();
        let counted: usize = raw.class_counts.values().sum();
        let task = match raw.task {
            Kind::Regression if classes == 0 => Task::Regression,
            Kind::Classification if classes >= 2 && counted == rows => {
                Task::Classification { classes }
            }
            _ => return Err(format!("`{}`: class counts do not fit task and rows", raw.name)),
        };
        Ok(Self {
            name: raw.name,
            title: raw.title,
            task,
            rows,
            features: raw.features,
            classes,
            class_counts: raw.class_counts,
            parts: raw.parts,
            urls: raw.urls,
            citation: raw.citation,
            licence: raw.licence,
            encoding: raw.encoding,
            fingerprint: raw.fingerprint,
            papers: raw.papers,
            subset_of: raw.subset_of,
            source: raw.source,
        })
    }
}

impl Entry {
    /// Class names in the order of the class indices; empty for regression.
    pub fn labels(&self) -> Vec<String> {
        let mut labels: Vec<String> = self.class_counts.keys().cloned().collect();
        sort_labels(&mut labels);
        labels
    }
}

impl Catalogue {
    /// Returns the catalogue of the project, `data/catalogue.toml`, as compiled in.
    ///
    /// ```
    /// use mercer_datasets::Catalogue;
    /// let wine = Catalogue::builtin().find("wine")?;
    /// assert_eq!((wine.rows, wine.features, wine.classes), (178, 13, 3));
    /// let error = Catalogue::builtin().find("pendigit").unwrap_err();
    /// assert!(error.to_string().contains("did you mean `pendigits`?"));
    /// # Ok::<(), mercer_datasets::DataError>(())
    /// ```
    ///
    /// # Panics
    /// Never: the tests read the same text.
    pub fn builtin() -> &'static Self {
        &BUILTIN
    }

    /// Reads a catalogue; an error is the problem in words.
    ///
    /// # Errors
    /// If it is no such TOML, contradicts itself, or names a dataset twice.
    pub fn parse(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct File {
            schema: u32,
            dataset: Vec<Entry>,
        }
        let File { schema, dataset: entries } =
            toml::from_str(text).map_err(|error| error.to_string())?;
        if schema != 1 {
            return Err(format!("has schema {schema}, but only schema 1 is known"));
        }
        for (at, entry) in entries.iter().enumerate() {
            if entries[..at].iter().any(|other| other.name == entry.name) {
                return Err(format!("names `{}` twice", entry.name));
            }
        }
        Ok(Self { entries })
    }

    /// Returns every dataset, in order of name.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the dataset of that name; case does not matter.
    ///
    /// # Errors
    /// [`DataError::Unknown`], with the nearest name if one is near.
    pub fn find(&self, name: &str) -> Result<&Entry, DataError> {
        let wanted = name.to_lowercase();
        self.entries.iter().find(|entry| entry.name == wanted).ok_or_else(|| {
            let known: Vec<&str> = self.entries.iter().map(|entry| entry.name.as_str()).collect();
            // Or a name that begins with it, or that it begins with.
            let begins = |known: &&str| {
                wanted.len() > 2 && (known.starts_with(&wanted) || wanted.starts_with(*known))
            };
            let near = mercer_learning::nearest(name, &known)
                .or_else(|| known.iter().copied().find(begins));
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            DataError::Unknown { name: name.to_owned(), hint }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogue_is_sorted_and_names_each_paper() {
        let catalogue = Catalogue::builtin();
        assert!(catalogue.entries.is_sorted_by(|a, b| a.name < b.name));
        for entry in &catalogue.entries {
            let somewhere = !entry.urls.is_empty() || entry.source.generated.is_some();
            assert!(!entry.papers.is_empty() && somewhere, "{}", entry.name);
            assert!(entry.fingerprint.as_ref().is_none_or(|hash| hash.len() == 64));
        }
        for (paper, count) in [("askl", 13), ("rftk", 16), ("hyper", 10), ("mce", 8)] {
            let found = catalogue.entries.iter().filter(|e| e.papers.iter().any(|p| p == paper));
            assert_eq!(found.count(), count, "{paper}");
        }
    }

    #[test]
    fn an_unknown_name_gets_a_suggestion_only_if_one_is_near() {
        let near = Catalogue::builtin().find("satimag").unwrap_err().to_string();
        assert!(near.contains("did you mean `satimage`?"), "{near}");
        let part = Catalogue::builtin().find("space").unwrap_err().to_string();
        assert!(part.contains("did you mean `space_ga`?"), "{part}");
        let far = Catalogue::builtin().find("imagenet-21k").unwrap_err().to_string();
        assert!(!far.contains("did you mean"), "{far}");
        let other = Catalogue::builtin().find("imdb").unwrap_err().to_string();
        assert!(!other.contains("did you mean"), "{other}");
        assert_eq!(Catalogue::builtin().find("MNIST").unwrap().name, "mnist");
    }

    #[test]
    fn class_names_are_in_order_of_value() {
        let letter = Catalogue::builtin().find("letter").unwrap().labels();
        assert_eq!(letter.len(), 26);
        assert_eq!(letter[..3], ["1", "2", "3"]);
        assert_eq!(Catalogue::builtin().find("ijcnn1").unwrap().labels(), ["-1", "1"]);
    }
}
