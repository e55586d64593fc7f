//! What a model predicts, and what is known of it.

use super::{QUICK, place_with, toys};
use crate::place::Ended;
use std::fmt::Write as _;
use std::process::Stdio;

#[test]
fn probabilities_stand_beside_labels_where_there_are_any() {
    let place = place_with(&[("toys.csv", &toys(30))]);
    place.run("fit --method majority --data toys.csv --out m.model").with_code(0);
    let found = place.run("predict m.model --data toys.csv --proba").with_code(0).stdout;
    assert!(found.starts_with("prediction,p(ball),\"p(box, big)\",p(cone)\nball,0.33"), "{found}");
    let json = place.run("predict m.model --data toys.csv --proba --json").with_code(0).json();
    assert!((json[0]["probabilities"]["cone"].as_f64().unwrap() - 1.0 / 3.0).abs() < 1e-12);
    // Scores that a cross-entropy has fitted are log-odds.
    place
        .run(&format!("fit --method askl --data toys.csv {QUICK} --set loss=cross-entropy --out c"))
        .with_code(0);
    let json = place.run("predict c --data toys.csv --proba --json").with_code(0).json();
    for row in json.as_array().unwrap() {
        let shares: Vec<f64> = row["probabilities"]
            .as_object()
            .unwrap()
            .values()
            .map(|p| p.as_f64().unwrap())
            .collect();
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{row}");
        let largest = row["probabilities"][row["prediction"].as_str().unwrap()].as_f64().unwrap();
        assert!(shares.iter().all(|&share| share <= largest && share >= 0.0), "{row}");
    }
    place.run(&format!("fit --method askl --data toys.csv {QUICK} --out h")).with_code(0);
    let told = place.run("predict h --data toys.csv --proba").with_code(2);
    assert!(told.stderr.contains("fit it again with --set loss=cross-entropy"), "{told:?}");
    // An unknown method is told before an output that exists.
    let slip = place.run("fit --method asql --data toys.csv --out h").with_code(2);
    assert!(slip.stderr.contains("`asql`") && !slip.stderr.contains("exists"), "{slip:?}");
}

#[test]
fn entropies_stand_beside_labels_and_are_those_of_the_probabilities() {
    let place = place_with(&[("toys.csv", &toys(30))]);
    let fit = "--data toys.csv --scale unit-interval --set epochs=30 --out";
    place.run(&format!("fit --method gmce {fit} g")).with_code(0);
    let found = place.run("predict g --data toys.csv --entropy").with_code(0).stdout;
    assert!(found.starts_with("prediction,entropy,embedded-entropy\n"), "{found}");
    let json = place.run("predict g --data toys.csv --proba --entropy --json").with_code(0).json();
    let rows = json.as_array().unwrap();
    let lines: Vec<&str> = found.lines().skip(1).collect();
    assert_eq!(lines.len(), rows.len());
    for (row, line) in rows.iter().zip(lines) {
        let shares = row["probabilities"].as_object().unwrap().values();
        let of = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
        let expected: f64 = shares.map(|p| of(p.as_f64().unwrap())).sum();
        let said = row["entropy"].as_f64().unwrap();
        assert!((said - expected).abs() < 1e-12 && said <= 3f64.ln() + 1e-12, "{row}");
        let embedded = row["embedded-entropy"].as_f64().unwrap();
        assert!(embedded >= 0.0, "{row}");
        let numbers: Vec<f64> = line.rsplit(',').take(2).map(|n| n.parse().unwrap()).collect();
        assert_eq!(numbers, [embedded, said], "{line}");
    }
    // A network's scores are estimates of probabilities, too; log-odds are not.
    place.run(&format!("fit --method cen-1 {fit} c")).with_code(0);
    let found = place.run("predict c --data toys.csv --entropy").with_code(0).stdout;
    assert!(found.starts_with("prediction,entropy,embedded-entropy\n"), "{found}");
    place.run("fit --method majority --data toys.csv --out m").with_code(0);
    let found = place.run("predict m --data toys.csv --entropy").with_code(0).stdout;
    assert!(found.starts_with("prediction,entropy\n"), "{found}");
    // Without probabilities there are none.
    place.run(&format!("fit --method askl --data toys.csv {QUICK} --out h")).with_code(0);
    let told = place.run("predict h --data toys.csv --entropy").with_code(2);
    assert!(told.stderr.contains("no probabilities"), "{told:?}");
}

