//! Small tables that went wrong, in `tests/cases`: each folder is a kind of fault.

use crate::place::Place;

fn place_of(case: &str) -> Place {
    let place = Place::new();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(case);
    for file in std::fs::read_dir(&folder).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), place.path(&file.file_name().to_string_lossy())).unwrap();
    }
    place
}

/// A search on fewer rows, or a fit of at most so many, drew them without regard to class: "all 100 training
/// rows belong to one class".
#[test]
fn tune_keeps_a_class_of_one_row_in_a_hundred() {
    let place = place_of("29-tune-rare-class");
    for (method, seed) in
        [("gaussian-svm", 1), ("gaussian-svm", 2), ("kernel-ridge", 1), ("kta", 1)]
    {
        let tuned = place.run(&format!(
            "tune --method {method} --data one-percent.csv --target k --budget 9 --seed {seed}"
        ));
        tuned.with_code(0);
    }
    let many =
        place.run("fit --method kernel-ridge --data multi.csv --target k --set cap=40 --out m");
    many.with_code(0);
}
