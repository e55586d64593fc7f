use crate::{Artefact, ExperimentError, RenderContext, StudyCell};
use mercer_records::{Key, Likeness, Record, compare};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;

/// Of some records: how many there are, and of those run again here how many came out in which way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    recorded: usize,
    by: Tally,
}

/// How many trials came out in each way, in the order of [`Likeness`].
pub type Tally = [usize; 4];

/// The counts in words.
///
/// ```
/// use mercer_report::tally_in_words;
/// assert_eq!(tally_in_words([5, 2, 0, 0]), "5 bit-identical, 2 same to rounding, 0 different");
/// assert!(tally_in_words([5, 2, 1, 0]).contains("1 further off on another kind of processor, 0 different"));
/// ```
pub fn tally_in_words([bits, rounding, processor, different]: Tally) -> String {
    let elsewhere = match processor {
        0 => String::new(),
        some => format!(", {some} {}", Likeness::Processor),
    };
    format!(
        "{bits} {}, {rounding} {}{elsewhere}, {different} {}",
        Likeness::Bits,
        Likeness::Rounding,
        Likeness::Different
    )
}

impl Counts {
    fn again(&self) -> usize {
        self.by.iter().sum()
    }

    /// One line below a table or a figure; none where nothing is recorded.
    pub(crate) fn note(&self) -> Option<String> {
        (self.recorded > 0).then(|| {
            let (again, by) = (self.again(), tally_in_words(self.by));
            format!("Run again here: {again} of {} trials; {by}.", self.recorded)
        })
    }
}

/// Committed records that were run again here, and how each came out.
///
/// ```
/// use mercer_report::Again;
/// assert_eq!(Again::default().different().count(), 0);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Again {
    found: HashMap<String, (Key, Likeness, String)>,
    lacking: BTreeMap<String, String>,
}

impl Again {
    /// Nothing yet; these datasets cannot be used, each with the reason.
    pub fn without(lacking: BTreeMap<String, String>) -> Self {
        Self { found: HashMap::new(), lacking }
    }

    /// Holds a re-run against its record.
    pub fn add(&mut self, then: &Record, now: &Record) {
        let (likeness, detail) = compare(then, now);
        let entry = (then.key.clone(), likeness, detail.unwrap_or_default());
        self.found.insert(then.key.digest(), entry);
    }

    /// How the trial of a key came out, if it was run again.
    pub fn of(&self, key: &Key) -> Option<Likeness> {
        // Without a run there is no need for a digest.
        if self.found.is_empty() {
            return None;
        }
        self.found.get(&key.digest()).map(|(_, likeness, _)| *likeness)
    }

    /// What of a cell was run again, in words: `run again: 2 same`; nothing where nothing was.
    pub(crate) fn of_cell(&self, cell: &StudyCell) -> String {
        let mut by = Tally::default();
        cell.records().filter_map(|own| self.of(&own.key)).for_each(|like| by[like as usize] += 1);
        match by {
            [0, 0, 0, 0] => String::new(),
            [bits, rounding, 0, 0] => format!("run again: {} same", bits + rounding),
            [bits, rounding, processor, 0] => {
                format!("run again: {} same, {processor} {}", bits + rounding, Likeness::Processor)
            }
            [bits, rounding, _, different] => {
                format!("run again: {} same, {different} different", bits + rounding)
            }
        }
    }

    /// Whether a trial of a cell came out different.
    pub(crate) fn differs(&self, cell: &StudyCell) -> bool {
        cell.records().any(|own| self.of(&own.key) == Some(Likeness::Different))
    }

    /// Those that came out different, with the number that is furthest off, in a fixed order.
    pub fn different(&self) -> impl Iterator<Item = (&Key, &str)> {
        let mut different: Vec<_> = self
            .found
            .iter()
            .filter(|(_, (_, likeness, _))| *likeness == Likeness::Different)
            .collect();
        different.sort_by_key(|(digest, _)| *digest);
        different.into_iter().map(|(_, (key, _, detail))| (key, detail.as_str()))
    }

