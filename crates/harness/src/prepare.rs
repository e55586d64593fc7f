use crate::HarnessError;
use mercer_datasets::{
    Dataset, Scaler, Scaling, Split, TargetScaler, random_split, stratified_split, subsample,
};
use mercer_learning::{Fold, Sample, Streams, Task};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// How the rows are divided.
///
/// ```
/// use mercer_harness::SplitRule;
/// let folds: SplitRule = toml::from_str("kind = \"folds\"\nblocks = 5")?;
/// // Ten repeats: every block twice, under another permutation the second time.
/// let (second, seventh) = (folds.of_repeat(1), folds.of_repeat(6));
/// let (a, b) = (second.fold(150).unwrap(), seventh.fold(150).unwrap());
/// assert_eq!((a.index, b.index, b.seed - a.seed), (1, 1, 1));
/// assert!(toml::from_str::<SplitRule>("kind = \"fold\"").is_err());
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SplitRule {
    /// A random permutation; the first `train` share of the rows trains.
    Random {
        /// Share of the rows that train, in `(0, 1)`.
        train: f64,
    },
    /// The official training and test part; `train` rows drawn from the former, if given.
    Official {
        /// Training rows drawn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        train: Option<usize>,
    },
    /// Repeat `r` tests block `r mod blocks` of the rows and trains on the others.
    Folds {
        /// Number of blocks.
        blocks: usize,
        /// In which order the rows are cut into blocks.
        #[serde(default)]
        order: FoldOrder,
        /// Seed of NumPy's legacy generator, which permutes; one more after each round of blocks.
        #[serde(default)]
        seed: u32,
        /// The block that is tested. The planner sets it, and it is no part of the rule.
        #[serde(default, skip)]
        index: usize,
    },
}

/// The order in which rows are cut into folds.
///
/// ```
/// use mercer_harness::{FoldOrder, Protocol, SplitRule, prepare};
/// use mercer_learning::Streams;
/// let iris = mercer_datasets::Library::of_folders([])?.load("iris")?; // sorted by class
/// let counts = |order| {
///     let split = Some(SplitRule::Folds { blocks: 3, order, seed: 0, index: 0 });
///     let parts = prepare(&iris, &Protocol { split, ..Protocol::default() }, &Streams::root(1))?;
///     Ok::<_, mercer_harness::HarnessError>(parts.test.class_counts())
/// };
/// assert_eq!(counts(FoldOrder::File)?, [50, 0, 0]); // a class that no row trains
/// assert!(counts(FoldOrder::Stratified)?.iter().all(|&rows| (16..=17).contains(&rows)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FoldOrder {
    /// Consecutive blocks of `RandomState(seed).permutation(n)`, the first `n mod blocks` of them
    /// one row longer.
    #[default]
    Permuted,
    /// Consecutive blocks of the file as it is. A file sorted by class gives a few classes each.
    File,
    /// The permuted rows class by class, dealt out to the blocks in turn. Each block has each class's share, up to one
    /// row.
    Stratified,
}

impl SplitRule {
    /// Returns the rule of one repeat: which fold is tested, under which permutation.
    #[must_use]
    pub fn of_repeat(self, repeat: u32) -> Self {
        match self {
            Self::Folds { blocks, order, seed, .. } if blocks > 0 => Self::Folds {
                blocks,
                order,
                seed: seed + repeat / blocks as u32,
                index: repeat as usize % blocks,
            },
            other => other,
        }
    }

    /// Returns the test rows' places in a permutation by NumPy's generator, if any.
    pub fn fold(self, rows: usize) -> Option<Fold> {
        match self {
            Self::Folds { blocks, order: FoldOrder::Permuted, seed, index } => {
                Some(Fold { rows, blocks, index, seed })
            }
            _ => None,
        }
    }
}

