//! Classes by regression (Milios, Camoriano, Michiardi, Rosasco & Filippone 2018).
//!
//! A row of class `y` is one observation of a Dirichlet distribution that had `a` of each class: `α_k = a + [k = y]`. Its
//! share of class `k` is a gamma variable over the sum of all, and `exp f_k` with `f_k ~ N(ỹ_k, σ_k²)` has the mean and
//! the variance of that gamma: `σ_k² = log(1 + 1/α_k)`, `ỹ_k = log α_k − σ_k²/2`. So each class is a regression with a
//! known noise for each row, exact or by inducing rows. Probabilities are the expected softmax of the `f_k`.

use super::laplace::expected_share;
use super::{BLOCK, Machine, refuse};
use mercer_learning::{LearningError, Predictor, State, Streams, Task};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Ix1, s};
use rand::Rng;
use rand_distr::StandardNormal;
use std::collections::BTreeMap;
use std::f64::consts::PI;

/// Draws of the `f_k` with which a softmax is averaged, half of them the mirror image of the others.
const DRAWS: usize = 512;

/// What the rows say of a class.
pub(super) struct Observed {
    /// `ỹ_k − c`, `c` the level far from all rows.
    pub y: Array1<f64>,
    /// `1/σ_k²`, times the weight of the row.
    pub weights: Array1<f64>,
}

impl Observed {
    pub fn of(
        labels: &[u32],
        class: usize,
        prior: f64,
        level: f64,
        weights: Option<ArrayView1<'_, f64>>,
    ) -> Self {
        let alpha = |&label: &u32| prior + f64::from(u8::from(label as usize == class));
        let alphas: Array1<f64> = labels.iter().map(alpha).collect();
        let noise = alphas.mapv(|alpha| (1.0 / alpha).ln_1p());
        let y = alphas.mapv(f64::ln) - &noise / 2.0 - level;
        let mut precision = noise.mapv(|noise| 1.0 / noise);
        if let Some(weights) = weights {
            precision *= &weights;
        }
        Self { y, weights: precision }
    }

    /// What makes the evidence of rows that count as so many equal ones the density of the `ỹ` themselves.
    pub fn density(&self) -> f64 {
        let more = self.weights.sum() - self.y.len() as f64;
        0.5 * (more * (2.0 * PI).ln() + self.weights.mapv(f64::ln).sum())
    }
}

/// A regression for each class that occurred.
pub(super) struct Shares {
    pub task: Task,
    pub features: usize,
    /// With the level of each far from all rows: the logarithm of its share of the rows.
    pub machines: BTreeMap<usize, (Machine, f64)>,
}

impl Shares {
    /// Means and deviations of the `f_k` at some rows, one column a class that occurred.
    fn latent(&self, inputs: ArrayView2<'_, f64>) -> (Array2<f64>, Array2<f64>) {
        let shape = (inputs.nrows(), self.machines.len());
        let (mut means, mut deviations) = (Array2::zeros(shape), Array2::zeros(shape));
        for (j, (machine, level)) in self.machines.values().enumerate() {
            let (mean, variance) = machine.latent(inputs);
            means.column_mut(j).assign(&(mean + *level));
            // Rounding can leave less than nothing.
            deviations.column_mut(j).assign(&variance.mapv(|own| own.max(0.0).sqrt()));
        }
        (means, deviations)
    }

    /// The same draws for all rows and all fits: equal rows have equal probabilities.
    fn draws(&self) -> Array2<f64> {
        let mut stream = Streams::root(0).rng("softmax");
        let shape = (DRAWS / 2, self.machines.len());
        Array2::from_shape_simple_fn(shape, || stream.sample(StandardNormal))
    }
}

/// The expected softmax of independent normal variables.
fn expected_softmax(
    means: ArrayView1<'_, f64>,
    deviations: ArrayView1<'_, f64>,
    draws: &Array2<f64>,
) -> Array1<f64> {
    if means.len() == 2 {
        // Of two it is the logistic function of one normal variable, whose integral is known.
        let spread = deviations.dot(&deviations);
        let second = expected_share(means[1] - means[0], spread);
        return ndarray::array![1.0 - second, second];
    }
    let mut total = Array1::zeros(means.len());
    for draw in draws.rows() {
        for sign in [1.0, -1.0] {
            let f = &means + &(&deviations * &draw * sign);
            let largest = f.fold(f64::NEG_INFINITY, |largest, &own| largest.max(own));
            let powers = f.mapv(|own| (own - largest).exp());
            let sum = powers.sum();
            total += &(powers / sum);
        }
    }
    total / (2 * draws.nrows()) as f64
}

impl Predictor for Shares {
    fn task(&self) -> Task {
        self.task
    }

    fn features(&self) -> usize {
        self.features
    }

    fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        let draws = self.draws();
        let mut scores = Array2::zeros((inputs.nrows(), self.task.outputs()));
        for start in (0..inputs.nrows()).step_by(BLOCK) {
            let rows = s![start..(start + BLOCK).min(inputs.nrows()), ..];
            let (means, deviations) = self.latent(inputs.slice(rows));
            let latent = means.rows().into_iter().zip(deviations.rows());
            for ((means, deviations), mut to) in latent.zip(scores.slice_mut(rows).rows_mut()) {
                let shares = expected_softmax(means, deviations, &draws);
                for (&class, share) in self.machines.keys().zip(shares) {
                    to[class] = share;
                }
            }
        }
        scores
    }

    fn probabilities(&self, inputs: ArrayView2<'_, f64>) -> Option<Array2<f64>> {
        Some(self.decision(inputs))
    }

    fn state(&self) -> State {
        let classes: Vec<usize> = self.machines.keys().copied().collect();
        let levels: Array1<f64> = self.machines.values().map(|(_, level)| *level).collect();
        let state = State::new()
            .with("task", self.task)
            .with("features", self.features)
            .with("classes", &classes)
            .with_array("levels", &levels);
        self.machines.iter().fold(state, |state, (class, (machine, _))| {
            state.with_part(&format!("class-{class}"), machine.state())
        })
    }
}

impl Shares {
    /// From a state whose machines were restored.
    pub fn restore(
        state: &State,
        task: Task,
        features: usize,
        machines: BTreeMap<usize, Machine>,
    ) -> Result<Self, LearningError> {
        let levels = state.array::<f64, Ix1>("levels")?;
        if levels.len() != machines.len() || machines.len() < 2 {
            return refuse("levels", "must be one a class, of two classes at least");
        }
        if !levels.iter().all(|level| level.is_finite()) {
            return refuse("levels", "must be numbers");
        }
        let machines = machines.into_iter().zip(levels);
        let machines = machines.map(|((class, machine), level)| (class, (machine, level)));
        Ok(Self { task, features, machines: machines.collect() })
    }
}
