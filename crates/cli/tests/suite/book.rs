//! Every command of the book and of the README is run, in the order of its chapter, in a folder of its own.

use crate::place::Place;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

/// Fenced blocks: what stands behind the fence, and the lines.
fn blocks(text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if let Some(info) = line.strip_prefix("```") {
            inside = !inside;
            if inside {
                found.push((info.to_owned(), String::new()));
            }
        } else if inside {
            let (_, block) = found.last_mut().expect("a fence was opened");
            block.push_str(line);
            block.push('\n');
        }
    }
    assert!(!inside, "a fence never closes");
    found
}

/// Runs the commands of a text and returns how many it has.
fn run(name: &str, text: &str) -> usize {
    let place = Place::new();
    std::fs::create_dir(place.path("book")).unwrap();
    std::fs::copy(root().join("book/flowers.csv"), place.path("book/flowers.csv")).unwrap();
    for (info, content) in blocks(text) {
        if let Some((_, file)) = info.split_once(" file=") {
            std::fs::write(place.path(file), content).unwrap();
        }
    }
    let mut commands = 0;
    for (_, block) in blocks(text).iter().filter(|(info, _)| info == "sh") {
        for line in block.lines().filter(|line| !line.trim().is_empty()) {
            let (words, remark) = line.split_once('#').unwrap_or((line, ""));
            let words = words
                .trim()
                .strip_prefix("mercer ")
                .unwrap_or_else(|| panic!("{name}: a command begins with mercer: {line}"));
            let expected = remark
                .trim()
                .strip_prefix("fails:")
                .map_or(0, |code| code.trim().parse().unwrap_or_else(|_| panic!("{name}: {line}")));
            let ended = place.run(words);
            assert_eq!(ended.code, Some(expected), "{name}: {line}\n{ended:#?}");
            commands += 1;
        }
    }
    commands
}

/// What a text links to is there, and what it calls by `just` is a recipe.
fn refers(folder: &Path, name: &str, text: &str) {
    let parts: Vec<&str> = text.split("](").collect();
    for pair in parts.windows(2) {
        let picture = pair[0].rsplit_once('[').is_some_and(|(before, _)| before.ends_with('!'));
        let path = pair[1].split([')', '#']).next().unwrap_or_default();
        let outside = picture || path.is_empty() || path.starts_with("http");
        assert!(outside || folder.join(path).exists(), "{name} links to {path}");
    }
    let recipes = read("justfile");
    for start in ["`just ", "\njust ", "&& just "] {
        for call in text.split(start).skip(1) {
            let recipe = call.split(|c: char| !c.is_alphanumeric() && c != '-').next().unwrap();
            let is = |line: &str| {
                line.strip_prefix(recipe).is_some_and(|rest| rest.starts_with([':', ' ']))
            };
            assert!(recipes.lines().any(is), "{name}: just {recipe}");
        }
    }
}

#[test]
fn every_chapter_does_what_it_says() {
    let folder = root().join("book/src");
    let summary = read("book/src/SUMMARY.md");
    let mut listed: Vec<&str> =
        summary.split('(').skip(1).filter_map(|part| part.split(')').next()).collect();
    listed.sort_unstable();
    let mut files: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "SUMMARY.md")
        .collect();
    files.sort();
    assert_eq!(files, listed, "the summary lists every chapter");
    let mut commands = 0;
    for name in &files {
        let text = read(folder.join(name));
        refers(&folder, name, &text);
        commands += run(name, &text);
    }
    assert!(commands > 20, "{commands} commands");
}

/// What stands between two marks, wherever they do.
fn between<'a>(text: &'a str, from: &str, to: &str) -> Vec<&'a str> {
    let parts = text.split(from).skip(1);
    parts.filter_map(|part| part.split_once('>')?.1.split(to).next()).collect()
}

/// A page of classes with all that can be asked for, and one of numbers: each heading, metric and figure is in the chapter.
#[test]
fn every_part_of_a_page_is_explained() {
    let chapter = read("book/src/page.md").to_lowercase();
    let place = Place::new();
    let mut text = "machine,heat,site,weight,left,state\n".to_owned();
    for row in 0..400_u32 {
        let wave = |k: u32| (f64::from(row * k) * 0.618).sin();
        let site = ["north", "south", ""][(row / 7 % 3) as usize];
        let state = if row % 50 == 3 { "fault" } else { "fine" };
        let heat = wave(3) + if state == "fault" { 1.0 } else { 0.0 };
        let (weight, left) = (1 + row % 2, 3.0 * wave(7) + heat);
        writeln!(text, "m{},{heat:.3},{site},{weight},{left:.3},{state}", row / 10).unwrap();
    }
    std::fs::write(place.path("machines.csv"), text).unwrap();
    let line = "compare --methods kernel-ridge,rf-ridge,majority --data machines.csv --groups machine \
                --weights weight --impute category --calibrate --learning-curve --importance --report a.html";
    place.run(line).with_code(0);
    let line = "evaluate --method kernel-ridge --data machines.csv --drop machine,weight,state --target left \
                --impute category --report b.html";
    place.run(line).with_code(0);
    for page in ["a.html", "b.html"] {
        let page = std::fs::read_to_string(place.path(page)).unwrap();
        let scores = page.split("id=\"scores").nth(1).unwrap().split("</table>").next().unwrap();
        let metrics =
            between(scores, "<th", "<").into_iter().map(|head| head.trim_end_matches(", %"));
        let titles = between(&page, "<h2", "<").into_iter().chain(between(&page, "<h3", "<"));
        let parts: Vec<String> = titles.chain(metrics).map(str::to_lowercase).collect();
        assert!(parts.len() > 8, "{parts:?}");
        for part in parts {
            let known = [
                "scores on rows not fitted to",
                "the best against the others",
                "method",
                "kernel-ridge",
                "rf-ridge",
                "majority",
            ];
            let found = chapter.contains(part.trim()) || known.contains(&part.trim());
            assert!(found, "`{part}` is in no chapter");
        }
    }
}

#[test]
fn the_readme_does_what_it_says() {
    let text = read("README.md");
    refers(&root(), "README.md", &text);
    refers(&root(), "CONTRIBUTING.md", &read("CONTRIBUTING.md"));
    // `./setup` and the recipes are what `.ci/run` begins with.
    let (first, own) = ("```sh\n./setup && just reproduce\n```", "target/release/mercer ");
    assert!(text.contains(first) && text.contains("After `just build`:"));
    let text = text.replace(first, "").replace(own, "mercer ");
    assert!(run("README.md", &text) >= 6);
    let snippet = blocks(&text).into_iter().find(|(info, _)| info == "rust").unwrap().1;
    let file = read("crates/baselines/src/example.rs");
    let (_, file) = file.split_once("\n\n").unwrap();
    assert!(file.starts_with(&snippet), "crates/baselines/src/example.rs is what the README shows");
}