/// Rows whose range a scaler sees.
///
/// ```
/// use mercer_harness::{FittedOn, Protocol, Scale, prepare};
/// use mercer_datasets::Scaling;
/// use mercer_learning::Streams;
/// let iris = mercer_datasets::Library::of_folders([])?.load("iris")?;
/// let outside = |from| {
///     let scale = Some(Scale { to: Scaling::UnitInterval, from });
///     let parts = prepare(&iris, &Protocol { scale, ..Protocol::default() }, &Streams::root(3))?;
///     let beyond = |x: &&f64| !(-1e-12..=1.0 + 1e-12).contains(*x);
///     Ok::<_, mercer_harness::HarnessError>(parts.test.inputs().iter().filter(beyond).count())
/// };
/// assert_eq!(outside(FittedOn::All)?, 0); // the test rows were looked at
/// # outside(FittedOn::Training)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FittedOn {
    /// Training rows only.
    Training,
    /// All rows, as the authors' code does.
    All,
}

/// Scaling of the inputs.
///
/// ```
/// use mercer_harness::{FittedOn, Scale};
/// use mercer_datasets::Scaling;
/// let scale: Scale = toml::from_str("to = \"standard\"\nfrom = \"training\"")?;
/// assert_eq!(scale, Scale { to: Scaling::Standard, from: FittedOn::Training });
/// assert!(toml::from_str::<Scale>("to = \"standard\"").is_err()); // from which rows is to be said
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scale {
    /// To which range.
    pub to: Scaling,
    /// From which rows.
    pub from: FittedOn,
}

/// Scaling of regression targets.
///
/// ```
/// use mercer_harness::{Protocol, prepare};
/// use mercer_datasets::{Library, Parts};
/// use mercer_learning::{Sample, Streams};
/// use ndarray::{Array1, Array2};
/// let mut dataset = Library::of_folders([])?.load("iris")?;
/// let values = Array1::from_shape_fn(150, |row| 7.0 + row as f64);
/// dataset.sample = Sample::regression(Array2::zeros((150, 1)), values)?;
/// let protocol: Protocol = toml::from_str("targets = { low = 0, high = 100, from = \"all\" }")?;
/// let parts = prepare(&dataset, &protocol, &Streams::root(1))?;
/// let both = [parts.train, parts.test].map(|part| part.values().unwrap().to_vec()).concat();
/// assert_eq!(both.iter().copied().fold(f64::INFINITY, f64::min), 0.0);
/// assert!((both.iter().copied().fold(0.0, f64::max) - 100.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetRule {
    /// Smallest target after scaling.
    pub low: f64,
    /// Largest target after scaling.
    pub high: f64,
    /// From which rows.
    pub from: FittedOn,
}

/// What a key calls [`Protocol::calibrate`].
pub(crate) const CALIBRATE: &str = "calibrate";

/// What happens to the data before a method sees it; each absent part is inherited.
///
/// ```
/// use mercer_harness::Protocol;
/// use mercer_learning::Task;
/// let study: Protocol = toml::from_str("rows = 1000\nsplit = { kind = \"official\" }")?;
/// let dataset: Protocol = toml::from_str("rows = 200\nagainst-rest = 3")?;
/// let both = study.overridden_by(&dataset);
/// assert_eq!((both.rows, both.split), (Some(200), study.split)); // the nearer rule, part by part
/// assert_eq!(both.task(Task::Classification { classes: 10 }), Task::Classification { classes: 2 });
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Protocol {
    /// How rows are divided; without a rule, 80 % train.
    #[serde(default)]
    pub split: Option<SplitRule>,
    /// Scaling of inputs; without a rule, none.
    #[serde(default)]
    pub scale: Option<Scale>,
    /// Scaling of regression targets; without a rule, none.
    #[serde(default)]
    pub targets: Option<TargetRule>,
    /// Training rows at most, drawn at random after the split.
    #[serde(default)]
    pub rows: Option<usize>,
    /// The class that is tested against all others. It is its place among the catalogue's classes, from 0.
    #[serde(default)]
    pub against_rest: Option<u32>,
    /// Whether probabilities are calibrated inside the training part (three more fits), and scored. No search sees it.
    #[serde(default)]
    pub calibrate: Option<bool>,
}

