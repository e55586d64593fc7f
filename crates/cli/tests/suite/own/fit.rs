//! What a fit says and keeps.

use super::{QUICK, place_with, rare, toys};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Stdio;

#[test]
fn a_fit_that_does_not_converge_says_so_everywhere() {
    let mut text = "x,y\n".to_owned();
    for i in 0..80 {
        // Every row twice, with different targets.
        writeln!(text, "{},{}", i % 40, (f64::from(i) * 2.399).sin()).unwrap();
    }
    let place = place_with(&[("twice.csv", &text)]);
    let method = "kernel-ridgeless --set solver=iterative --set landmarks=10";
    let fit = place.run(&format!("fit --method {method} --data twice.csv --out twice.model"));
    let fit = fit.with_code(0);
    assert!(fit.stderr.contains("kernel-ridgeless: not converged: residual"), "{fit:?}");
    let data = "--data twice.csv --target y --folds 2 --repeats 1";
    let scored = place.run(&format!("evaluate --method {method} {data} --json")).with_code(0);
    assert!(scored.stderr.contains("not converged"), "{scored:?}");
    let notes = scored.json()["notes"].to_string();
    assert_eq!(notes.matches("not converged").count(), 1, "{notes}");
    let method = method.replacen(' ', ",mean ", 1);
    let compared = place.run(&format!("compare --methods {method} {data}"));
    assert!(compared.stderr.contains("kernel-ridgeless, on all 2 splits: not converged"));
}

/// The settings that are named are those of the method, and what a fit of unknown residual leaves is a model.
#[test]
fn what_to_do_about_an_open_end_is_said_in_the_words_of_the_method() {
    let mut text = "x,z,kind\n".to_owned();
    for i in 0..60 {
        let (x, z) = ((f64::from(i) * 0.618).sin(), (f64::from(i) * 2.399).sin());
        writeln!(text, "{x},{z},{}", if x * z > 0.0 { "a" } else { "b" }).unwrap();
    }
    let place = place_with(&[("toys.csv", &text)]);
    let line = "fit --method dank --set steps=1 --data toys.csv --out m";
    let fit = place.run(line).with_code(0);
    let said = "not converged after 1 iteration; take more `steps`, or a larger `tolerance`";
    assert!(fit.stderr.contains(said), "{fit:?}");
    let info = place.run("info m").with_code(0).stdout;
    assert!(info.contains(said), "{info}");
    place.run("predict m --data toys.csv").with_code(0);
}

/// Of 90 rows only two are different: what the solution leaves out is said where it is told of.
#[test]
fn a_solution_of_lower_rank_says_so() {
    let mut text = "x,y\n".to_owned();
    for i in 0..90 {
        writeln!(text, "{},{}.5", i % 2, i % 5).unwrap();
    }
    let place = place_with(&[("twice.csv", &text)]);
    let line = "fit --method kernel-ridge --data twice.csv --out m --task regression";
    let fit = place.run(&format!("{line} --set lambda=0")).with_code(0).stdout;
    assert!(fit.contains("solved: rank 2 of 90: what is at or below"), "{fit}");
    let info = place.run("info m").with_code(0).stdout;
    assert!(info.contains("solved         rank 2 of 90: what is at or below"), "{info}");
    let fit = place.run(&format!("{line} --force --set lambda=0.1")).with_code(0).stdout;
    assert!(!fit.contains("solved:"), "{fit}");
}

