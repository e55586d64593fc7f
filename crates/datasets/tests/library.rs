//! Folders with a manifest: which one wins, and what a wrong file does.

use mercer_datasets::{Catalogue, DataError, Library, Manifest, Place, Store};
use mercer_learning::Sample;
use std::fs;
use std::path::Path;

/// A folder that holds iris, as the store writes it.
fn folder_with_iris() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let iris = Library::of_folders([]).unwrap().load("iris").unwrap();
    Store::new(folder.path()).put(&iris).unwrap();
    folder
}

fn library(folder: &Path) -> Library {
    Library::of_folders([folder.to_owned()]).unwrap()
}

#[test]
fn what_is_stored_is_loaded_unchanged() {
    let folder = folder_with_iris();
    let library = library(folder.path());
    assert_eq!(library.place("iris").unwrap(), Place::Folder(folder.path().to_owned()));
    let builtin = Library::of_folders([]).unwrap().load("iris").unwrap();
    assert_eq!(library.load("iris").unwrap(), builtin);
}

#[test]
fn the_first_folder_that_has_the_files_wins() {
    let (first, second) = (folder_with_iris(), folder_with_iris());
    let both = || {
        Library::of_folders([first.path().to_owned(), second.path().to_owned()])
            .unwrap()
            .place("iris")
            .unwrap()
    };
    assert_eq!(both(), Place::Folder(first.path().to_owned()));
    fs::remove_file(first.path().join("iris/iris.svm.gz")).unwrap();
    assert_eq!(both(), Place::Folder(second.path().to_owned()));
}

#[test]
fn a_damaged_file_is_named() {
    let folder = folder_with_iris();
    let path = folder.path().join("iris/iris.svm.gz");
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let text = library(folder.path()).load("iris").unwrap_err().to_string();
    assert!(
        text.contains("iris.svm.gz is damaged") && text.ends_with("mercer data fetch iris"),
        "{text}"
    );
    // In a repository, where `git` has the file.
    fs::write(folder.path().join("catalogue.toml"), "").unwrap();
    fs::create_dir(folder.path().join(".git")).unwrap();
    fs::write(&path, &bytes[..middle]).unwrap();
    let listed = Manifest::read(folder.path()).unwrap().find("iris").unwrap().files[0].clone();
    let error = library(folder.path()).load("iris").unwrap_err();
    let DataError::Damaged { expected, found, remedy, .. } = &error else { panic!("{error}") };
    assert_eq!((expected, found.len()), (&listed.sha256, 64));
    let place = folder.path().display();
    assert_eq!(*remedy, format!("restore it: git -C {place} checkout -- iris/iris.svm.gz"));
    assert!(error.to_string().contains(found) && error.to_string().contains(expected), "{error}");
}

#[test]
fn another_version_is_used_only_when_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let mut iris = Library::of_folders([]).unwrap().load("iris").unwrap();
    let mut inputs = iris.sample.inputs().to_owned();
    inputs[[34, 3]] = 0.2; // the misprint of the UCI copy, corrected
    let labels = iris.sample.labels().unwrap().to_vec();
    iris.sample = Sample::classification(inputs, labels, 3).unwrap();
    Store::new(folder.path()).put(&iris).unwrap();
    let error = library(folder.path()).load("iris").unwrap_err();
    let text = error.to_string();
    assert!(text.contains("another version") && text.contains("--accept-version"), "{text}");
    assert!(text.contains("its fingerprint is"), "{text}");
    let accepted = library(folder.path()).accept_version(true).load("iris").unwrap();
    assert!(accepted.note.unwrap().starts_with("another version than the catalogue's"));
    let entry = Catalogue::builtin().find("iris").unwrap();
    assert_ne!(Some(accepted.fingerprint), entry.fingerprint);
}

#[test]
fn other_class_counts_and_rows_are_another_version_too() {
    let folder = tempfile::tempdir().unwrap();
    let iris = Library::of_folders([]).unwrap().load("iris").unwrap();
    for (rows, what) in [
        ((0..149).collect::<Vec<_>>(), "its number of rows is 149 + 0, not 150 + 0"),
        ((0..149).chain([0]).collect(), "its class counts is 1: 51, 2: 50, 3: 49"),
    ] {
        let mut other = iris.clone();
        other.sample = iris.sample.select(&rows).unwrap();
        other.parts = mercer_datasets::Parts::undivided(rows.len());
        Store::new(folder.path()).put(&other).unwrap();
        let error = library(folder.path()).load("iris").unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
}

#[test]
fn a_named_folder_without_manifest_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = Library::discover(Some(folder.path())).unwrap_err().to_string();
    assert!(error.starts_with("`--data` is ") && error.contains("MANIFEST.toml"), "{error}");
    fs::write(folder.path().join("MANIFEST.toml"), "schema = 7").unwrap();
    let error = Library::discover(Some(folder.path())).unwrap_err().to_string();
    assert!(error.contains("has schema 7, but only schema 1 is known"), "{error}");
}

#[test]
fn a_folder_can_be_imported_and_official_files_too() {
    let (from, to) = (folder_with_iris(), tempfile::tempdir().unwrap());
    let store = Store::new(to.path().join("cache"));
    assert_eq!(store.import(from.path(), &[]).unwrap(), ["iris"]);
    assert!(library(&to.path().join("cache")).load("iris").is_ok());

    // The official iris.data, written from the same rows.
    let iris = Library::of_folders([]).unwrap().load("iris").unwrap();
    let names = ["Iris-setosa", "Iris-versicolor", "Iris-virginica"];
    let labels = iris.sample.labels().unwrap();
    let mut text = String::new();
    for (row, &label) in iris.sample.inputs().rows().into_iter().zip(labels) {
        let numbers: Vec<String> = row.iter().map(|value| format!("{value:.1}")).collect();
        text += &[numbers.join(",").as_str(), names[label as usize]].join(",");
        text.push('\n');
    }
    let official = tempfile::tempdir().unwrap();
    fs::write(official.path().join("iris.data"), text + "\n").unwrap();
    let store = Store::new(to.path().join("other"));
    assert_eq!(store.import(official.path(), &["iris".to_owned()]).unwrap(), ["iris"]);
    let again = library(&to.path().join("other")).load("iris").unwrap();
    assert_eq!(again.fingerprint, iris.fingerprint);

    let error = store.import(official.path(), &["wine".to_owned()]).unwrap_err();
    assert!(error.is_missing() && error.to_string().contains("nor holds wine.data"), "{error}");
    let empty = tempfile::tempdir().unwrap();
    let error = store.import(empty.path(), &[]).unwrap_err().to_string();
    assert!(error.contains("holds neither MANIFEST.toml nor the official files"), "{error}");
}

#[test]
fn storing_again_replaces_and_keeps_the_others() {
    let folder = folder_with_iris();
    let iris = Library::of_folders([]).unwrap().load("iris").unwrap();
    let mut other = iris.clone();
    other.name = "other".to_owned();
    let store = Store::new(folder.path());
    store.put(&other).unwrap();
    store.put(&iris).unwrap();
    let manifest = Manifest::read(folder.path()).unwrap();
    let names: Vec<&str> = manifest.datasets.iter().map(|listing| listing.name.as_str()).collect();
    assert_eq!(names, ["iris", "other"]);
}

#[test]
fn an_unwritable_place_is_an_error_with_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let iris = Library::of_folders([]).unwrap().load("iris").unwrap();
    let error = Store::new(file.join("below")).put(&iris).unwrap_err();
    assert!(matches!(&error, DataError::Io { .. }), "{error}");
    assert!(error.to_string().contains("file"), "{error}");
}