impl Protocol {
    /// Returns this protocol, overridden by `other` where that has a rule.
    #[must_use]
    pub fn overridden_by(self, other: &Self) -> Self {
        Self {
            split: other.split.or(self.split),
            scale: other.scale.or(self.scale),
            targets: other.targets.or(self.targets),
            rows: other.rows.or(self.rows),
            against_rest: other.against_rest.or(self.against_rest),
            calibrate: other.calibrate.or(self.calibrate),
        }
    }

    /// Its rows where a profile takes so many at most.
    pub(crate) fn rows_cut(&self, rows: usize) -> usize {
        self.rows.map_or(rows, |own| own.min(rows))
    }

    /// Returns the task that it leaves: one class against the rest makes two.
    #[must_use]
    pub fn task(&self, task: Task) -> Task {
        match (self.against_rest, task) {
            (Some(_), Task::Classification { .. }) => Task::Classification { classes: 2 },
            _ => task,
        }
    }

    /// Returns its part of a trial's key.
    pub fn key(&self) -> BTreeMap<String, Value> {
        let mut key = BTreeMap::from([("split".to_owned(), json!(self.split_rule()))]);
        if let Some(scale) = self.scale {
            key.insert("scale".to_owned(), json!(scale));
        }
        if let Some(targets) = self.targets {
            key.insert("targets".to_owned(), json!(targets));
        }
        if let Some(rows) = self.rows {
            key.insert("rows".to_owned(), json!(rows));
        }
        if let Some(class) = self.against_rest {
            key.insert("against-rest".to_owned(), json!(class));
        }
        if self.calibrate == Some(true) {
            key.insert(CALIBRATE.to_owned(), json!(true));
        }
        key
    }

    fn split_rule(&self) -> SplitRule {
        self.split.unwrap_or(SplitRule::Random { train: 0.8 })
    }
}

/// The two parts of a trial, scaled.
///
/// ```
/// use mercer_harness::{Parts, Protocol, prepare};
/// use mercer_learning::Streams;
/// let iris = mercer_datasets::Library::of_folders([])?.load("iris")?;
/// let Parts { train, test } = prepare(&iris, &Protocol::default(), &Streams::root(1))?;
/// assert_eq!((train.rows(), test.rows()), (120, 30)); // without a rule, 80 % train
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Parts {
    /// What the learner and the tuner see.
    pub train: Sample,
    /// What only the score sees.
    pub test: Sample,
}

/// Splits and scales a dataset. The random choices come from `streams`, never from the method.
///
/// A dataset with an official test part is used without it under a random split: the papers
/// load one file a name.
///
/// ```
/// use mercer_harness::{Protocol, SplitRule, prepare};
/// use mercer_learning::Streams;
/// let iris = mercer_datasets::Library::of_folders([])?.load("iris")?;
/// let train = |seed| {
///     prepare(&iris, &Protocol::default(), &Streams::root(seed)).map(|parts| parts.train)
/// };
/// assert_eq!(train(1)?, train(1)?);
/// assert_ne!(train(1)?, train(2)?);
/// let split = Some(SplitRule::Random { train: 0.999_9 });
/// let all = prepare(&iris, &Protocol { split, ..Protocol::default() }, &Streams::root(1))?;
/// assert_eq!(all.test.rows(), 1); // no share is so large that nothing tests
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If a part is empty.
pub fn prepare(
    dataset: &Dataset,
    protocol: &Protocol,
    streams: &Streams,
) -> Result<Parts, HarnessError> {
    let rule = protocol.split_rule();
    let mut rng = streams.rng("split");
    let mut split = match rule {
        SplitRule::Random { train } => {
            let offset = dataset.parts.train.start;
            let split = random_split(dataset.parts.train.len(), train, &mut rng);
            let shifted = |rows: Vec<usize>| rows.into_iter().map(|row| row + offset).collect();
            Split { train: shifted(split.train), test: shifted(split.test) }
        }
        SplitRule::Official { train } => {
            let all: Vec<usize> = dataset.parts.train.clone().collect();
            let train = match train {
                Some(count) if count < all.len() => subsample(&all, count, &mut rng),
                _ => all,
            };
            Split { train, test: dataset.parts.test.clone().collect() }
        }
        SplitRule::Folds { blocks, order, seed, index } => {
            let fold = Fold { rows: dataset.parts.train.len(), blocks, index, seed };
            if blocks < 2 || blocks > fold.rows {
                let (rows, rule) = (fold.rows, json!(rule).to_string());
                return Err(HarnessError::EmptyPart { rows, rule, part: "test" });
            }
            let offset = dataset.parts.train.start;
            let labels = dataset.sample.labels().map(|labels| &labels[offset..]);
            let Split { train, test } = fold_of(fold, order, labels);
            let shifted = |rows: Vec<usize>| rows.into_iter().map(|row| row + offset).collect();
            Split { train: shifted(train), test: shifted(test) }
        }
    };
    if let Some(rows) = protocol.rows.filter(|&rows| rows < split.train.len()) {
        split.train = subsample(&split.train, rows, &mut streams.rng("rows"));
    }
    parts(&dataset.sample, &split, protocol, &rule)
}

