//! What a claim speaks of in one variant: cells and their curves.

use super::Claim;
use crate::cell::StudyCell;
use crate::{Catalogue, ExperimentError, RenderContext};
use mercer_harness::Spec;
use mercer_records::Record;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A method as a claim names it: `METHOD`, `VARIANT:METHOD` or `STUDY:VARIANT:METHOD`. What is left out is that of the
/// claim and of the variant in which it is checked.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Place {
    /// The study, if another.
    pub study: Option<String>,
    /// The variant, if another.
    pub variant: Option<String>,
    /// The method.
    pub method: String,
}

impl TryFrom<String> for Place {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let parts: Vec<&str> = text.split(':').collect();
        let (study, variant, method) = match parts[..] {
            [method] => (None, None, method),
            [variant, method] => (None, Some(variant), method),
            [study, variant, method] => (Some(study), Some(variant), method),
            _ => {
                return Err(format!(
                    "`{text}` is no METHOD, VARIANT:METHOD or STUDY:VARIANT:METHOD"
                ));
            }
        };
        let owned = |part: Option<&str>| part.map(str::to_owned);
        Ok(Self { study: owned(study), variant: owned(variant), method: method.to_owned() })
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        [&self.study, &self.variant]
            .into_iter()
            .flatten()
            .try_for_each(|part| write!(f, "{part}:"))?;
        f.write_str(&self.method)
    }
}

/// A side of a comparison: one place, or a place for each variant. In a variant without one there is no such side.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Side {
    /// The same in every variant.
    Same(Place),
    /// By the variant in which the claim is checked.
    By(BTreeMap<String, Place>),
}

impl Side {
    /// In this variant.
    pub(super) fn place(&self, variant: &str) -> Option<&Place> {
        match self {
            Self::Same(place) => Some(place),
            Self::By(places) => places.get(variant),
        }
    }

    /// The method, if it is one of the variant in which the claim is checked.
    pub(super) fn here(&self) -> Option<&str> {
        match self {
            Self::Same(Place { study: None, variant: None, method }) => Some(method),
            _ => None,
        }
    }

    /// The variants for which it names a place of their own.
    pub(super) fn variants(&self) -> impl Iterator<Item = &String> {
        let by = match self {
            Self::Same(_) => None,
            Self::By(places) => Some(places.keys()),
        };
        by.into_iter().flatten()
    }

    /// All places.
    pub(super) fn places(&self) -> Vec<&Place> {
        match self {
            Self::Same(place) => vec![place],
            Self::By(places) => places.values().collect(),
        }
    }
}

/// Step to value, of one repeat.
pub(super) type Curve = BTreeMap<u64, f64>;

/// Studies by name.
pub(super) type Studies = BTreeMap<String, Arc<(Spec, Vec<StudyCell>)>>;

/// A claim in one of its variants, with the cells that there are.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub catalogue: &'a Catalogue,
    pub claim: &'a Claim,
    pub variant: &'a str,
    pub studies: &'a Studies,
}

impl<'a> Scope<'a> {
    /// The studies that a claim speaks of.
    ///
    /// # Errors
    /// Of a study.
    pub fn studies(context: &RenderContext<'_>, claim: &Claim) -> Result<Studies, ExperimentError> {
        let sides = claim.check.sides();
        let others =
            sides.iter().flat_map(|side| side.places()).filter_map(|place| place.study.as_ref());
        let names = std::iter::once(&claim.study).chain(others);
        names.map(|name| Ok((name.clone(), context.cells(name)?))).collect()
    }

