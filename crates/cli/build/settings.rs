//! What the sources say of the settings of methods: their meaning, their type, what they are without
//! a word, and the words that an enumeration knows. `mercer list methods NAME` prints it, so that it is
//! written once, where the setting is.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Writes `settings.rs` into the folder: tables of parameter types and of enumerations.
pub fn write(crates: &Path, into: &Path) {
    let mut files = Vec::new();
    collect(crates, &mut files);
    files.sort();
    let (mut structs, mut enums) = (String::new(), String::new());
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        for item in items(&text) {
            let asked = item.is_enum || item.name.ends_with("Params");
            if !asked || item.fields.is_empty() || !item.attributes.contains("Deserialize") {
                continue;
            }
            let (table, kind) =
                if item.is_enum { (&mut enums, "Words") } else { (&mut structs, "Params") };
            let _ = writeln!(table, "    {kind} {{ name: {:?}, entries: &[", item.name);
            let defaults = defaults(&text, &item.name);
            for field in &item.fields {
                let default = defaults.iter().find(|(name, _)| *name == field.name);
                let default = default.map_or("", |(_, value)| value.as_str());
                let _ = writeln!(
                    table,
                    "        Entry {{ name: {:?}, kind: {:?}, meaning: {:?}, default: {default:?} }},",
                    field.name, field.kind, field.meaning
                );
            }
            table.push_str("    ] },\n");
        }
    }
    let text = format!(
        "const PARAMS: &[Params] = &[\n{structs}];\nconst WORDS: &[Words] = &[\n{enums}];\n"
    );
    std::fs::write(into.join("settings.rs"), text).expect("the build folder can be written");
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
}

struct Field {
    name: String,
    kind: String,
    meaning: String,
}

struct Item {
    name: String,
    attributes: String,
    is_enum: bool,
    fields: Vec<Field>,
}

/// The public types of a file, by its lines: they are formatted, so that a type ends at a brace in the
/// first column.
fn items(text: &str) -> Vec<Item> {
    let mut found: Vec<Item> = Vec::new();
    let (mut attributes, mut doc, mut skipped, mut inside) =
        (String::new(), String::new(), false, false);
    for line in text.lines() {
        if !inside {
            let head = line.strip_prefix("pub struct ").map(|rest| (rest, false));
            let head = head.or_else(|| line.strip_prefix("pub enum ").map(|rest| (rest, true)));
            if line.starts_with("#[") {
                attributes.push_str(line);
            } else if let Some((rest, is_enum)) = head.filter(|_| line.ends_with('{')) {
                let name = rest.trim_end_matches('{').trim().to_owned();
                let attributes = std::mem::take(&mut attributes);
                found.push(Item { name, attributes, is_enum, fields: Vec::new() });
                inside = true;
                doc.clear();
            } else if !line.starts_with("///") {
                attributes.clear();
            }
            continue;
        }
        let Some(item) = found.last_mut() else { continue };
        let bare = line.trim();
        if line == "}" {
            inside = false;
        } else if let Some(words) = bare.strip_prefix("///") {
            doc.push_str(words);
        } else if bare.starts_with("#[serde(skip") {
            skipped = true;
        } else if line.starts_with("    ")
            && !line.starts_with("     ")
            && !bare.starts_with(['#', '}', '/'])
        {
            let meaning = std::mem::take(&mut doc).trim().to_owned();
            let (name, kind) = if item.is_enum {
                let name = bare.split([',', '(', '{', ' ']).next().unwrap_or_default();
                (kebab(name), String::new())
            } else {
                let (name, kind) =
                    bare.trim_start_matches("pub ").split_once(": ").unwrap_or_default();
                (name.to_owned(), kind.trim_end_matches(',').to_owned())
            };
            if !std::mem::take(&mut skipped) && !name.is_empty() {
                item.fields.push(Field { name, kind, meaning });
            }
        }
    }
    found
}

/// The values of `impl Default` for a type, as they are written, with the constants of the file in the
/// place of their names.
fn defaults(text: &str, name: &str) -> Vec<(String, String)> {
    let Some((_, body)) = text.split_once(&format!("impl Default for {name} {{")) else {
        return Vec::new();
    };
    let body = body.split("\n}\n").next().unwrap_or_default();
    // The last: the first is what the function returns.
    let Some((before, body)) = body.rsplit_once("Self {") else { return Vec::new() };
    let mut values = Vec::new();
    let (mut depth, mut start) = (0i32, 0);
    for (at, letter) in body.char_indices() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                values.push(&body[start..at]);
                start = at + 1;
                if letter == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    let constant = |value: &str| -> Option<String> {
        let (_, rest) = text.split_once(&format!("const {value}: "))?;
        let (_, rest) = rest.split_once("= ")?;
        Some(rest.split(';').next()?.to_owned())
    };
    values
        .into_iter()
        .filter_map(|value| {
            let (name, value) = if let Some((name, value)) = value.trim().split_once(": ") {
                (name, value.trim())
            } else {
                // A value that was computed before, under the name of the field.
                let name = value.trim();
                let (_, rest) = before.split_once(&format!("let {name} = "))?;
                (name, rest.split(';').next()?)
            };
            let value = constant(value).unwrap_or_else(|| value.to_owned());
            Some((name.to_owned(), plain(&value)))
        })
        .collect()
}

/// A value as it is typed: `Some(3)` is 3, `Kind::SomeWord` is some-word.
fn plain(value: &str) -> String {
    let value =
        value.strip_prefix("Some(").and_then(|rest| rest.strip_suffix(')')).unwrap_or(value);
    match value {
        "None" => "none".to_owned(),
        "Vec::new()" => "[]".to_owned(),
        // A constant or a value of elsewhere: not said in a word.
        word if word.len() > 1
            && word.chars().all(|letter| letter.is_uppercase() || letter == '_') =>
        {
            String::new()
        }
        word if word.starts_with(char::is_lowercase) && word.contains(['.', '!']) => String::new(),
        word if word.chars().next().is_some_and(char::is_uppercase) => {
            let word = word.split([' ', '(', '{']).next().unwrap_or(word);
            kebab(word.rsplit("::").next().unwrap_or(word))
        }
        number => number.replace('_', ""),
    }
}

fn kebab(name: &str) -> String {
    let mut text = String::new();
    for (at, letter) in name.chars().enumerate() {
        if letter.is_uppercase() && at > 0 {
            text.push('-');
        }
        text.extend(letter.to_lowercase());
    }
    text
}