/// The rows of a fold; those that train stay in the order of the blocks.
fn fold_of(fold: Fold, order: FoldOrder, labels: Option<&[u32]>) -> Split {
    let mut rows: Vec<usize> = match order {
        FoldOrder::File => (0..fold.rows).collect(),
        FoldOrder::Permuted | FoldOrder::Stratified => fold.generator().0,
    };
    if let (FoldOrder::Stratified, Some(labels)) = (order, labels) {
        // Sorting is stable: within a class the rows stay permuted.
        rows.sort_by_key(|&row| labels[row]);
        let mut blocks = vec![Vec::new(); fold.blocks];
        for (position, row) in rows.into_iter().enumerate() {
            blocks[position % fold.blocks].push(row);
        }
        let test = blocks.remove(fold.index);
        return Split { train: blocks.concat(), test };
    }
    let start = fold.start_of(fold.index);
    let test: Vec<usize> = rows.drain(start..start + fold.size_of(fold.index)).collect();
    Split { train: rows, test }
}

/// Splits a training part once more, for the tuner; scalers are not fitted again, since the
/// training part comes scaled by its own rows. `by_class` keeps the shares of the classes, and with them a
/// rare one on both sides; the studies draw without regard to class, as the papers do.
pub(crate) fn inner_split(
    train: &Sample,
    share: f64,
    rows: Option<usize>,
    by_class: bool,
    streams: &Streams,
) -> Result<Parts, HarnessError> {
    let mut rng = streams.rng("inner split");
    let mut all: Vec<usize> = (0..train.rows()).collect();
    if let Some(rows) = rows.filter(|&rows| rows < all.len()) {
        all = subsample(&all, rows, &mut rng);
    }
    let labels = train.labels().filter(|_| by_class).unwrap_or_default();
    let labels: Vec<u32> = all.iter().filter_map(|&row| labels.get(row).copied()).collect();
    let split = if labels.is_empty() || labels.iter().collect::<BTreeSet<_>>().len() == labels.len()
    {
        random_split(all.len(), share, &mut rng)
    } else {
        stratified_split(&labels, share, &mut rng)
    };
    let named = |rows: &[usize]| rows.iter().map(|&row| all[row]).collect();
    let split = Split { train: named(&split.train), test: named(&split.test) };
    parts(train, &split, &Protocol::default(), &SplitRule::Random { train: share })
}

