//! Every dataset of the repository, held against the catalogue, and the page that describes them.

use mercer_datasets::{Catalogue, Dataset, Library, Place};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data").canonicalize().unwrap()
}

/// A dataset, and the seconds that loading it took.
fn timed(library: &Library, name: &str) -> (Dataset, f64) {
    let start = Instant::now();
    let dataset = library.load(name).unwrap();
    (dataset, start.elapsed().as_secs_f64())
}

#[test]
fn every_dataset_of_the_repository_is_the_one_of_the_catalogue() {
    let folder = data();
    let library = Library::of_folders([folder.clone()]).unwrap();
    let mut loaded = 0;
    for entry in Catalogue::builtin().entries() {
        if library.place(&entry.name).unwrap() != Place::Folder(folder.clone()) {
            continue;
        }
        let (mut dataset, mut seconds) = timed(&library, &entry.name);
        // What else runs on the machine slows one load, hardly three.
        for _ in 0..2 {
            if seconds >= 5.0 {
                let (again, faster) = timed(&library, &entry.name);
                (dataset, seconds) = (again, seconds.min(faster));
            }
        }
        assert_eq!(dataset.sample.rows(), entry.rows, "{}", entry.name);
        assert_eq!(dataset.sample.features(), entry.features, "{}", entry.name);
        assert_eq!(dataset.sample.task(), entry.task, "{}", entry.name);
        assert_eq!(dataset.parts.train.len(), entry.parts.train, "{}", entry.name);
        assert_eq!(dataset.parts.test.len(), entry.parts.test, "{}", entry.name);
        assert_eq!(Some(&dataset.fingerprint), entry.fingerprint.as_ref(), "{}", entry.name);
        assert_eq!(dataset.note, None, "{}", entry.name);
        assert!(seconds < 5.0, "{} took {seconds:.1} s to load; the aim is 5 s", entry.name);
        loaded += 1;
    }
    assert_eq!(loaded, 31, "the repository holds 31 datasets");
}

/// What the repository lacks, and what it does in an empty folder.
#[test]
fn what_is_missing_says_how_to_get_it() {
    let library = Library::of_folders([data()]).unwrap();
    for name in ["sensorless", "poker-test"] {
        assert!(!library.available(name));
        let error = library.load(name).unwrap_err();
        assert!(error.is_missing());
        let text = error.to_string();
        assert!(text.contains(&format!("mercer data fetch {name}")), "{text}");
    }
}

#[test]
fn the_small_datasets_are_inside_the_binary() {
    let (binary, folder) =
        (Library::of_folders([]).unwrap(), Library::of_folders([data()]).unwrap());
    let mut inside = 0;
    for entry in Catalogue::builtin().entries().iter().filter(|e| e.source.generated.is_none()) {
        if binary.place(&entry.name).unwrap() != Place::BuiltIn {
            continue;
        }
        let (ours, theirs) = (binary.load(&entry.name).unwrap(), folder.load(&entry.name).unwrap());
        assert_eq!(ours, theirs, "{}", entry.name);
        inside += 1;
    }
    assert_eq!(inside, 27, "all but covtype, ijcnn1, mnist and usps");
}

/// `data/README.md`: a row a dataset of the catalogue.
fn page() -> String {
    let library = Library::of_folders([data()]).unwrap();
    let mut text = "# The data\n\n\
        Every dataset of the four papers. The files lie beside this page; `MANIFEST.toml` says where each \
        comes from, and `catalogue.toml` is what this table is written from (`MERCER_README=write just unit \
        datasets readme`). A licence is as the source states it. Of what is not here `mercer data fetch NAME` \
        gets the official files.\n\n\
        | name | what | rows | columns | task | here | papers | licence | citation | source | encoding |\n\
        |:--|:--|--:|--:|:--|:--|:--|:--|:--|:--|:--|\n"
        .to_owned();
    for entry in Catalogue::builtin().entries() {
        let here = match library.place(&entry.name).unwrap() {
            Place::Folder(_) => "yes",
            _ if entry.source.generated.is_some() => "computed",
            _ => "no",
        };
        let cells = [
            &entry.name,
            &entry.title,
            &entry.rows.to_string(),
            &entry.features.to_string(),
            entry.task.name(),
            here,
            &entry.papers.join(", "),
            &entry.licence,
            &entry.citation,
            &entry.urls.join(" "),
            &entry.encoding,
        ];
        writeln!(text, "| {} |", cells.map(|cell| cell.replace('|', "\\|")).join(" | ")).unwrap();
    }
    text
}

#[test]
fn the_readme_is_that_of_the_catalogue() {
    let path = data().join("README.md");
    if std::env::var_os("MERCER_README").is_some() {
        std::fs::write(&path, page()).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == page(),
        "older than the catalogue: MERCER_README=write just unit datasets readme"
    );
}
