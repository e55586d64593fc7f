mod system;

#[cfg(test)]
mod tests;

use crate::kernel_choice::{CONDITIONS, KernelChoice, KernelName};
use crate::kernel_ridge::{
    KernelExpansion, default_std, mean_of, of_ridge, one_column_an_output, space_around,
};
use crate::subsample::drawn_from;
use mercer_learning::{
    Allowed, Convergence, ConvergenceHint, Cost, Fitted, Fitting, Learner, LearningError, Method,
    Outcome, Parameters, Sample, Settings, Shape, Tasks, declared, fact, with_conditions,
    with_hints,
};
use ndarray::Array1;
use system::System;

pub(crate) const METHOD: Method = Method {
    name: "falkon",
    title: "Falkon",
    summary: "kernel ridge regression on drawn centres, over all rows, by preconditioned conjugate gradients; classes by least squares on one-hot",
    formula: "f(x) = ȳ + Σ α_j k(x, z_j) over M centres z_j, (KᵀK + λ n K_z) α = Kᵀ (y − ȳ), k(x, z) = exp(−s² ‖x − z‖²/2) by default",
    when: "from 10,000 to half a million rows; memory grows with the centres; chooses its ridge itself",
    cites: "Rudi, Carratino & Rosasco (2017)",
    revision: 1,
    tasks: Tasks::Both,
    cost: Cost {
        fit: "15 n M (d + 2 K) + 2 M^3, M = min(n, centres)",
        predict: "M (d + K), M = min(n, centres)",
        memory: "4 M^2 + n d, M = min(n, centres)",
    },
    // A tuner's early rungs use fewer centres.
    resource: Some("centres"),
    warnings: &[],
    settings: &|| {
        let hints = [
            ("iterations", ConvergenceHint::More),
            ("tolerance", ConvergenceHint::Larger),
            ("lambda", ConvergenceHint::Larger),
        ];
        with_hints(with_conditions(declared::<FalkonParams>(), &CONDITIONS), &hints)
    },
    defaults: &|shape| {
        let std = default_std(shape.features);
        Settings::new().with("std", std).with("lambda", 1e-6).with("centres", CENTRES)
    },
    // A ridge that is right for a table of strangers is known to nobody.
    user_defaults: &|_| Settings::new().with("lambda", None::<f64>),
    space: &|shape| space_around(shape, (METHOD.defaults)(shape)),
    build: &|settings| Ok(Box::new(Falkon::new(settings.read("falkon")?)?)),
    restore: &KernelExpansion::restore,
};

/// Their matrix fills 32 MB.
const CENTRES: usize = 2000;

mercer_learning::parameters! {
    /// Settings of [`Falkon`].
    ///
    /// ```
    /// use mercer_baselines::{Falkon, FalkonParams};
    /// use mercer_learning::{Fitting, Learner, Sample};
    /// use ndarray::{Array1, Axis};
    /// let x = Array1::linspace(-2.0, 2.0, 400);
    /// let sample = Sample::regression(x.clone().insert_axis(Axis(1)), x.mapv(f64::sin))?;
    /// let params = FalkonParams {
    ///     centres: 20,
    ///     std: Some(1.0),
    ///     lambda: Some(1e-9),
    ///     tolerance: 1e-6,
    ///     ..Default::default()
    /// };
    /// let fitted = Falkon::new(params)?.fit(&sample, &mut Fitting::seeded(1))?;
    /// let at_half = fitted.predictor.decision(ndarray::array![[0.5]].view())[[0, 0]];
    /// assert!((at_half - 0.5f64.sin()).abs() < 1e-3);
    /// # Ok::<(), mercer_learning::LearningError>(())
    /// ```
    pub struct FalkonParams {
        /// `λ > 0` in `KᵀK + λ n K_z`. If null, it is chosen among half decades by the error of leave-one-out of kernel
        /// ridge regression over 1000 rows by seed, whose `λ · 1000` then holds for all.
        pub lambda: Option<f64> = Some(1e-6), Allowed::POSITIVE;
        /// As of `kernel-ridge`, but not `precomputed`.
        pub kernel: KernelName = KernelName::Gaussian;
        /// `s > 0` of the kernel, an inverse length scale; `1/√d` if not set.
        pub std: Option<f64> = None, Allowed::POSITIVE;
        /// Degree of the polynomial kernel.
        pub degree: u32 = 3, Allowed::COUNT;
        /// What the polynomial kernel adds to the product.
        pub offset: f64 = 1.0, Allowed::NOT_NEGATIVE;
        /// Whether the targets' mean is subtracted before the fit and added after it.
        pub centre: bool = true;
        /// Training rows that are drawn by seed, without replacement, as centres; all rows if there are fewer.
        pub centres: usize = CENTRES, Allowed::COUNT;
        /// Relative residual, in the preconditioned system, at which conjugate gradients stop. Numbers without noise
        /// want less: 1e-6.
        pub tolerance: f64 = 3e-3, Allowed::INSIDE_ONE;
        /// Their most iterations; each computes the kernel between all rows and all centres.
        pub iterations: usize = 50, Allowed::COUNT;
    }
}

