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

/// `NA` may be a word: no alley, Namibia.
#[test]
fn evaluate_keeps_na_as_a_category_where_it_is_asked_to() {
    let place = place_of("03-na-is-a-category");
    let rmse = |rest: &str| {
        let line = format!("evaluate --method kernel-ridge --target price --json {rest}");
        place.run(&line).with_code(0).json()["estimates"]["rmse"]["mean"].as_f64().unwrap()
    };
    let renamed = rmse("--data renamed.csv");
    for kept in ["--keep-na alley,country", "--keep-na alley --keep-na country"] {
        let kept = rmse(&format!("--data houses.csv {kept}"));
        assert!((kept / renamed - 1.0).abs() < 1e-6, "{kept} {renamed}");
    }
    assert!((rmse("--data houses.csv --impute category") / renamed - 1.0).abs() < 1e-6);
    assert!(renamed < 4000.0, "{renamed}");
    let refused = place.run("fit --method mean --data houses.csv --target price --out m");
    let refused = refused.with_code(1);
    assert!(refused.stderr.contains("--keep-na alley"), "{refused:?}");
}

/// U+2212 is a minus; thousands that are kept apart are refused with what to write.
#[test]
fn fit_reads_no_number_as_a_category() {
    let place = place_of("10-unicode-minus");
    let fitted = place.run("fit --method majority --data minus.csv --out m --json").with_code(0);
    for column in fitted.json()["schema"]["columns"].as_array().unwrap() {
        assert_eq!(column["content"]["holds"], "numbers", "{column}");
    }
    for (file, plain) in [
        ("apostrophe.csv", "write 5725"),
        ("narrow-space.csv", "write 5725"),
        ("plain-space.csv", "write 5725"),
        ("comma-minus.csv", "write -6.75"),
        ("comma.csv", "write -6.75"),
    ] {
        let refused = place.run(&format!("fit --method majority --data {file} --out n"));
        let refused = refused.with_code(1);
        assert!(refused.stderr.contains(plain), "{file}: {refused:?}");
    }
}

/// The R² of one row is not defined: that of all rows is, and so is their root mean square.
#[test]
fn evaluate_pools_the_scores_of_leave_one_out() {
    let place = place_of("15-r2-of-one-row");
    let line = "evaluate --method kernel-ridge --data reg.csv --folds 24 --repeats 1 --json";
    let found = place.run(line).with_code(0).json();
    let mean = |name: &str| found["estimates"][name]["mean"].as_f64().unwrap();
    assert!((mean("rmse") - 0.3744).abs() < 5e-4, "{}", mean("rmse"));
    assert!(mean("r2") > 0.5 && mean("r2") < 1.0, "{}", mean("r2"));
    let notes = found["notes"].to_string();
    assert!(notes.contains("`r2` is not defined on 24 of 24 test parts"), "{notes}");
}

#[test]
fn predict_finds_its_columns_by_name() {
    let place = place_of("21-columns-at-predict");
    place.run("fit --method kernel-ridge --data train.csv --out m").with_code(0);
    let predict = |rest: &str| place.run(&format!("predict m --data {rest}"));
    let right = predict("bom.csv").with_code(0).stdout;
    for file in ["swapped.csv", "spaces.csv", "extra.csv --drop id,note"] {
        assert_eq!(predict(file).with_code(0).stdout, right, "{file}");
    }
    let kept = predict("extra.csv --keep id --drop note").with_code(0).stdout;
    let columns: Vec<&str> = kept.lines().collect();
    assert_eq!(columns[0], "id,prediction");
    assert!(columns[1].starts_with("7,") && columns[2].starts_with("8,"), "{kept}");
    for (file, told) in [
        (
            "extra.csv",
            "columns `id`, `note` that the model does not know; remove them, or leave them out (--drop id,note)",
        ),
        ("case.csv", "is it its column `Height`?"),
        ("missing.csv", "no column `weight`"),
        ("extra.csv --drop nota", "did you mean `note`?"),
    ] {
        let refused = predict(file);
        assert!(refused.code != Some(0) && refused.stderr.contains(told), "{file}: {refused:?}");
    }
}

#[test]
fn predict_lets_rows_go_with_a_category_never_seen() {
    let place = place_of("03-na-is-a-category");
    std::fs::write(place.path("t.csv"), "c,x,k\nred,1,a\nblue,2,b\nred,3,a\nblue,4,b\n").unwrap();
    std::fs::write(place.path("new.csv"), "c,x\nred,1\ngreen,2\nblue,2\n").unwrap();
    place.run("fit --method kernel-ridge --data t.csv --out m").with_code(0);
    let refused = place.run("predict m --data new.csv").with_code(1);
    assert!(refused.stderr.contains("--unknown zeros"), "{refused:?}");
    let zeros = place.run("predict m --data new.csv --unknown zeros").with_code(0);
    assert_eq!(zeros.stdout.lines().count(), 4);
    let skipped = place.run("predict m --data new.csv --unknown skip").with_code(0);
    assert_eq!(skipped.stdout, "line,prediction\n2,a\n4,b\n");
}

