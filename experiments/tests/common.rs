//! What several tests need: plans, labels of printed cells, the committed records.

use mercer_harness::{Selection, Spec, Trial, plan};
use mercer_learning::Method;
use mercer_report::RecordSet;

pub(crate) fn planned(spec: &Spec, methods: &[Method], profile: &str) -> Vec<Trial> {
    plan(spec, methods, profile, &Selection::default(), &|_| None).unwrap()
}

/// What the numbers of one cell are called in the table that judges several on the same methods.
pub(crate) fn labels(artefact: &str) -> Vec<String> {
    if artefact != "hyper/table1" {
        return vec![String::new()];
    }
    let mut all = Vec::new();
    for way in ["known kernel", "Pan2017", "hyper-KRR", "hyper-SVR"] {
        for target in ["gaussian", "log"] {
            for number in ["rmse", "unlabelled", "test"] {
                all.push(format!("{way}, {target} kernel, {number}"));
            }
        }
    }
    all
}

/// The records of the reference run.
pub(crate) fn committed() -> RecordSet {
    let mut records = RecordSet::new();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../reports/records");
    records.add_archive(&folder);
    records
}
