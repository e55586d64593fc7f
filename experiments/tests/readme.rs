//! The README's table is that of `reports/cells.json`.
//!
//! `just report` writes it again: it runs this test with `MERCER_README=write`.

use mercer_experiments::catalogue;
use mercer_report::Paper;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

const HEAD: &str = "\
| paper | cells exact | agree | open | differ | claims hold | fail | mixed | inconclusive | in a line |
| :-- | --: | --: | --: | --: | --: | --: | --: | --: | :-- |
";

/// How many published cells of a paper have each verdict, over all variants.
fn cells(summary: &Value, paper: &str) -> [usize; 4] {
    let own = summary["cells"].as_array().unwrap().iter().filter(|cell| {
        let artefact = cell["artefact"].as_str().unwrap();
        !cell["published"].is_null() && artefact.split('/').next() == Some(paper)
    });
    let verdicts: Vec<&str> = own
        .map(|cell| match cell["verdict"].as_str().unwrap() {
            "differs" if cell["open"] == true => "open",
            verdict => verdict,
        })
        .collect();
    ["exact", "agrees", "open", "differs"]
        .map(|verdict| verdicts.iter().filter(|found| **found == verdict).count())
}

/// How many of the paper's own claims hold, fail, do both by the variant, and neither, of those that apply to one.
fn verdicts(summary: &Value, paper: &str) -> [usize; 4] {
    let own = catalogue().claims(paper).unwrap();
    let own: BTreeSet<&str> = own
        .iter()
        .filter(|claim| !claim.source.starts_with("ours"))
        .map(|claim| claim.id.as_str())
        .collect();
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for result in summary["claims"].as_array().unwrap() {
        let id = result["claim"].as_str().unwrap();
        if own.contains(id) && result["holds"] != "not-applicable" {
            found.entry(id).or_default().insert(result["holds"].as_str().unwrap());
        }
    }
    let mut counts = [0; 4];
    for holds in found.values() {
        let place = match (holds.contains("yes"), holds.contains("no")) {
            (true, false) => 0,
            (false, true) => 1,
            (true, true) => 2,
            (false, false) => 3,
        };
        counts[place] += 1;
    }
    counts
}

/// The table as Markdown, a line a paper.
fn table(summary: &Value) -> String {
    let mut text = HEAD.to_owned();
    for Paper { key, name, title, venue, link, table, results: [first, second], .. } in
        catalogue().papers()
    {
        write!(text, "| [{name}]({link}): {title}, {venue} |").unwrap();
        for count in cells(summary, key).into_iter().chain(verdicts(summary, key)) {
            write!(text, " {count} |").unwrap();
        }
        writeln!(text, " {first} {second} [Numbers](reports/{table}) |").unwrap();
    }
    text
}

/// How many claims of a paper hold in a variant and are not decided in another.
fn in_some(summary: &Value, name: &str) -> usize {
    let paper = catalogue().papers().iter().find(|paper| paper.name == name).unwrap();
    let own = catalogue().claims(paper.key).unwrap();
    let own = own.iter().filter(|claim| !claim.source.starts_with("ours"));
    let holds = |id: &str| -> BTreeSet<&str> {
        let results = summary["claims"].as_array().unwrap().iter();
        let of_claim = results.filter(|result| result["claim"] == id);
        of_claim.map(|result| result["holds"].as_str().unwrap()).collect()
    };
    own.filter(|claim| {
        let found = holds(&claim.id);
        found.contains("yes") && found.contains("inconclusive") && !found.contains("no")
    })
    .count()
}

/// The paper with the largest share, and the share.
fn first(counts: impl Fn(&str) -> [usize; 2]) -> (&'static str, usize, usize) {
    let of = |paper: &'static Paper| (paper.name, counts(paper.key));
    let share = |[part, all]: [usize; 2]| part as f64 / all as f64;
    let papers = catalogue().papers().iter().map(of);
    let (name, [part, all]) = papers.max_by(|a, b| share(a.1).total_cmp(&share(b.1))).unwrap();
    (name, part, all)
}