/// The same by cross-validation: each of `folds` parts of the rows, or of as many as are used at most, drawn
/// at random, is held out once. `by_class` deals the rows of each class out over the parts.
pub(crate) fn inner_folds(
    train: &Sample,
    folds: usize,
    most: Option<usize>,
    by_class: bool,
    streams: &Streams,
) -> Result<Vec<Parts>, HarnessError> {
    let all = train.rows();
    let Split { train: mut order, test } = random_split(all, 0.5, &mut streams.rng("inner folds"));
    order.extend(test);
    let rows = most.map_or(all, |most| most.min(all));
    order.truncate(rows);
    let labels = train.labels().filter(|_| by_class);
    if let Some(labels) = labels {
        order.sort_by_key(|&row| labels[row]);
    }
    let dealt = labels.is_some();
    let rule = SplitRule::Random { train: 1.0 - 1.0 / folds as f64 };
    let fold = |index: usize| {
        let part = move |at: usize| if dealt { at % folds } else { at * folds / rows };
        let held = move |at: usize| part(at) == index;
        let named = |wanted: bool| {
            order.iter().enumerate().filter(move |(at, _)| held(*at) == wanted).map(|(_, &row)| row)
        };
        let split = Split { train: named(false).collect(), test: named(true).collect() };
        parts(train, &split, &Protocol::default(), &rule)
    };
    (0..folds).map(fold).collect()
}

fn parts(
    sample: &Sample,
    split: &Split,
    protocol: &Protocol,
    rule: &SplitRule,
) -> Result<Parts, HarnessError> {
    let part = |rows: &[usize], part: &'static str| {
        if rows.is_empty() {
            let (rows, rule) = (sample.rows(), json!(rule).to_string());
            return Err(HarnessError::EmptyPart { rows, rule, part });
        }
        let chosen = sample.select(rows)?;
        Ok(match protocol.against_rest {
            Some(class) => chosen.against_rest(class)?,
            None => chosen,
        })
    };
    let mut train = part(&split.train, "training")?;
    let mut test = part(&split.test, "test")?;
    if let Some(Scale { to, from }) = protocol.scale {
        let scaler = match from {
            FittedOn::Training => Scaler::fit(to, train.inputs()),
            FittedOn::All => Scaler::fit(to, sample.inputs()),
        };
        train = train.map_inputs(|inputs| scaler.apply_inplace(inputs))?;
        test = test.map_inputs(|inputs| scaler.apply_inplace(inputs))?;
    }
    if let (Some(rule), Some(values), Some(all)) =
        (protocol.targets, train.values(), sample.values())
    {
        let seen = match rule.from {
            FittedOn::Training => values,
            FittedOn::All => all,
        };
        let scaler = TargetScaler::fit(seen, rule.low, rule.high);
        let rescaled = |sample: &Sample| {
            let values = sample.values().map(|values| scaler.apply(values)).unwrap_or_default();
            Sample::regression(sample.inputs().to_owned(), values)
        };
        (train, test) = (rescaled(&train)?, rescaled(&test)?);
    }
    Ok(Parts { train, test })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array1, Array2};

    #[test]
    fn inner_splits_by_class_keep_a_rare_class_on_both_sides() {
        let labels: Vec<u32> = (0..300).map(|row| u32::from(row % 60 == 7)).collect();
        let sample = Sample::classification(Array2::zeros((300, 1)), labels, 2).unwrap();
        let has_both = |Parts { train, test }: Parts| {
            [train, test].iter().all(|part| part.labels().unwrap().contains(&1))
        };
        for seed in 0..20 {
            let streams = Streams::root(seed);
            assert!(has_both(inner_split(&sample, 0.8, None, true, &streams).unwrap()));
            assert!(
                inner_folds(&sample, 5, None, true, &streams).unwrap().into_iter().all(has_both)
            );
        }
    }

    #[test]
    fn each_row_is_held_out_by_one_fold() {
        let inputs = Array2::from_shape_fn((23, 1), |(row, _)| row as f64);
        let sample = Sample::regression(inputs, Array1::zeros(23)).unwrap();
        let folds = inner_folds(&sample, 5, None, false, &Streams::root(1)).unwrap();
        let mut held: Vec<u64> = Vec::new();
        for Parts { train, test } in &folds {
            assert!((4..=5).contains(&test.rows()) && train.rows() + test.rows() == 23);
            held.extend(test.inputs().iter().map(|&row| row as u64));
        }
        assert_ne!(held, (0..23).collect::<Vec<_>>());
        held.sort_unstable();
        assert_eq!(held, (0..23).collect::<Vec<_>>());
        assert!(inner_folds(&sample, 24, None, false, &Streams::root(1)).is_err());
    }
}