/// Kernel ridge regression with centres: `f(x) = ȳ + Σ α_j k(x, z_j)` for `M` of the training rows `z_j`.
///
/// It minimises `(1/n) Σ (f(x_i) − y_i)² + λ ‖f‖²` over such functions (`ȳ` apart), so that
/// `(KᵀK + λ n K_z) α = Kᵀ (y − ȳ)` for `K` (`n × M`) between rows and centres and `K_z` (`M × M`) between centres. The
/// system is solved by conjugate gradients with the preconditioner of Falkon: `KᵀK/n ≈ K_z²/M`, since the centres are a
/// sample of the rows. With a ridge so small that the centres do not resolve it this is far off: iterations are many, and
/// the fit says that it did not converge. An iteration computes `K` anew, some rows at a time: memory is that of the rows and of four
/// `M × M` matrices. With all rows as centres it is [`crate::KernelRidge`]. Of rows with weights the mean is weighted,
/// `(1/Σw) Σ w_i (f(x_i) − y_i)²`, and so is `ȳ`. Classes are fitted as `K` one-hot columns at once, and the largest
/// wins. Centres that nearly coincide are held apart by a jitter of `K_z`, which is among the facts.
///
/// ```
/// use linfa::{DatasetBase, traits::{Fit, Predict}};
/// use mercer_baselines::{Falkon, FalkonParams};
/// use mercer_learning::Estimator;
/// use ndarray::{Array1, Axis};
/// let x = Array1::linspace(-2.0, 2.0, 200);
/// let dataset = DatasetBase::new(x.clone().insert_axis(Axis(1)), x.mapv(f64::cos));
/// let params = FalkonParams { centres: 30, std: Some(1.0), ..Default::default() };
/// let fitted = Estimator { learner: Falkon::new(params)?, seed: 1 }.fit(&dataset)?;
/// assert!((fitted.predict(ndarray::array![[0.0]]).targets[0] - 1.0).abs() < 0.01);
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Falkon {
    params: FalkonParams,
}

impl Falkon {
    /// Checks the settings.
    ///
    /// # Errors
    /// [`LearningError::Setting`] names the first that is out of range.
    pub fn new(params: FalkonParams) -> Result<Self, LearningError> {
        params.in_range()?;
        if params.kernel == KernelName::Precomputed {
            let must = "another one (`kernel-ridge` takes a kernel matrix)";
            return Err(LearningError::setting("kernel", "precomputed", must));
        }
        match params.std {
            Some(std) if !(std * std).is_finite() => {
                let must = "small enough for its square to be finite";
                Err(LearningError::setting("std", std, must))
            }
            _ => Ok(Self { params }),
        }
    }
}

impl Learner for Falkon {
    fn fit(&self, sample: &Sample, fitting: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
        sample.require_two_classes()?;
        let Shape { rows: n, features: d, task } = sample.shape();
        let FalkonParams { kernel: name, degree, offset, centre, centres, .. } = self.params;
        let std = self.params.std.unwrap_or(default_std(d));
        sample.require_distances(std)?;
        let kernel = KernelChoice { name, std, degree, offset }.of(sample.matrix())?;
        let mut y = one_column_an_output(sample.targets(), n, task.outputs());
        let mut mean = Array1::zeros(task.outputs());
        if centre {
            mean = mean_of(&y, sample.weights());
            y -= &mean;
        }
        let total = sample.total_weight();
        let choice = match self.params.lambda {
            Some(_) => None,
            None => Some(of_ridge(sample, kernel, &y, centre, fitting)?),
        };
        let lambda = choice.map_or(self.params.lambda.unwrap_or(0.0), |made| made.ridge / total);
        let drawn = drawn_from("centres", n, centres, &fitting.streams);
        let points = match &drawn {
            Some(rows) => sample.matrix().select(rows),
            None => sample.matrix().to_owned(),
        };
        let system = System::new(kernel, points.view(), sample, lambda, fitting)?;
        let solved = system.solve(&y, self.params.tolerance, self.params.iterations, fitting)?;
        let (iterations, residual) = (solved.iterations, solved.residual);
        let convergence = if solved.converged {
            Convergence::Converged { iterations }
        } else {
            Convergence::NotConverged { iterations, residual }
        };
        let mut facts = vec![
            ("centres-used", points.nrows() as f64),
            ("jitter", system.jitter),
            (fact::RESIDUAL, residual),
            (fact::ITERATIONS, iterations as f64),
        ];
        if let Some(made) = choice {
            facts.extend([
                ("lambda", lambda),
                ("leave-one-out", made.error),
                ("grid-end", f64::from(u8::from(made.at_the_end))),
            ]);
        }
        let facts = facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let sections = system.into_sections();
        let predictor = KernelExpansion { task, sections, coefficients: solved.x, mean };
        Ok(Outcome { predictor, convergence, facts }.boxed())
    }

    fn weighs_rows(&self) -> bool {
        true
    }

    fn keeps_sparse(&self) -> bool {
        true
    }
}