/// Numbers beyond those of the fit are said with the column and the width; frequencies that ran away, as
/// such; and no rate is blamed for what it has nothing to do with.
#[test]
fn what_overflows_is_said_with_its_column_and_the_width() {
    let mut text = "near,far,y\n".to_owned();
    for i in 0..40 {
        let wave = |k: u32| (f64::from(i * k) * 0.618).sin();
        writeln!(text, "{},{}e200,{}", wave(31), wave(17), wave(31) + wave(17)).unwrap();
    }
    let place = place_with(&[("far.csv", &text), ("near.csv", &text.replace("e200", ""))]);
    for method in ["rf-sgd", "rftk", "kernel-ridge"] {
        let line = format!("fit --method {method} --data far.csv --scale none --out m");
        let told = place.run(&line).with_code(1).stderr;
        assert!(told.contains("overflow") && told.contains("column `far`"), "{told}");
        assert!(told.contains("`std` is 0.707") && told.contains("scale the inputs"), "{told}");
    }
    let rftk = "fit --method rftk --set features=50 --set epochs=5 --data near.csv --out m --force";
    let told = place.run(&format!("{rftk} --set std=1e60")).with_code(1).stderr;
    assert!(told.contains("`std` is 1e60") && !told.contains("rate"), "{told}");
    let told = place.run(&format!("{rftk} --set frequency_rate=1e30")).with_code(0).stderr;
    assert!(told.contains("are cosines of angles so large"), "{told}");
    assert!(told.contains("--set frequency_rate="), "{told}");
    assert!(!place.run(rftk).with_code(0).stderr.contains("cosines"));
}

#[test]
fn a_model_is_fitted_told_about_evaluated_and_predicts_the_labels_as_they_were() {
    let place = place_with(&[
        ("toys.csv", &toys(90)),
        ("new.csv", "size,weight,colour\n5.1,15,red\n0.9,11,blue\n"),
    ]);
    let fit = place
        .run(&format!("fit --method askl --data toys.csv {QUICK} --out toys.model"))
        .with_code(0);
    assert!(fit.stdout.contains("askl fitted to 90 rows of toys.csv"), "{fit:?}");
    let csv = place.run("predict toys.model --data new.csv").with_code(0);
    assert_eq!(csv.stdout, "prediction\n\"box, big\"\nball\n");
    let json = place.run("predict --model toys.model --data new.csv --json").with_code(0).json();
    assert_eq!(json[0]["prediction"], "box, big");
    // The same rows with the target, one thread, and from standard input.
    let all = place.run("predict toys.model --data toys.csv --threads 1").with_code(0).stdout;
    let mut child = place
        .command("predict toys.model --data -")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(toys(90).as_bytes()).unwrap();
    assert_eq!(String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap(), all);
    let scored = place.run("evaluate toys.model --data toys.csv --json").with_code(0).json();
    assert_eq!(scored["metrics"]["accuracy"], 1.0);
    let info = place.run("info toys.model --json").with_code(0).json();
    assert_eq!(info["method"], "askl");
    assert_eq!(info["data"]["rows"], 90);
    assert_eq!(info["schema"]["target"]["labels"][2], "cone");
    assert_eq!(info["training"]["accuracy"], 1.0);
    assert!(place.run("info toys.model").with_code(0).stdout.contains("colour (2 categories)"));
    // The same words give the same bytes.
    place.run(&format!("fit --method askl --data toys.csv {QUICK} --out again.model")).with_code(0);
    let bytes = |name| std::fs::read(place.path(name)).unwrap();
    assert_eq!(bytes("toys.model"), bytes("again.model"));
}

#[test]
fn numbers_are_predicted_in_their_own_units() {
    let place = place_with(&[("toys.csv", &toys(90))]);
    let line = "--data toys.csv --target weight --impute mean";
    place.run(&format!("fit --method kernel-ridge {line} --out w.model")).with_code(0);
    let found = place.run("predict w.model --data toys.csv").with_code(0).stdout;
    let first: f64 = found.lines().nth(1).unwrap().parse().unwrap();
    assert!((10.0..20.0).contains(&first), "{first}");
    let evaluation = place
        .run(&format!("evaluate --method kernel-ridge {line} --holdout 0.3 --json"))
        .with_code(0)
        .json();
    let rmse = evaluation["metrics"]["rmse"].as_f64().unwrap();
    assert!(rmse > 0.0 && rmse < 10.0, "{evaluation}");
    let mean = place.run(&format!("evaluate --method mean {line} --json")).with_code(0).json();
    assert!(mean["estimates"]["rmse"]["interval"][0].is_f64(), "{mean}");
    assert!(mean["metrics"]["r2"].as_f64().unwrap() < 0.1, "{mean}");
    let told = place.run("predict w.model --data toys.csv --proba").with_code(2);
    assert!(told.stderr.contains("no probabilities"), "{told:?}");
}

