//! `mercer data`: find, fetch, import, verify.

use crate::Ended;
use crate::args::{DataArgs, DataCommand};
use crate::list;
use anyhow::Context;
use mercer_datasets::{Catalogue, Downloader, Entry, Library, Place, Store, user_folder};
use mercer_learning::counted;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &DataArgs, quiet: bool) -> anyhow::Result<Ended> {
    match &args.command {
        DataCommand::List { data, json } => {
            list::print_datasets(&Library::discover(data.as_deref())?, *json)?;
            Ok(Ended::Done)
        }
        DataCommand::Fetch { names, accept_version } => fetch(names, *accept_version, quiet),
        DataCommand::Import { dir } => import(dir),
        DataCommand::Verify { names, data } => verify(names, data.as_deref()),
    }
}

fn verify(names: &[String], data: Option<&Path>) -> anyhow::Result<Ended> {
    // A folder that was named answers alone: another one would vouch for files that it does not have.
    let library = match (Library::discover(data)?, data) {
        (_, Some(folder)) => Library::of_folders([folder.to_owned()])?,
        (found, None) => found,
    };
    let catalogue = Catalogue::builtin();
    let all: Vec<String> = catalogue.entries().iter().map(|entry| entry.name.clone()).collect();
    let asked = if names.is_empty() { &all } else { names };
    let mut ended = Ended::Done;
    let mut damaged = 0;
    for name in asked {
        let inside = library.place(name)? == Place::BuiltIn
            && catalogue.find(name)?.source.generated.is_none();
        if let Some(folder) = data.filter(|_| inside) {
            writeln!(std::io::stdout(), "{name}: not in {}", folder.display())?;
            ended = Ended::NoData;
            continue;
        }
        if names.is_empty() && !library.available(name) {
            writeln!(std::io::stdout(), "{name}: missing")?;
            ended = Ended::NoData;
            continue;
        }
        match library.load(name) {
            Ok(dataset) => writeln!(
                std::io::stdout(),
                "{name}: {} rows, {} columns, fingerprint {}",
                dataset.sample.rows(),
                dataset.sample.features(),
                dataset.fingerprint
            )?,
            Err(error) if error.is_missing() => {
                writeln!(std::io::stdout(), "{error}")?;
                ended = Ended::NoData;
            }
            Err(error) => {
                eprintln!("{name}: {error}");
                damaged += 1;
            }
        }
    }
    if damaged > 0 {
        anyhow::bail!("{} cannot be used", counted(damaged, "dataset", "datasets"));
    }
    Ok(ended)
}

/// A dataset that must be got by hand is named with its remedy; the others go on.
fn fetch(names: &[String], accept_version: bool, quiet: bool) -> anyhow::Result<Ended> {
    let catalogue = Catalogue::builtin();
    let entries: Vec<&Entry> = if names.is_empty() {
        let library = Library::discover(None)?;
        catalogue.entries().iter().filter(|entry| !library.available(&entry.name)).collect()
    } else {
        names.iter().map(|name| catalogue.find(name)).collect::<Result<_, _>>()?
    };
    let store = Store::new(folder()?).accept_version(accept_version);
    let bar = !quiet && std::io::stderr().is_terminal();
    let downloader = Downloader { bar, ..Downloader::default() };
    let mut ended = Ended::Done;
    for entry in entries {
        match store.fetch(entry, &downloader) {
            Ok(dataset) => {
                writeln!(std::io::stdout(), "{}: {} rows", dataset.name, dataset.sample.rows())?;
            }
            Err(error) => {
                eprintln!("{}: {error}", entry.name);
                ended = Ended::NoData;
            }
        }
    }
    Ok(ended)
}

/// Where fetched and imported datasets are kept.
fn folder() -> anyhow::Result<PathBuf> {
    user_folder().context("no place to keep data: set $XDG_DATA_HOME or $HOME to a folder")
}

fn import(dir: &Path) -> anyhow::Result<Ended> {
    let folder = folder()?;
    let imported = Store::new(&folder).import(dir, &[])?;
    for name in &imported {
        writeln!(std::io::stdout(), "{name}: imported")?;
    }
    tracing::info!("{} datasets now in {}", imported.len(), folder.display());
    Ok(if imported.is_empty() { Ended::NoData } else { Ended::Done })
}
