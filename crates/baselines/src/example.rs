//! The baseline that the README shows: the median target. It is compiled for the tests alone.

use crate::constant::Number;
use mercer_learning::Method;

pub(crate) const METHOD: Method = Method {
    name: "median",
    title: "median",
    summary: "the median of the training targets",
    formula: "f(x) = the median of y",
    build: &|settings| Number { name: "median", of: median, weighs_rows: false }.build(settings),
    ..crate::mean::METHOD
};

fn median(targets: ndarray::ArrayView1<'_, f64>) -> f64 {
    let mut sorted = targets.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

#[test]
fn it_keeps_the_laws() {
    mercer_learning::conformance::Conformance::of(&METHOD).check().unwrap();
}
