use crate::{Cut, HarnessError, Profile, Protocol, Spec, SpecMethod, SplitRule, Tuner, Variant};
use mercer_datasets::Catalogue;
use mercer_learning::{Method, Settings, Shape, Streams, Task, find};
use mercer_records::{Key, SCHEMA, Tuning};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Which part of a study is wanted; an empty list means all.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// # let spec = mercer_harness::Spec::parse(STUDY, std::path::Path::new("toy.toml"))?;
/// # let all = mercer_harness::Selection::default();
/// # let trials = mercer_harness::plan(&spec, METHODS, "paper", &all, &|_| None)?;
/// use mercer_harness::{Selection, plan};
/// let planned = |selection: &Selection| plan(&spec, METHODS, "paper", selection, &|_| None);
/// let given = Selection { variants: vec!["given".into()], repeats: Some(2), ..Default::default() };
/// assert_eq!(planned(&given)?.len(), 2);
/// let slip = Selection { datasets: vec!["irsi".into()], ..Default::default() };
/// assert!(planned(&slip).unwrap_err().to_string().starts_with("unknown dataset `irsi`"));
/// # Ok::<(), mercer_harness::HarnessError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// Variants by name.
    pub variants: Vec<String>,
    /// Datasets by name.
    pub datasets: Vec<String>,
    /// Methods by name.
    pub methods: Vec<String>,
    /// Repeats at most.
    pub repeats: Option<u32>,
    /// Whether variants that tune search the grid of their spec, if it has a setting that the method tunes. Else they
    /// search as usual.
    pub grid: bool,
    /// Fingerprints of data that is used although it is not the catalogue's version, by dataset.
    pub versions: BTreeMap<String, String>,
    /// Methods that join the first variant of a study, by study. They get nine candidates a tuned setting, and a third
    /// of the epochs first.
    pub guests: BTreeMap<String, Vec<String>>,
}

/// Candidates a tuned setting of a method that joins a study.
const CANDIDATES: usize = 9;

/// Where the settings that a spec does not fix come from.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// # let spec = mercer_harness::Spec::parse(STUDY, std::path::Path::new("toy.toml"))?;
/// # let all = mercer_harness::Selection::default();
/// # let trials = mercer_harness::plan(&spec, METHODS, "paper", &all, &|_| None)?;
/// use mercer_harness::TuningSource;
/// let of = |name: &str| trials.iter().find(|trial| trial.key.variant == name).unwrap();
/// assert_eq!(of("given").tuning, TuningSource::None);
/// let TuningSource::Tuner { tuner, archived, .. } = &of("tuned").tuning else { panic!("tuned") };
/// assert_eq!((tuner.candidates, archived), (2, &None));
/// # Ok::<(), mercer_harness::HarnessError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum TuningSource {
    /// Nowhere: the spec's settings and the method's defaults are all there is.
    None,
    /// From the trial's own tuner, whose record has this key.
    Tuner {
        /// The tuner.
        tuner: Tuner,
        /// Key of the record of the tuning.
        key: Box<Key>,
        /// The tuning, if the archive has it.
        archived: Option<Arc<Tuning>>,
    },
}

