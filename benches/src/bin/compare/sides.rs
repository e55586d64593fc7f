//! The two builds of the benches: a commit's, and the working tree's. The commit is in a work tree of git.

use mercer_benches::told;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Runs git at the root.
pub fn git(arguments: &[&str]) -> Result<String, String> {
    told("git", &[&["-C", ".."], arguments].concat())
}

/// Returns the commit to compare with: the one where this branch left main. On main itself it is the last one: the
/// newest where files have changed since, and the one before it where none have. `None` where git knows none.
pub fn base() -> Option<String> {
    let head = git(&["rev-parse", "HEAD"]).ok()?;
    let fork =
        ["origin/main", "main"].iter().find_map(|main| git(&["merge-base", "HEAD", main]).ok());
    match fork {
        Some(fork) if fork != head => Some(fork),
        _ if changed_since("HEAD").is_ok_and(|files| !files.is_empty()) => Some(head),
        _ => git(&["rev-parse", "--verify", "--quiet", "HEAD~1"]).ok(),
    }
}

/// Files of the working tree that differ from the commit's, new ones among them.
pub fn changed_since(commit: &str) -> Result<Vec<String>, String> {
    let files = git(&["diff", "--name-only", commit, "--"])?;
    let new = git(&["ls-files", "--others", "--exclude-standard", "--full-name", ":/"])?;
    Ok(files.lines().chain(new.lines()).map(str::to_owned).collect())
}

/// Benches that messages of the commits since the base accept as slower or gone.
pub fn accepted(base: &str) -> Result<BTreeSet<String>, String> {
    let messages = git(&["log", "--format=%B", &format!("{base}..HEAD")])?;
    Ok(accepted_in(&messages))
}

fn accepted_in(messages: &str) -> BTreeSet<String> {
    let names = messages.lines().filter_map(|line| line.strip_prefix("Accept-bench:"));
    names.map(|name| name.trim().to_owned()).collect()
}

/// Executables of a side, by the names of their benches' files.
pub type Executables = BTreeMap<String, PathBuf>;

/// Which benches are built.
#[derive(Clone, Copy)]
pub struct Wanted {
    /// Every file of `benches/benches`, and not the hot paths alone.
    pub all: bool,
    /// With the slowdown that `MERCER_PLANTED` names.
    pub planted: bool,
}

/// Benches of the commit. Compiled once: its executables stay in `folder`, its sources do not.
pub fn build_commit(
    root: &Path,
    folder: &Path,
    commit: &str,
    wanted: Wanted,
    limit: Duration,
) -> Result<Executables, String> {
    let scope = if wanted.all { "all" } else { "paths" };
    let cache = folder.join("kept");
    let kept = cache.join(format!("{commit}-{scope}"));
    if let Ok(entries) = std::fs::read_dir(&kept) {
        let named = |path: PathBuf| Some((path.file_stem()?.to_str()?.to_owned(), path));
        return Ok(entries.flatten().filter_map(|entry| named(entry.path())).collect());
    }
    // The same place each time: cargo knows a crate by its path.
    let source = folder.join("source");
    let place = source.to_str().ok_or("the folder's name is no text")?;
    let remove = || git(&["worktree", "remove", "--force", place]);
    let _ = remove();
    git(&["worktree", "add", "--quiet", "--force", "--detach", place, commit])?;
    apart(&source)?;
    let built = build(&source, &root.join("target"), wanted, limit);
    remove()?;
    let built = built?;
    // One commit is kept, whole or not at all.
    let making = folder.join("making");
    for old in [&cache, &making] {
        let _ = std::fs::remove_dir_all(old);
    }
    copy(&built, &making)?;
    let moved = std::fs::create_dir_all(&cache).and_then(|()| std::fs::rename(&making, &kept));
    moved.map_err(|error| format!("{}: {error}", kept.display()))?;
    Ok(built.into_keys().map(|name| (name.clone(), kept.join(name))).collect())
}

