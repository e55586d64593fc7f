//! README, CONTRIBUTING and the book are short and plain; `just prose` prints their measures.

use std::path::{Path, PathBuf};

/// Words that have a plainer one, and pronouns that want a noun.
const AVOIDED: [&str; 14] = [
    "that of",
    "those of",
    "such a one",
    "in the mean",
    "so many of",
    "undecided",
    "beyond doubt",
    "read-out",
    "carry out",
    "carried out",
    "heeded",
    "mended",
    "letter by letter",
    "in no mirror",
];

/// The sentences of a Markdown text, each with the line on which its paragraph begins. Headings, tables,
/// pictures and blocks are left out, code counts as a word, and an item of a list ends a sentence.
fn sentences(text: &str) -> Vec<(usize, String)> {
    let mut paragraphs: Vec<(usize, String)> = Vec::new();
    let (mut fenced, mut open) = (false, false);
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        let fence = line.starts_with("```");
        fenced ^= fence;
        if fence || fenced || line.is_empty() || line.starts_with(['|', '#', '<', '!']) {
            open = false;
            continue;
        }
        let numbered = |line| str::split_once(line, ". ").filter(|(n, _)| n.parse::<u32>().is_ok());
        let item = line.strip_prefix("- ").or_else(|| numbered(line).map(|(_, rest)| rest));
        match (item, paragraphs.last_mut()) {
            (None, Some((_, paragraph))) if open => {
                paragraph.push(' ');
                paragraph.push_str(line);
            }
            _ => paragraphs.push((number, item.unwrap_or(line).to_owned())),
        }
        open = true;
    }
    let ends = |word: &str| word.trim_end_matches([')', '"']).ends_with(['.', '!', '?']);
    let mut found = Vec::new();
    for (number, paragraph) in paragraphs {
        let shown = shown(&paragraph);
        let words: Vec<&str> = shown.split_whitespace().collect();
        let split = words.split_inclusive(|word| ends(word));
        found.extend(split.map(|sentence| (number, sentence.join(" "))));
    }
    found
}

/// What a reader sees of a paragraph: no addresses, no marks, and each piece of code as one word.
fn shown(paragraph: &str) -> String {
    let parts = paragraph.split('`').enumerate();
    let text: String = parts.map(|(i, part)| if i % 2 == 0 { part } else { "code" }).collect();
    let parts = text.split("](").enumerate().map(|(i, part)| match part.split_once(')') {
        Some((_, rest)) if i > 0 => rest,
        _ => part,
    });
    parts.collect::<String>().replace(['[', '*'], "")
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric))
}

/// Groups of vowels, less a silent e: what Flesch's formula counts.
fn syllables(word: &str) -> usize {
    let word = word.to_lowercase();
    let word = word.trim_matches(|c: char| !c.is_alphabetic());
    let groups = word.split(|c| !"aeiouy".contains(c)).filter(|group| !group.is_empty()).count();
    let silent = word.ends_with('e') && !word.ends_with("le");
    groups.saturating_sub(usize::from(silent)).max(1)
}

/// Mean and longest sentence in words, and Flesch's reading ease. Prints them, and adds the sentences to `all_of_them`.
fn measure(name: &str, text: &str, all_of_them: &mut Vec<(usize, String)>) -> (f64, usize, f64) {
    let sentences = sentences(text);
    let count = |sentence: &str| words(sentence).count();
    let all: usize = sentences.iter().map(|(_, sentence)| count(sentence)).sum();
    let spoken: usize =
        sentences.iter().flat_map(|(_, sentence)| words(sentence)).map(syllables).sum();
    let mean = all as f64 / sentences.len() as f64;
    let flesch = 206.835 - 1.015 * mean - 84.6 * spoken as f64 / all as f64;
    let placed = |(line, text): &(usize, String)| (count(text), format!("{name}:{line}: {text}"));
    all_of_them.extend(sentences.iter().map(placed));
    let most = sentences.iter().map(|(_, sentence)| count(sentence)).max().unwrap();
    println!(
        "{name}: {} bytes, {} lines; {} sentences, mean {mean:.1}, longest {most}, Flesch {flesch:.0}",
        text.len(),
        text.lines().count(),
        sentences.len(),
    );
    let lower = sentences.iter().map(|(line, sentence)| (line, sentence.to_lowercase()));
    for (line, sentence) in lower {
        let avoided = AVOIDED.iter().find(|words| sentence.contains(**words));
        assert!(avoided.is_none(), "{name}:{line}: write {avoided:?} otherwise");
    }
    (mean, most, flesch)
}

#[test]
fn prose_is_short_and_plain() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &PathBuf| std::fs::read_to_string(path).unwrap();
    let book = std::fs::read_dir(root.join("book/src")).unwrap().map(|entry| entry.unwrap().path());
    let mut texts = vec![(root.join("README.md"), 8192, 16.0, 32)];
    texts.push((root.join("CONTRIBUTING.md"), 6144, 18.0, 32));
    texts.push((root.join("ARCHITECTURE.md"), 6144, 18.0, 32));
    // The list of chapters has no sentence.
    let chapters = book.filter(|path| !path.ends_with("SUMMARY.md"));
    texts.extend(chapters.map(|chapter| (chapter, 8192, 18.0, 32)));
    for folder in ["experiments/findings", "experiments/notes"] {
        let files = std::fs::read_dir(root.join(folder)).unwrap();
        texts.extend(files.map(|entry| (entry.unwrap().path(), 8192, 18.0, 32)));
    }
    let mut sentences = Vec::new();
    for (path, bytes, mean, longest) in texts {
        let (name, text) = (path.file_name().unwrap().to_str().unwrap(), read(&path));
        // A finding or a note begins with its queries.
        let text = text.rsplit_once("\n+++\n").map_or(text.as_str(), |(_, body)| body);
        let found = measure(name, text, &mut sentences);
        assert!(text.len() <= bytes, "{name}: {} bytes", text.len());
        assert!(found.0 <= mean && found.1 <= longest && found.2 >= 50.0, "{name}: {found:?}");
    }
    sentences.sort_by_key(|(words, _)| std::cmp::Reverse(*words));
    println!("the ten longest sentences:");
    sentences.iter().take(10).for_each(|(words, text)| println!("{words} words, {text}"));
    let readme = read(&root.join("README.md"));
    assert!(readme.lines().count() <= 150);
    let (before, _) = readme.split_once("```").unwrap();
    println!("{} words before the first command", words(before).count());
    assert!(words(before).count() <= 60 && before.lines().count() < 20);
}
