//! What was watched by hand is whole: every parser that `just fuzz` names was fuzzed for its ten minutes, every hot
//! path ran under both watchers of memory, mutants were drawn, and each says at which revision; and what is built from
//! outside is what cargo-deny was asked about.

use std::collections::BTreeSet;
use std::path::Path;
use toml::Table;

fn read(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn table(file: &str) -> Table {
    read(file).parse().unwrap_or_else(|e| panic!("{file}: {e}"))
}

fn revision(table: &Table, what: &str) {
    let revision = table.get("revision").and_then(|revision| revision.as_str());
    let named = revision.is_some_and(|text| {
        text.len() == 12 && text.chars().all(|digit| digit.is_ascii_hexdigit())
    });
    assert!(named, "{what}: no revision, or one that was changed: {revision:?}");
}

#[test]
fn every_parser_was_fuzzed_for_ten_minutes_at_a_named_revision() {
    let justfile = read("justfile");
    let (_, names) = justfile.split_once("for parser in ").unwrap();
    let named: BTreeSet<&str> = names.split_once(';').unwrap().0.split_whitespace().collect();
    let fuzzed = table("benches/fuzz.toml");
    assert_eq!(fuzzed.keys().map(String::as_str).collect::<BTreeSet<_>>(), named);
    for (parser, section) in &fuzzed {
        let section = section.as_table().unwrap();
        assert!(section["seconds"].as_integer().unwrap() >= 600, "{parser}");
        assert!(section["files"].as_integer().unwrap() > 10_000, "{parser}");
        revision(section, parser);
    }
}

/// CI has no cargo-deny: a crate that came in since `just supply-chain`, or another rule, fails here.
#[test]
fn the_crates_from_outside_are_those_that_were_checked() {
    let mut outside = BTreeSet::new();
    for folder in ["", "crates/networks/burn/", "crates/datasets/fuzz/"] {
        let lock = table(&format!("{folder}Cargo.lock"));
        for package in lock["package"].as_array().unwrap() {
            let text = |name: &str| package[name].as_str().unwrap();
            if package.get("source").is_some() {
                outside.insert(format!("{} {}\n", text("name"), text("version")));
            }
        }
    }
    assert!(outside.len() > 500);
    let checked: String = outside.into_iter().chain([read("deny.toml")]).collect();
    let digest = mercer_records::sha256_hex(checked.as_bytes());
    let page = read("reports/supply-chain.md");
    assert!(
        page.contains(&format!("`{digest}`")),
        "{digest} is not what reports/supply-chain.md is about: run `just supply-chain`"
    );
    // Licences, sources, and doubles of what is shipped.
    for (file, checks) in [("| the workspace |", 3), ("| the networks' ", 2), ("| the fuzzer ", 2)]
    {
        let row = page.lines().find(|line| line.starts_with(file)).expect(file);
        let passed = row.split('|').skip(3).take(checks).filter(|cell| cell.trim() == "passed");
        assert_eq!(passed.count(), checks, "{row}");
    }
}

#[test]
fn every_hot_path_ran_under_both_watchers_of_memory() {
    let [mut memcheck, mut sanitizer] = ["memcheck", "sanitizer"].map(|watcher| {
        let watched = table(&format!("benches/{watcher}.toml"));
        revision(&watched, watcher);
        watched["paths"].as_table().unwrap().clone()
    });
    for paths in [&mut memcheck, &mut sanitizer] {
        for (path, met) in paths.iter() {
            assert_eq!(met.as_str(), Some("no wrong access"), "{path}");
        }
    }
    assert_eq!(memcheck, sanitizer);
    let counted = table("benches/counts.toml");
    for path in counted.keys() {
        assert!(memcheck.contains_key(path), "{path} is counted and not watched");
    }
}

/// An accepted count is on the page: `just performance` writes it.
#[test]
fn the_page_of_performance_has_the_counts_as_accepted() {
    let page = read("reports/performance/index.md");
    for (path, counted) in &table("benches/counts.toml") {
        let row = format!("| {path} | {} |", counted["instructions"].as_integer().unwrap());
        assert!(page.contains(&row), "no `{row}`: run `just performance`");
    }
}

/// A crate stands by its last draw: `just ages` asks how old it is.
#[test]
fn the_last_draw_of_mutants_is_whole_and_of_a_named_revision() {
    let tried = table("benches/mutants.toml");
    for name in ["linalg", "statistics", "theory"] {
        let last = tried[name].as_array().unwrap().last().unwrap();
        let code = last["code"].as_str().unwrap();
        assert!(code.len() >= 7 && code.chars().all(|digit| digit.is_ascii_hexdigit()), "{code}");
        let count = |what: &str| last[what].as_integer().unwrap();
        let missed = last["missed"].as_array().unwrap().len();
        let all = count("caught") + count("undecided") + count("unviable");
        assert_eq!(usize::try_from(all).unwrap() + missed, 150, "{name}");
        // Of those that compile, none counted as equivalent.
        let tried = 150 - usize::try_from(count("unviable")).unwrap();
        let caught = usize::try_from(count("caught")).unwrap();
        assert!(100 * caught >= 85 * tried, "{name}: {caught} of {tried}");
    }
}