    /// Counts over the trials and simulations of a study or computation, as far as they are shown.
    fn count(
        &self,
        context: &RenderContext<'_>,
        name: &str,
        counts: &mut Counts,
    ) -> Result<(), ExperimentError> {
        let mut add = |key: &Key| {
            counts.recorded += 1;
            if let Some(likeness) = self.of(key) {
                counts.by[likeness as usize] += 1;
            }
        };
        if let Some(own) = context.catalogue.simulation(name)
            && !own.measures
            && context.records.get(&own.key()).is_some()
        {
            add(&own.key());
        }
        // A measurement may have the name of the study that it stands beside.
        if !context.catalogue.has_study(name) {
            return Ok(());
        }
        context
            .cells(name)?
            .1
            .iter()
            .flat_map(StudyCell::records)
            .for_each(|record| add(&record.key));
        Ok(())
    }

    /// Counts over what an artefact shows.
    pub(crate) fn of_artefact(
        &self,
        context: &RenderContext<'_>,
        artefact: &Artefact,
    ) -> Result<Counts, ExperimentError> {
        let mut counts = Counts::default();
        for name in artefact.studies.iter().chain(&artefact.simulations) {
            self.count(context, name, &mut counts)?;
        }
        Ok(counts)
    }

    /// Counts over what several artefacts show, each study once.
    pub(crate) fn of_artefacts(
        &self,
        context: &RenderContext<'_>,
        artefacts: &[&Artefact],
    ) -> Result<Counts, ExperimentError> {
        let mut counts = Counts::default();
        for name in names(artefacts) {
            self.count(context, name, &mut counts)?;
        }
        Ok(counts)
    }

    /// The counts over several artefacts in a line, and what data lacked; nothing where nothing is recorded.
    pub(crate) fn note(
        &self,
        context: &RenderContext<'_>,
        artefacts: &[&Artefact],
    ) -> Result<Option<String>, ExperimentError> {
        let lacking = self
            .lacking
            .iter()
            .map(|(dataset, reason)| format!(" Not run again, no data for {dataset}: {reason}."));
        let note = self.of_artefacts(context, artefacts)?.note();
        Ok(note.map(|note| lacking.fold(note, |note, line| note + &line)))
    }

    /// A page of Markdown: one line a study.
    pub(crate) fn page(
        &self,
        context: &RenderContext<'_>,
        artefacts: &[&Artefact],
    ) -> Result<String, ExperimentError> {
        let all = self.of_artefacts(context, artefacts)?;
        let mut text = format!(
            "# Records, run again\n\n{} of {} records were run again: {} came out different.\n\nWritten by `mercer reproduce`. *Bit-identical*: every score, fact and \
            point of a curve that the record has. *Same to rounding*: within the limits that CONTRIBUTING.md states. \
            *By the processor*: further off, where the record was made with other vector instructions. Measurements of \
            times are not compared.\n\n\
            | study | recorded | run again | bit-identical | same to rounding | by the processor | different |\n\
            |:--|--:|--:|--:|--:|--:|--:|\n",
            all.again(),
            all.recorded,
            all.by[3]
        );
        let mut line = |name: &str, own: &Counts| {
            let [bits, rounding, processor, different] = own.by;
            let (recorded, again) = (own.recorded, own.again());
            let _ = writeln!(
                text,
                "| {name} | {recorded} | {again} | {bits} | {rounding} | {processor} | {different} |"
            );
        };
        for name in names(artefacts) {
            let mut own = Counts::default();
            self.count(context, name, &mut own)?;
            if own.recorded > 0 {
                line(name, &own);
            }
        }
        line("**all**", &all);
        let different: Vec<_> = self.different().collect();
        if !different.is_empty() {
            text.push_str("\nRecords that came out different:\n\n");
        }
        for (key, detail) in different {
            let Key { artefact, variant, dataset, method, repeat, .. } = key;
            let _ = writeln!(
                text,
                "- {artefact} {variant} {dataset} {method} repeat {}: {detail}",
                repeat + 1
            );
        }
        Ok(text)
    }
}

/// Studies and computations behind some artefacts.
fn names<'a>(artefacts: &[&'a Artefact]) -> BTreeSet<&'a str> {
    artefacts
        .iter()
        .flat_map(|own| own.studies.iter().chain(&own.simulations))
        .map(String::as_str)
        .collect()
}