/// One fit that a table or a figure asks for.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// # let spec = mercer_harness::Spec::parse(STUDY, std::path::Path::new("toy.toml"))?;
/// # let all = mercer_harness::Selection::default();
/// # let trials = mercer_harness::plan(&spec, METHODS, "paper", &all, &|_| None)?;
/// let (given, tuned) = (&trials[0], &trials[3]);
/// assert_eq!((given.key.variant.as_str(), tuned.key.variant.as_str()), ("given", "tuned"));
/// assert_eq!(given.streams, tuned.streams); // the same split: the comparison is paired
/// assert_ne!(given.streams, trials[1].streams); // another repeat, another split
/// assert_eq!(given.settings.get("cap"), None); // the method's own default
/// assert!(given.complete && given.repeats_of_paper == 3);
/// # Ok::<(), mercer_harness::HarnessError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// What names its record.
    pub key: Key,
    /// The digest of that.
    pub digest: String,
    /// Column of the table.
    pub label: String,
    /// What happens to the data.
    pub protocol: Protocol,
    /// The settings that are fixed before tuning.
    pub settings: Settings,
    /// Settings always among the tuner's candidates.
    pub anchor: Settings,
    /// Where the others come from.
    pub tuning: TuningSource,
    /// Its random streams, shared by all methods and variants of the same data and repeat.
    pub streams: Streams,
    /// Steps between two looks.
    pub look_every: Option<usize>,
    /// Whether a look says the losses of classes, too.
    pub look_at_losses: bool,
    /// Whether the record keeps the predictions.
    pub keep_predictions: bool,
    /// The paper's number of repeats on this dataset.
    pub repeats_of_paper: u32,
    /// Whether rows, steps and features are all that the paper has.
    pub complete: bool,
    /// Relative cost, for the order of work and the time left; [`crate::CostModel::predict_costs`] makes it
    /// seconds.
    pub weight: f64,
}

/// Plans the trials of a study under a profile, in the order of the spec. Nothing is run or read.
///
/// `archive` looks up the settings that an earlier tuning chose.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// use mercer_harness::{Selection, Spec, plan};
/// let spec = Spec::parse(STUDY, std::path::Path::new("toy.toml"))?;
/// let planned = |methods| plan(&spec, methods, "paper", &Selection::default(), &|_| None);
/// let trials = planned(METHODS)?;
/// assert_eq!(trials.len(), 6); // two variants, three repeats
/// let digests = |trials: &[mercer_harness::Trial]| {
///     trials.iter().map(|trial| trial.key.digest()).collect::<Vec<_>>()
/// };
/// assert_eq!(digests(&trials), digests(&planned(METHODS)?)); // nothing is drawn while planning
/// assert!(planned(&[]).unwrap_err().to_string().contains("majority")); // not registered
/// # Ok::<(), mercer_harness::HarnessError>(())
/// ```
///
/// # Errors
/// If the selection or the spec names something that does not exist.
pub fn plan(
    spec: &Spec,
    methods: &[Method],
    profile: &str,
    selection: &Selection,
    archive: &dyn Fn(&Key) -> Option<Arc<Tuning>>,
) -> Result<Vec<Trial>, HarnessError> {
    check(selection, spec)?;
    let profile = spec.profile(profile)?;
    check_settings(spec, methods)?;
    let mut trials = Vec::new();
    let guests = guests(selection, spec, methods)?;
    for (at, variant) in spec.variants.iter().enumerate() {
        let guests: &[SpecMethod] = if at == 0 { &guests } else { &[] };
        let listed = profile.variants.as_ref().is_none_or(|names| names.contains(&variant.name));
        if !listed || !wanted(&selection.variants, &variant.name) {
            continue;
        }
        for dataset in &spec.datasets {
            let listed = [&profile.datasets, &variant.datasets]
                .into_iter()
                .all(|only| only.as_ref().is_none_or(|names| names.contains(dataset)));
            if !listed || !wanted(&selection.datasets, dataset) {
                continue;
            }
            for method in variant.methods.iter().chain(guests) {
                if wanted(&selection.methods, &method.name) && !method.except.contains(dataset) {
                    let registered = find(methods, &method.name)?;
                    let cell = Cell { spec, variant, dataset, method, registered };
                    cell.trials(&profile, selection, archive, &mut trials)?;
                }
            }
        }
    }
    Ok(trials)
}

