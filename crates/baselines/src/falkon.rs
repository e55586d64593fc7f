mod direct;
mod system;

#[cfg(test)]
mod tests;

use crate::kernel_choice::{CONDITIONS, KernelChoice, KernelName};
use crate::kernel_ridge::{
    KernelExpansion, default_std, mean_of, one_column_an_output, space_around,
};
use crate::subsample::drawn_from;
use direct::{CENTRES, Direct};
use mercer_learning::{
    Allowed, Convergence, ConvergenceHint, Cost, Fitted, Fitting, Learner, LearningError, Method,
    Outcome, Parameters, Sample, Settings, Shape, Tasks, declared, fact, with_conditions,
    with_hints,
};
use ndarray::{Array1, Axis};
use rand::seq::SliceRandom;
use std::collections::BTreeMap;
use system::System;

pub(crate) const METHOD: Method = Method {
    name: "falkon",
    title: "Falkon",
    summary: "kernel ridge regression on drawn centres, over all rows, directly or by preconditioned conjugate gradients; classes by least squares",
    formula: "f(x) = ȳ + Σ α_j k(x, z_j) over M centres z_j, (KᵀK + λ n K_z) α = Kᵀ (y − ȳ), k(x, z) = exp(−s² ‖x − z‖²/2) by default",
    when: "from 10,000 to half a million rows; memory grows with the centres; chooses its ridge itself",
    cites: "Rudi, Carratino & Rosasco (2017)",
    revision: 3,
    tasks: Tasks::Both,
    cost: Cost {
        fit: "2 n M (d + M + K) + 10 M^3, M = min(n, centres)",
        predict: "M (d + K), M = min(n, centres)",
        memory: "8 M^2 + n d, M = min(n, centres)",
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

/// With 5000 of them on covtype's 465,000 rows the formed system takes 206 s of two cores and 1.7 GB, nearly all of it in
/// products at their full speed; 50 iterations took 290 s and left a residual of 0.02.
const DIRECT: usize = 6000;

/// Rows that stand for all where there are more centres: so many, or so many a centre.
const SOME_ROWS: usize = 20_000;
const ROWS_A_CENTRE: usize = 4;

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
        /// `λ > 0` in `KᵀK + λ n K_z`. If null, it is chosen among half decades by generalised cross-validation, over
        /// 2000 of the centres at most and all rows. With more than `direct_centres` it is over 20,000 of the rows, or
        /// four a centre, by seed; its `λ n` then holds for all.
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
        /// Centres up to which the system is formed and solved, in `n M²` multiply-adds. With more, it is solved by
        /// conjugate gradients.
        pub direct_centres: usize = DIRECT;
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
/// `(KᵀK + λ n K_z) α = Kᵀ (y − ȳ)` for `K` (`n × M`) between rows and centres and `K_z` (`M × M`) between centres.
///
/// Up to `direct_centres` the system is formed and solved in the coordinates in which `K_z` is the identity: with
/// `L Lᵀ = K_z`, `Φ = K L⁻ᵀ` and `α = L⁻ᵀ β` it is `(ΦᵀΦ/n + λ I) β = Φᵀ (y − ȳ)/n`. Beyond, it is solved by conjugate
/// gradients, preconditioned by the same system over some of the rows. Falkon takes the centres for these rows, we
/// four rows a centre. Centres that nearly coincide and a ridge near 0 still want more iterations than there are: the fit
/// then says that it did not converge. Either way `K` is computed some rows at a time: memory is that of the rows and
/// of some `M × M` matrices. With all rows as centres it is [`crate::KernelRidge`]. Of rows with weights the mean is weighted,
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
        let drawn = drawn_from("centres", n, centres, &fitting.streams);
        // A ridge is chosen over the first of many centres, which are to be any of them.
        let mut rows = drawn.unwrap_or_else(|| (0..n).collect());
        let used = rows.len();
        let direct = used <= self.params.direct_centres;
        if used > CENTRES || !direct {
            rows.shuffle(&mut fitting.streams.rng("order of centres"));
        }
        let points = sample.matrix().select(&rows);
        let mut facts = BTreeMap::from([("centres-used".to_owned(), used as f64)]);
        let (solved, convergence) = if direct {
            let direct = Direct::new(kernel, points.view(), sample, &y, fitting)?;
            let solved = direct.solve(self.params.lambda)?;
            facts.extend(solved.facts);
            ((direct.into_sections(), solved.coefficients), Convergence::Exact)
        } else {
            // Some rows stand for all, as a preconditioner, and where the ridge is chosen.
            let most = SOME_ROWS.max(ROWS_A_CENTRE * used);
            let rows = drawn_from("some rows", n, most, &fitting.streams);
            let rows = rows.unwrap_or_else(|| (0..n).collect());
            let (some, of_some) = (sample.select(&rows)?, y.select(Axis(0), &rows));
            let direct = Direct::new(kernel, points.view(), &some, &of_some, fitting)?;
            let lambda = if let Some(lambda) = self.params.lambda {
                lambda
            } else {
                // Its `λ n` holds for all rows.
                let share = some.total_weight() / sample.total_weight();
                let lambda = share * direct.choose(CENTRES.min(used), &mut facts)?;
                facts.insert("lambda".to_owned(), lambda);
                lambda
            };
            facts.insert("centre-jitter".to_owned(), direct.jitter);
            let system = System::new(direct, sample, lambda, fitting)?;
            let FalkonParams { tolerance, iterations, .. } = self.params;
            let solved = system.solve(&y, tolerance, iterations, fitting)?;
            let (iterations, residual) = (solved.iterations, solved.residual);
            let own = [(fact::RESIDUAL, residual), (fact::ITERATIONS, iterations as f64)];
            facts.extend(own.map(|(name, value)| (name.to_owned(), value)));
            let convergence = if solved.converged {
                Convergence::Converged { iterations }
            } else {
                Convergence::NotConverged { iterations, residual }
            };
            ((system.into_sections(), solved.x), convergence)
        };
        let (sections, coefficients) = solved;
        let predictor = KernelExpansion { task, sections, coefficients, mean, solved: None };
        Ok(Outcome { predictor, convergence, facts }.boxed())
    }

    fn weighs_rows(&self) -> bool {
        true
    }

    fn keeps_sparse(&self) -> bool {
        true
    }
}