/// Of numbers a Gaussian process says how sure it is: nine in ten or so lie within 1.64 deviations.
#[test]
fn deviations_stand_beside_numbers_where_there_are_any() {
    let noise = |i: usize| ((i * 7919 % 997) as f64 / 997.0 - 0.5) * 0.6;
    let rows = |from: usize, to: usize| {
        let row = |i: usize| {
            let x = (i * 31 % 200) as f64 / 20.0;
            format!("{x},{}\n", 5.0 + 3.0 * x.sin() + noise(i))
        };
        format!("x,y\n{}", (from..to).map(row).collect::<String>())
    };
    let place = place_with(&[("fit.csv", &rows(0, 120)), ("new.csv", &rows(120, 200))]);
    place.run("fit --method gp --data fit.csv --out m").with_code(0);
    let said = place.run("predict m --data new.csv --deviation").with_code(0).stdout;
    let mut lines = said.lines();
    assert_eq!(lines.next(), Some("prediction,deviation"));
    let truth = rows(120, 200);
    let truths =
        truth.lines().skip(1).map(|line| line.split_once(',').unwrap().1.parse::<f64>().unwrap());
    let within = lines.zip(truths).filter(|(line, truth)| {
        let (value, deviation) = line.split_once(',').unwrap();
        let [value, deviation] = [value, deviation].map(|text| text.parse::<f64>().unwrap());
        assert!((0.05..1.0).contains(&deviation), "{deviation}");
        (value - truth).abs() < 1.64 * deviation
    });
    assert!((64..=80).contains(&within.count()));
    place.run("fit --method kernel-ridge --data fit.csv --out k").with_code(0);
    let told = place.run("predict k --data new.csv --deviation").with_code(1).stderr;
    assert!(
        told.contains("kernel-ridge has no standard deviations; gaussian-process has"),
        "{told}"
    );
}

#[test]
fn labels_come_back_letter_by_letter() {
    let labels = ["01", "1", "007", "7.0", "9007199254740993", "9007199254740992"];
    let rows = (0..60).map(|row| {
        let class = row % labels.len();
        format!("{},{},{}\n", 10 * class, row as f64 * 0.01, labels[class])
    });
    let text = format!("a,b,y\n{}", rows.collect::<String>());
    let place = place_with(&[("t.csv", &text)]);
    let line = "fit --method kernel-ridge --data t.csv --task classification --out m";
    let told = place.run(line).with_code(0);
    assert!(told.stderr.contains("`01` and `1` are one number and two classes"), "{told:?}");
    let said = place.run("predict m --data t.csv").with_code(0).stdout;
    let expected: Vec<&str> = (0..60).map(|row| labels[row % labels.len()]).collect();
    assert_eq!(said, format!("prediction\n{}\n", expected.join("\n")));
}

