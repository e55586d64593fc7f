//! The tables of the README are those of the reports, cell by cell.
//!
//! `just report` writes them again: it runs this test with the README's path in `MERCER_README`.

use polars::prelude::{CsvReadOptions, DataFrame, SerReader};
use std::fmt::Write;
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// A column of a README table: its head, the row's variant and the method in the report.
type Column = (&'static str, &'static str, &'static str);

/// Which cells of a report stand in the README, between `<!-- NAME -->` and `<!-- end of NAME -->`.
struct Excerpt {
    report: &'static str,
    columns: &'static [Column],
}

const EXCERPTS: [Excerpt; 4] = [
    Excerpt {
        report: "askl/table2",
        columns: &[
            ("ASKL, published", "published", "ASKL"),
            ("printed", "printed", "ASKL"),
            ("released", "released", "ASKL"),
            ("corrected", "corrected", "ASKL"),
            ("NSKL, corrected", "corrected", "NSKL"),
            ("Gaussian SVM", "corrected", "Gaussian SVM"),
        ],
    },
    Excerpt {
        report: "rftk/table1",
        columns: &[
            ("RFTK, published", "published", "RFTK"),
            ("released", "released", "RFTK"),
            ("without the trace", "no-trace", "RFTK"),
            ("corrected", "corrected", "RFTK"),
            ("kernel ridge, published", "published", "KernelRidge"),
            ("released", "released", "KernelRidge"),
            ("corrected", "corrected", "KernelRidge"),
        ],
    },
    Excerpt {
        report: "hyper/table2",
        columns: &[
            ("hyper-KRR, published", "published", "hyper-KRR(Gaussian)"),
            ("printed", "printed", "hyper-KRR(Gaussian)"),
            ("hyper-SVR, published", "published", "hyper-SVR(Gaussian)"),
            ("printed", "printed", "hyper-SVR(Gaussian)"),
            ("SVM, published", "published", "SVM-CV"),
            ("printed", "printed", "SVM-CV"),
        ],
    },
    Excerpt {
        report: "mce/table1",
        columns: &[
            ("GMCE, published", "published", "GMCE"),
            ("released", "released", "GMCE"),
            ("median heuristic, published", "published", "MED"),
            ("released", "released", "MED"),
            ("CEN-2, published", "published", "CEN-2"),
            ("released", "released", "CEN-2"),
        ],
    },
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A report's CSV, every field as text.
fn report(name: &str) -> DataFrame {
    let bytes = std::fs::read(root().join("reports").join(name).with_extension("csv")).unwrap();
    let options = CsvReadOptions::default().with_infer_schema_length(Some(0));
    options.into_reader_with_file_handle(Cursor::new(bytes)).finish().unwrap()
}

/// The texts of a column, empty where nothing stands.
fn texts(frame: &DataFrame, named: impl Fn(&str) -> bool) -> Option<Vec<String>> {
    let column = frame.columns().iter().find(|column| named(column.name()))?;
    Some(column.str().unwrap().iter().map(|text| text.unwrap_or_default().to_owned()).collect())
}

/// The excerpt as Markdown: a line a dataset, each cell with the share of the paper's repeats that
/// stands behind it where that is not all.
fn table(excerpt: &Excerpt) -> String {
    let frame = report(excerpt.report);
    let sections = texts(&frame, |name| name == "section").unwrap();
    let variants = texts(&frame, |name| name == "Variant").unwrap();
    let of = |method: &str, what: &str| {
        let end = format!(": {method}{what}");
        texts(&frame, |name| name.ends_with(&end))
            .unwrap_or_else(|| panic!("{}: no column ends with `{end}`", excerpt.report))
    };
    let mut text = String::from("| dataset |");
    for (head, ..) in excerpt.columns {
        write!(text, " {head} |").unwrap();
    }
    text.push_str("\n| :-- |");
    text.push_str(&" --: |".repeat(excerpt.columns.len()));
    let mut datasets = sections.clone();
    datasets.dedup();
    for dataset in datasets {
        write!(text, "\n| {dataset} |").unwrap();
        for (_, variant, method) in excerpt.columns {
            let row = (0..sections.len())
                .find(|&row| sections[row] == dataset && variants[row] == *variant);
            let (values, repeats) = (of(method, ""), of(method, " repeats"));
            let value = row.map_or("", |row| values[row].as_str());
            let share = row.map_or("", |row| repeats[row].as_str());
            let whole = share.split_once('/').is_none_or(|(run, all)| run == all);
            match (value, whole) {
                ("" | "-", _) => text.push_str(" |"),
                (value, true) => write!(text, " {value} |").unwrap(),
                (value, false) => write!(text, " {value} ({share}) |").unwrap(),
            }
        }
    }
    text.push('\n');
    text
}

#[test]
fn its_tables_are_those_of_the_reports() {
    let path = root().join("README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    let mut renewed = readme.clone();
    for excerpt in &EXCERPTS {
        let (start, end) = (
            format!("<!-- {} -->\n", excerpt.report),
            format!("<!-- end of {} -->", excerpt.report),
        );
        let from = renewed.find(&start).unwrap_or_else(|| panic!("no `{start}`")) + start.len();
        let length = renewed[from..].find(&end).unwrap_or_else(|| panic!("no `{end}`"));
        let table = table(excerpt);
        // More than a head, and a number in it.
        assert!(table.lines().count() > 5 && table.contains('±'), "{table}");
        renewed.replace_range(from..from + length, &format!("\n{table}\n"));
    }
    if std::env::var_os("MERCER_README").is_some() {
        std::fs::write(&path, &renewed).unwrap();
    } else {
        assert!(
            renewed == readme,
            "the README's tables are older than the reports: run `just report`"
        );
    }
}

/// What it says of `audit/tuning`: where thirty trials or more were tuned, the error that tuning saw is
/// within a tenth of the error on the test rows, in the median, but for the methods that it names.
#[test]
fn its_words_on_tuning_are_those_of_the_report() {
    let frame = report("audit/tuning");
    let column = |head: &str| texts(&frame, |name| name == head).unwrap();
    let (trials, medians) = (column("Trials"), column("Median"));
    let (studies, methods) = (column("Study"), column("Method"));
    let often: Vec<(f64, String)> = (0..trials.len())
        .filter(|&row| trials[row].parse::<u32>().unwrap() >= 30)
        .map(|row| (medians[row].parse().unwrap(), format!("{} of {}", methods[row], studies[row])))
        .collect();
    assert!(often.len() >= 10, "{often:?}");
    let far: Vec<String> = often
        .iter()
        .filter(|(median, _)| (median - 1.0).abs() >= 0.1)
        .map(|(median, method)| format!("{method} ({median:.2})"))
        .collect();
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let mut said = "for every method with thirty such trials or more".to_owned();
    if !far.is_empty() {
        said = format!("{said} but {}", far.join(", "));
    }
    assert!(readme.contains(&said), "{said}");
}

/// The counts in its sentences on ASKL are those of the claims.
#[test]
fn its_counts_of_askl_are_those_of_the_answers() {
    let answers = std::fs::read_to_string(root().join("reports/answers.md")).unwrap();
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    // The two numbers around `of`, after these words, in each variant of a claim's row.
    let counts = |claim: &str, words: &str| -> Vec<(u32, u32)> {
        let row =
            answers.lines().find(|line| line.contains(claim)).unwrap_or_else(|| panic!("{claim}"));
        let after = |text: &str| {
            let numbers = text.split(|letter: char| !letter.is_ascii_digit());
            let mut numbers = numbers.filter_map(|number| number.parse::<u32>().ok());
            (numbers.next().unwrap(), numbers.next().unwrap())
        };
        row.split(words).skip(1).map(after).collect()
    };
    let count = |found: &[(u32, u32)]| -> String {
        let ahead: Vec<String> = found.iter().map(|(ahead, _)| ahead.to_string()).collect();
        let of = found[0].1;
        assert!(found.iter().all(|(_, all)| *all == of));
        match &ahead[..] {
            [.., before, last] if ahead.len() > 2 => {
                format!("{}, {before} and {last} of {of}", ahead[..ahead.len() - 2].join(", "))
            }
            _ => format!("{} of {of}", ahead.join(" and ")),
        }
    };
    let rival = counts("ASKL usually beats NSKL", "ahead on ");
    let drawn = counts("not trained: ASKL over tuned ridge", "ahead on ");
    // Best on so many, level on so many, worse on so many of all.
    let machine =
        answers.lines().find(|line| line.contains("A tuned Gaussian SVM outperforms")).unwrap();
    let best = machine.split("best on ").nth(1).unwrap().split(' ').next().unwrap();
    let verdicts = report("askl/table2-verdicts");
    let of = |class: &str| {
        let column = texts(&verdicts, |name| name == format!("published cells: {class}"));
        column.unwrap().join(", ")
    };
    assert_eq!((of("exact").as_str(), of("all").as_str()), ("0, 0, 0", "60, 60, 60"));
    let [agree, short] = ["agrees", "short"].map(of);
    let agree = agree.rsplit_once(", ").map(|(first, last)| format!("{first} and {last}")).unwrap();
    let short = short.split(", ").next().unwrap();
    for said in [
        format!("{agree} agree (printed, released, corrected), {short} in each are"),
        format!("it is ahead on {} datasets", count(&rival)),
        format!("ASKL ahead on {} datasets", count(&drawn)),
        format!("is ahead of all five methods on {best} of 12 datasets"),
    ] {
        assert!(readme.contains(&said), "{said}");
    }
}

/// What the answers say of a claim in a variant.
fn answer(claim: &str, variant: &str) -> String {
    let answers = std::fs::read_to_string(root().join("reports/answers.md")).unwrap();
    let lines: Vec<&str> = answers.lines().collect();
    let row = lines.iter().position(|line| line.starts_with(&format!("| {claim} |")));
    let row = row.unwrap_or_else(|| panic!("no claim `{claim}`"));
    let head = lines[..row].iter().rfind(|line| line.starts_with("| Claim |")).unwrap();
    let cells = |line: &str| -> Vec<String> {
        line.split(" | ").map(|cell| cell.trim_matches(['|', ' ']).to_owned()).collect()
    };
    let column = cells(head).iter().position(|name| name == variant).unwrap();
    cells(lines[row])[column].clone()
}

/// The mean gain over datasets that an answer has, and its interval, with one digit: `a (b to c)`.
fn mean_gain(answer: &str) -> (f64, f64, f64) {
    let (_, after) = answer.split_once("with repeats ").unwrap_or_else(|| panic!("{answer}"));
    let words: Vec<&str> = after.split([' ', '(', ')', ';']).filter(|w| !w.is_empty()).collect();
    let number = |place: usize| words[place].parse().unwrap_or_else(|_| panic!("{words:?}"));
    assert_eq!((words[1], words[3]), ("points", "to"));
    (number(0), number(2), number(4))
}

/// The sentences on RFTK against kernel ridge, and on the bound against its rivals.
#[test]
fn its_gains_are_those_of_the_answers() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let readme = readme.split_whitespace().collect::<Vec<_>>().join(" ");
    let says = |wanted: String| assert!(readme.contains(&wanted), "the README lacks `{wanted}`");
    let rftk = "RFTK beats kernel ridge regression, on the datasets that the table prints.";
    let tuned = answer(rftk, "corrected");
    let (mean, low, high) = mean_gain(&tuned);
    let p = |from: &str| {
        let (_, after) = tuned.split_once(from).unwrap_or_else(|| panic!("{tuned}"));
        after.split([' ', ',', ';']).next().unwrap().to_owned()
    };
    let (alone, together) = (p("Wilcoxon over datasets p = "), p("6 such claims "));
    says(format!(
        "mean gain is {mean:.1} points ({low:.1} to {high:.1}; Wilcoxon p = {alone}, {together} among"
    ));
    let median = "Tuning by the complexity bound beats the median heuristic.";
    let (mean, low, high) = mean_gain(&answer(median, "released"));
    says(format!("the mean gain over the six is {mean:.1} points ({low:.1} to {high:.1})"));
    let (mean, low, high) = mean_gain(&answer(median, "stratified"));
    says(format!("and {mean:.1} ({low:.1} to {high:.1}) over the five with stratified folds"));
    let crossed = "Tuning by the complexity bound beats cross-validation.";
    let (mean, low, high) = mean_gain(&answer(crossed, "released"));
    assert!(low < 0.0 && 0.0 < high, "no longer undecided: {mean} ({low} to {high})");
    says(format!("the mean gain over it is {mean:.1} points ({low:.1} to {high:.1})"));
}
