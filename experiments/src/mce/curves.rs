//! Two runs of Algorithm 1 on one split, from an overfitted and an underfitted start: accuracy, loss
//! and complexity along the way, and maps of the decision probabilities at both ends.

use mercer_harness::{Parts, Path};
use mercer_learning::{
    Cost, Fitting, LearningError, Method, Moment, Predictions, Predictor, Probe, Sample, Settings,
    Shape, Tasks, accuracy,
};
use mercer_models::mce::{EmbeddingParams, Form, clip_normalised};
use mercer_records::CurvePoint;
use ndarray::{Array2, s};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The path as the harness runs it.
pub(crate) const PATH: Path = Path {
    method: Method {
        name: "embedding-curves",
        title: "GMCE from two starts",
        summary: "accuracy, loss and complexity along Algorithm 1, from an overfitted and an underfitted start",
        cites: "Hsu, Nock & Ramos (2018)",
        revision: 1,
        tasks: Tasks::Classification,
        cost: Cost { fit: "2 epochs n^3/3", predict: "-", memory: "n^2" },
        defaults: &defaults,
        ..Path::METHOD
    },
    run,
};

/// The two starts, by the word that their numbers begin with.
pub(crate) const STARTS: [&str; 2] = ["over", "under"];

/// Cells of a map are points of the curve from this step on.
pub(crate) const MAP: u64 = 1_000_000;

/// The region of the maps, as printed.
pub(crate) const REGION: (f64, f64) = (-0.5, 1.05);

/// Settings of the path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Params {
    /// The first columns that are used.
    columns: usize,
    /// Rate of Adam.
    rate: f64,
    /// Steps on all rows.
    epochs: usize,
    /// Sum or mean of the losses.
    form: Form,
    /// Length scale and ridge of the overfitted start; the underfitted one has 1 and 1.
    length: f64,
    /// See `length`.
    lambda: f64,
    /// Steps between two looks.
    every: usize,
    /// Cells of a map along each side.
    grid: usize,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            columns: 2,
            rate: 0.01,
            epochs: 500,
            form: Form::Sum,
            length: 0.01,
            lambda: 1e-3,
            every: 5,
            grid: 32,
        }
    }
}

fn defaults(_: &Shape) -> Settings {
    Settings::of(&Params::default())
}

fn run(
    parts: &Parts,
    settings: &Settings,
    fitting: &mut Fitting<'_>,
) -> Result<Vec<CurvePoint>, LearningError> {
    let params: Params = settings.parse(PATH.method.name)?;
    let columns = params.columns.min(parts.train.features());
    let cut = |sample: &Sample| {
        let inputs = sample.inputs().slice(s![.., ..columns]).to_owned();
        let labels = sample.labels().map(<[u32]>::to_vec).unwrap_or_default();
        Sample::classification(inputs, labels, sample.task().outputs())
    };
    let (train, test) = (cut(&parts.train)?, cut(&parts.test)?);
    let grid = grid(params.grid, columns);
    let mut points: BTreeMap<u64, BTreeMap<String, f64>> = BTreeMap::new();
    for start in STARTS {
        let (length, lambda) =
            if start == STARTS[0] { (params.length, params.lambda) } else { (1.0, 1.0) };
        let learner = EmbeddingParams {
            anisotropic: false,
            length: Some(length),
            lambda,
            form: params.form,
            rate: params.rate,
            epochs: params.epochs,
            ..EmbeddingParams::default()
        }
        .checked()?;
        let mut look = Look {
            start,
            every: params.every,
            last: params.epochs,
            train: &train,
            test: &test,
            grid: &grid,
            points: &mut points,
        };
        let mut own = Fitting {
            streams: fitting.streams.clone(),
            threads: fitting.threads,
            limits: fitting.limits,
            probe: Some(&mut look),
            ..Fitting::seeded(0)
        };
        learner.embed(&train, &mut own)?;
    }
    let epoch = |step: u64| if step < MAP { step as f64 } else { params.epochs as f64 };
    let point = |(step, values)| CurvePoint { step, epoch: epoch(step), values };
    Ok(points.into_iter().map(point).collect())
}

/// Centres of the cells of a map, row by row; columns beyond the second are 0.
fn grid(side: usize, columns: usize) -> Array2<f64> {
    let at = |i: usize| REGION.0 + (REGION.1 - REGION.0) * (i as f64 + 0.5) / side as f64;
    Array2::from_shape_fn((side * side, columns), |(cell, column)| match column {
        0 => at(cell % side),
        1 => at(cell / side),
        _ => 0.0,
    })
}

struct Look<'a> {
    start: &'static str,
    every: usize,
    last: usize,
    train: &'a Sample,
    test: &'a Sample,
    grid: &'a Array2<f64>,
    points: &'a mut BTreeMap<u64, BTreeMap<String, f64>>,
}

impl Look<'_> {
    fn note(&mut self, step: u64, name: &str, value: f64) {
        let here = self.points.entry(step).or_default();
        here.insert(format!("{} {name}", self.start), value);
    }
}

impl Probe for Look<'_> {
    fn interval(&self) -> usize {
        self.every
    }

    fn observe(
        &mut self,
        at: Moment,
        predictor: &dyn Predictor,
        numbers: &BTreeMap<String, f64>,
    ) -> Result<(), LearningError> {
        let step = at.step as u64;
        for (name, sample) in [("accuracy", self.test), ("train-accuracy", self.train)] {
            if let (Predictions::Classes(said), Some(truth)) =
                (predictor.predict(sample.inputs())?, sample.labels())
            {
                self.note(step, name, accuracy(&said, truth));
            }
        }
        for name in ["loss", "complexity", "objective", "lambda-over-scale-squared", "length"] {
            if let Some(&value) = numbers.get(name) {
                self.note(step, name, value);
            }
        }
        let end = match at.step {
            0 => "start",
            step if step == self.last => "end",
            _ => return Ok(()),
        };
        let shares = clip_normalised(predictor.decision(self.grid.view()));
        for (cell, shares) in shares.rows().into_iter().enumerate() {
            let step = MAP + cell as u64;
            for (class, &share) in shares.iter().enumerate() {
                // Three digits draw the same map.
                self.note(step, &format!("{end} {class}"), (1000.0 * share).round() / 1000.0);
            }
        }
        Ok(())
    }
}
