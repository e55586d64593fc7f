//! The baseline that the README shows: the median target. It is compiled for the tests alone.

use statrs::statistics::{Data, OrderStatistics};

pub(crate) const METHOD: mercer_learning::Method = mercer_learning::Method {
    name: "median",
    title: "median",
    summary: "the median of the training targets",
    formula: "f(x) = the median of y",
    build: &|settings| {
        let of = |y: ndarray::ArrayView1<'_, f64>| Data::new(y.to_vec()).median();
        crate::constant::Number { name: "median", of, weighs_rows: false }.build(settings)
    },
    ..crate::mean::METHOD
};

#[test]
fn it_keeps_the_laws() {
    mercer_learning::conformance::Conformance::of(&METHOD).check().unwrap();
}