/// The methods that join the first variant of a study, but for those that it has in any.
fn guests(
    selection: &Selection,
    spec: &Spec,
    methods: &[Method],
) -> Result<Vec<SpecMethod>, HarnessError> {
    let shape = Shape { rows: 1000, features: 10, task: Task::Classification { classes: 2 } };
    let known = |name: &String| {
        spec.variants.iter().flat_map(|own| &own.methods).any(|own| own.name == *name)
    };
    let names = selection.guests.get(&spec.artefact).into_iter().flatten();
    let guest = |name: &String| {
        let method = find(methods, name)?;
        let tuner = spec.variants.first().and_then(|first| first.tuner.clone()).map(|tuner| {
            let settings = (method.space)(&shape).axes.len();
            let rungs = match method.resource {
                Some(_) => vec![1.0 / 3.0, 1.0],
                None => tuner.rungs.clone(),
            };
            let candidates = tuner.candidates.max(CANDIDATES * settings);
            Tuner { candidates, rungs, ..tuner }
        });
        Ok(SpecMethod { tuner, ..SpecMethod::named(name) })
    };
    names.filter(|name| !known(name)).map(guest).collect()
}

fn wanted(names: &[String], name: &str) -> bool {
    names.is_empty() || names.iter().any(|wanted| wanted == name)
}

fn check(selection: &Selection, spec: &Spec) -> Result<(), HarnessError> {
    let variants: Vec<&str> = spec.variants.iter().map(|v| v.name.as_str()).collect();
    let datasets: Vec<&str> = spec.datasets.iter().map(String::as_str).collect();
    let mut methods: Vec<&str> =
        spec.variants.iter().flat_map(|v| &v.methods).map(|m| m.name.as_str()).collect();
    methods.extend(selection.guests.get(&spec.artefact).into_iter().flatten().map(String::as_str));
    methods.sort_unstable();
    methods.dedup();
    for (kind, names, known) in [
        ("variant", &selection.variants, variants),
        ("dataset", &selection.datasets, datasets),
        ("method", &selection.methods, methods),
    ] {
        if let Some(name) = names.iter().find(|name| !known.contains(&name.as_str())) {
            return Err(HarnessError::unknown(kind, name, &known, &spec.artefact));
        }
    }
    Ok(())
}

/// A setting that no method of the variant knows is a slip of the pen.
fn check_settings(spec: &Spec, methods: &[Method]) -> Result<(), HarnessError> {
    let shape = Shape { rows: 100, features: 2, task: Task::Classification { classes: 2 } };
    let mut of_study = Settings::new();
    for variant in &spec.variants {
        let mut known = Settings::new();
        for method in &variant.methods {
            let own = (find(methods, &method.name)?.defaults)(&shape);
            let first = method.first.values().flat_map(Settings::iter);
            only_known(first, &own, &format!("`{}`", method.name))?;
            known = known.overridden_by(&own);
        }
        let rules = variant.dataset.values().flat_map(|rule| rule.settings.iter());
        let whose = format!("variant `{}`", variant.name);
        only_known(variant.settings.iter().chain(rules), &known, &whose)?;
        of_study = of_study.overridden_by(&known);
    }
    // What is given for a dataset may concern one variant and not another.
    only_known(spec.given.values().flat_map(Settings::iter), &of_study, &spec.artefact)
}

fn only_known<'a>(
    mut settings: impl Iterator<Item = (&'a str, &'a Value)>,
    known: &Settings,
    whose: &str,
) -> Result<(), HarnessError> {
    match settings.find(|(name, _)| known.get(name).is_none()) {
        Some((name, _)) => Err(HarnessError::Unknown {
            kind: "setting",
            name: name.to_owned(),
            hint: format!("; no method of {whose} has it"),
        }),
        None => Ok(()),
    }
}

/// One cell of the table: all repeats of a method on a dataset in a variant.
struct Cell<'a> {
    spec: &'a Spec,
    variant: &'a Variant,
    dataset: &'a str,
    method: &'a SpecMethod,
    registered: &'a Method,
}

