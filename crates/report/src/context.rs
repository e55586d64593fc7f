use crate::cell::StudyCell;
use crate::finding::{Cause, Finding};
use crate::{Again, Catalogue, ExperimentError, RecordSet};
use mercer_harness::{Selection, Spec, plan};
use mercer_learning::Method;
use mercer_records::Key;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What a rendering sees: records, the profile, the selection. No data, no learner.
pub struct RenderContext<'a> {
    /// What is declared about the papers.
    pub catalogue: &'static Catalogue,
    /// The records.
    pub records: &'a RecordSet,
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
    /// Whether the names in the selection leave cells out.
    narrowed: bool,
    /// The same without them: what a finding rests on does not depend on what was asked for.
    whole: OnceLock<Box<Self>>,
    /// Every finding, and whether it stands where that was asked.
    findings: OnceLock<Vec<(Finding, OnceLock<bool>)>>,
}

type LaidOut = (Spec, Vec<StudyCell>);

impl<'a> RenderContext<'a> {
    /// With nothing laid out yet.
    pub fn new(
        catalogue: &'static Catalogue,
        records: &'a RecordSet,
        methods: &'a [Method],
        profile: &'a str,
        selection: &'a Selection,
        missing: &'a BTreeMap<String, String>,
    ) -> Self {
        Self {
            catalogue,
            records,
            methods,
            profile,
            selection,
            missing,
            again: None,
            laid_out: Mutex::default(),
            narrowed: true,
            whole: OnceLock::new(),
            findings: OnceLock::new(),
        }
    }

    /// All cells, whatever the selection names.
    fn whole(&self) -> &Self {
        let Selection { variants, datasets, methods, .. } = self.selection;
        if !self.narrowed || [variants, datasets, methods].iter().all(|names| names.is_empty()) {
            return self;
        }
        self.whole.get_or_init(|| {
            let Self { catalogue, records, methods, profile, selection, missing, .. } = *self;
            let whole = Self::new(catalogue, records, methods, profile, selection, missing);
            Box::new(Self { narrowed: false, ..whole })
        })
    }

    /// With what was run again here.
    #[must_use]
    pub const fn with_again(mut self, again: &'a Again) -> Self {
        self.again = Some(again);
        self
    }

    /// The first finding that explains why a number of a cell is so much above the printed one, and stands: its every
    /// number has its records and still says what the sentences around it say.
    ///
    /// # Errors
    /// As [`Catalogue::findings`] and [`Finding::text`].
    pub fn cause(
        &self,
        key: &Key,
        label: &str,
        difference: Option<f64>,
    ) -> Result<Option<Cause>, ExperimentError> {
        let all = if let Some(all) = self.findings.get() {
            all
        } else {
            let all = self.catalogue.findings()?;
            let all = all.into_iter().map(|finding| (finding, OnceLock::new())).collect();
            self.findings.get_or_init(|| all)
        };
        for (finding, stands) in all {
            let Some(cause) = finding.cause(key, label, difference) else { continue };
            // Looking at it is work for all threads, which may ask for it, too: none waits for another.
            let stands = if let Some(stands) = stands.get() {
                *stands
            } else {
                let found = finding.stands(self.whole())?;
                *stands.get_or_init(|| found)
            };
            if stands {
                return Ok(Some(cause));
            }
        }
        Ok(None)
    }

    /// Frees what it holds on another thread: a hundred thousand small parts take a tenth of a second.
    pub fn free_aside(self) {
        let laid_out = self.laid_out;
        rayon::spawn(move || drop(laid_out));
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
        let spec = self.catalogue.study(name)?;
        let archive = |key: &Key| self.records.tuning(key);
        // A selection made for one study may name what another does not have.
        let selection = Selection {
            repeats: self.selection.repeats,
            grid: self.selection.grid,
            versions: self.selection.versions.clone(),
            guests: self.selection.guests.clone(),
            ..Selection::default()
        };
        let trials = plan(&spec, self.methods, self.profile, &selection, &archive)?;
        let wanted = |names: &[String], name: &str| {
            !self.narrowed || names.is_empty() || names.iter().any(|n| n == name)
        };
        let mut cells: Vec<StudyCell> = Vec::new();
        for trial in trials {
            let key = &trial.key;
            if !(wanted(&self.selection.variants, &key.variant)
                && wanted(&self.selection.datasets, &key.dataset)
                && wanted(&self.selection.methods, &key.method))
            {
                continue;
            }
            let record = self.records.of(&trial).cloned();
            match cells.last_mut() {
                Some(cell) if cell.is_of(key) => cell.push(trial, record),
                _ => {
                    let ratio = self.catalogue.ratio(&key.method);
                    cells.push(StudyCell::new(trial, record, ratio));
                }
            }
        }
        self.records.sound()?;
        Ok((spec, cells))
    }
}