/// Probabilities of a method that has none are learned from rows held out, kept in the model, and say the truth about
/// as well as they claim; a threshold by balanced accuracy finds the rare class.
#[test]
fn calibration_and_threshold_are_learned_and_kept() {
    let place = place_with(&[("rare.csv", &rare(240)), ("toys.csv", &toys(60))]);
    let fit = "fit --method gaussian-svm --data rare.csv --force --out";
    place.run(&format!("{fit} plain")).with_code(0);
    place.run("predict plain --data rare.csv --proba").with_code(2);
    let fitted =
        place.run(&format!("{fit} m --calibrate --threshold balanced-accuracy")).with_code(0);
    assert!(fitted.stdout.contains("adjusted: probabilities 1/(1 + exp(-("), "{fitted:?}");
    assert!(place.run("info m").with_code(0).stdout.contains("(balanced-accuracy 0."));
    let model = place.run("info m --json").with_code(0).json();
    let sigmoid = &model["adjustment"]["calibration"]["sigmoid"];
    assert!(sigmoid["slope"].as_f64().unwrap() > 0.0, "{model}");
    let at = model["adjustment"]["threshold"]["at"].as_f64().unwrap();
    let predicted = place.run("predict m --data rare.csv --proba --json").with_code(0).json();
    let mut sum = 0.0;
    for row in predicted.as_array().unwrap() {
        let usual = row["probabilities"]["usual"].as_f64().unwrap();
        assert_eq!(row["prediction"] == "usual", usual > at, "{row}");
        sum += usual / 240.0;
    }
    // Five rows in six are usual.
    assert!((sum - 5.0 / 6.0).abs() < 0.05, "{sum}");
    let scored = |rest: &str| {
        let line = format!(
            "evaluate --method gaussian-svm --data rare.csv --folds 4 --repeats 1 --json {rest}"
        );
        place.run(&line).with_code(0).json()["metrics"].clone()
    };
    let (plain, moved) = (scored(""), scored("--threshold balanced-accuracy --calibrate"));
    let balanced = |of: &serde_json::Value| of["balanced-accuracy"].as_f64().unwrap();
    assert!(balanced(&moved) > balanced(&plain), "{moved} {plain}");
    assert!(plain["brier"].is_null() && moved["brier"].is_f64(), "{moved} {plain}");
    // The shares of the classes alone have a Brier score of 2 (1/6) (5/6).
    assert!(moved["brier"].as_f64().unwrap() < 2.0 * 5.0 / 36.0, "{moved}");
    let three = "fit --method kernel-ridge --data toys.csv --force --out t";
    let fitted = place.run(&format!("{three} --calibrate")).with_code(0);
    assert!(fitted.stdout.contains("probabilities softmax("), "{fitted:?}");
    place.run("predict t --data toys.csv --proba").with_code(0);
    for (line, told) in [
        (format!("{three} --threshold f1"), "`threshold` is given for a target of 3 classes"),
        (
            format!("{fit} b --threshold auc"),
            "must be one of accuracy, balanced-accuracy, f1, precision",
        ),
        (
            "tune --method gaussian-svm --data rare.csv --calibrate".to_owned(),
            "fit, evaluate or compare",
        ),
        (
            format!("{fit} b --method rf-sgd --calibrate --buffer 9").replacen(
                "--method gaussian-svm",
                "",
                1,
            ),
            "in passes",
        ),
    ] {
        let refused = place.run(&line).with_code(2);
        assert!(refused.stderr.contains(told), "{line}: {refused:?}");
    }
}