impl Cell<'_> {
    /// As many as the paper has, or fewer where one of these or the variant says so.
    fn repeats(&self, limits: [Option<u32>; 4]) -> u32 {
        let paper = self.spec.repeats_of_paper(self.dataset);
        limits.into_iter().chain([self.variant.repeats]).flatten().fold(paper, u32::min)
    }

    fn trials(
        &self,
        profile: &Profile,
        selection: &Selection,
        archive: &dyn Fn(&Key) -> Option<Arc<Tuning>>,
        trials: &mut Vec<Trial>,
    ) -> Result<(), HarnessError> {
        let entry = Catalogue::builtin().find(self.dataset)?;
        let protocol = self.protocol();
        let task = protocol.task(entry.task);
        let shape = Shape { rows: entry.rows, features: entry.features, task };
        if !self.registered.tasks.include(shape.task) {
            return Ok(());
        }
        let cut = cut(profile, self.dataset);
        let nothing = crate::spec::VariantRule::default();
        let rule = self.variant.dataset.get(self.dataset).unwrap_or(&nothing);
        let defaults = (self.registered.defaults)(&shape);
        // Nothing to tune, nothing tuned: the majority class needs no candidates.
        let tuner = self.tuner(self.registered, &shape, selection.grid);
        let (fixed, given) = self.settings(&defaults, &rule.settings, tuner.is_some());
        let limits = [profile.repeats, cut.repeats, selection.repeats, rule.repeats];
        let version = selection.versions.get(&entry.name).or(entry.fingerprint.as_ref());
        let search = tuner.map(|tuner| Search {
            budget: self.budget(&tuner),
            tuner,
            fixed,
            rows: cut.rows,
            allowed: profile.tune.unwrap_or(true),
        });
        let shared = Shared {
            protocol,
            settings: given,
            fingerprint: version.cloned().unwrap_or_default(),
            complete: cut.rows.is_none() && cut.at_most.is_empty() && entry.subset_of.is_none(),
            weight: weight(&shape, 1.0),
        };
        for repeat in 0..self.repeats(limits) {
            let mut trial = self.trial(&shared, repeat);
            if let Some(search) = &search {
                search.enter(&mut trial, archive);
            }
            apply(&cut, &defaults, &mut trial);
            trials.push(trial);
        }
        Ok(())
    }

    /// The settings that stay fixed in a search, and those that a trial has without one or tries first in one.
    fn settings(&self, defaults: &Settings, rule: &Settings, tuned: bool) -> (Settings, Settings) {
        let Self { spec, variant, dataset, method, .. } = *self;
        let known = |settings: &Settings| known_to(defaults, settings);
        let own = method.settings_on(dataset);
        let fixed = known(&variant.settings).overridden_by(&own);
        let speaks_of_it =
            variant.given && (spec.given_to.is_empty() || spec.given_to.contains(&method.name));
        let of_dataset =
            spec.given.get(dataset).filter(|_| speaks_of_it).cloned().unwrap_or_default();
        let of_dataset = known(&of_dataset.overridden_by(rule));
        // Without a tuner the dataset's settings say more than the variant's; with one, what the
        // variant fixes stays fixed.
        let given = if tuned {
            of_dataset.overridden_by(&known(&method.first_on(dataset))).overridden_by(&fixed)
        } else {
            known(&variant.settings).overridden_by(&of_dataset).overridden_by(&own)
        };
        (fixed, given)
    }

    /// A repeat without a search, before anything is cut.
    fn trial(&self, shared: &Shared, repeat: u32) -> Trial {
        let Self { spec, variant, dataset, method, registered } = *self;
        let split = shared.protocol.split.map(|rule| rule.of_repeat(repeat));
        let protocol = Protocol { split, ..shared.protocol };
        let settings = shared.settings.clone();
        let key = Key {
            schema: SCHEMA,
            artefact: spec.artefact.clone(),
            variant: variant.name.clone(),
            dataset: dataset.to_owned(),
            fingerprint: shared.fingerprint.clone(),
            method: method.name.clone(),
            revision: registered.revision,
            settings: by_name(&settings),
            tuning: Value::Null,
            protocol: self.protocol_key(&protocol),
            repeat,
            seed: spec.seed,
            limits: self.limits(),
        };
        Trial {
            key,
            digest: String::new(),
            label: method.label.clone().unwrap_or_else(|| registered.title.to_owned()),
            protocol,
            settings,
            anchor: Settings::new(),
            tuning: TuningSource::None,
            streams: Streams::root(spec.seed)
                .child(spec.streams())
                .child(dataset)
                .child(&format!("repeat {repeat}")),
            look_every: spec.look_every(dataset),
            look_at_losses: spec.look_at_losses(dataset),
            keep_predictions: spec.keep_predictions,
            repeats_of_paper: spec.repeats_of_paper(dataset),
            complete: shared.complete,
            weight: shared.weight,
        }
    }

    /// The tuner of the dataset in this variant, or of the method, or of the variant. It searches the printed grid
    /// where asked for; there is none where the method has nothing to tune.
    fn tuner(&self, method: &Method, shape: &Shape, grid: bool) -> Option<Tuner> {
        let tunes = !(method.space)(shape).axes.is_empty();
        let of_dataset = self.variant.dataset.get(self.dataset).map(|rule| &rule.tuner);
        let tuners = [of_dataset, Some(&self.method.tuner), Some(&self.variant.tuner)];
        let tuner = tuners.into_iter().flatten().flatten().next();
        let tuner = tuner.filter(|_| tunes)?;
        let printed = self.spec.grid.as_ref().filter(|_| grid);
        let grid = printed.and_then(|printed| printed.of(method.name));
        Some(grid.map_or_else(|| tuner.clone(), |grid| tuner.over(grid)))
    }

    /// What a key says of a search: the tuner, and the settings that it tries first.
    fn budget(&self, tuner: &Tuner) -> Value {
        let mut budget = json!({ "tuner": tuner });
        let first = self.method.first_on(self.dataset);
        if !first.is_empty() {
            budget["first"] = json!(first);
        }
        budget
    }

    /// The study's protocol, overridden for the dataset, by the variant, and by both.
    fn protocol(&self) -> Protocol {
        let of_dataset = self.spec.dataset.get(self.dataset).map(|rule| &rule.protocol);
        let of_both = self.variant.dataset.get(self.dataset).map(|rule| &rule.protocol);
        [of_dataset, Some(&self.variant.protocol), of_both]
            .into_iter()
            .flatten()
            .fold(self.spec.protocol, Protocol::overridden_by)
    }

    fn protocol_key(&self, protocol: &Protocol) -> BTreeMap<String, Value> {
        let mut key = protocol.key();
        key.insert("streams".to_owned(), json!(self.spec.streams()));
        if let Some(every) = self.spec.look_every(self.dataset) {
            key.insert("look-every".to_owned(), json!(every));
            if self.spec.look_at_losses(self.dataset) {
                key.insert("look-at".to_owned(), json!("losses"));
            }
        }
        key
    }

    fn limits(&self) -> BTreeMap<String, Value> {
        let seconds = self.spec.seconds.map(|seconds| ("seconds".to_owned(), json!(seconds)));
        let bytes = self.spec.bytes.map(|bytes| ("bytes".to_owned(), json!(bytes)));
        seconds.into_iter().chain(bytes).collect()
    }
}

