use crate::Generator;
use crate::manifest::{Content, Role};
use serde::Deserialize;
use std::collections::BTreeMap;

/// How the official files of a dataset are read, or why they cannot be.
///
/// ```
/// use mercer_datasets::{Catalogue, Generator};
/// let source = |name| Catalogue::builtin().find(name).map(|entry| &entry.source);
/// let letter = source("letter")?;
/// assert_eq!((letter.files.len(), letter.integers), (2, Some([7.5, 1.0]))); // scaled in the file
/// assert_eq!(source("rftk-kink")?.generated, Some(Generator::Kink)); // made, not read
/// assert!(source("shuttle")?.by_hand.as_deref().is_some_and(|reason| reason.contains("unpack")));
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Source {
    /// Why a person must get it; when set, nothing is fetched.
    #[serde(default)]
    pub by_hand: Option<String>,
    /// The generator, if the data is not read from files. Nothing is fetched then either.
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
    /// `[a, b]`: each input `v` stands for the integer nearest to `a (v + b)`.
    #[serde(default)]
    pub integers: Option<[f64; 2]>,
}

/// One official file.
///
/// ```
/// use mercer_datasets::Catalogue;
/// for entry in Catalogue::builtin().entries() {
///     for file in &entry.source.files {
///         assert!(file.sha256.as_ref().is_none_or(|sum| sum.len() == 64));
///         assert!(file.urls.iter().all(|url| url.starts_with("http")), "{}", file.name);
///     }
/// }
/// ```
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
///
/// ```
/// use mercer_datasets::{Catalogue, Layout};
/// let layout = |name| Catalogue::builtin().find(name).map(|entry| entry.source.format);
/// assert_eq!(layout("letter")?, Layout::Svmlight);
/// assert_eq!((layout("iris")?, layout("mnist")?), (Layout::Commas, Layout::Idx));
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
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
///
/// ```
/// use mercer_datasets::{Catalogue, TargetColumn};
/// let target = |name| Catalogue::builtin().find(name).map(|entry| entry.source.target);
/// assert_eq!((target("wine")?, target("iris")?), (TargetColumn::First, TargetColumn::Last));
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetColumn {
    /// In the first.
    First,
    /// In the last.
    #[default]
    Last,
}