/// A fit that takes longer than it may ends and leaves nothing.
#[test]
fn a_fit_stops_at_its_time_limit() {
    let place = place_with(&[("toys.csv", &toys(400))]);
    let line = "fit --method askl --data toys.csv --out m --set epochs=1000000 --max-seconds 0.5";
    let ended = place.run(line).with_code(1);
    assert!(
        ended.stderr.contains("stopped after 0.") && ended.stderr.contains("limit"),
        "{ended:?}"
    );
    assert!(!place.path("m").exists());
    place.run("fit --method askl --data toys.csv --out m --max-seconds 0").with_code(2);
    // One that is in the middle of a step ends a little later.
    let row = |row| format!("{},{}", row % 997, row * 7919 % 10_007);
    let rows = (0..30_000).map(row).collect::<Vec<_>>().join("\n");
    std::fs::write(place.path("long.csv"), format!("x,y\n{rows}")).unwrap();
    let line = "fit --method kernel-ridge --data long.csv --out m --set cap=30000 --set stored_rows=0 \
                --set lambda=1e-9 --max-seconds 1";
    let begun = std::time::Instant::now();
    let ended = place.run(line).with_code(1);
    assert!(ended.stderr.contains("stopped after") && !place.path("m").exists(), "{ended:?}");
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}

/// Rows that a method leaves out are counted where its scores stand.
#[test]
fn rows_that_are_left_out_are_said() {
    let place = place_with(&[("toys.csv", &toys(90))]);
    let line = "--data toys.csv --set cap=30";
    let told = place.run(&format!("fit --method kernel-ridge {line} --out m")).with_code(0);
    assert!(told.stdout.contains("kernel-ridge fitted to 30 of 90 rows"), "{told:?}");
    let note = "kernel-ridge was fitted to 30 of 90 training rows";
    assert!(told.stderr.contains(note), "{told:?}");
    let json = place
        .run(&format!("evaluate --method kernel-ridge {line} --holdout 0.5 --json"))
        .with_code(0)
        .json();
    assert!(json["notes"][0].as_str().unwrap().contains("to 30 of 45 training rows"), "{json}");
    let page = "compare --methods gaussian-svm,kernel-ridge --folds 2 --repeats 1 --report c.html";
    let told = place.run(&format!("{page} {line}")).with_code(0);
    assert!(told.stderr.contains("kernel-ridge was fitted to 30 of 45"), "{told:?}");
    let page = std::fs::read_to_string(place.path("c.html")).unwrap();
    assert!(page.contains("kernel-ridge was fitted to 30 of 45 training rows"));
}

/// What no machine has memory for is refused before anything is allocated.
#[test]
fn what_does_not_fit_is_refused() {
    let place = place_with(&[("toys.csv", &toys(30))]);
    for method in ["askl", "rf-sgd", "rf", "rftk", "rf-ridgeless"] {
        for (size, more) in [("100000000000", ""), ("1000000000000", "--buffer 20")] {
            let line =
                format!("fit --method {method} --data toys.csv --set features={size} {more}");
            let ended = place.run(&line);
            assert_eq!(ended.code, Some(2), "{line}: {ended:?}");
            assert!(ended.stderr.contains("of memory, where"), "{line}: {ended:?}");
        }
    }
    let failing = place.run(
        "compare --methods askl,majority --data toys.csv --set features=1000000000000 --folds 2",
    );
    assert!(failing.stderr.contains("askl failed: needs"), "{failing:?}");
}

