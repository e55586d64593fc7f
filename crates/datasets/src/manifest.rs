use crate::DataError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// Name of the manifest in a folder of datasets.
pub const MANIFEST: &str = "MANIFEST.toml";

/// What a folder of datasets holds: its `MANIFEST.toml`, schema 1.
///
/// ```
/// use mercer_datasets::Manifest;
/// let text = r#"
/// schema = 1
/// [[dataset]]
/// name = "toys"
/// task = "classification"
/// features = 2
/// files = [{ path = "toys.svm", sha256 = "00", rows = 4, role = "all", bytes = 40 }]
/// "#;
/// let manifest = Manifest::parse(text)?;
/// assert_eq!(manifest.find("toys").map(|listing| listing.features), Some(2));
/// assert_eq!(
///     Manifest::parse(&text.replace("toys.svm", "../toys.svm")),
///     Err("`../toys.svm` leaves the folder".to_owned())
/// );
/// let newer = Manifest::parse(&text.replace("schema = 1", "schema = 2"));
/// assert_eq!(newer, Err("has schema 2, but only schema 1 is known".to_owned()));
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Always 1.
    pub schema: u32,
    /// The datasets.
    #[serde(default, rename = "dataset")]
    pub datasets: Vec<Listing>,
}

/// One dataset of a manifest; fields that only inform are not read.
///
/// ```
/// use mercer_datasets::{Library, MANIFEST, Manifest, Store};
/// let folder = tempfile::tempdir()?;
/// Store::new(folder.path()).put(&Library::of_folders([])?.load("iris")?)?;
/// assert!(folder.path().join(MANIFEST).exists());
/// let manifest = Manifest::read(folder.path())?;
/// let listing = manifest.find("iris").unwrap();
/// assert_eq!((listing.task.as_str(), listing.features, listing.classes), ("classification", 4, Some(3)));
/// assert_eq!(listing.class_counts["2"], 50);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Listing {
    /// Its name in the catalogue.
    pub name: String,
    /// `classification` or `regression`.
    pub task: String,
    /// Its files.
    pub files: Vec<ListedFile>,
    /// Input columns.
    pub features: usize,
    /// Number of classes, for classification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<usize>,
    /// Rows of each class, over all files.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub class_counts: BTreeMap<String, usize>,
}

/// One file of a dataset.
///
/// ```
/// use mercer_datasets::{DataError, Library, Manifest, Role, Store};
/// let folder = tempfile::tempdir()?;
/// Store::new(folder.path()).put(&Library::of_folders([])?.load("iris")?)?;
/// let file = Manifest::read(folder.path())?.find("iris").unwrap().files[0].clone();
/// assert_eq!((file.rows, file.role), (150, Role::All));
/// let path = folder.path().join(&file.path);
/// assert_eq!(std::fs::metadata(&path)?.len(), file.bytes);
/// // One byte is another: the sum tells.
/// let mut bytes = std::fs::read(&path)?;
/// *bytes.last_mut().unwrap() ^= 1;
/// std::fs::write(&path, bytes)?;
/// let refused = Library::of_folders([folder.path().to_owned()])?.load("iris").unwrap_err();
/// assert!(matches!(refused, DataError::Damaged { .. }), "{refused}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ListedFile {
    /// Where, relative to the folder of the manifest.
    pub path: PathBuf,
    /// SHA-256 of the file as it lies there.
    pub sha256: String,
    /// Rows in it.
    pub rows: usize,
    /// Which official part it is.
    pub role: Role,
    /// Its size as it lies there.
    pub bytes: u64,
    /// For formats with inputs and targets in separate files, which of the two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
}

/// The official part that a file is.
///
/// ```
/// use mercer_datasets::{Catalogue, Role};
/// let files = &Catalogue::builtin().find("letter")?.source.files;
/// let roles: Vec<Role> = files.iter().map(|file| file.role).collect();
/// assert_eq!(roles, [Role::Train, Role::Test]);
/// assert!(Role::Train < Role::Test); // the order of the rows in a sample
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The training part.
    Train,
    /// The only file: no official split.
    All,
    /// The test part.
    Test,
}

/// What an IDX file holds.
///
/// ```
/// use mercer_datasets::{Catalogue, Content};
/// let files = &Catalogue::builtin().find("mnist")?.source.files;
/// let contents: Vec<Option<Content>> = files.iter().map(|file| file.content).collect();
/// let (images, labels) = (Some(Content::Images), Some(Content::Labels));
/// assert_eq!(contents, [images, labels, images, labels]); // of training and of test rows
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Content {
    /// Inputs.
    Images,
    /// Targets.
    Labels,
}

impl Manifest {
    /// Creates an empty manifest.
    pub const fn new() -> Self {
        Self { schema: 1, datasets: Vec::new() }
    }

    /// Reads `MANIFEST.toml` in `folder`.
    ///
    /// # Errors
    /// [`DataError::Io`] if there is none; [`DataError::Manifest`] if it is of another schema, is
    /// no such TOML, or names a file outside its folder.
    pub fn read(folder: &Path) -> Result<Self, DataError> {
        let path = folder.join(MANIFEST);
        let text = std::fs::read_to_string(&path).map_err(DataError::io(&path))?;
        Self::parse(&text).map_err(|problem| DataError::Manifest { path, problem })
    }

    /// Reads the text of a manifest; an error is the problem in words.
    ///
    /// # Errors
    /// As [`Manifest::read`].
    pub fn parse(text: &str) -> Result<Self, String> {
        let manifest: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        if manifest.schema != 1 {
            return Err(format!("has schema {}, but only schema 1 is known", manifest.schema));
        }
        for listing in &manifest.datasets {
            if listing.files.is_empty() {
                return Err(format!("dataset `{}` names no files", listing.name));
            }
            for file in &listing.files {
                // A manifest from elsewhere must not reach beyond its own folder.
                if !file.path.components().all(|part| matches!(part, Component::Normal(_))) {
                    return Err(format!("`{}` leaves the folder", file.path.display()));
                }
            }
        }
        Ok(manifest)
    }

    /// Returns the dataset of that name.
    pub fn find(&self, name: &str) -> Option<&Listing> {
        self.datasets.iter().find(|listing| listing.name == name)
    }
}

impl Default for Manifest {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_schemas_and_paths_out_of_the_folder_are_refused() {
        let with = |schema: u32, path: &str| {
            Manifest::parse(&format!(
                "schema = {schema}\n[[dataset]]\nname = \"a\"\ntask = \"regression\"\nfeatures = 1\n\
                 files = [{{ path = \"{path}\", sha256 = \"\", rows = 1, role = \"all\", bytes = 1 }}]"
            ))
        };
        assert!(with(1, "a/a.svm").is_ok());
        assert!(with(2, "a/a.svm").unwrap_err().contains("schema 2"));
        for path in ["../a.svm", "/etc/passwd", "a/../../b", "./a"] {
            assert!(with(1, path).unwrap_err().contains("leaves the folder"), "{path}");
        }
    }
}
