use crate::cell::StudyCell;
use crate::{ExperimentError, Shelf, study};
use mercer_harness::{Selection, Spec, plan};
use mercer_learning::Method;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What a rendering sees: records, the profile, the selection. No data, no learner.
pub struct Desk<'a> {
    /// The records.
    pub shelf: &'a Shelf,
    /// The registered methods, for titles and settings.
    pub methods: &'a [Method],
    /// The profile whose trials are shown.
    pub profile: &'a str,
    /// What part of them was asked for.
    pub selection: &'a Selection,
    /// Datasets that could not be loaded, with the reason.
    pub missing: &'a BTreeMap<String, String>,
    /// Studies whose cells were asked for: every claim, finding and table asks again.
    laid_out: RefCell<BTreeMap<String, Rc<LaidOut>>>,
}

type LaidOut = (Spec, Vec<StudyCell>);

impl<'a> Desk<'a> {
    /// A desk with nothing laid out yet.
    pub fn new(
        shelf: &'a Shelf,
        methods: &'a [Method],
        profile: &'a str,
        selection: &'a Selection,
        missing: &'a BTreeMap<String, String>,
    ) -> Self {
        Self { shelf, methods, profile, selection, missing, laid_out: RefCell::default() }
    }

    /// The cells of a study, with whatever records there are, in the order of its spec; those that
    /// the selection leaves out are not among them.
    ///
    /// # Errors
    /// If the spec does not have the profile.
    pub fn cells(&self, name: &str) -> Result<Rc<(Spec, Vec<StudyCell>)>, ExperimentError> {
        if let Some(study) = self.laid_out.borrow().get(name) {
            return Ok(Rc::clone(study));
        }
        let study = Rc::new(self.lay_out(name)?);
        self.laid_out.borrow_mut().insert(name.to_owned(), Rc::clone(&study));
        Ok(study)
    }

    fn lay_out(&self, name: &str) -> Result<LaidOut, ExperimentError> {
        let spec = study(name)?;
        let archive = |key: &mercer_records::Key| self.shelf.tuning(key);
        // A selection made for one study may name what another does not have.
        let selection = Selection {
            repeats: self.selection.repeats,
            grid: self.selection.grid,
            versions: self.selection.versions.clone(),
            ..Selection::default()
        };
        let trials = plan(&spec, self.methods, self.profile, &selection, &archive)?;
        let wanted =
            |names: &[String], name: &str| names.is_empty() || names.iter().any(|n| n == name);
        let mut cells: Vec<StudyCell> = Vec::new();
        for trial in trials {
            let key = &trial.key;
            if !(wanted(&self.selection.variants, &key.variant)
                && wanted(&self.selection.datasets, &key.dataset)
                && wanted(&self.selection.methods, &key.method))
            {
                continue;
            }
            let record = self.shelf.get(key).cloned();
            match cells.last_mut() {
                Some(cell) if cell.is_of(key) => cell.push(trial, record),
                _ => cells.push(StudyCell::new(trial, record)),
            }
        }
        Ok((spec, cells))
    }
}
