//! No golden value is skipped: every block of the golden files is asserted somewhere.

use approx::assert_relative_eq;
use mercer_learning::Loss;
use std::path::{Path, PathBuf};
use toml::Table;

/// Papers, and the number of blocks that were handed down for each.
const BLOCKS: [(&str, usize); 5] =
    [("askl", 4), ("rftk", 3), ("hyper", 4), ("mce", 4), ("base", 9)];

/// Numbers of each block, as they were handed down.
const NUMBERS: [(&str, &[usize]); 5] = [
    ("askl", &[9, 35, 24, 34]),
    ("rftk", &[33, 24, 27]),
    ("hyper", &[21, 41, 23, 42]),
    ("mce", &[25, 23, 59, 19]),
    ("base", &[10, 36, 39, 29, 39, 38, 75, 26, 44]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn golden(paper: &str) -> Table {
    let path = root().join(format!("experiments/golden/{paper}.toml"));
    std::fs::read_to_string(&path).unwrap().parse().unwrap()
}

/// Every Rust file of the crates and of the experiments.
fn sources() -> Vec<(PathBuf, String)> {
    let mut folders = vec![root().join("crates"), root().join("experiments")];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                sources.push((path, text));
            }
        }
    }
    // Tests in a folder of their own share what its first file reads.
    let folders: Vec<PathBuf> = sources
        .iter()
        .filter(|(path, _)| path.ends_with("tests/mod.rs"))
        .filter_map(|(path, _)| Some(path.parent()?.to_owned()))
        .collect();
    for folder in folders {
        let (inside, others): (Vec<_>, Vec<_>) =
            sources.into_iter().partition(|(path, _)| path.parent() == Some(&folder));
        sources = others;
        let texts: Vec<String> = inside.into_iter().map(|(_, text)| text).collect();
        sources.push((folder, texts.concat()));
    }
    sources
}

#[test]
fn every_block_is_there() {
    for (paper, count) in BLOCKS {
        let expected: Vec<String> = (1..=count).map(|block| format!("{paper}-{block}")).collect();
        let found: Vec<String> = golden(paper).keys().cloned().collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn every_number_is_there() {
    fn numbers(value: &toml::Value) -> usize {
        value.as_array().map_or(1, |values| values.iter().map(numbers).sum())
    }
    for (paper, expected) in NUMBERS {
        let found: Vec<usize> = golden(paper)
            .values()
            .map(|block| block.as_table().unwrap().values().map(numbers).sum())
            .collect();
        assert_eq!(found, expected, "{paper}");
    }
}

/// A block is asserted by a file that reads the golden file, names the block and has a test.
#[test]
fn every_block_is_asserted() {
    let sources = sources();
    for (paper, _) in BLOCKS {
        let file = format!("golden/{paper}.toml");
        for (block, values) in golden(paper) {
            let name = format!("[\"{block}\"]");
            let readers: Vec<&(PathBuf, String)> = sources
                .iter()
                .filter(|(_, text)| {
                    text.contains(&file) && text.contains(&name) && text.contains("#[test]")
                })
                .collect();
            assert!(!readers.is_empty(), "no test reads block {block} of {file}");
            // And each of its values is read by name, in one of them.
            for value in leaves(values.as_table().unwrap()) {
                let quoted = format!("\"{value}\"");
                let read = readers.iter().any(|(_, text)| text.contains(&quoted));
                assert!(read, "`{value}` of block {block} is not read by {:?}", readers[0].0);
            }
        }
    }
}

/// The part of the third block that belongs to the losses, not to the thresholding.
#[test]
fn golden_hinge() {
    let golden: Table = include_str!("../golden/askl.toml").parse().unwrap();
    let golden = golden["askl-3"].as_table().unwrap();
    let scores = golden["hinge-scores"].as_array().unwrap();
    let mut scores: Vec<f64> = scores.iter().map(|score| score.as_float().unwrap()).collect();
    let label = golden["hinge-label"].as_integer().unwrap() as usize;
    let loss = Loss::Hinge.of_class(&mut scores, label);
    assert_relative_eq!(loss, golden["hinge"].as_float().unwrap(), max_relative = 1e-8);
    // The sub-gradient of the text: e_{c*} − e_y.
    assert_eq!(scores, [-1.0, 1.0, 0.0]);
}

/// Names of the values of a block, those of its sub-blocks included.
fn leaves(block: &Table) -> Vec<&str> {
    block
        .iter()
        .flat_map(|(name, value)| match value.as_table() {
            Some(inner) => leaves(inner),
            None => vec![name.as_str()],
        })
        .collect()
}
