use crate::{Catalogue, ExperimentError};
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

impl Catalogue {
    /// The published cells of a paper, with its number of repeats; cells that it prints as "/" are left
    /// out.
    ///
    /// # Errors
    /// If there is none of that name, or the file does not have its form.
    pub fn published(&self, paper: &str) -> Result<(usize, Vec<PublishedCell>), ExperimentError> {
        let file = self.read(paper)?;
        let repeats = file.repeats;
        Ok((repeats, file.numbers().map_err(|reason| form(paper, reason))?))
    }

    /// Both of these, the quoted ones without a deviation.
    ///
    /// # Errors
    /// As [`Catalogue::published`].
    pub(crate) fn all_printed(&self, paper: &str) -> Result<Vec<PublishedCell>, ExperimentError> {
        let file = self.read(paper)?;
        let quoted: Vec<PublishedCell> = file.quoted.iter().map(PublishedCell::from).collect();
        let mut all = file.numbers().map_err(|reason| form(paper, reason))?;
        all.extend(quoted);
        Ok(all)
    }

    /// The numbers that a paper prints without a deviation.
    ///
    /// # Errors
    /// As [`Catalogue::published`].
    pub fn quoted(&self, paper: &str) -> Result<Vec<QuotedNumber>, ExperimentError> {
        Ok(self.read(paper)?.quoted)
    }

    fn read(&self, paper: &str) -> Result<File, ExperimentError> {
        let text = self.printed(paper).ok_or_else(|| ExperimentError::UnknownArtefact {
            name: paper.to_owned(),
            hint: String::new(),
        })?;
        toml::from_str(text).map_err(|error| form(paper, error.to_string()))
    }
}

fn form(paper: &str, reason: String) -> ExperimentError {
    ExperimentError::Form { file: format!("published/{paper}.toml"), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

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
