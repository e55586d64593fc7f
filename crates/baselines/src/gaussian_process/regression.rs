//! Exact Gaussian process regression: `y_i = ȳ + f(x_i) + ε_i`, `f ~ GP(0, k)`, `ε_i ~ N(0, σ²/w_i)`.
//!
//! `K` is the kernel matrix, `C = K + σ² diag(1/w)`, `α = C⁻¹ (y − ȳ)`, `n` the rows, `W` the sum of their weights. A row
//! of weight `w` counts as `w` equal rows with noise of their own.

use super::Machine;
use super::kernel::ScaledGaussian;
use crate::left_out::RidgeLeftOut;
use mercer_learning::{LearningError, LeftOut, Predictor, State, Task};
use mercer_linalg::{Cholesky, JITTER_LADDER, LinalgError, MatrixView};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};
use std::f64::consts::PI;

/// Targets of mean 0 and deviation 1, and how often their rows count.
#[derive(Debug, Clone, Copy)]
pub(super) struct Noisy<'a> {
    pub y: &'a Array1<f64>,
    pub weights: Option<ArrayView1<'a, f64>>,
}

/// What follows from a kernel and a noise.
pub(super) struct Posterior {
    pub kernel: ScaledGaussian,
    /// `σ²`.
    pub noise: f64,
    pub scaled: Array2<f64>,
    /// `α`.
    pub weights: Array1<f64>,
    /// `C⁻¹`.
    pub inverse: Array2<f64>,
    /// `−(y − ȳ)ᵀα/2 − log|C|/2 − n log(2π)/2`, and with weights `−(W − n) log(2πσ²)/2 − Σ log(w)/2`.
    pub evidence: f64,
    gram: Array2<f64>,
}

impl Posterior {
    /// Of the logarithms `(log s, log l, …, log σ)`.
    pub fn of(
        logs: &[f64],
        inputs: ArrayView2<'_, f64>,
        rows: Noisy<'_>,
    ) -> Result<Self, LearningError> {
        let (&log_noise, logs) = logs.split_last().unwrap_or((&0.0, &[]));
        let noise = (2.0 * log_noise).exp();
        let kernel = ScaledGaussian::from_logs(logs);
        let scaled = kernel.scaled(inputs);
        let gram = kernel.gram(scaled.view());
        let mut covariance = gram.clone();
        match rows.weights {
            None => covariance.diag_mut().mapv_inplace(|entry| entry + noise),
            Some(weights) => {
                covariance.diag_mut().zip_mut_with(&weights, |entry, w| *entry += noise / w);
            }
        }
        let fault = |error: LinalgError| LearningError::Numerical {
            operation: "factoring K + σ² I",
            reason: error.to_string(),
        };
        let (factor, _) = Cholesky::with_jitter(covariance, &JITTER_LADDER).map_err(fault)?;
        let n = rows.y.len();
        let inverse = factor.solve(&Array2::eye(n)).map_err(fault)?;
        let right = rows.y.view().insert_axis(Axis(1)).to_owned();
        let weights = factor.solve(&right).map_err(fault)?.remove_axis(Axis(1));
        let normal = n as f64 * (2.0 * PI).ln();
        let mut evidence = -0.5 * (rows.y.dot(&weights) + factor.log_determinant() + normal);
        if let Some(own) = rows.weights {
            let more = own.sum() - n as f64;
            evidence -= 0.5 * (more * (2.0 * PI * noise).ln() + own.mapv(f64::ln).sum());
        }
        Ok(Self { kernel, noise, scaled, weights, inverse, evidence, gram })
    }

    /// Returns the derivatives of the evidence by the logarithms: `<M, ∂C/∂θ>`, `M = (α αᵀ − C⁻¹)/2`.
    pub fn gradient(&self, rows: Noisy<'_>) -> Vec<f64> {
        let alpha = &self.weights;
        let mut m = &self.inverse * -0.5;
        for (i, mut row) in m.rows_mut().into_iter().enumerate() {
            row.scaled_add(0.5 * alpha[i], alpha);
        }
        let mut gradient = self.kernel.gradient(&m, &self.gram, &self.scaled);
        let (trace, more) = match rows.weights {
            None => (m.diag().sum(), 0.0),
            Some(own) => ((&m.diag() / &own).sum(), own.sum() - rows.y.len() as f64),
        };
        gradient.push(2.0 * self.noise * trace - more);
        gradient
    }
}

