//! Where `unsafe` stands, how often, and that each place says why it is sound.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The crates that may need it: vector instructions, threads that borrow, the allocators, the processor's clock;
/// and one wrong access, planted for those who watch memory to find.
const ALLOWED: [&str; 7] = [
    "crates/linalg/",
    "crates/kernels/",
    "crates/solvers/",
    "crates/harness/src/memory.rs",
    "crates/harness/src/clock.rs",
    "crates/harness/src/host.rs",
    "benches/src/bin/counts.rs",
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            let name = path.file_name().unwrap();
            if name != "target" && name != "corpus" {
                sources(&path, found);
            }
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

/// Whether a line of code (no comment, no text of a lint) opens an unsafe block, function or impl.
fn opens(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    ["unsafe {", "unsafe impl", "unsafe extern", "unsafe fn"].iter().any(|form| code.contains(form))
}

/// Whether the line is a function of a trait whose `unsafe impl` says why it is sound.
fn within_an_impl(lines: &[&str], at: usize) -> bool {
    let indented = lines[at].starts_with("    ");
    let head =
        lines[..at].iter().rev().find(|line| !line.is_empty() && !line.starts_with([' ', '}']));
    lines[at].contains("unsafe fn")
        && indented
        && head.is_some_and(|head| head.starts_with("unsafe impl"))
}

#[test]
fn every_form_is_recognised() {
    for line in [
        "unsafe { f() }",
        "    unsafe fn item(&self) -> u8 {",
        "pub unsafe fn f() {",
        "unsafe impl Sync for A {}",
        "    unsafe extern \"C\" {",
    ] {
        assert!(opens(line), "{line}");
    }
    assert!(!opens("// an unsafe fn") && !opens("clippy::unsafe_derive_deserialize,"));
    let lines =
        ["unsafe impl A for B {", "    unsafe fn f() {", "    }", "", "    unsafe fn g() {"];
    assert!(within_an_impl(&lines, 1) && within_an_impl(&lines, 4));
    assert!(!within_an_impl(&["impl B {", "    unsafe fn f() {"], 1));
}

#[test]
fn every_unsafe_place_is_counted_and_justified() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for folder in ["crates", "experiments", "benches"] {
        sources(&root.join(folder), &mut files);
    }
    assert!(files.len() > 100, "{} files", files.len());
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for path in files {
        // These two have the word in strings alone.
        if path.ends_with("tests/unsafe_blocks.rs") || path.ends_with("tests/examples.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        for (at, line) in lines.iter().enumerate().filter(|(_, line)| opens(line)) {
            *counts.entry(name.clone()).or_default() += 1;
            // The reason stands in the comment above, attributes and the statement's head between.
            let mut above = lines[..at].iter().rev().take(8);
            let declared = line.contains("unsafe extern")
                && lines.get(at + 1).is_some_and(|next| next.trim_start().starts_with("///"));
            // What a foreign function promises stands at its declaration.
            // The caller's part of an unsafe function stands in its documentation.
            let justified = declared
                || within_an_impl(&lines, at)
                || above.any(|line| line.contains("SAFETY:") || line.contains("# Safety"));
            assert!(justified, "{name}:{}: an unsafe place without its reason: {line}", at + 1);
        }
    }
    let strangers: Vec<&String> = counts
        .keys()
        .filter(|name| !ALLOWED.iter().any(|allowed| name.starts_with(allowed)))
        .collect();
    assert!(strangers.is_empty(), "unsafe outside the crates that may need it: {strangers:?}");
    let total: usize = counts.values().sum();
    // Seen with --no-capture, and whenever the test fails.
    println!("{total} unsafe places: {counts:#?}");
    assert!((1..=60).contains(&total), "{total} unsafe places: {counts:#?}");
}
