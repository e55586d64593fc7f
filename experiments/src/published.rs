use crate::ExperimentError;
use mercer_statistics::Published;
use serde::Deserialize;

/// A printed number.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct PublishedCell {
    /// Dataset, by our name.
    pub dataset: String,
    /// Method, by the paper's name.
    pub method: String,
    /// `accuracy_percent`, `rmse_target_0_100`.
    pub metric: String,
    /// Printed mean.
    pub mean: f64,
    /// Printed deviation; NaN where none is printed.
    #[serde(default = "not_printed")]
    pub std: f64,
    /// The table it stands in, where the file holds several.
    #[serde(default)]
    pub table: String,
    /// What else tells it apart: the part of the data, the target, the number of subsets.
    #[serde(default)]
    pub setting: String,
    /// `best`, `underlined` or nothing.
    #[serde(default)]
    pub mark: String,
    /// Whether it stands in the printed table; false where a run was left out of it.
    #[serde(default = "yes")]
    pub published: bool,
    /// Digits that the paper prints after the point.
    #[serde(default = "two")]
    pub digits: usize,
}

/// A number that a paper prints without a deviation: quoted from others, or stated in its text.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct QuotedNumber {
    /// Dataset, by our name; with a number of rows where the paper cuts it.
    pub dataset: String,
    /// Method, by the paper's name.
    pub method: String,
    /// Percent.
    pub mean: f64,
    /// Where it comes from.
    pub setting: String,
}

fn yes() -> bool {
    true
}

fn two() -> usize {
    2
}

fn not_printed() -> f64 {
    f64::NAN
}

#[derive(Deserialize)]
struct File {
    repeats: usize,
    cell: Vec<Printed>,
    #[serde(default)]
    quoted: Vec<QuotedNumber>,
}

/// A cell of a file: a number, or what the paper prints where it has none.
#[derive(Deserialize)]
#[serde(untagged)]
enum Printed {
    Number(PublishedCell),
    /// `available` is false where the paper prints "/".
    NoNumber {
        available: bool,
    },
}

impl File {
    /// The cells with numbers; none may be claimed and missing.
    fn numbers(self) -> Result<Vec<PublishedCell>, String> {
        let number = |cell| match cell {
            Printed::Number(cell) => Some(Ok(cell)),
            Printed::NoNumber { available: false } => None,
            Printed::NoNumber { available: true } => {
                Some(Err("an available cell needs `mean` and `std`".to_owned()))
            }
        };
        self.cell.into_iter().filter_map(number).collect()
    }
}

impl PublishedCell {
    /// For [`mercer_statistics::verdict`].
    pub fn statistic(&self, repeats: usize) -> Published {
        Published { mean: self.mean, std: self.std, repeats, digits: self.digits }
    }
}

/// An accuracy in percent without a deviation.
impl From<&QuotedNumber> for PublishedCell {
    fn from(number: &QuotedNumber) -> Self {
        Self {
            dataset: number.dataset.clone(),
            method: number.method.clone(),
            metric: "accuracy_percent".to_owned(),
            mean: number.mean,
            std: not_printed(),
            table: String::new(),
            setting: number.setting.clone(),
            mark: String::new(),
            published: true,
            digits: two(),
        }
    }
}

/// The published cells of a paper, with its number of repeats; cells that it prints as "/" are left
/// out.
///
/// # Errors
/// If there is none of that name, or the file does not have its form.
pub fn published(paper: &str) -> Result<(usize, Vec<PublishedCell>), ExperimentError> {
    let file = read(paper)?;
    let repeats = file.repeats;
    Ok((repeats, file.numbers().map_err(|reason| form(paper, reason))?))
}

/// The numbers that a paper prints without a deviation.
///
/// # Errors
/// As [`published`].
pub fn quoted(paper: &str) -> Result<Vec<QuotedNumber>, ExperimentError> {
    Ok(read(paper)?.quoted)
}

fn read(paper: &str) -> Result<File, ExperimentError> {
    let text = match paper {
        "askl" => include_str!("../published/askl.toml"),
        "rftk" => include_str!("../published/rftk.toml"),
        "mce" => include_str!("../published/mce.toml"),
        "hyper" => include_str!("../published/hyper.toml"),
        _ => {
            return Err(ExperimentError::UnknownArtefact {
                name: paper.to_owned(),
                hint: String::new(),
            });
        }
    };
    toml::from_str(text).map_err(|error| form(paper, error.to_string()))
}

fn form(paper: &str, reason: String) -> ExperimentError {
    ExperimentError::Form { file: format!("published/{paper}.toml"), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_paper_is_read() {
        let papers = [("askl", 30, 60), ("rftk", 10, 59), ("hyper", 10, 216), ("mce", 10, 42)];
        for (paper, repeats, numbers) in papers {
            let (found, cells) = published(paper).unwrap();
            assert_eq!((found, cells.len()), (repeats, numbers), "{paper}");
            assert!(cells.iter().all(|cell| cell.mean > 0.0));
            let undeviating = cells.iter().filter(|cell| cell.std.is_nan()).count();
            assert_eq!(undeviating > 0, paper == "hyper", "{paper}: {undeviating}");
        }
        let (_, cells) = published("hyper").unwrap();
        let of_table_2: Vec<_> = cells.iter().filter(|cell| cell.table == "2").collect();
        assert_eq!(of_table_2.len(), 54, "six datasets, nine methods");
        assert!(of_table_2.iter().all(|cell| cell.std >= 0.0));
        assert!(published("none").is_err());
        assert_eq!(quoted("mce").unwrap().len(), 15);
        assert!(published("mce").unwrap().1.iter().all(|cell| cell.digits == 1));
    }

    #[test]
    fn what_was_left_out_and_what_was_not_run_are_told_apart() {
        let (_, cells) = published("rftk").unwrap();
        let of = |dataset: &str| -> Vec<&PublishedCell> {
            cells.iter().filter(|cell| cell.dataset == dataset).collect()
        };
        // Kernel methods stop at 20 000 rows.
        assert_eq!(of("mnist").len(), 3);
        assert_eq!(of("dna").len(), 5);
        assert!(of("dna").iter().all(|cell| cell.published));
        // Vowel was run, and is not in the table.
        assert_eq!(of("vowel").len(), 5);
        assert!(of("vowel").iter().all(|cell| !cell.published));
    }

    #[test]
    fn a_number_without_its_mean_is_refused() {
        let cell = "repeats = 1\n[[cell]]\ndataset = 'd'\nmethod = 'm'\nmetric = 'x'\n";
        let read = |more: &str| {
            let file: File = toml::from_str(&format!("{cell}{more}")).ok()?;
            file.numbers().ok().map(|numbers| numbers.len())
        };
        assert_eq!(read("mean = 1.0\nstd = 0.0"), Some(1));
        assert_eq!(read("available = false"), Some(0));
        assert_eq!((read("available = true"), read("std = 1.0")), (None, None));
        assert_eq!(read("mean = 1.0"), Some(1));
    }
}