/// `ȳ + d·m(x)` and its deviation, of targets that had mean `ȳ` and deviation `d`.
pub(super) struct Process {
    pub features: usize,
    pub machine: Machine,
    /// `σ²`, in deviations of the targets.
    pub noise: f64,
    pub mean: f64,
    pub scale: f64,
    /// Whether the machine holds `α` and `C⁻¹` of all training rows, which count alike.
    pub exact: bool,
}

/// In the state of an exact process alone.
const EXACT: &str = "exact";

impl Process {
    pub fn restore(state: &State) -> Result<Self, LearningError> {
        let features: usize = state.value("features")?;
        let machine = Machine::restore(state.part("machine")?, features)?;
        let [noise, mean, scale] = ["noise", "mean", "scale"].map(|name| state.value::<f64>(name));
        let (noise, mean, scale) = (noise?, mean?, scale?);
        if !(noise >= 0.0
            && scale > 0.0
            && noise.is_finite()
            && scale.is_finite()
            && mean.is_finite())
        {
            let (name, problem) = ("noise".to_owned(), "or the scale is no size".to_owned());
            return Err(LearningError::State { name, problem });
        }
        let exact = state.value(EXACT).unwrap_or(false);
        Ok(Self { features, machine, noise, mean, scale, exact })
    }

    /// With lengths, deviations and noise as they are: the mean is that of a kernel ridge regression with ridge `σ²`.
    fn without_each(&self) -> impl LeftOut + 'static {
        let Machine { kernel, scaled, weights, reduction } = &self.machine;
        let (kernel, scaled, inverse) = (kernel.clone(), scaled.clone(), reduction.clone());
        let coefficients = weights * self.scale;
        // The targets follow from the solution.
        let centred = kernel.gram(scaled.view()).dot(&coefficients) + self.noise * &coefficients;
        let cross = move |inputs: MatrixView<'_>| {
            let blocks = inputs.blocks().map(|rows| kernel.between(rows.view(), scaled.view()));
            let blocks: Vec<Array2<f64>> = blocks.collect();
            let views: Vec<_> = blocks.iter().map(Array2::view).collect();
            ndarray::concatenate(Axis(0), &views).expect("a column for each training row")
        };
        RidgeLeftOut::new(cross, inverse, coefficients, Some(&centred), self.mean)
    }
}

impl Predictor for Process {
    fn task(&self) -> Task {
        Task::Regression
    }

    fn features(&self) -> usize {
        self.features
    }

    fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        let blocks = inputs.axis_chunks_iter(Axis(0), super::BLOCK);
        let values: Array1<f64> =
            blocks.flat_map(|rows| self.machine.cross(rows).dot(&self.machine.weights)).collect();
        (values * self.scale + self.mean).insert_axis(Axis(1))
    }

    fn deviations(&self, inputs: ArrayView2<'_, f64>) -> Option<Array1<f64>> {
        let blocks = inputs.axis_chunks_iter(Axis(0), super::BLOCK);
        let variances: Array1<f64> = blocks.flat_map(|rows| self.machine.latent(rows).1).collect();
        // Rounding can leave less than nothing.
        Some(variances.mapv(|latent| (latent.max(0.0) + self.noise).sqrt() * self.scale))
    }

    fn left_out(&self, _threads: usize) -> Option<Result<Box<dyn LeftOut>, LearningError>> {
        self.exact.then(|| Ok(Box::new(self.without_each()) as Box<dyn LeftOut>))
    }

    fn state(&self) -> State {
        let state = State::new()
            .with("task", Task::Regression)
            .with("features", self.features)
            .with("noise", self.noise)
            .with("mean", self.mean)
            .with("scale", self.scale)
            .with_part("machine", self.machine.state());
        if self.exact { state.with(EXACT, true) } else { state }
    }
}