/// What all repeats of a cell have in common.
struct Shared {
    protocol: Protocol,
    settings: Settings,
    fingerprint: String,
    complete: bool,
    weight: f64,
}

/// The search that all repeats of a cell have in common.
struct Search {
    tuner: Tuner,
    /// What a key says of it.
    budget: Value,
    /// The settings that it leaves as they are.
    fixed: Settings,
    /// The profile's cut of the training rows.
    rows: Option<usize>,
    /// Whether the profile searches where the archive has no tuning.
    allowed: bool,
}

impl Search {
    /// Takes a trial's settings from the search, where the archive has it or the profile allows it.
    fn enter(&self, trial: &mut Trial, archive: &dyn Fn(&Key) -> Option<Arc<Tuning>>) {
        let Self { tuner, budget, fixed, .. } = self;
        let key = |tuning: Value| Key { settings: by_name(fixed), tuning, ..trial.key.clone() };
        let mut part = budget.clone();
        part["part"] = json!("tuning");
        let mut tuning = key(part);
        if matches!(trial.protocol.split, Some(SplitRule::Official { .. })) {
            tuning.repeat = 0;
        }
        tuning.limits.clear();
        tuning.protocol.remove(crate::prepare::CALIBRATE);
        // Fewer rows are another training part, of which nothing was tuned. Of what else is cut the
        // tuning speaks as of any setting that a study fixes: the trial keeps the cut value.
        if let Some(rows) = self.rows {
            tuning.protocol.insert("rows".to_owned(), json!(trial.protocol.rows_cut(rows)));
        }
        let archived = archive(&tuning);
        if self.allowed || archived.is_some() {
            trial.key = key(budget.clone());
            // The limit of time is of the study's own budget.
            trial.key.limits.retain(|name, _| tuner.grid.is_none() || name != "seconds");
            trial.anchor = std::mem::replace(&mut trial.settings, fixed.clone());
            trial.weight *= if archived.is_some() { 1.0 } else { tuner.cost() };
            let (tuner, key) = (tuner.clone(), Box::new(tuning));
            trial.tuning = TuningSource::Tuner { tuner, key, archived };
        } else {
            trial.key.tuning = json!("given settings: no tuning of these rows is archived");
        }
    }
}

