//! What a message offers works: each flag that it names is typed, and the command does what it was to do.

use crate::place::Place;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

/// A message with a remedy.
struct Case {
    file: (&'static str, String),
    /// What leads to it; `FILE` is the file.
    command: &'static str,
    /// Its exit status: 0 where it is a warning.
    code: i32,
    /// What is offered, in that order: a flag, and its value. A value behind `=` stands for one that the message
    /// leaves to the reader (`--target COL`).
    offers: &'static [&'static str],
}

/// The flags in a text with what follows each: of a list in brackets (`--format csv, semicolon or tsv`) all of it.
fn offered(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("--") {
        let rest = &text[at..];
        let end = rest[2..]
            .find(|c: char| !c.is_ascii_lowercase() && c != '-')
            .map_or(rest.len(), |end| end + 2);
        let flag = &rest[..end];
        if flag.len() < 4 || text[..at].ends_with('-') {
            continue;
        }
        let clause = rest[end..].split([')', ';', '`', '\n']).next().unwrap_or_default();
        let clause = clause.split(" --").next().unwrap_or_default();
        let bracketed = text[..at].rfind('(') > text[..at].rfind(')');
        let words: Vec<&str> = clause.split([' ', ',']).filter(|word| !word.is_empty()).collect();
        let values: Vec<&str> = if bracketed && clause.starts_with(' ') {
            words.into_iter().filter(|word| *word != "or").collect()
        } else if clause.starts_with(' ') {
            words.into_iter().take(1).collect()
        } else {
            Vec::new()
        };
        if values.is_empty() {
            found.push(flag.to_owned());
        }
        found.extend(values.into_iter().map(|value| format!("{flag} {value}")));
    }
    found
}

/// The command with a flag in place of what it said of that before.
fn with(command: &str, offer: &str) -> String {
    let (flag, value) = offer.split_once(' ').unwrap_or((offer, ""));
    let setting = value.split('=').next().unwrap_or_default();
    let mut words: Vec<&str> = command.split_whitespace().collect();
    // One way to divide the rows stands in place of another.
    let instead = |word: &&str| *word == flag || *word == "--holdout" && flag == "--folds";
    if let Some(at) = words.iter().position(instead) {
        let again = flag != "--set" || words[at + 1].starts_with(&format!("{setting}="));
        if again && !["--drop", "--categorical"].contains(&flag) {
            words.drain(at..=at + 1);
        }
    }
    format!("{} {offer}", words.join(" "))
}

fn rows(head: &str, count: usize, row: impl Fn(usize) -> String) -> String {
    (0..count).fold(format!("{head}\n"), |mut text, at| {
        writeln!(text, "{}", row(at)).unwrap();
        text
    })
}

fn kind(at: usize) -> &'static str {
    ["a", "b"][at % 2]
}

/// Forty rows of two numbers and a class, one of whose fields is another.
fn spoiled(head: &str, line: usize, spoil: &str) -> String {
    let mut lines: Vec<String> =
        rows(head, 40, |i| format!("{}.5,{},{}", i % 7, (i * i) % 11, kind(i)))
            .lines()
            .map(str::to_owned)
            .collect();
    spoil.clone_into(&mut lines[line]);
    lines.join("\n") + "\n"
}