/// Noise that an interpolating fit would follow: without a ridge from the user the rows choose one, in
/// memory, in passes and in a search, which begins with it; a ridge that was given holds.
#[test]
fn a_first_run_chooses_its_ridge_by_the_rows() {
    let mut text = "a,b,c,d,e,f,y\n".to_owned();
    let mut many = text.clone();
    for i in 0..240 {
        let wave = |k: u32| (f64::from(i * k) * 0.618).sin();
        for k in [31, 17, 1009, 2003, 3001, 4001] {
            write!(text, "{},", wave(k)).unwrap();
            write!(many, "{},", wave(k)).unwrap();
        }
        let y = wave(31) + 1.5 * wave(7919);
        writeln!(text, "{y}").unwrap();
        writeln!(many, "{}", 1000.0 * y).unwrap();
    }
    let place = place_with(&[("noisy.csv", &text), ("thousandths.csv", &many)]);
    for method in ["kernel-ridge", "rf"] {
        let error = |more: &str| {
            let line = format!("evaluate --method {method} --data noisy.csv --json {more}");
            place.run(&line).with_code(0).json()["metrics"]["rmse"].as_f64().unwrap()
        };
        let (chosen, small) = (error(""), error("--set lambda=1e-6"));
        assert!(chosen < 0.6 * small, "{method}: {chosen}, {small}");
        let line = format!("fit --method {method} --data noisy.csv --out m --force");
        let fit = place.run(&line).with_code(0).stdout;
        assert!(fit.contains("chosen by leave-one-out: lambda 0."), "{fit}");
        // In the target's own unit: the same table in thousandths has an error a million times as large.
        let said = |fit: &str| -> f64 {
            let (_, tail) = fit.split_once("(mean squared error ").unwrap();
            tail.split([')', ';']).next().unwrap().parse().unwrap()
        };
        let line_of_many = line.replace("noisy.csv", "thousandths.csv");
        let many = place.run(&line_of_many).with_code(0).stdout;
        let ratio = said(&many) / said(&fit);
        assert!((ratio / 1e6 - 1.0).abs() < 1e-3, "{method}: {many} {fit}");
        let info = place.run("info m").with_code(0).stdout;
        assert!(info.contains("lambda null (default)"), "{info}");
        let fit = place.run(&format!("{line} --set lambda=0.01")).with_code(0).stdout;
        assert!(!fit.contains("leave-one-out"), "{fit}");
        let fit = place.run(&format!("{line} --set lambda=0.01 --tune --budget 3")).with_code(0);
        assert!(!fit.stdout.contains("leave-one-out"), "{fit:?}");
        let line = format!("tune --method {method} --data noisy.csv --budget 3 --json");
        let tuned = place.run(&line).with_code(0).json();
        assert_eq!(tuned["history"].as_array().unwrap().len(), 3, "{tuned}");
    }
}

/// A first run of hyper-SVR has a `pair_ridge`, which is heeded before `pair_cost`: whoever sets that alone
/// means it, in a fit and in a search; with both, the ridge holds.
#[test]
fn a_setting_that_says_the_same_in_another_way_takes_the_default_away() {
    let place = place_with(&[("toys.csv", &toys(60))]);
    let used = |more: &str| {
        let line = format!("fit --method hyper-svr --data toys.csv --out m --force {more}");
        place.run(&line).with_code(0);
        let info = place.run("info m --json").with_code(0).json();
        let told = |name: &str| info["settings"][name].as_f64();
        let pairs = info["facts"]["objective"].as_f64().unwrap();
        (told("pair_ridge"), told("pair_cost"), pairs)
    };
    let plain = used("");
    assert_eq!(plain.0, Some(1e-4));
    let (small, large) = (used("--set pair_cost=1e-3"), used("--set pair_cost=0.1"));
    assert_eq!((small.0, small.1, large.0), (None, Some(1e-3), None));
    let apart = |a: f64, b: f64| (a - b).abs() > 1e-6 * a.abs();
    assert!(apart(plain.2, small.2) && apart(small.2, large.2), "{plain:?} {small:?} {large:?}");
    // Beside its ridge a cost would not be looked at.
    let line = "fit --method hyper-svr --data toys.csv --out m --force";
    let both = place.run(&format!("{line} --set pair_cost=0.1 --set pair_ridge=0.01")).with_code(2);
    assert!(both.stderr.contains("`pair_cost` would do nothing"), "{both:?}");
    let tuned = used("--set pair_cost=0.1 --tune --budget 3");
    assert_eq!((tuned.0, tuned.1), (None, Some(0.1)));
}

