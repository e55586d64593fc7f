//! The baseline that the README shows: the median target. It is compiled for the tests alone.

use crate::constant::{Constant, NoSettings};
use mercer_learning::{Fitted, Fitting, Learner, LearningError, Method, Sample};

pub(crate) const METHOD: Method = Method {
    name: "median",
    title: "median",
    summary: "the median of the training targets",
    formula: "f(x) = the median of y",
    build: &|settings| {
        settings.read::<NoSettings>("median")?;
        Ok(Box::new(Median))
    },
    ..crate::mean::METHOD
};

struct Median;

impl Learner for Median {
    fn fit(&self, sample: &Sample, _: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
        let mut targets = sample.values().map(|targets| targets.to_vec()).unwrap_or_default();
        targets.sort_by(f64::total_cmp);
        let scores = ndarray::array![targets[targets.len() / 2]];
        Ok(Constant { task: sample.task(), features: sample.features(), scores }.fitted())
    }
}

#[test]
fn it_keeps_the_laws() {
    mercer_learning::conformance::Conformance::of(&METHOD).check().unwrap();
}