/// Which paper holds up best, by its claims and by its numbers.
fn best(summary: &Value) -> String {
    let claims = first(|paper| {
        let all = verdicts(summary, paper);
        [all[0], all.iter().sum()]
    });
    let numbers = first(|paper| {
        let [exact, agree, _, differ] = cells(summary, paper);
        [exact + agree, exact + agree + differ]
    });
    let differ = |wanted: &dyn Fn(&Value) -> bool| {
        let cells = summary["cells"].as_array().unwrap().iter();
        cells.filter(|cell| cell["verdict"] == "differs" && wanted(cell)).count()
    };
    let some = in_some(summary, claims.0);
    let all = differ(&|_| true);
    let explained = differ(&|cell| cell["cause_known"] == true);
    let shown = differ(&|cell| cell["cause_known"] == false && cell["finding"].is_string());
    format!(
        "No paper holds up as a whole. {}'s numbers agree most often ({} of {} decided), and {} has most claims that hold ({} of {}, {some} in some variants only). Of {all} numbers that differ, findings explain {explained}, and show {shown} without a cause.",
        numbers.0, numbers.1, numbers.2, claims.0, claims.1, claims.2,
    )
}

#[test]
fn its_table_is_that_of_the_records() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let summary = std::fs::read(root.join("reports/cells.json")).unwrap();
    let summary = serde_json::from_slice(&summary).unwrap();
    let (table, best) = (table(&summary), best(&summary));
    let path = root.join("README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = readme.split_once("<!-- results -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- end of results -->").unwrap();
    let renewed =
        format!("{before}<!-- results -->\n\n{table}\n{best}\n\n<!-- end of results -->{after}");
    if std::env::var_os("MERCER_README").is_some() {
        std::fs::write(&path, &renewed).unwrap();
    } else {
        assert!(renewed == readme, "the README is older than the reports: run `just report`");
    }
}

/// Two sentences are written by hand: a run that makes them false is found here.
#[test]
fn its_own_sentences_are_true_of_the_records() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let summary = std::fs::read(root.join("reports/cells.json")).unwrap();
    let summary: Value = serde_json::from_slice(&summary).unwrap();
    let claims = summary["claims"].as_array().unwrap();
    let main: Vec<&Value> =
        claims.iter().filter(|own| own["claim"] == "askl-best-almost-everywhere").collect();
    assert!(main.len() == 3 && main.iter().all(|own| own["holds"] != "yes"), "{main:?}");
    let cells = summary["cells"].as_array().unwrap().iter();
    let of_mce = cells.filter(|cell| cell["artefact"] == "mce/table1");
    let widest = of_mce.filter_map(|cell| cell["published"]["std"].as_f64()).fold(0.0, f64::max);
    assert!(readme.contains("best on almost all datasets, [holds in no variant]"));
    let kernels = summary["cells"].as_array().unwrap().iter();
    let mut kernels = kernels.filter(|cell| {
        cell["artefact"] == "hyper/table1"
            && cell["metric"] == "rmse"
            && !cell["published"].is_null()
    });
    assert!(
        readme.contains("but no published error of that kernel agrees")
            && !kernels.any(|cell| cell["verdict"] == "agrees")
    );
    assert!(
        readme.contains(&format!("published deviations of up to {widest:.0} points")),
        "{widest}"
    );
}

/// The first page counts the same claims, and the book has the same sentences.
#[test]
fn first_page_and_book_say_what_the_readme_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let summary = serde_json::from_str(&read("reports/cells.json")).unwrap();
    let (page, book) = (read("reports/index.html"), read("book/src/what-came-out.md"));
    let drawn = read("reports/overview.svg");
    for Paper { key, results: [first, second], headline, .. } in catalogue().papers() {
        // A headline has a printed gain and ours.
        let start = format!("{}, points: ", headline.words);
        assert!(page.contains(&start) && drawn.contains(&start), "{key}: {start}");
        let counts = verdicts(&summary, key);
        let counts = counts.iter().zip(["hold", "fail", "mixed", "inconclusive"]);
        let some = counts.filter(|(count, _)| **count > 0);
        let some: Vec<String> = some.map(|(count, word)| format!("{count} {word}")).collect();
        let line = format!(" claims: {}.", some.join(", "));
        assert!(page.contains(&line), "{key}: {line}");
        for sentence in [first, second] {
            assert!(page.contains(sentence) && book.contains(sentence), "{key}: {sentence}");
        }
    }
}

#[test]
fn methods_page_says_of_each_what_is_typed_and_what_can_be_set() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = std::fs::read_to_string(root.join("reports/methods.html")).unwrap();
    for method in mercer_methods::all() {
        let command = format!("mercer fit --method {} ", method.name);
        assert!(page.contains(&command), "{command}");
        for setting in (method.settings)().iter().filter(|setting| method.offers(setting)) {
            let named = format!("<code>{}</code>", setting.name);
            assert!(page.contains(&named), "{}: {named}", method.name);
        }
    }
}