/// The model, the page and the predictions go where they were meant to, or nowhere.
#[cfg(unix)]
#[test]
fn a_file_is_written_in_its_place_and_never_in_that_of_another_thing() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    let data = toys(30);
    let place = place_with(&[("house.csv", &data), ("old.model", "x")]);
    let line = "fit --method majority --data house.csv --force --out";
    for (out, told) in [
        ("house.csv", "house.csv: is what is read here; name another file"),
        ("./house.csv", "is what is read here"),
        ("/dev/full", "/dev/full: is a device, a pipe or a socket"),
        (".", "is a folder"),
        ("none/m", "none/m: the folder does not exist; create it"),
    ] {
        let ended = place.run(&format!("{line} {out}")).with_code(2);
        assert!(ended.stderr.contains(told), "{ended:?}");
    }
    place.run("predict house.csv --data house.csv --out house.csv --force").with_code(2);
    let compare = "compare --methods majority,kernel-ridge --data house.csv --report house.csv";
    place.run(&format!("{compare} --force")).with_code(2);
    assert_eq!(std::fs::read_to_string(place.path("house.csv")).unwrap(), data);
    assert!(std::fs::metadata("/dev/full").unwrap().file_type().is_char_device());
    // A link stays one, and what it leads to is written.
    symlink(place.path("old.model"), place.path("link")).unwrap();
    let mode =
        |name: &str| std::fs::metadata(place.path(name)).unwrap().permissions().mode() & 0o777;
    std::fs::set_permissions(place.path("old.model"), PermissionsExt::from_mode(0o640)).unwrap();
    place.run(&format!("{line} link")).with_code(0);
    assert!(std::fs::symlink_metadata(place.path("link")).unwrap().is_symlink());
    assert!(std::fs::read(place.path("old.model")).unwrap().len() > 100);
    assert_eq!(mode("old.model"), 0o640, "what is overwritten keeps its permissions");
    symlink("nowhere", place.path("dangling")).unwrap();
    place.run(&format!("{line} dangling")).with_code(2);
    // A new file has the permissions that other programs' files have here.
    place.run(&format!("{line} new.model")).with_code(0);
    std::fs::write(place.path("plain"), "x").unwrap();
    assert_eq!(mode("new.model"), mode("plain"));
    place.run("predict new.model --data house.csv --out p.csv").with_code(0);
    assert_eq!(mode("p.csv"), mode("plain"));
    // A disk that is full is named with the file.
    let ended = place.run("predict new.model --data house.csv --out /dev/full --force");
    assert_eq!(ended.code, Some(2), "{ended:?}");
}

/// A model is what it is: what is decided when one is fitted is refused beside it, not overheard.
#[test]
fn a_model_is_scored_as_it_is_and_its_own_rows_are_called_so() {
    let place = place_with(&[("toys.csv", &toys(60)), ("more.csv", &toys(75))]);
    place.run("fit --method majority --data toys.csv --out m").with_code(0);
    for words in
        ["--folds 3", "--tune", "--impute mean", "--target size", "--holdout 0.5", "--set a=1"]
    {
        let ended = place.run(&format!("evaluate m --data toys.csv {words}")).with_code(2);
        assert!(ended.stderr.contains("cannot be used with"), "{ended:?}");
        place.run(&format!("evaluate --model m --data toys.csv {words}")).with_code(2);
    }
    let told = place.run("evaluate m --data toys.csv --json").with_code(0);
    assert!(told.stderr.contains("is the file that the model was fitted to"), "{told:?}");
    let how = told.json()["splitting"].as_str().unwrap().to_owned();
    assert!(how.ends_with("they are its training rows"), "{how}");
    let told = place.run("evaluate m --data more.csv --threads 1 --json").with_code(0);
    assert!(!told.stderr.contains("fitted to"), "{told:?}");
}

#[test]
fn a_damaged_model_is_refused() {
    let place = place_with(&[("toys.csv", &toys(12))]);
    place.run("fit --method kernel-ridge --data toys.csv --out toys.model").with_code(0);
    let whole = std::fs::read(place.path("toys.model")).unwrap();
    let refused = |bytes: &[u8], told: &str| {
        std::fs::write(place.path("bad.model"), bytes).unwrap();
        let ended = place.run("predict bad.model --data toys.csv").with_code(1);
        assert!(ended.stderr.contains(told), "{ended:?}");
    };
    refused(&whole[..whole.len() - 1], "cut short");
    refused(&whole[..20], "cut short");
    refused(b"", "is empty");
    let mut edited = whole.clone();
    *edited.last_mut().unwrap() ^= 1;
    refused(&edited, "its check sum does not match");
    // A later major format says so before its header is looked at.
    let format = br#"\"format\":\"1.1\""#;
    let at = whole.windows(format.len()).position(|bytes| bytes == format);
    let at = at.expect("the header is JSON inside JSON") + 13;
    let mut later = whole.clone();
    assert_eq!(&later[at..at + 3], b"1.1");
    later[at] = b'2';
    refused(&later, "has model format 2.1; this program reads 1.x");
    // Sizes that a file only claims are never allocated.
    let mut claimed = whole;
    claimed[..8].copy_from_slice(&(u64::MAX / 2).to_le_bytes());
    refused(&claimed, "was cut short or damaged");
}