#[test]
fn svmlight_is_read_as_others_read_it() {
    let place = place_of("19-libsvm-details");
    let fit = |file: &str, rest: &str| {
        place.run(&format!("fit --method kernel-ridge --data {file} --out {file}.m --force {rest}"))
    };
    for file in
        ["plain.svm", "comments.svm", "empty-rows.svm", "float-labels.svm", "tabs-blanks.svm"]
    {
        fit(file, "").with_code(0);
    }
    fit("nan.svm", "--impute mean").with_code(0);
    let refused = fit("nan.svm", "").with_code(1);
    assert!(refused.stderr.contains("--impute mean"), "{refused:?}");
    // Without labels, and what makes a file that has them.
    let plain = std::fs::read_to_string(place.path("plain.svm")).unwrap();
    let bare: Vec<&str> = plain.lines().filter_map(|line| Some(line.split_once(' ')?.1)).collect();
    let bare = bare.join("\n");
    std::fs::write(place.path("bare.svm"), bare).unwrap();
    let predict = |file: &str| place.run(&format!("predict plain.svm.m --data {file}"));
    assert_eq!(predict("bare.svm").with_code(0).stdout, predict("plain.svm").with_code(0).stdout);
    assert_eq!(predict("bare.svm").stdout, predict("unlabelled.svm").stdout);
    std::fs::copy(place.path("plain.svm"), place.path("rows.dat")).unwrap();
    assert_eq!(predict("rows.dat").with_code(0).stdout, predict("plain.svm").stdout);
}

#[test]
fn text_is_read_with_any_separator() {
    let place = place_of("25-blank-separated");
    let shape = |line: &str| {
        let fitted = place.run(&format!("fit --out m --force --json {line}")).with_code(0).json();
        let columns = fitted["schema"]["columns"].as_array().unwrap().len();
        (fitted["data"]["rows"].as_u64().unwrap(), columns)
    };
    let lines =
        |file: &str| std::fs::read_to_string(place.path(file)).unwrap().lines().count() as u64;
    let housing = lines("housing.data");
    assert_eq!(
        shape("--method mean --data housing.data --separator blanks --header no"),
        (housing, 2)
    );
    let tick = lines("tick.txt") - 1;
    let named = "--method majority --drop TICK,PER";
    assert_eq!(shape(&format!("{named} --data tick.txt --separator blanks")), (tick, 2));
    assert_eq!(shape(&format!("{named} --data tick2.csv")), (tick, 2));
    let piped = lines("pipe.csv") - 1;
    assert_eq!(shape("--method majority --data pipe.csv --separator |"), (piped, 2));
    assert_eq!(shape("--method majority --data pipe2.csv"), (piped, 2));
    std::fs::write(place.path("remarks.csv"), "made in May\na,k\n1,u\n% odd\n2,v\n").unwrap();
    assert_eq!(shape("--method majority --data remarks.csv --skip 1 --comment %"), (2, 1));
}

/// Two in a hundred are fraud: accuracy says nothing, and other metrics rank and tune.
#[test]
fn rare_classes_are_scored_ranked_and_tuned_by_other_metrics() {
    let place = place_of("28-imbalance");
    let line =
        "evaluate --method gaussian-process --data t.csv --target k --folds 5 --repeats 1 --json";
    let found = place.run(line).with_code(0).json();
    let auc = found["estimates"]["auc"]["mean"].as_f64().unwrap();
    assert!((auc - 0.896).abs() < 0.04, "{auc}");
    assert!(found["estimates"]["f1"]["mean"].is_f64());
    let rows = |row: usize| {
        found["confusion"][row].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).sum::<u64>()
    };
    let all = std::fs::read_to_string(place.path("t.csv")).unwrap().lines().count() as u64 - 1;
    assert_eq!((rows(0) + rows(1)) % all, 0, "every row is tested as often");
    // A method without probabilities has an order of rows, too.
    let line = "compare --methods gaussian-svm,kernel-ridge,majority --data t.csv --target k --folds 5 \
                --repeats 1 --metric auc --json";
    let compared = place.run(line).with_code(0).json();
    assert_eq!(compared["metric"], "auc");
    let line =
        "tune --method kernel-ridge --data t.csv --target k --metric balanced-accuracy --budget 9";
    let tuned = place.run(line).with_code(0);
    assert!(tuned.stdout.contains("balanced-accuracy"), "{tuned:?}");
    let refused = place.run("tune --method kernel-ridge --data t.csv --target k --metric r2");
    assert!(refused.with_code(2).stderr.contains("one of accuracy, "));
}