/// Settings as a key holds them.
fn by_name(settings: &Settings) -> BTreeMap<String, Value> {
    settings.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect()
}

/// The settings among these that a method with these defaults has.
fn known_to(defaults: &Settings, settings: &Settings) -> Settings {
    let known = settings.iter().filter(|(name, _)| defaults.get(name).is_some());
    known.fold(Settings::new(), |kept, (name, value)| kept.with(name, value.clone()))
}

/// The cut for every dataset and the one for this, the smaller of the two wherever both have one.
fn cut(profile: &Profile, dataset: &str) -> Cut {
    let mut cut = profile.cut.clone();
    if let Some(own) = profile.dataset.get(dataset) {
        cut.repeats = [cut.repeats, own.repeats].into_iter().flatten().min();
        cut.rows = [cut.rows, own.rows].into_iter().flatten().min();
        for (name, &limit) in &own.at_most {
            let smaller = cut.at_most.get(name).map_or(limit, |&other| limit.min(other));
            cut.at_most.insert(name.clone(), smaller);
        }
    }
    cut
}

/// Makes a trial smaller, says so in its key, and takes the digest of that.
fn apply(cut: &Cut, defaults: &Settings, trial: &mut Trial) {
    if let Some(rows) = cut.rows {
        let rows = trial.protocol.rows_cut(rows);
        trial.protocol.rows = Some(rows);
        trial.key.protocol.insert("rows".to_owned(), json!(rows));
    }
    for (name, &limit) in &cut.at_most {
        let Some(default) = defaults.get(name) else { continue };
        let current = trial.settings.get(name).unwrap_or(default);
        if current.as_f64().is_some_and(|value| value > limit) {
            // Whole numbers stay whole: a count of 64.0 is not a count. Where there is no default
            // the value itself says what it is.
            let whole = default.is_u64() || (default.is_null() && current.is_u64());
            let value = if whole { json!(limit as u64) } else { json!(limit) };
            trial.settings = std::mem::take(&mut trial.settings).with(name, value.clone());
            trial.key.settings.insert(name.clone(), value.clone());
            if let TuningSource::Tuner { key, .. } = &mut trial.tuning {
                key.settings.insert(name.clone(), value);
            }
        }
    }
    trial.digest = trial.key.digest();
}

/// Rows times columns, with a part that small inputs cost as well.
fn weight(shape: &Shape, effort: f64) -> f64 {
    shape.rows as f64 * (shape.features as f64 + 40.0) * effort
}