/// A setting that another one puts out of use is refused before anything is fitted; where methods share it,
/// the comparison says of which.
#[test]
fn a_setting_that_would_do_nothing_is_refused() {
    let place = place_with(&[("toys.csv", &toys(40))]);
    for (method, given, hangs_on) in [
        ("mce-median", "epochs=10", "`learning` is objective"),
        ("mce-cv", "lambda=0.1", "`learning` is not cross-validation"),
        ("hyper-svr", "lambda=1", "the method is neither hyper-svr nor hyper-svr-wishart"),
        ("hyper-krr", "cost=3 --set search=folds", "`search` is none"),
        ("sk", "lambda2=1", "the method is askl"),
        ("gaussian-svm", "epsilon=1", "the task is regression"),
        ("cen-1", "masks=one", "`dropout` is not 0"),
    ] {
        for verb in ["fit --out m", "evaluate", "tune --budget 2"] {
            let line = format!("{verb} --method {method} --data toys.csv --set {given}");
            let refused = place.run(&line).with_code(2);
            let words = format!("would do nothing: it counts only where {hangs_on}");
            assert!(refused.stderr.contains(&words), "{line}: {refused:?}");
        }
    }
    let compare = "compare --data toys.csv --folds 2 --repeats 1 --set epochs=3 --methods";
    let both = place.run(&format!("{compare} gmce,mce-median,majority")).with_code(0);
    let all = format!("{}{}", both.stdout, both.stderr);
    assert!(all.contains("`epochs` does nothing in mce-median"), "{all}");
    assert!(all.contains("`epochs` is no setting of majority"), "{all}");
    let none = place.run(&format!("{compare} mce-cv,mce-median")).with_code(2);
    assert!(none.stderr.contains("`epochs` would do nothing"), "{none:?}");
    // A model tells what did nothing in it, in place of a value that looks used.
    place.run("fit --method hyper-krr --data toys.csv --set search=folds --out m").with_code(0);
    let info = place.run("info m").with_code(0).stdout;
    let line = |name: &str| info.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    assert!(!line("settings").contains(" cost 1"), "{info}");
    assert!(line("unused").contains("cost, ") && line("facts").contains("chosen-cost"), "{info}");
    // It is listed with what it hangs on, and not at all where it never counts.
    let listed = place.run("list methods mce-median --json").with_code(0).stdout;
    assert!(listed.contains("Only where `learning` is objective."), "{listed}");
    assert!(!place.run("list methods sk").with_code(0).stdout.contains("lambda2"));
}

