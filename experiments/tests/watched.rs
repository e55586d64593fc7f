//! The checks that run by hand are complete: `just fuzz` ran ten minutes on every parser that it names, and every
//! hot path ran under valgrind and under `AddressSanitizer`. Each names its revision.

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