/// A file above 64 MiB is announced, and `info` reads its header and not its arrays.
#[test]
fn a_large_model_is_announced_and_looked_at_by_its_header() {
    let mut text = String::new();
    for i in 0..90 {
        let wave = (f64::from(i) * 0.618).sin();
        write!(text, "{} 1:{wave}", u8::from(wave > 0.0)).unwrap();
        (0..1111).for_each(|j| write!(text, " {}:1", 2 + 1111 * i + j).unwrap());
        text.push('\n');
    }
    let place = place_with(&[("wide.svm", &text)]);
    let fit =
        place.run("fit --method rf-ridge --data wide.svm --out m --set features=100").with_code(0);
    assert!(fit.stderr.contains("m will have ") && fit.stderr.contains(" MiB"), "{fit:?}");
    let told = place.run("info m").with_code(0).stdout;
    assert!(told.contains("header only; the arrays by `predict`, or here with --check"), "{told}");
    let mut bytes = std::fs::read(place.path("m")).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(place.path("m"), &bytes).unwrap();
    assert_eq!(place.run("info m").with_code(0).stdout, told);
    let checked = place.run("info m --check").with_code(1);
    assert!(checked.stderr.contains("its check sum does not match"), "{checked:?}");
    place.run("predict m --data wide.svm").with_code(1);
    bytes.pop();
    std::fs::write(place.path("m"), &bytes).unwrap();
    assert!(place.run("info m").with_code(1).stderr.contains("cut short"));
    // A small one is read whole.
    let few = place_with(&[("toys.csv", &toys(12))]);
    few.run("fit --method kernel-ridge --data toys.csv --out m").with_code(0);
    assert!(few.run("info m").with_code(0).stdout.contains("checked        header and arrays"));
}

/// Whoever has read enough closes the pipe, and hears no complaint.
#[test]
fn a_closed_pipe_ends_predictions_quietly() {
    let place = place_with(&[("toys.csv", &toys(3000))]);
    place.run("fit --method majority --data toys.csv --out m").with_code(0);
    for line in ["predict m --data toys.csv", "info m", "evaluate m --data toys.csv --json"] {
        let mut child =
            place.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let ended = Ended::of(&child.wait_with_output().unwrap());
        assert_eq!(ended.code, Some(0), "{line}: {ended:?}");
        assert!(
            !ended.stderr.contains("panicked") && !ended.stderr.contains("roken pipe"),
            "{ended:?}"
        );
    }
}

