//! How many rows a repeat of Table 2 of ASKL trains and tests on, without the data.

use crate::catalogue;
use mercer_datasets::Catalogue;
use mercer_harness::SplitRule;
use mercer_report::ExperimentError;

/// Training and test rows of one repeat, from the spec's split and the catalogue.
///
/// # Errors
/// If the catalogue does not have the dataset.
pub(crate) fn rows(dataset: &str) -> Result<(usize, usize), ExperimentError> {
    let spec = catalogue().study("askl/table2")?;
    let mut protocol = spec.protocol;
    if let Some(rule) = spec.dataset.get(dataset) {
        protocol = protocol.overridden_by(&rule.protocol);
    }
    let entry = Catalogue::builtin().find(dataset).map_err(|error| ExperimentError::Form {
        file: "data/catalogue.toml".to_owned(),
        reason: error.to_string(),
    })?;
    let parts = entry.parts;
    let random = |share: f64| {
        let train = (share * parts.train as f64).round() as usize;
        (train, parts.train - train)
    };
    Ok(match protocol.split {
        Some(SplitRule::Official { train }) => (train.unwrap_or(parts.train), parts.test),
        Some(SplitRule::Random { train }) => random(train),
        Some(SplitRule::Folds { blocks, .. }) => random(1.0 - 1.0 / blocks as f64),
        None => random(0.8),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the records have them.
    #[test]
    fn rows_are_those_of_the_training_files() {
        assert_eq!(rows("mnist").unwrap(), (54_000, 10_000));
        assert_eq!(rows("letter").unwrap(), (12_000, 3000));
        assert_eq!(rows("segment").unwrap(), (1848, 462));
        assert_eq!(rows("pendigits").unwrap(), (5995, 1499));
        assert!(rows("nowhere").is_err());
    }
}
