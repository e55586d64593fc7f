//! Dependencies point down: every manifest against the layers of the root manifest.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// The crates that may see polars: where tables of data or of records are wrangled, and the one
/// that unites the features of outside crates.
const WRANGLERS: [&str; 5] =
    ["mercer-datasets", "mercer-dependencies", "mercer-outside", "mercer-parquet", "mercer-render"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn manifest(folder: &Path) -> Table {
    let path = folder.join("Cargo.toml");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.parse().unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Name and manifest of every member, as the globs of the root manifest name them.
fn members() -> BTreeMap<String, Table> {
    let root = root();
    let mut folders = Vec::new();
    for pattern in manifest(&root)["workspace"]["members"].as_array().unwrap() {
        match pattern.as_str().unwrap().strip_suffix("/*") {
            Some(parent) => {
                let entries = std::fs::read_dir(root.join(parent)).unwrap();
                folders.extend(entries.map(|entry| entry.unwrap().path()));
            }
            None => folders.push(root.join(pattern.as_str().unwrap())),
        }
    }
    folders.retain(|folder| folder.join("Cargo.toml").is_file());
    let named = |folder: &PathBuf| {
        let manifest = manifest(folder);
        (manifest["package"]["name"].as_str().unwrap().to_owned(), manifest)
    };
    folders.iter().map(named).collect()
}

/// All that a manifest depends on, for building, for tests and on some targets only.
fn dependencies(manifest: &Table) -> BTreeSet<String> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let conditional = targets.into_iter().flat_map(Table::values).filter_map(Value::as_table);
    std::iter::once(manifest)
        .chain(conditional)
        .flat_map(|table| {
            ["dependencies", "dev-dependencies", "build-dependencies"]
                .into_iter()
                .filter_map(|kind| table.get(kind)?.as_table())
        })
        .flat_map(|table| table.keys().cloned())
        .collect()
}

#[test]
fn every_member_has_a_layer_and_every_layer_a_member() {
    let root = manifest(&root());
    let layers = root["workspace"]["metadata"]["layers"].as_table().unwrap();
    let listed: BTreeSet<&String> = layers.keys().collect();
    let members = members();
    assert_eq!(listed, members.keys().collect());
    assert!(members.len() >= 10);
}

#[test]
fn dependencies_point_down() {
    let root = manifest(&root());
    let layers = root["workspace"]["metadata"]["layers"].as_table().unwrap();
    let layer = |name: &str| layers.get(name).and_then(Value::as_integer);
    let mut looked_at = 0;
    for (name, manifest) in members() {
        for dependency in dependencies(&manifest) {
            let Some(below) = layer(&dependency) else {
                assert!(!dependency.starts_with("mercer"), "{dependency} has no layer");
                continue;
            };
            let own = layer(&name).unwrap();
            assert!(
                below < own,
                "{name} (layer {own}) depends on {dependency} (layer {below}): the arrow must point down"
            );
            looked_at += 1;
        }
    }
    assert!(looked_at > 20, "only {looked_at} arrows were found");
}

/// Outside crates have one version, which stands in the root manifest.
#[test]
fn versions_stand_once() {
    for (name, manifest) in members() {
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let Some(table) = manifest.get(kind).and_then(Value::as_table) else { continue };
            for (dependency, how) in table {
                let inherited = how.get("workspace").and_then(Value::as_bool) == Some(true);
                assert!(inherited, "{name}: {dependency} must be `{dependency}.workspace = true`");
            }
        }
    }
}

#[test]
fn there_is_one_ndarray() {
    let text = std::fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let lock: Table = text.parse().unwrap();
    let packages = lock["package"].as_array().unwrap();
    let versions: Vec<&str> = packages
        .iter()
        .filter(|package| package["name"].as_str() == Some("ndarray"))
        .filter_map(|package| package["version"].as_str())
        .collect();
    assert_eq!(versions.len(), 1, "{versions:?}: a matrix of one is no matrix of the other");
}

#[test]
fn polars_stays_where_tables_are_wrangled() {
    for (name, manifest) in members() {
        // Of what ships: a test may write a file of a kind that users have.
        let ships = manifest.get("dependencies").and_then(|table| table.as_table());
        if ships.is_some_and(|table| table.keys().any(|name| name.starts_with("polars"))) {
            assert!(WRANGLERS.contains(&name.as_str()), "{name} depends on polars");
        }
    }
}