/// A bound of a fitted model, from a file of numbers, and from words, which win.
#[test]
fn a_bound_takes_what_a_model_or_a_file_knows() {
    let place = place_with(&[
        ("toys.csv", &toys(90)),
        ("numbers.json", "{\"trace-norm\": 3, \"outputs\": 4, \"rows\": 100}"),
        ("words.json", "[\"trace-norm\"]"),
    ]);
    place.run(&format!("fit --method askl --data toys.csv {QUICK} --out m")).with_code(0);
    let info = place.run("info m --json").json();
    let norm = info["facts"]["trace-norm"].as_f64().unwrap();
    let bound = place.run("bound askl-rate --model m --json").with_code(0).json();
    let expected = norm * (3.0f64 / 90.0).sqrt();
    assert!((bound["value"].as_f64().unwrap() - expected).abs() < 1e-9 * expected, "{bound}");
    place.run("bound askl-rademacher --model m").with_code(0);
    let value = |line: &str| place.run(line).with_code(0).json()["value"].as_f64().unwrap();
    assert!((value("bound askl-rate --from numbers.json --json") - 0.6).abs() < 1e-12);
    assert!((value("bound askl-rate --from numbers.json rows=400 --json") - 0.3).abs() < 1e-12);
    place.run("bound askl-rate --from words.json").with_code(1);

    // Measured on rows: the trace is that of the rows given, the loss is clipped where the bound is.
    place.run("fit --method gmce --data toys.csv --set epochs=20 --out g").with_code(0);
    let on = |line: &str| place.run(line).with_code(0).json();
    let bound = on("bound mce-risk --model g --data toys.csv --json");
    let loss = bound["terms"]["mean loss"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&loss), "{bound}");
    // A model knows its kernel's largest root and the norm of its weights; words win.
    let facts = on("info g --json")["facts"].clone();
    let fact = |name: &str| facts[name].as_f64().unwrap();
    let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-9, "{a} and {b}");
    near(value("bound mce-rademacher --model g norm=2 --json"), 4.0 * fact("scale"));
    near(value("bound mce-rademacher --model g --json"), 2.0 * fact("alpha") * fact("norm"));
    near(value("bound mce-rademacher --model g norm=2 sensitivity=3 --json"), 12.0);
    near(bound["terms"]["4e r"].as_f64().unwrap(), 4.0 * 1f64.exp() * fact("complexity"));
    let unknown = place.run("bound mce-rademacher --model m norm=2").with_code(2);
    assert!(unknown.stderr.contains("`sensitivity` is not given"), "{unknown:?}");
    // Without rows the loss is the mean over those of the fit, not the objective's sum.
    let alone = on("bound mce-risk --model g --json");
    near(alone["terms"]["mean loss"].as_f64().unwrap(), fact("loss") / 90.0);
    // A network's objective has 1 for alpha; the theorem wants that of its features.
    let line = "fit --method cen-1 --data toys.csv --set rate=0.1 --set epochs=500 --out c";
    place.run(line).with_code(0);
    let facts = on("info c --json")["facts"].clone();
    let fact = |name: &str| facts[name].as_f64().unwrap();
    assert!(fact("alpha") * fact("norm") > 2.0 * fact("complexity"), "{facts}");
    let bound = on("bound mce-risk --model c --json");
    near(bound["terms"]["4e r"].as_f64().unwrap(), 4.0 * 1f64.exp() * fact("alpha") * fact("norm"));
    assert_eq!(bound["vacuous"], true, "{bound}");
    let clipped = on("bound mce-clipped-risk --model g --data toys.csv epsilon=0.1 --json");
    let share = clipped["terms"]["loss/M"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&share) && share > 0.0, "{clipped}");
    // The loss of the fit was clipped elsewhere, or where the theorem does not want it: rows are asked for.
    let told = place.run("bound mce-clipped-risk --model g epsilon=0.1").with_code(2).stderr;
    assert!(told.contains("epsilon = 0.1") && told.contains("--data"), "{told}");
    place.run("bound mce-clipped-risk --model g epsilon=0.1 loss=0.2").with_code(0);
    place
        .run("fit --method gmce --data toys.csv --set epochs=3 --set epsilon=0.9 --out wide")
        .with_code(0);
    let told = place.run("bound mce-risk --model wide").with_code(2).stderr;
    assert!(told.contains("epsilon = 0.9") && told.contains("1/e"), "{told}");
    let measured = on("bound mce-risk --model wide --data toys.csv --json");
    assert_eq!(measured["vacuous"], true, "{measured}");
    let too_large = "bound mce-clipped-risk loss=5 complexity=1 epsilon=0.5 rows=10";
    assert!(place.run(too_large).with_code(2).stderr.contains("at most log(1/epsilon)"));
    let from_fit = value("bound askl-rademacher --model m --json");
    let measured = value("bound askl-rademacher --model m --data toys.csv --json");
    assert!((measured / from_fit - 1.0).abs() < 1e-6, "{measured} and {from_fit}");
    place.run("bound mce-risk --data toys.csv").with_code(2);
    // Other rows than those of the fit are called so; the squared loss has no constant of its own.
    std::fs::write(place.path("other.csv"), toys(60)).unwrap();
    let told = place.run("bound mce-risk --model g --data other.csv").with_code(0);
    assert!(
        told.stderr.contains("other.csv is not the file that the model was fitted to"),
        "{told:?}"
    );
    assert!(place.run("bound mce-risk --model g --data toys.csv").with_code(0).stderr.is_empty());
    place
        .run(&format!(
            "fit --method askl --data toys.csv {QUICK} --target weight --drop kind --out r"
        ))
        .with_code(0);
    let told = place.run("bound askl-excess-risk --model r").with_code(2);
    assert!(told.stderr.contains("squared loss, which has no Lipschitz constant"), "{told:?}");
    place.run("bound askl-excess-risk --model r --lipschitz 4").with_code(0);
}

