//! Every command of the book and of the README's part on people's own data is carried out, in the
//! order of its chapter, in a folder of its own.

use crate::place::Place;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
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

/// Carries out a chapter and returns how many commands it has.
fn carry_out(name: &str, text: &str) -> usize {
    let place = Place::new();
    let mut commands = 0;
    for (info, block) in blocks(text) {
        if let Some(file) = info.strip_prefix("csv,") {
            std::fs::write(place.path(file), block).unwrap();
            continue;
        }
        if info != "sh" {
            continue;
        }
        for line in block.lines().filter(|line| !line.trim().is_empty()) {
            let (words, remark) = line.split_once('#').unwrap_or((line, ""));
            let words = words.trim().strip_prefix("mercer ").unwrap_or_else(|| {
                panic!("{name}: a command of the book begins with mercer: {line}")
            });
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

#[test]
fn every_chapter_does_what_it_says() {
    let folder = root().join("book/src");
    let summary = std::fs::read_to_string(folder.join("SUMMARY.md")).unwrap();
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
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        // What a chapter refers to is there.
        for link in text.split("](").skip(1).filter_map(|part| part.split(')').next()) {
            let path = link.split('#').next().unwrap_or_default();
            let outside = link.starts_with("http") || path.is_empty();
            assert!(outside || folder.join(path).exists(), "{name} refers to {link}");
        }
        commands += carry_out(name, &text);
    }
    assert!(commands > 20, "{commands} commands");
}

#[test]
fn the_readme_does_what_it_says_of_your_own_data() {
    let text = std::fs::read_to_string(root().join("README.md")).unwrap();
    let (_, part) = text.split_once("\n## On your own data\n").expect("the README has that part");
    assert!(part.contains("`./setup && just build`"), "what it calls has to be built first");
    let part = part.split("\n## ").next().unwrap_or_default();
    let part = part.replace("target/release/mercer ", "mercer ");
    assert!(carry_out("README.md", &part) >= 6);
}
