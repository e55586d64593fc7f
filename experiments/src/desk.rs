use crate::cell::StudyCell;
use crate::finding::standing;
use crate::{Again, ExperimentError, Finding, Shelf, study};
use mercer_harness::{Selection, Spec, plan};
use mercer_learning::Method;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

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
    /// Which of the records were run again here, where that is asked.
    pub again: Option<&'a Again>,
    /// Studies whose cells were asked for: every claim, finding and table asks again.
    laid_out: Mutex<BTreeMap<String, Arc<LaidOut>>>,
    /// The findings that stand: every table asks for them.
    findings: Mutex<Option<Arc<Vec<Finding>>>>,
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
        Self {
            shelf,
            methods,
            profile,
            selection,
            missing,
            again: None,
            laid_out: Mutex::default(),
            findings: Mutex::default(),
        }
    }

    /// With what was run again here.
    #[must_use]
    pub const fn with_again(mut self, again: &'a Again) -> Self {
        self.again = Some(again);
        self
    }

    /// The findings whose every number has its records and still says what the sentences around it say:
    /// only these explain cells.
    ///
    /// # Errors
    /// As [`findings`](crate::findings) and [`Finding::text`].
    pub fn findings(&self) -> Result<Arc<Vec<Finding>>, ExperimentError> {
        // No lock is held while they are looked at: that is work for all threads, which may ask here, too.
        let held = || self.findings.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(findings) = &*held() {
            return Ok(Arc::clone(findings));
        }
        let found = Arc::new(standing(self)?);
        *held() = Some(Arc::clone(&found));
        Ok(found)
    }

    /// The cells of a study, with whatever records there are, in the order of its spec; those that
    /// the selection leaves out are not among them.
    ///
    /// # Errors
    /// If the spec does not have the profile.
    pub fn cells(&self, name: &str) -> Result<Arc<(Spec, Vec<StudyCell>)>, ExperimentError> {
        let held = || self.laid_out.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(study) = held().get(name) {
            return Ok(Arc::clone(study));
        }
        let study = Arc::new(self.lay_out(name)?);
        held().insert(name.to_owned(), Arc::clone(&study));
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
            let record = self.shelf.shared(key).cloned();
            match cells.last_mut() {
                Some(cell) if cell.is_of(key) => cell.push(trial, record),
                _ => cells.push(StudyCell::new(trial, record)),
            }
        }
        Ok((spec, cells))
    }
}
