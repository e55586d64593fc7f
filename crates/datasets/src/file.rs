use crate::library::Format;
use crate::{
    Base, CsvOptions, DataError, Dataset, Kind, Limits, Parts, Separator, Table, Target,
    compression, csv, fingerprint, parquet, svmlight,
};
use std::path::Path;

/// How a file that no catalogue knows is to be read.
///
/// ```
/// use mercer_datasets::{Kind, ReadOptions, read_dataset};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("toys.csv");
/// std::fs::write(&path, "kind,size\n2,1.5\n1,3\n2,2\n1,4\n")?;
/// let read = |options| read_dataset(&path, &options);
/// let target = Some("kind".to_owned());
/// let classes = read(ReadOptions { target: target.clone(), ..ReadOptions::default() })?;
/// assert_eq!(classes.labels, ["1", "2"]); // whole numbers, each twice: classes
/// let kind = Some(Kind::Regression);
/// let numbers = read(ReadOptions { target, kind, ..ReadOptions::default() })?;
/// assert_eq!(numbers.sample.values().unwrap()[0], 2.0);
/// let refused = read(ReadOptions { target: Some("colour".to_owned()), ..ReadOptions::default() });
/// assert!(refused.unwrap_err().to_string().contains("`colour`"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReadOptions {
    /// Name of the target column in CSV and Parquet; without it, it is the last one.
    pub target: Option<String>,
    /// Whether the targets are classes or numbers; `None` guesses, see [`Table::likely_kind`].
    pub kind: Option<Kind>,
    /// How svmlight columns are numbered.
    pub base: Base,
    /// Number of input columns; needed where svmlight rows leave the last columns out.
    pub features: Option<usize>,
    /// Class names in order, if they are known: those of a model, say.
    pub labels: Option<Vec<String>>,
    /// How much the file may hold.
    pub limits: Limits,
}

/// Reads a file as it stands: svmlight (`.svm`, `.svmlight`, `.libsvm`), `.csv`, `.tsv` or
/// `.parquet`, plain or packed by gzip, xz or bzip2.
///
/// ```
/// use mercer_datasets::{ReadOptions, read_table};
/// let path = std::env::temp_dir().join(format!("toys-{}.csv", std::process::id()));
/// std::fs::write(&path, "size,kind\n1.5,box\n3,ball\n").expect("a folder that can be written");
/// let table = read_table(&path, &ReadOptions::default())?;
/// assert_eq!(table.inputs.dim(), (2, 1));
/// std::fs::remove_file(path).expect("it was written");
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
///
/// # Errors
/// [`DataError::Io`], [`DataError::Format`] for an unknown suffix, and the parsers' errors.
pub fn read_table(path: &Path, options: &ReadOptions) -> Result<Table, DataError> {
    let (file, limits) = (path.display().to_string(), &options.limits);
    let tabs = has_suffix(path, "tsv");
    let Some(format) = Format::of(path).or(tabs.then_some(Format::Csv)) else {
        let known = ".svm, .svmlight, .libsvm, .csv, .tsv and .parquet, each also .gz, .xz, .bz2";
        return Err(DataError::format(&file, format!("has an unknown suffix; known are {known}")));
    };
    let bytes = compression::decompress(compression::read(path, limits)?, &file, limits)?;
    let table = match format {
        Format::Svmlight => svmlight::parse(&bytes, &file, options.base, options.features, limits)?,
        Format::Csv => {
            let separator = if tabs { Separator::Tab } else { Separator::Comma };
            let target = options.target.clone().map_or(Target::Last, Target::Named);
            let columns = CsvOptions { separator, target, ..CsvOptions::default() };
            csv::parse(&bytes, &file, &columns, limits)?
        }
        Format::Parquet => parquet::parse(&bytes, &file, options.target.as_deref(), limits)?,
        Format::Idx => {
            let problem = "holds inputs or targets, not both; IDX is read through a MANIFEST.toml";
            return Err(DataError::format(&file, problem));
        }
    };
    let found = table.inputs.ncols();
    match options.features {
        Some(expected) if expected != found => {
            let problem = format!("has {found} input columns, but {expected} are expected");
            Err(DataError::format(&file, problem))
        }
        _ => Ok(table),
    }
}

/// Reads a file as a dataset without official parts, named like the file.
///
/// ```
/// use mercer_datasets::{ReadOptions, read_dataset};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("toy.csv");
/// std::fs::write(&path, "x,y,kind\n0,1,a\n1,0,b\n")?;
/// let toy = read_dataset(&path, &ReadOptions::default())?;
/// assert_eq!((toy.name.as_str(), toy.sample.rows()), ("toy", 2));
/// assert_eq!(toy.labels, ["a", "b"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`read_table`], and those of [`Table::encode`].
pub fn read_dataset(path: &Path, options: &ReadOptions) -> Result<Dataset, DataError> {
    let table = read_table(path, options)?;
    let kind = options.kind.unwrap_or_else(|| table.likely_kind());
    let file = path.display().to_string();
    let (sample, labels) = table.encode(&file, kind, options.labels.as_deref())?;
    let parts = Parts::undivided(sample.rows());
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Ok(Dataset {
        name: name.split('.').next().unwrap_or_default().to_owned(),
        fingerprint: fingerprint(&sample, &parts, &labels),
        sample,
        parts,
        labels,
        note: None,
    })
}

fn has_suffix(path: &Path, suffix: &str) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    name.split('.').skip(1).any(|part| part == suffix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;
    use std::fs;

    #[test]
    fn the_suffix_tells_the_format() {
        let folder = tempfile::tempdir().unwrap();
        let read = |name: &str, text: &str, options: &ReadOptions| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            read_dataset(&path, options)
        };
        let plain = ReadOptions::default();
        let tabs = read("a.tsv", "1\t2\t0.5\n3\t4\t1.5\n", &plain).unwrap();
        assert_eq!(tabs.sample.inputs(), array![[1.0, 2.0], [3.0, 4.0]]);
        assert_eq!(tabs.sample.values().unwrap(), array![0.5, 1.5]);
        let wide = ReadOptions { features: Some(4), ..ReadOptions::default() };
        let rows = read("b.svm", "1 2:1\n-1 1:1\n1 2:3\n-1 2:2\n", &wide).unwrap();
        assert_eq!(rows.sample.features(), 4);
        assert_eq!(rows.labels, ["-1", "1"]);
        let named = ReadOptions {
            target: Some("a".to_owned()),
            kind: Some(Kind::Regression),
            ..ReadOptions::default()
        };
        let csv = read("c.csv", "a,b\n1,2\n3,4\n", &named).unwrap();
        assert_eq!(csv.sample.values().unwrap(), array![1.0, 3.0]);
        for (name, problem) in [
            ("d.json", "has an unknown suffix"),
            ("train-idx1-ubyte", "IDX is read through a MANIFEST.toml"),
        ] {
            let error = read(name, "{}", &plain).unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
        let narrow = ReadOptions { features: Some(3), ..ReadOptions::default() };
        let error = read("e.csv", "1,2\n3,4\n", &narrow).unwrap_err().to_string();
        assert!(error.contains("has 1 input columns, but 3 are expected"), "{error}");
        let gone = read_dataset(&folder.path().join("gone.csv"), &plain).unwrap_err();
        assert!(matches!(gone, DataError::Io { .. }));
    }
}
