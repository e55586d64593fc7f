//! Which benches a change can have slowed.

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What `cargo metadata --no-deps` says of the workspace, as far as it is needed.
#[derive(Debug, Deserialize)]
pub struct Metadata {
    workspace_root: PathBuf,
    packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    name: String,
    kind: Option<String>,
}

/// The packages that a change touches.
#[derive(Debug, PartialEq, Eq)]
pub enum Touched {
    /// Of all packages: compiler, versions, profiles, or the benches themselves.
    All,
    /// Those with a changed file, and those that depend on them.
    Packages(BTreeSet<String>),
}

impl Touched {
    /// Returns whether the package or one below it has changed.
    pub fn has(&self, package: &str) -> bool {
        match self {
            Self::All => true,
            Self::Packages(names) => names.contains(package),
        }
    }
}

impl Metadata {
    /// Finds the packages touched by changed files, relative to the root of the workspace.
    pub fn touched<'a>(&self, files: impl IntoIterator<Item = &'a str>) -> Touched {
        let mut touched = BTreeSet::new();
        for file in files.into_iter().map(Path::new) {
            let everywhere =
                ["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "benches/Cargo.toml"];
            // The benches, and what they share; the programs beside them time nothing here.
            let timed = file.starts_with("benches/benches")
                || file.starts_with("benches/src") && !file.starts_with("benches/src/bin");
            if timed || everywhere.iter().any(|name| file == Path::new(name)) {
                return Touched::All;
            }
            touched.extend(self.owner(file));
        }
        let below: BTreeMap<&str, Vec<&str>> = self
            .packages
            .iter()
            .map(|package| {
                let dependencies = package.dependencies.iter();
                let linked =
                    dependencies.filter(|dependency| dependency.kind.as_deref() != Some("dev"));
                (package.name.as_str(), linked.map(|linked| linked.name.as_str()).collect())
            })
            .collect();
        // A floor of the house at a time.
        loop {
            let above: Vec<&str> = below
                .iter()
                .filter(|(name, below)| {
                    !touched.contains(**name) && below.iter().any(|name| touched.contains(*name))
                })
                .map(|(name, _)| *name)
                .collect();
            if above.is_empty() {
                return Touched::Packages(touched);
            }
            touched.extend(above.into_iter().map(str::to_owned));
        }
    }

    /// The package that is compiled from this file.
    fn owner(&self, file: &Path) -> Option<String> {
        self.packages.iter().find_map(|package| {
            let folder = package.manifest_path.parent()?.strip_prefix(&self.workspace_root).ok()?;
            let inside = file.strip_prefix(folder).ok()?;
            let compiled = inside.starts_with("src")
                || ["Cargo.toml", "build.rs"].iter().any(|name| inside == Path::new(name));
            compiled.then(|| package.name.clone())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// linalg <- kernels <- models, whose tests alone need the harness; render stands apart.
    fn metadata() -> Metadata {
        let package = |name: &str, below: serde_json::Value| {
            serde_json::json!({
                "name": format!("mercer-{name}"),
                "manifest_path": format!("/house/crates/{name}/Cargo.toml"),
                "dependencies": below,
            })
        };
        let on = |name: &str| serde_json::json!({ "name": name, "kind": null });
        let packages = [
            package("linalg", serde_json::json!([on("ndarray")])),
            package("kernels", serde_json::json!([on("mercer-linalg")])),
            package(
                "models",
                serde_json::json!([on("mercer-kernels"), { "name": "mercer-harness", "kind": "dev" }]),
            ),
            package("harness", serde_json::json!([])),
            package("render", serde_json::json!([])),
        ];
        let text = serde_json::json!({ "workspace_root": "/house", "packages": packages });
        serde_json::from_value(text).unwrap()
    }

    #[test]
    fn a_change_touches_what_is_built_from_it_and_what_stands_above() {
        for (files, expected) in [
            (&["crates/linalg/src/lib.rs"][..], &["kernels", "linalg", "models"][..]),
            (&["crates/kernels/src/gram/tile.rs"], &["kernels", "models"]),
            (&["crates/models/build.rs", "crates/render/Cargo.toml"], &["models", "render"]),
            // Tests need the harness, the models do not.
            (&["crates/harness/src/lib.rs"], &["harness"]),
            (&["crates/linalg/tests/golden.rs", "README.md", "benches/README.md"], &[]),
            (&["benches/src/bin/counts.rs", "benches/counts.toml", "book/src/a.md"], &[]),
        ] {
            let names = expected.iter().map(|name| format!("mercer-{name}")).collect();
            assert_eq!(metadata().touched(files.iter().copied()), Touched::Packages(names));
        }
    }

    #[test]
    fn versions_and_the_benches_themselves_touch_all() {
        for file in [
            "Cargo.lock",
            "rust-toolchain.toml",
            "benches/src/hot_paths.rs",
            "benches/benches/a.rs",
        ] {
            let touched = metadata().touched(["README.md", file]);
            assert!(touched.has("mercer-linalg") && touched == Touched::All, "{file}");
        }
    }
}