/// The files of a crate by the path of their module, `["schema", "reading"]`.
fn modules(src: &Path) -> BTreeMap<Vec<String>, PathBuf> {
    let mut found = BTreeMap::new();
    let mut folders = vec![src.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let inside = path.strip_prefix(src).unwrap().with_extension("");
                let mut names: Vec<String> =
                    inside.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
                if ["mod", "lib", "main"].contains(&names.last().unwrap().as_str()) {
                    names.pop();
                }
                found.insert(names, path);
            }
        }
    }
    found
}

/// The paths that a `use` names: `a::{b, c::d}` are `a::b` and `a::c::d`.
fn expanded(tree: &str, before: &[String], all: &mut Vec<Vec<String>>) {
    let tree = tree.trim();
    if let Some((head, rest)) = tree.split_once("::").filter(|(head, _)| !head.contains('{')) {
        let before = [before, &[head.trim().to_owned()]].concat();
        return expanded(rest, &before, all);
    }
    let Some(inside) = tree.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) else {
        let name = tree.split(" as ").next().unwrap_or_default().trim();
        all.push([before, &[name.to_owned()]].concat());
        return;
    };
    let (mut depth, mut start) = (0, 0);
    for (at, c) in inside.char_indices().chain([(inside.len(), ',')]) {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if c == ',' && depth == 0 {
            if !inside[start..at].trim().is_empty() {
                expanded(&inside[start..at], before, all);
            }
            start = at + 1;
        }
    }
}

/// Of each module of a crate, those of its files that it names in a `use`: a name that another file hands on is not
/// followed.
fn uses(modules: &BTreeMap<Vec<String>, PathBuf>) -> BTreeMap<Vec<String>, BTreeSet<Vec<String>>> {
    let of = |module: &Vec<String>, path: &PathBuf| {
        let text = format!("\n{}", std::fs::read_to_string(path).unwrap());
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let mut named = Vec::new();
        for statement in text.split("\nuse ").skip(1) {
            let tree = statement.split(';').next().unwrap_or_default().replace('\n', " ");
            expanded(&tree, &[], &mut named);
        }
        let mut found = BTreeSet::new();
        for path in named {
            let mut at = match path[0].as_str() {
                "crate" => Vec::new(),
                "super" => module[..module.len().saturating_sub(1)].to_vec(),
                "self" => module.clone(),
                _ => continue,
            };
            for name in &path[1..] {
                match name.as_str() {
                    "super" => drop(at.pop()),
                    name => at.push(name.to_owned()),
                }
            }
            // The longest beginning that is a file; a parent's own names are handed on by it.
            while !at.is_empty() && !modules.contains_key(&at) {
                at.pop();
            }
            if !at.is_empty() && at != *module && !module.starts_with(&at) {
                found.insert(at);
            }
        }
        found
    };
    modules.iter().map(|(module, path)| (module.clone(), of(module, path))).collect()
}

#[test]
fn files_of_a_crate_use_each_other_in_no_circle() {
    let sources = members().into_keys().map(|name| match name.strip_prefix("mercer-") {
        Some("experiments") => root().join("experiments/src"),
        Some("benches") => root().join("benches/src"),
        Some("python") => root().join("python/src"),
        Some(name) => root().join("crates").join(name).join("src"),
        None => root().join("crates").join(&name).join("src"),
    });
    for src in sources {
        let mut left = uses(&modules(&src));
        // Take away what uses nothing that is left, until nothing changes: what stays goes round.
        loop {
            let all: BTreeSet<Vec<String>> = left.keys().cloned().collect();
            let before = left.len();
            left.retain(|_, used| used.iter().any(|module| all.contains(module)));
            if left.len() == before {
                break;
            }
        }
        assert!(left.is_empty(), "{}: {:?}", src.display(), left.keys().collect::<Vec<_>>());
    }
}

#[test]
fn a_use_names_all_its_paths() {
    let mut all = Vec::new();
    expanded("crate::{a, b::{self, C as D}}", &[], &mut all);
    let all: Vec<String> = all.iter().map(|path| path.join("::")).collect();
    assert_eq!(all, ["crate::a", "crate::b::self", "crate::b::C"]);
}