/// The matrix of a kernel is divided by rows and columns, tuned inside, not scaled, and gives what the kernel gives.
#[test]
fn a_kernel_matrix_gives_what_its_kernel_gives() {
    let points: Vec<[f64; 2]> =
        (0..60).map(|i| [17, 31].map(|k| (f64::from(i * k) * 0.618).sin())).collect();
    let kind = |[x, z]: [f64; 2]| if x * z > 0.0 { "a" } else { "b" };
    let kernel =
        |[x, z]: [f64; 2], [u, v]: [f64; 2]| (-2.0 * ((x - u).powi(2) + (z - v).powi(2))).exp();
    let head: Vec<String> = (0..60).map(|i| format!("k{i}")).collect();
    let (mut plain, mut matrix) = ("x,z,kind\n".to_owned(), format!("{},kind\n", head.join(",")));
    for &point in &points {
        let values: Vec<String> =
            points.iter().map(|&other| kernel(point, other).to_string()).collect();
        writeln!(plain, "{},{},{}", point[0], point[1], kind(point)).unwrap();
        writeln!(matrix, "{},{}", values.join(","), kind(point)).unwrap();
    }
    let place = place_with(&[("plain.csv", &plain), ("matrix.csv", &matrix)]);
    for (method, more) in
        [("svm", "--set cost=5"), ("krr", "--set lambda=0.001"), ("svm", "--budget 3")]
    {
        let scores = |data: &str, kernel: &str| {
            let line = format!("evaluate --method {method} --data {data} {kernel} {more} --json");
            place.run(&line).with_code(0).json()["splits"].clone()
        };
        let of_matrix = scores("matrix.csv", "--set kernel=precomputed");
        if more != "--budget 3" {
            assert_eq!(of_matrix, scores("plain.csv", "--scale none --set std=2"), "{method}");
        }
    }
    place.run("fit --method svm --data matrix.csv --set kernel=precomputed --out m").with_code(0);
    assert_eq!(place.run("info m --json").json()["chosen"]["scaling"], "none");
    let predicted = place.run("predict m --data matrix.csv").with_code(0);
    assert_eq!(predicted.stdout.lines().count(), 61);
    assert!(
        !place
            .run("fit --method svm --data matrix.csv --set kernel=precomputed --out q")
            .stderr
            .contains("eigenvalues")
    );
    // Distances are symmetric, and no kernel.
    let mut distances = matrix.lines().next().unwrap().to_owned() + "\n";
    for &point in &points {
        let values: Vec<String> = points
            .iter()
            .map(|other| (point[0] - other[0]).hypot(point[1] - other[1]).to_string())
            .collect();
        writeln!(distances, "{},{}", values.join(","), kind(point)).unwrap();
    }
    std::fs::write(place.path("distances.csv"), distances).unwrap();
    let told = place.run("fit --method svm --data distances.csv --set kernel=precomputed --out d");
    assert!(told.stderr.contains("the given matrix has negative eigenvalues"), "{told:?}");
    let wrong = place
        .run("fit --method svm --data plain.csv --set kernel=precomputed --out n")
        .with_code(2);
    assert!(wrong.stderr.contains("the table has 60 rows and 2 inputs"), "{wrong:?}");
    // No number can stand for a kernel that is missing: filling is not offered.
    let matrix = std::fs::read_to_string(place.path("matrix.csv")).unwrap();
    let mut lines: Vec<String> = matrix.lines().map(str::to_owned).collect();
    lines[3] = lines[3].split_once(',').map(|(_, rest)| format!(",{rest}")).unwrap();
    std::fs::write(place.path("hole.csv"), lines.join("\n")).unwrap();
    for command in ["fit --out h", "evaluate", "tune --budget 4"] {
        let (command, rest) = command.split_once(' ').unwrap_or((command, ""));
        let line =
            format!("{command} --method svm --data hole.csv --set kernel=precomputed {rest}");
        let told = place.run(&line).with_code(2).stderr;
        assert!(told.contains("remove each such row and its column"), "{told}");
        assert!(!told.contains("--impute"), "{told}");
    }
    let line = "evaluate --method svm --data matrix.csv --set kernel=precomputed --importance";
    let refused = place.run(line).with_code(2);
    assert!(
        refused.stderr.contains("`importance` is asked for; it must be left out"),
        "{refused:?}"
    );
}

#[test]
fn threads_beyond_the_cores_are_not_begun() {
    let place = place_with(&[("toys.csv", &toys(60))]);
    let cores = std::thread::available_parallelism().unwrap();
    let line = "fit --method askl --data toys.csv --set features=8 --set epochs=1";
    let told = place.run(&format!("{line} --threads 65535 --out m --json")).with_code(0);
    assert!(told.stderr.contains("--threads 65535: this machine has"), "{told:?}");
    assert_eq!(told.json()["threads"], cores.get());
    let told = place.run("predict m --data toys.csv --threads 65535").with_code(0).stderr;
    assert!(told.contains("so many are used"), "{told}");
}