/// Of a model and rows: the kernel that was fitted, its eigenvalues, and the frequencies of a spectral one.
#[test]
fn a_bound_of_tables_is_measured_on_a_model_and_rows() {
    let place = place_with(&[("toys.csv", &toys(90)), ("few.csv", &toys(9))]);
    place.run(&format!("fit --method askl --data toys.csv {QUICK} --out m")).with_code(0);
    place.run("fit --method kernel-ridge --data toys.csv --out k").with_code(0);
    let on = |line: &str| place.run(line).with_code(0).json();
    let value = |line: &str| on(line)["value"].as_f64().unwrap();
    // The diagonal of the fitted features is what the scalar bound takes its trace from.
    let by_trace = value("bound askl-rademacher --model m --data toys.csv --json");
    let by_norms = value("bound askl-rademacher-features --model m --data toys.csv --json");
    assert!((by_norms / by_trace - 1.0).abs() < 1e-6, "{by_norms} and {by_trace}");
    let kernel = on("bound askl-rademacher-frequencies --model m --data toys.csv --json");
    let ratio = kernel["terms"]["ratio to the rate"].as_f64().unwrap();
    assert!(ratio > 0.5 && ratio <= 1.0, "{kernel}");
    // A Gaussian kernel's trace is the number of rows.
    let ridge = on("bound rftk-effective-ridge --model k --data toys.csv features=20 --json");
    assert!((ridge["terms"]["Tr[K(K + λnI)⁻¹]"].as_f64().unwrap() - 20.0).abs() < 1e-9);
    let limit = value("bound rftk-ridge-limit --model k --data toys.csv features=20 --json");
    let found = ridge["value"].as_f64().unwrap();
    assert!(found > 0.0 && found <= limit, "{found} of at most {limit}");
    let told = place.run("bound mce-ball-complexity --model k --data few.csv norm=2");
    assert!(told.with_code(0).stdout.contains("E√(σᵀKσ)"));
    let many = place.run("bound mce-ball-complexity --model k --data toys.csv norm=2").with_code(2);
    assert!(many.stderr.contains("at most 2^20"), "{many:?}");
    // A mean has no kernel.
    place.run("fit --method majority --data toys.csv --out none").with_code(0);
    let none =
        place.run("bound rftk-effective-rank-gram --model none --data toys.csv").with_code(2);
    assert!(none.stderr.contains("needs `gram` (K, the kernel matrix"), "{none:?}");
}

#[test]
fn predict_keeps_no_column_of_its_own_name() {
    let place = place_with(&[("toys.csv", &toys(30))]);
    place.run("fit --method kernel-ridge --data toys.csv --out m.st").with_code(0);
    let named = toys(30).replacen(',', ",prediction,", 1);
    let with: String = named
        .lines()
        .enumerate()
        .map(
            |(at, line)| {
                if at == 0 { format!("{line}\n") } else { line.replacen(',', ",1,", 1) + "\n" }
            },
        )
        .collect();
    std::fs::write(place.path("with.csv"), with).unwrap();
    let told = place.run("predict m.st --data with.csv --keep prediction").with_code(2);
    assert!(told.stderr.contains("rename yours in the file"), "{told:?}");
}
