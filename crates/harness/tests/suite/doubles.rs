//! Methods that behave, or misbehave, on demand, and a diary of what they were shown.
//!
//! The settings of a double say how it behaves; `token` names its page of the diary, so that tests in one process do
//! not read each other's.

use mercer_harness::Stop;
use mercer_learning::{
    Axis, Convergence, Cost, Fitted, Fitting, Learner, LearningError, Method, Outcome, Predictor,
    Range, Sample, Settings, Space, State, Task, Tasks, never_kept, undeclared,
};
use ndarray::{Array2, ArrayView2, Ix2};
use rand::Rng;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What the doubles of one token saw and received.
#[derive(Default)]
pub struct Page {
    /// Fits begun.
    pub fits: usize,
    /// Steps run.
    pub steps: u64,
    /// Largest absolute input that any fit was shown.
    pub largest_fitted: f64,
    /// Whether `conduct = "fails"` has been corrected.
    pub mended: bool,
    /// What `conduct = "interrupts"` asks for.
    pub stop: Option<Stop>,
}

static DIARY: Mutex<BTreeMap<String, Page>> = Mutex::new(BTreeMap::new());

/// Reads or writes the page of a token.
pub fn page<T>(token: &str, with: impl FnOnce(&mut Page) -> T) -> T {
    let mut diary = DIARY.lock().unwrap_or_else(PoisonError::into_inner);
    with(diary.entry(token.to_owned()).or_default())
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Conduct {
    /// Class means, approached step by step from a random start.
    Sound,
    /// An error, until its page says that it was corrected.
    Fails,
    /// An error if its rate is large: some candidates of a tuner.
    FailsWhenFast,
    /// A fault of its own.
    Panics,
    /// A loss that is not finite.
    Diverges,
    /// A millisecond a step.
    Dawdles,
    /// A mebibyte a step.
    Hoards,
    /// Asks for a tebibyte at once.
    Reserves,
    /// Asks for a stop in the middle of its third fit.
    Interrupts,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Drifting {
    epochs: u64,
    rate: f64,
    conduct: Conduct,
    token: String,
}

impl Learner for Drifting {
    fn fit(&self, sample: &Sample, fitting: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
        let fits = page(&self.token, |page| {
            page.fits += 1;
            let inputs = sample.inputs();
            page.largest_fitted =
                inputs.iter().fold(page.largest_fitted, |largest, x| largest.max(x.abs()));
            page.fits
        });
        let failure = || LearningError::Numerical {
            operation: "a double's fit",
            reason: "it was told to fail".to_owned(),
        };
        match self.conduct {
            Conduct::Fails if !page(&self.token, |page| page.mended) => return Err(failure()),
            Conduct::FailsWhenFast if self.rate > 0.1 => return Err(failure()),
            Conduct::Panics => panic!("a double was told to"),
            Conduct::Diverges => {
                return Err(LearningError::diverged(1, f64::INFINITY, &[("rate", 1.0)]));
            }
            Conduct::Reserves => fitting.limits.reserve(1 << 40)?,
            _ => {}
        }
        let means = class_means(sample);
        let mut rng = fitting.streams.rng("start");
        let mut centres = means.mapv(|_| rng.gen_range(-1.0..1.0));
        let mut hoard = Vec::new();
        let mut done = 0;
        if let Some(state) = fitting.kept()
            && let Ok(steps) = state.value::<u64>("done")
            && let Ok(kept) = state.array_of::<f64, Ix2>("centres", centres.raw_dim())
            && steps < self.epochs
        {
            (done, centres) = (steps, kept);
        }
        let standing = |done: u64, centres: &Array2<f64>| {
            State::new().with("done", done).with_array("centres", centres)
        };
        for step in done..self.epochs {
            match self.conduct {
                Conduct::Dawdles => std::thread::sleep(Duration::from_millis(1)),
                Conduct::Hoards => hoard.push(vec![1u8; 1 << 20]),
                Conduct::Interrupts if fits == 3 && step == self.epochs / 2 => {
                    page(&self.token, |page| page.stop.as_ref().map(Stop::ask));
                }
                _ => {}
            }
            fitting.between_steps(|| standing(step, &centres))?;
            centres = &centres + &((&means - &centres) * self.rate);
            page(&self.token, |page| page.steps += 1);
        }
        fitting.at_end(|| standing(self.epochs, &centres));
        let distance = (&means - &centres).mapv(|gap| gap * gap).sum().sqrt();
        Ok(Outcome {
            predictor: Means(centres),
            convergence: Convergence::FixedSteps { steps: self.epochs as usize },
            facts: BTreeMap::from([("distance".to_owned(), distance)]),
        }
        .boxed())
    }
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Closed {
    shrink: f64,
}

impl Learner for Closed {
    fn fit(&self, sample: &Sample, fitting: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
        fitting.limits.check()?;
        let predictor = Means(class_means(sample) * (1.0 - self.shrink));
        let (convergence, facts) = (Convergence::Exact, BTreeMap::new());
        Ok(Outcome { predictor, convergence, facts }.boxed())
    }
}

fn class_means(sample: &Sample) -> Array2<f64> {
    let (counts, labels) = (sample.class_counts(), sample.labels().unwrap());
    let mut means = Array2::zeros((counts.len(), sample.features()));
    for (row, &label) in sample.inputs().rows().into_iter().zip(labels) {
        means.row_mut(label as usize).scaled_add(1.0 / counts[label as usize] as f64, &row);
    }
    means
}

struct Means(Array2<f64>);

impl Predictor for Means {
    fn task(&self) -> Task {
        Task::Classification { classes: self.0.nrows() }
    }
    fn features(&self) -> usize {
        self.0.ncols()
    }
    fn state(&self) -> State {
        State::new().with_array("means", &self.0)
    }
    fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        Array2::from_shape_fn((inputs.nrows(), self.0.nrows()), |(i, class)| {
            -(&inputs.row(i) - &self.0.row(class)).mapv(|gap| gap * gap).sum()
        })
    }
}

const DRIFTING: Method = Method {
    name: "drifting-mean",
    title: "Drifting mean",
    summary: "class means approached step by step",
    formula: "f(x) = the class whose mean is nearest",
    when: "in tests",
    cites: "test double",
    revision: 1,
    tasks: Tasks::Classification,
    cost: Cost { fit: "n d", predict: "K d", memory: "K d" },
    resource: Some("epochs"),
    warnings: &[],
    settings: &undeclared,
    defaults: &|_| {
        let settings = Settings::new().with("epochs", 9).with("rate", 0.01);
        settings.with("conduct", "sound").with("token", "")
    },
    user_defaults: &mercer_learning::same_as_study,
    space: &|_| Space {
        axes: vec![Axis { name: "rate", range: Range::Log10(-3.0, 0.0) }],
        anchors: vec![Settings::new().with("rate", 0.02)],
    },
    build: &|settings| Ok(Box::new(settings.parse::<Drifting>("drifting-mean")?)),
    restore: &never_kept,
};

const CLOSED: Method = Method {
    name: "closed-mean",
    title: "Closed mean",
    summary: "class means in closed form, shrunk",
    resource: None,
    defaults: &|_| Settings::new().with("shrink", 0.0),
    user_defaults: &mercer_learning::same_as_study,
    space: &|_| Space {
        axes: vec![Axis { name: "shrink", range: Range::Log10(-3.0, 0.0) }],
        anchors: Vec::new(),
    },
    build: &|settings| Ok(Box::new(settings.parse::<Closed>("closed-mean")?)),
    ..DRIFTING
};

const PLAIN: Method = Method {
    name: "plain-mean",
    title: "Plain mean",
    summary: "class means in closed form, nothing to tune",
    space: &|_| Space::default(),
    ..CLOSED
};

/// The registry of these tests.
pub const METHODS: &[Method] = &[DRIFTING, CLOSED, PLAIN];
