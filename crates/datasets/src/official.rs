use crate::fingerprint::hexadecimal;
use crate::manifest::{Content, Role};
use crate::table::Rows;
use crate::{
    Base, Column, DataError, Entry, Layout, Limits, Parts, RowFormat, Source, SourceFile, Table,
    TableOptions, compression, idx, svmlight,
};
use ndarray::Array2;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// The file in `folder` that `wanted` is: by its name, or by that without its packing suffix.
pub(crate) fn locate(folder: &Path, wanted: &SourceFile) -> Option<PathBuf> {
    let name = wanted.name.as_str();
    let bare = [".gz", ".bz2", ".xz"].iter().find_map(|suffix| name.strip_suffix(suffix));
    [Some(name), bare].into_iter().flatten().map(|n| folder.join(n)).find(|path| path.is_file())
}

/// Reads the official files of a dataset from a folder, in the encoding of the catalogue.
pub(crate) fn read(
    entry: &Entry,
    folder: &Path,
    limits: &Limits,
) -> Result<(Array2<f64>, Column, Parts), DataError> {
    let place = folder.display().to_string();
    let mut rows = Rows::with_room(&place, entry.rows, entry.features, limits)?;
    let (mut names, mut train) = (Vec::new(), 0);
    for file in &entry.source.files {
        let Some(path) = locate(folder, file) else {
            return Err(DataError::format(&place, format!("has no file `{}`", file.name)));
        };
        let (values, targets) = read_file(&path, file, entry, limits)?;
        let n = targets.as_ref().map_or(0, Column::len);
        train += if file.role == Role::Test { 0 } else { n };
        rows.values.extend(values.iter());
        match targets {
            Some(Column::Numbers(numbers)) => rows.targets.extend(numbers),
            Some(Column::Names(texts)) => names.extend(texts),
            None => {}
        }
    }
    let targets = match (rows.targets.is_empty(), names.is_empty()) {
        (_, true) => Column::Numbers(rows.targets),
        (true, false) => Column::Names(names),
        (false, false) => {
            return Err(DataError::format(&place, "some files have numbers as targets, some text"));
        }
    };
    let n = targets.len();
    let inputs = Array2::from_shape_vec((n, entry.features), rows.values)
        .map_err(|error| DataError::format(&place, format!("inputs and targets: {error}")))?;
    if train > n {
        return Err(DataError::format(&place, "has more training rows than rows"));
    }
    Ok((inputs, targets, Parts::divided(train, n - train)))
}

/// Reads one official file: its inputs, empty for a file of labels, and its targets, if it has any.
pub(crate) fn read_file(
    path: &Path,
    file: &SourceFile,
    entry: &Entry,
    limits: &Limits,
) -> Result<(Array2<f64>, Option<Column>), DataError> {
    let (shown, source) = (path.display().to_string(), &entry.source);
    let bytes = compression::read(path, limits)?;
    // The hash is that of the packed file: one that was unpacked by hand, whose name is shorter,
    // has another. A download in progress has a longer name.
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if let Some(expected) = file.sha256.as_ref().filter(|_| name.starts_with(&file.name)) {
        let found = hexadecimal(&Sha256::digest(&bytes));
        if found != *expected {
            let (expected, remedy) = (expected.clone(), "get it again".to_owned());
            return Err(DataError::Damaged { file: shown, expected, found, remedy });
        }
    }
    let bytes = compression::decompress(bytes, &shown, limits)?;
    let table = match source.format {
        Layout::Svmlight => {
            svmlight::parse(&bytes, &shown, Base::One, Some(entry.features), limits)?
        }
        Layout::Commas | Layout::Blanks => {
            let separator = if source.format == Layout::Blanks { b' ' } else { b',' };
            let options = TableOptions {
                header: Some(source.header),
                target: source.target,
                drop: source.drop.clone(),
            };
            Table::read(&bytes, &shown, RowFormat::Text(separator), &options, limits)?
        }
        Layout::Idx => {
            let matrix = idx::parse(&bytes, &shown, limits)?;
            if file.content == Some(Content::Labels) {
                let targets = Column::Numbers(matrix.into_iter().collect());
                return Ok((Array2::zeros((0, 0)), Some(renamed(targets, source))));
            }
            check_width(&matrix, entry, &shown)?;
            return Ok((matrix, None));
        }
    };
    let Table { mut inputs, targets } = table;
    check_width(&inputs, entry, &shown)?;
    if let Some([factor, shift]) = source.integers {
        inputs.mapv_inplace(|value| (factor * (value + shift)).round());
    }
    Ok((inputs, Some(renamed(targets, source))))
}

fn check_width(inputs: &Array2<f64>, entry: &Entry, shown: &str) -> Result<(), DataError> {
    let (found, expected) = (inputs.ncols(), entry.features);
    if found != expected {
        let problem = format!("has {found} input columns, but `{}` has {expected}", entry.name);
        return Err(DataError::format(shown, problem));
    }
    Ok(())
}

/// Targets by their names in the catalogue, as numbers if all are.
fn renamed(targets: Column, source: &Source) -> Column {
    if source.labels.is_empty() {
        return targets;
    }
    let names: Vec<String> =
        targets.names().map(|name| source.labels.get(&name).cloned().unwrap_or(name)).collect();
    let numbers: Option<Vec<f64>> = names.iter().map(|name| name.parse().ok()).collect();
    match numbers {
        Some(numbers) if numbers.iter().all(|value| value.is_finite()) => Column::Numbers(numbers),
        _ => Column::Names(names),
    }
}
