//! `mercer baseline check`: whether programs keep the laws of every method.

use crate::Ended;
use mercer_learning::conformance::Conformance;
use mercer_methods::methods_of;
use std::io::Write;
use std::path::Path;

pub(crate) fn check(file: &Path) -> anyhow::Result<Ended> {
    let mut out = std::io::stdout().lock();
    let mut ended = Ended::Done;
    for method in methods_of(file)? {
        match Conformance::of(&method).check() {
            Ok(()) => writeln!(out, "{}: keeps all laws", method.name)?,
            Err(violation) => {
                writeln!(out, "{violation}")?;
                ended = Ended::Failed;
            }
        }
    }
    Ok(ended)
}