#[expect(clippy::too_many_lines, reason = "a table")]
fn cases() -> Vec<Case> {
    let head = "size,age,kind";
    let case =
        |file: (&'static str, String), command, code, offers| Case { file, command, code, offers };
    let colours = |text: &str| {
        rows("size,colour,kind", 40, |i| {
            format!("{i}.5,{},{}", if i == 9 { text } else { ["red", "blue"][i % 3 / 2] }, kind(i))
        })
    };
    let fit = "fit --method kernel-ridge --data FILE --out m";
    vec![
        case(
            ("hole.csv", spoiled(head, 5, "1.5,NA,a")),
            fit,
            1,
            &["--impute mean", "--impute median"],
        ),
        case(
            ("colours.csv", colours("NA")),
            fit,
            1,
            &[
                "--impute category",
                "--keep-na colour",
                "--missing =none",
                "--impute mean",
                "--impute median",
            ],
        ),
        case(
            ("infinite.csv", spoiled(head, 5, "inf,1,a")),
            fit,
            1,
            &["--missing inf --impute mean", "--categorical size"],
        ),
        case(("unit.csv", spoiled(head, 5, "12 kg,1,a")), fit, 1, &["--categorical size"]),
        case(("comma.csv", spoiled(head, 5, "\"1,5\",1,a")), fit, 1, &["--categorical size"]),
        case(("percent.csv", spoiled(head, 5, "45%,1,a")), fit, 1, &["--categorical size"]),
        case(("thousands.csv", spoiled(head, 5, "12 345,1,a")), fit, 1, &["--categorical size"]),
        case(
            ("ids.csv", rows(head, 40, |i| format!("name{i},{},{}", i % 3, kind(i)))),
            fit,
            1,
            &["--drop size", "--categorical size"],
        ),
        case(
            ("texts.csv", rows(head, 2200, |i| format!("text{},{},{}", i % 1100, i % 3, kind(i)))),
            fit,
            1,
            &["--drop size"],
        ),
        case(
            ("empty.csv", rows(head, 40, |i| format!("{i}.5,,{}", kind(i)))),
            fit,
            1,
            &["--drop age"],
        ),
        case(
            (
                "parts.csv",
                rows("size,age,part,kind", 40, |i| {
                    let (age, part) = if i < 30 { ("", "train") } else { ("7", "test") };
                    format!("{}.5,{age},{part},{}", i % 7, kind(i))
                }),
            ),
            "evaluate --method kernel-ridge --data FILE --impute mean --split-column part",
            1,
            &["--drop age"],
        ),
        case(
            (
                "semicolons.csv",
                rows("size;age;kind", 40, |i| format!("{i}.5;{};{}", i % 3, kind(i))),
            ),
            "fit --method kernel-ridge --data FILE --out m --format csv",
            1,
            &["--separator semicolon"],
        ),
        case(
            (
                "blanks.csv",
                rows(" size  age  kind", 40, |i| format!("{i}.5   {} {}", i % 3, kind(i))),
            ),
            fit,
            1,
            &["--separator blanks"],
        ),
        case(("commas.svm", spoiled(head, 0, "1.5,2,a")), fit, 1, &["--format csv"]),
        case(
            ("target.csv", spoiled(head, 5, "1.5,1,")),
            "fit --method kernel-ridge --data FILE --out m --impute category",
            1,
            &["--target =size"],
        ),
        case(
            (
                "spelled.csv",
                rows("size,age", 40, |i| {
                    if i == 5 { "1.5,NA".to_owned() } else { format!("{i}.5,{}.25", i * i % 17) }
                }),
            ),
            "fit --method kernel-ridge --data FILE --out m --target age --impute mean",
            1,
            &["--target =size", "--task classification"],
        ),
        case(
            ("one.csv", rows(head, 40, |i| format!("{i}.5,{},a", i % 3))),
            fit,
            1,
            &["--target =age"],
        ),
        case(
            ("grades.csv", rows("age,size", 40, |i| format!("{},{i}.5", i % 3))),
            "fit --method kernel-ridge --data FILE --out m --task classification",
            1,
            &["--task regression", "--target =age"],
        ),
        case(
            ("words.csv", spoiled(head, 5, "1.5,1,a")),
            "fit --method kernel-ridge --data FILE --out m --task regression",
            1,
            &["--task classification", "--target =age"],
        ),
        case(
            ("prices.csv", rows("age,price", 40, |i| format!("{},${i}", i % 3))),
            fit,
            1,
            &["--task classification"],
        ),
        case(
            ("twice.csv", rows("1,1,3", 40, |i| format!("{i}.5,{},{}", i % 3, i % 2))),
            "fit --method kernel-ridge --data FILE --out m --header yes",
            1,
            &["--header no"],
        ),
        case(
            ("named.csv", spoiled("size,1,a", 5, "1.5,1,a")),
            "fit --method kernel-ridge --data FILE --out m --header no",
            1,
            &["--missing size --impute mean", "--categorical 1", "--header yes"],
        ),
        case(
            ("counts.csv", rows("id,age,kind", 40, |i| format!("{i},{},{}", i * i % 7, kind(i)))),
            fit,
            0,
            &["--drop id"],
        ),
        case(
            (
                "codes.csv",
                rows("code,age,kind", 40, |i| format!("00{},{},{}", i % 5, i * i % 7, kind(i))),
            ),
            fit,
            0,
            &["--categorical code", "--drop code"],
        ),
        case(
            ("rooms.csv", rows("age,rooms", 60, |i| format!("{},{}", i * i % 17, i % 6))),
            fit,
            0,
            &["--task regression"],
        ),
        case(
            ("passes.csv", spoiled(head, 5, "1.5,1,a")),
            "fit --method kernel-ridge --data FILE --out m --buffer 6",
            1,
            &["--method rf-ridge", "--method rf-sgd", "--method askl"],
        ),
        case(
            ("cap.csv", spoiled(head, 5, "1.5,1,a")),
            "fit --method gaussian-svm --data FILE --out m --set cap=20",
            0,
            &["--set cap=40"],
        ),
        case(
            ("noise.csv", rows(head, 60, |i| format!("{},{},{}", i / 2 % 5, i / 2 % 3, kind(i)))),
            "evaluate --method kernel-ridge --data FILE --set std=1e-9 --folds 2 --repeats 1",
            0,
            &["--tune"],
        ),
        case(
            ("split.csv", spoiled(head, 5, "1.5,1,a")),
            "compare --methods kernel-ridge,majority --data FILE --holdout 0.3",
            0,
            &["--folds 5 --repeats 2", "--holdout 0.3 --repeats 10"],
        ),
        case(
            ("large.csv", rows(head, 40, |i| format!("{}e18,{},{}", i % 7, i * i % 11, kind(i)))),
            "fit --method rf --data FILE --out m --scale none",
            0,
            &["--scale standard", "--set =std=1e-19"],
        ),
    ]
}

#[test]
fn what_a_message_offers_works() {
    let (mut tried, mut faults) = (BTreeSet::new(), Vec::new());
    for Case { file: (name, text), command, code, offers } in cases() {
        let place = Place::new();
        std::fs::write(place.path(name), text).unwrap();
        let force = if command.starts_with("fit") { " --force" } else { "" };
        let command = format!("{}{force}", command.replace("FILE", name));
        let told = place.run(&command);
        // A comparison says on standard output why it has no test.
        let found =
            offered(if command.starts_with("compare") { &told.stdout } else { &told.stderr });
        if told.code != Some(code) {
            faults.push(format!("{command}: {told:?}"));
        }
        for offer in offers {
            let (named, typed) = match offer.split_once(" =") {
                Some((flag, value)) => (flag, format!("{flag} {value}")),
                None => (*offer, (*offer).to_owned()),
            };
            // Two flags that belong together are found one by one.
            let mut line = command.clone();
            for (one, own) in typed.split(" --").zip(named.split(" --")) {
                let [one, own] =
                    [one, own].map(|flag| format!("--{}", flag.trim_start_matches("--")));
                let flag = own.split(' ').next().unwrap().to_owned();
                let there =
                    |known: &String| *known == own || own == flag && known.starts_with(&flag);
                if !found.iter().any(there) {
                    faults.push(format!("{command}: {own} is not among {found:?}: {told:?}"));
                }
                tried.insert(flag);
                line = with(&line, &one);
            }
            let ended = place.run(&line);
            if ended.code != Some(0) {
                faults.push(format!("{line}: {ended:?}\nafter {told:?}"));
            }
        }
        let known =
            |flag: &str| SAID.contains(&flag) || offers.iter().any(|own| own.contains(flag));
        let more = found.iter().filter(|own| !known(own.split(' ').next().unwrap()));
        faults
            .extend(more.map(|own| format!("{command}: {own} is offered and not tried: {told:?}")));
    }
    let untried = named()
        .into_iter()
        .filter(|flag| !tried.contains(flag) && !ELSEWHERE.contains(&flag.as_str()));
    faults.extend(untried.map(|flag| format!("{flag} stands in a message and is never typed")));
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

/// Named beside a remedy, and none: what was wrong.
const SAID: [&str; 5] = ["--buffer", "--data", "--decimal", "--task", "--header"];

/// Flags that messages name as words about what was typed, or that other tests of this program type.
const ELSEWHERE: [&str; 19] = [
    "--buffer",
    "--calibrate",
    "--class-weight",
    "--data",
    "--decimal",
    "--each-class",
    "--force",
    "--groups",
    "--jackknife",
    "--methods-from",
    "--metric",
    "--positive",
    "--skip",
    "--split-column",
    "--test",
    "--threads",
    "--time",
    "--unknown",
    "--weights",
];

/// Flags of a command on a table that stand in the texts of what reads, fits and scores.
fn named() -> BTreeSet<String> {
    let help = Place::new().run("evaluate --help").stdout;
    let known: BTreeSet<String> = help
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("--"))
        .map(|line| format!("--{}", line.split_whitespace().next().unwrap_or_default()))
        .collect();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = BTreeSet::new();
    for folder in ["datasets/src", "workbench/src", "learning/src", "baselines/src", "models/src"] {
        for file in crate::place::files(&crates.join(folder)) {
            let Ok(text) = std::fs::read_to_string(&file) else { continue };
            let text = text.split("#[cfg(test)]").next().unwrap();
            let code = |line: &&str| !line.trim_start().starts_with("//");
            let code: Vec<&str> = text.lines().filter(code).collect();
            let flags = offered(&code.join("\n")).into_iter();
            found.extend(flags.map(|own| own.split(' ').next().unwrap().to_owned()));
        }
    }
    found.retain(|flag| known.contains(flag));
    assert!(found.len() > 10, "{found:?}");
    found
}

/// What `predict` and `evaluate` of a model offer for rows that the model does not know.
#[test]
fn what_is_offered_for_rows_of_another_file_works() {
    let place = Place::new();
    let rows_of = |colour: &str| {
        rows("size,colour,kind", 40, |i| {
            format!(
                "{i}.5,{},{}",
                if i == 9 { colour } else { ["red", "blue"][i % 3 / 2] },
                kind(i)
            )
        })
    };
    std::fs::write(place.path("fit.csv"), rows_of("red")).unwrap();
    std::fs::write(place.path("new.csv"), rows_of("green")).unwrap();
    std::fs::write(
        place.path("more.csv"),
        rows("id,size,colour,kind", 9, |i| format!("x{i},{i},red,{}", kind(i))),
    )
    .unwrap();
    place.run("fit --method kernel-ridge --data fit.csv --out m").with_code(0);
    for (command, offers) in [
        ("predict m --data new.csv", &["--unknown zeros", "--unknown skip"][..]),
        ("predict m --data more.csv", &["--drop id"]),
        ("evaluate m --data more.csv", &["--drop id"]),
    ] {
        let told = place.run(command).with_code(1);
        assert_eq!(offered(&told.stderr), offers, "{told:?}");
        for offer in offers {
            place.run(&format!("{command} {offer}")).with_code(0);
        }
    }
    let told = place.run("predict m --data fit.csv --proba").with_code(2);
    assert!(told.stderr.contains("leave --proba and --entropy out"), "{told:?}");
    place.run("predict m --data fit.csv").with_code(0);
    place.run("fit --method askl --data fit.csv --out a").with_code(0);
    let told = place.run("predict a --data fit.csv --proba").with_code(2);
    assert!(told.stderr.contains("--set loss=cross-entropy"), "{told:?}");
    place
        .run("fit --method askl --data fit.csv --out a --force --set loss=cross-entropy")
        .with_code(0);
    place.run("predict a --data fit.csv --proba").with_code(0);
}
