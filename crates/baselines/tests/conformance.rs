//! Settings that are no defaults keep the laws of `learning::conformance`; the defaults of every method do in
//! `experiments/tests/conformance.rs`.

use mercer_baselines::BASELINES;
use mercer_learning::Settings;
use mercer_learning::conformance::Conformance;

#[test]
fn both_ways_to_many_classes_conform() {
    let svm = mercer_learning::find(BASELINES, "gaussian-svm").unwrap();
    for multiclass in ["one-versus-one", "one-versus-rest"] {
        Conformance::of(svm).with(Settings::new().with("multiclass", multiclass)).check().unwrap();
    }
}
