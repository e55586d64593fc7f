//! Every baseline keeps the laws of `learning::conformance`.

use mercer_baselines::BASELINES;
use mercer_learning::Settings;
use mercer_learning::conformance::{Conformance, distinct_names};

#[test]
fn every_baseline_conforms() {
    distinct_names(BASELINES).unwrap();
    for method in BASELINES {
        let laws = Conformance::of(method);
        // Convolutions on two pixels take a smaller network.
        let cnn = Settings::new().with("features", 32).with("epochs", 60).with("rate", 0.003);
        let laws = if method.name == "softmax-cnn" { laws.with(cnn) } else { laws };
        if let Err(violation) = laws.check() {
            panic!("{violation}");
        }
    }
}

#[test]
fn both_ways_to_many_classes_conform() {
    let svm = mercer_learning::find(BASELINES, "gaussian-svm").unwrap();
    for multiclass in ["one-versus-one", "one-versus-rest"] {
        Conformance::of(svm).with(Settings::new().with("multiclass", multiclass)).check().unwrap();
    }
}