/// Gives a work tree's crates another version, and its benches no programs. Cargo names its outputs by a crate's
/// version and its place below the root, so that both sides would write to the same files of the shared folder.
fn apart(source: &Path) -> Result<(), String> {
    let edit = |name: &str, change: &dyn Fn(&mut toml::Table) -> Option<()>| {
        let path = source.join(name);
        let fault = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = std::fs::read_to_string(&path).map_err(|error| fault(&error))?;
        let mut table: toml::Table = text.parse().map_err(|error| fault(&error))?;
        change(&mut table).ok_or_else(|| fault(&"no package is described"))?;
        std::fs::write(&path, table.to_string()).map_err(|error| fault(&error))
    };
    let within = |table: &mut toml::Table, key: &str, value: toml::Value| {
        table.get_mut("package")?.as_table_mut()?.insert(key.to_owned(), value);
        Some(())
    };
    edit("Cargo.toml", &|table| {
        within(table.get_mut("workspace")?.as_table_mut()?, "version", "9.9.9".into())
    })?;
    edit("benches/Cargo.toml", &|table| {
        table.remove("bin");
        within(table, "autobins", false.into())
    })
}

/// Copies executables, so that a later build leaves them alone.
pub fn copy(executables: &Executables, folder: &Path) -> Result<Executables, String> {
    let fault = |error: std::io::Error| format!("{}: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(fault)?;
    let one = |(name, from): (&String, &PathBuf)| {
        let to = folder.join(name);
        std::fs::copy(from, &to).map_err(fault)?;
        Ok((name.clone(), to))
    };
    executables.iter().map(one).collect()
}

/// Builds the benches of a source tree into a target folder. Third-party crates are shared through it.
pub fn build(
    source: &Path,
    target: &Path,
    wanted: Wanted,
    limit: Duration,
) -> Result<Executables, String> {
    let mut cargo = Command::new("timeout");
    cargo.arg(limit.as_secs().max(1).to_string()).args(["cargo", "build", "--release", "--quiet"]);
    // The second package keeps the features of outside crates as they are everywhere.
    cargo.args([
        "-p",
        "mercer-benches",
        "-p",
        "mercer-dependencies",
        "--message-format=json-render-diagnostics",
    ]);
    let hot = ["--bench", "paths", "--no-default-features"];
    cargo.args(if wanted.all { &["--benches"][..] } else { &hot });
    if wanted.planted {
        cargo.args(["--features", "planted"]);
    }
    cargo.arg("--target-dir").arg(target).current_dir(source).stdin(Stdio::null());
    let output = cargo.output().map_err(|error| format!("cannot run cargo: {error}"))?;
    if output.status.code() == Some(124) {
        return Err(format!("not built in {} s", limit.as_secs()));
    }
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let error = said.lines().find(|line| line.starts_with("error"));
        return Err(error.unwrap_or("cargo failed and did not say why").to_owned());
    }
    Ok(executables(&String::from_utf8_lossy(&output.stdout)))
}

/// From cargo's messages, one JSON object a line.
fn executables(messages: &str) -> Executables {
    let one = |line: &str| {
        let message: Value = serde_json::from_str(line).ok()?;
        let target = &message["target"];
        let bench = target["kind"].as_array()?.iter().any(|kind| kind == "bench");
        let (name, path) = (target["name"].as_str()?, message["executable"].as_str()?);
        bench.then(|| (name.to_owned(), PathBuf::from(path)))
    };
    messages.lines().filter_map(one).collect()
}

/// Returns the names of all benches of a side, each with its executable.
pub fn benches(executables: &Executables) -> Result<BTreeMap<String, PathBuf>, String> {
    let mut found = BTreeMap::new();
    for path in executables.values() {
        let name = path.to_str().ok_or("the folder's name is no text")?;
        let list = told(name, &["--bench", "--list", "--format", "terse"])?;
        let names = list.lines().filter_map(|line| line.strip_suffix(": benchmark"));
        found.extend(names.map(|name| (name.to_owned(), path.clone())));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executables_of_benches_are_read_from_cargos_messages() {
        let messages = r#"{"reason":"compiler-artifact","target":{"kind":["lib"],"name":"mercer_linalg"},"executable":null}
{"reason":"compiler-artifact","target":{"kind":["bench"],"name":"paths"},"executable":"/t/paths-1f"}
{"reason":"compiler-artifact","target":{"kind":["bin"],"name":"counts"},"executable":"/t/counts"}
{"reason":"build-finished","success":true}
"#;
        let expected = [("paths".to_owned(), PathBuf::from("/t/paths-1f"))];
        assert_eq!(executables(messages), Executables::from(expected));
    }

    #[test]
    fn a_commit_accepts_by_a_line_of_its_message() {
        let messages = "Guard the cosine\n\nIt was wrong.\n\nAccept-bench: linalg/cosine\nAccept-bench:  a/b \n";
        let expected = ["linalg/cosine", "a/b"].map(str::to_owned);
        assert_eq!(accepted_in(messages), BTreeSet::from(expected));
    }
}
