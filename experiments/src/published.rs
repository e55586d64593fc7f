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
    /// Printed deviation.
    pub std: f64,
    /// `best`, `underlined` or nothing.
    #[serde(default)]
    pub mark: String,
}

#[derive(Deserialize)]
struct File {
    repeats: usize,
    cell: Vec<PublishedCell>,
}

impl PublishedCell {
    /// For [`mercer_statistics::verdict`]: the paper prints two decimals.
    pub fn statistic(&self, repeats: usize) -> Published {
        Published { mean: self.mean, std: self.std, repeats, digits: 2 }
    }
}

/// The published cells of a paper, with its number of repeats.
///
/// # Errors
/// If there is none of that name, or the file does not have its form.
pub fn published(paper: &str) -> Result<(usize, Vec<PublishedCell>), ExperimentError> {
    let text = match paper {
        "askl" => include_str!("../published/askl.toml"),
        _ => {
            return Err(ExperimentError::UnknownArtefact {
                name: paper.to_owned(),
                hint: String::new(),
            });
        }
    };
    let file: File = toml::from_str(text).map_err(|error| ExperimentError::Form {
        file: format!("published/{paper}.toml"),
        reason: error.to_string(),
    })?;
    Ok((file.repeats, file.cell))
}
