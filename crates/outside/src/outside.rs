use crate::declaration::Declared;
use crate::program::Programs;
use sha2::{Digest, Sha256};
use std::path::Path;

/// A program that is a method. It lives as long as Mercer does: a method borrows it.
pub(crate) struct Outside {
    pub name: &'static str,
    pub declared: Declared,
    pub programs: Programs,
    pub revision: u32,
}

impl Outside {
    pub(crate) fn new(name: String, declared: Declared, folder: &Path) -> &'static Self {
        let revision = revision(&declared, folder);
        let programs = Programs::new(&declared, folder);
        Box::leak(Box::new(Self { name: name.leak(), declared, programs, revision }))
    }
}

/// Changes with the declaration and with the files beside it: parts of the command, and the module of an estimator.
fn revision(declared: &Declared, folder: &Path) -> u32 {
    let mut hash = Sha256::new();
    hash.update(format!("{declared:?}"));
    let estimators = [&declared.classifier, &declared.regressor].into_iter().flatten();
    let modules = estimators.filter_map(|own| own.split([':', '.']).next());
    let modules = modules.map(|module| format!("{module}.py"));
    for part in declared.command.iter().cloned().chain(modules) {
        if let Ok(bytes) = std::fs::read(folder.join(part)) {
            hash.update(bytes);
        }
    }
    let digest = hash.finalize();
    u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]])
}