    /// The cells of a variant, in the datasets that the claim speaks of.
    fn of_variant(self, study: &str, variant: &str) -> impl Iterator<Item = &'a StudyCell> {
        let Claim { datasets, without, .. } = self.claim;
        // Some rows of a dataset are not one, unless they are asked for by name.
        let asked = |cell: &StudyCell| {
            let all = datasets.is_empty() && cell.subset_of().is_none();
            all || datasets.contains(&cell.key().dataset)
        };
        let cells = self.studies.get(study).map_or(&[][..], |study| &study.1);
        cells.iter().filter(move |cell| {
            let key = cell.key();
            key.variant == variant && asked(cell) && !without.contains(&key.dataset)
        })
    }

    /// The cells of a side, dataset by dataset; none in a variant for which it names no place.
    pub fn cells(self, side: &Side) -> Vec<&'a StudyCell> {
        let Some(place) = side.place(self.variant) else { return Vec::new() };
        let study = place.study.as_deref().unwrap_or(&self.claim.study);
        let variant = place.variant.as_deref().unwrap_or(self.variant);
        self.of_variant(study, variant).filter(|cell| cell.key().method == place.method).collect()
    }

    /// The datasets: those that the claim names, or all.
    pub fn datasets(self) -> Vec<&'a str> {
        let named = &self.claim.datasets;
        if !named.is_empty() {
            return named.iter().map(String::as_str).collect();
        }
        let mut all: Vec<&str> = Vec::new();
        for cell in self.of_variant(&self.claim.study, self.variant) {
            if !all.contains(&cell.key().dataset.as_str()) {
                all.push(&cell.key().dataset);
            }
        }
        all
    }

    /// The cells of both sides of each dataset that has scores of both; none where it has not.
    pub fn pairs(self, sides: [&Side; 2]) -> Vec<(&'a str, Option<[&'a StudyCell; 2]>)> {
        let [first, second] = sides.map(|side| self.cells(side));
        let pair = |dataset: &str| Some([scored(&first, dataset)?, scored(&second, dataset)?]);
        self.datasets().into_iter().map(|dataset| (dataset, pair(dataset))).collect()
    }

    /// The curves of a value, repeat by repeat: a map a cell; repeats without any are not among them.
    pub fn by_repeat(
        self,
        method: &Side,
        value: &str,
    ) -> Vec<(&'a StudyCell, BTreeMap<u32, Curve>)> {
        let curves = |cell: &'a StudyCell| {
            let curves = cell.records().map(|record| (record.key.repeat, curve(record, value)));
            (cell, curves.filter(|(_, curve)| !curve.is_empty()).collect::<BTreeMap<_, _>>())
        };
        let all = self.cells(method).into_iter().map(curves);
        all.filter(|(_, curves)| !curves.is_empty()).collect()
    }

    /// All of these curves, one a repeat and dataset, and the ratio behind an interval of their mean.
    pub fn curves(self, method: &Side, value: &str) -> (Vec<Curve>, f64) {
        let all = self.by_repeat(method, value);
        let ratio = ratio(all.iter().map(|(cell, _)| *cell), value);
        (all.into_iter().flat_map(|(_, curves)| curves.into_values()).collect(), ratio)
    }
}

/// The cell of a dataset among these, if it has a score.
pub(super) fn scored<'a>(cells: &[&'a StudyCell], dataset: &str) -> Option<&'a StudyCell> {
    let found = cells.iter().copied().find(|cell| cell.key().dataset == dataset);
    found.filter(|cell| cell.score().is_some())
}

/// `n_test / n_train` behind numbers of several datasets, the largest of them: repeats whose training rows overlap are
/// not independent. Of k datasets, whose splits have nothing in common, a kth.
pub(super) fn ratio<'a>(cells: impl Iterator<Item = &'a StudyCell>, value: &str) -> f64 {
    let ratios: Vec<f64> = cells.map(|cell| cell.ratio_of(value)).collect();
    ratios.iter().copied().fold(0.0, f64::max) / ratios.len().max(1) as f64
}

/// The values of a record by step.
pub(super) fn curve(record: &Record, value: &str) -> Curve {
    let points = record.result.curve.iter();
    points.filter_map(|point| Some((point.step, *point.values.get(value)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_names_what_differs_from_the_claims_variant() {
        let of = |text: &str| Place::try_from(text.to_owned());
        let parts = |text: &str| of(text).map(|place| (place.study, place.variant, place.method));
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(parts("nsk"), Ok((None, None, "nsk".to_owned())));
        assert_eq!(parts("released:nsk"), Ok((None, some("released"), "nsk".to_owned())));
        let whole = Ok((some("askl/table2"), some("released"), "nsk".to_owned()));
        assert_eq!(parts("askl/table2:released:nsk"), whole);
        assert_eq!(of("released:nsk").unwrap().to_string(), "released:nsk");
        assert!(of("a:b:c:d").unwrap_err().contains("STUDY:VARIANT:METHOD"));
        let by = Side::By([("printed".to_owned(), of("control:nsk").unwrap())].into());
        assert_eq!((by.place("released"), by.here()), (None, None));
        assert_eq!(by.place("printed").unwrap().variant, some("control"));
        assert_eq!(Side::Same(of("nsk").unwrap()).here(), Some("nsk"));
    }
}
