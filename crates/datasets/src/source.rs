use crate::Generator;
use crate::manifest::{Content, Role};
use serde::Deserialize;
use std::collections::BTreeMap;

/// How the official files of a dataset are read, or why they cannot be.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Source {
    /// Why a person must get it; when set, nothing is fetched.
    #[serde(default)]
    pub by_hand: Option<String>,
    /// How it is made, if it is not read from files: nothing is fetched then either.
    #[serde(default)]
    pub generated: Option<Generator>,
    /// Format of the files.
    #[serde(default)]
    pub format: Layout,
    /// The files, training part first.
    #[serde(default)]
    pub files: Vec<SourceFile>,
    /// Columns that hold neither inputs nor targets, from 0, in a text table.
    #[serde(default)]
    pub drop: Vec<usize>,
    /// Where the target stands in a text table.
    #[serde(default)]
    pub target: TargetColumn,
    /// Whether the first line of a text table names the columns.
    #[serde(default)]
    pub header: bool,
    /// Names of classes in the files and in the catalogue; those not listed stay.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Codes of a text column, by its number among the inputs, from 0.
    #[serde(default)]
    pub codes: BTreeMap<String, BTreeMap<String, f64>>,
    /// `[a, b]`: each input `v` stands for the integer nearest to `a (v + b)`.
    #[serde(default)]
    pub integers: Option<[f64; 2]>,
}

/// One official file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceFile {
    /// Its name.
    pub name: String,
    /// Where it can be downloaded, in the order in which to try.
    pub urls: Vec<String>,
    /// Which part it is.
    pub role: Role,
    /// For IDX, inputs or targets.
    #[serde(default)]
    pub content: Option<Content>,
    /// SHA-256 of the file, if it is known.
    #[serde(default)]
    pub sha256: Option<String>,
}

/// The format of the official files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// svmlight text.
    #[default]
    Svmlight,
    /// Text with a comma between columns.
    Commas,
    /// Text with blanks between columns.
    Blanks,
    /// IDX.
    Idx,
}

/// Where the target stands among the columns that are not dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetColumn {
    /// In the first.
    First,
    /// In the last.
    #[default]
    Last,
}
