use crate::kernel_machine::{
    Base, CAP, Combination, MachinePredictor, TOLERANCE, convergence, labels, powers, second_stage,
    stage_facts,
};
use crate::subsample::at_most;
use mercer_learning::{
    Allowed, ConvergenceHint, Cost, Fitted, Fitting, Learner, LearningError, Method, Outcome,
    Parameters, Sample, Settings, Space, Tasks, declared, with_hints,
};
use mercer_solvers::nonnegative_least_squares;
use ndarray::{Array1, Array2, ArrayView2, Axis};

pub(crate) const METHOD: Method = Method {
    name: "kta",
    title: "KTA",
    summary: "kernel that aligns best with the labels, out of 11 Gaussians; then a support vector machine",
    formula: "Σ_k μ_k K_k, μ ≥ 0, aligned best with the labels' kernel after centring; then an SVM",
    when: "a learned kernel in a second",
    cites: "Cortes, Mohri & Rostamizadeh (2012)",
    revision: 1,
    tasks: Tasks::Classification,
    cost: Cost {
        fit: "P^2 n^2 + 55 n · iterations, P = 11, iterations = n, n = min(n, cap)",
        predict: "P n_sv d",
        memory: "P n^2/2, P = 11",
    },
    resource: None,
    warnings: &[],
    settings: &|| {
        let hints = [("tolerance", ConvergenceHint::Larger)];
        with_hints(declared::<KtaParams>(), &hints)
    },
    defaults: &|_| Settings::of(&KtaParams::default()),
    user_defaults: &mercer_learning::same_as_study,
    space: &|_| Space::default(),
    build: &|settings| Ok(Box::new(Kta::new(settings.read("kta")?)?)),
    restore: &MachinePredictor::restore,
};

mercer_learning::parameters! {
    /// Settings of [`Kta`].
    ///
    /// ```
    /// use mercer_baselines::{Kta, KtaParams};
    /// let refused = Kta::new(KtaParams { cap: 1, ..Default::default() }).unwrap_err();
    /// assert_eq!(refused.to_string(), "setting `cap` is 1; it must be at least 2");
    /// ```
    pub struct KtaParams {
        /// No pair of the SVM's dual variables violates optimality by more than this.
        pub tolerance: f64 = 1e-3, TOLERANCE;
        /// Training rows beyond this are left out, by seed: 11 centred kernels are held at once.
        pub cap: usize = CAP, Allowed::PAIR;
    }
}

/// Two-stage kernel learning by centred alignment (`alignf`).
///
/// `K_μ = Σ μ_k K_k` over Gaussians with `σ` in `2⁻⁵ .. 2⁵`, where `μ ≥ 0`, `‖μ‖₂ = 1` maximises
/// `ρ = ⟨H K_μ H, T⟩ / (‖H K_μ H‖_F ‖H T H‖_F)`, `T_ij = 1` for equal classes and −1 otherwise (any
/// constant below 1 gives the same `μ`). Stage two is a C-SVC on the uncentred `K_μ`, with `C` by
/// 5-fold cross-validation.
///
/// The facts hold the alignment reached (`alignment`) and how many kernels are used (`kernels`); if
/// no kernel aligns with the labels, all get the same weight and `fallback` is 1.
///
/// ```
/// use mercer_baselines::{Kta, KtaParams};
/// use mercer_learning::{Fitting, Learner, Predictions, Sample};
/// use ndarray::{Array2, array};
/// let x = Array2::from_shape_fn((20, 1), |(i, _)| if i % 2 == 0 { -1.0 } else { 1.0 } + 0.01 * i as f64);
/// let sample = Sample::classification(x, (0..20).map(|i| i % 2).collect(), 2)?;
/// let fitted = Kta::new(KtaParams::default())?.fit(&sample, &mut Fitting::seeded(1))?;
/// assert!(fitted.facts["alignment"] > 0.9);
/// assert_eq!(fitted.predictor.predict(array![[-1.0]].view())?, Predictions::Classes(vec![0]));
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Kta {
    params: KtaParams,
}

/// The result of stage one.
///
/// ```
/// use mercer_baselines::align;
/// use ndarray::array;
/// let target = array![[1.0, 1.0, -1.0], [1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]];
/// let found = align(&[target.clone(), -&target], &[0, 0, 1])?;
/// assert!((found.single[1] + found.single[0]).abs() < 1e-12); // one aligned, one against it
/// assert!((found.weights[0] - 1.0).abs() < 1e-9 && found.weights[1].abs() < 1e-9);
/// assert!((found.alignment - found.single[0]).abs() < 1e-9 && !found.fallback);
/// // With none that aligns, all weigh the same.
/// let none = align(&[-&target, -&target], &[0, 0, 1])?;
/// assert!(none.fallback && (none.weights[0] - none.weights[1]).abs() < 1e-12);
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Alignment {
    /// `v`, the minimiser of `vᵀ M v − 2 vᵀ a` over `v ≥ 0`.
    pub unnormalised: Array1<f64>,
    /// `μ = v/‖v‖₂`; equal weights if `v = 0`.
    pub weights: Array1<f64>,
    /// `a_k = ⟨H K_k H, T⟩`.
    pub with_target: Array1<f64>,
    /// `M_kl = ⟨H K_k H, H K_l H⟩`.
    pub between: Array2<f64>,
    /// `ρ(K_μ, T)`.
    pub alignment: f64,
    /// `ρ(K_k, T)` of each kernel alone.
    pub single: Array1<f64>,
    /// Whether no kernel had a positive weight.
    pub fallback: bool,
}

/// Returns weights of kernels by centred alignment with the labels.
///
/// The problem is the non-negative least squares fit of the centred target by the centred kernels, solved on a QR
/// factor of the columns `vec(H K_k H)`. `M` itself is singular to rounding as soon as several widths are much smaller
/// or much larger than the distances.
///
/// ```
/// use ndarray::array;
/// // The first kernel is the target itself, the second knows nothing of the labels.
/// let target = array![[1.0, 1.0, -1.0], [1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]];
/// let found = mercer_baselines::align(&[target, ndarray::Array2::eye(3)], &[0, 0, 1])?;
/// assert!(found.weights[0] > 0.99 && (found.single[0] - 1.0).abs() < 1e-12);
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
///
/// # Errors
/// [`LearningError::Numerical`] if a kernel is not finite.
pub fn align(grams: &[Array2<f64>], labels: &[u32]) -> Result<Alignment, LearningError> {
    let n = labels.len();
    let columns: Vec<Array1<f64>> = grams.iter().map(|gram| centred(gram.view())).collect();
    let signs =
        Array2::from_shape_fn((n, n), |(i, j)| if labels[i] == labels[j] { 1.0 } else { -1.0 });
    let target = centred(signs.view());
    let p = columns.len();
    let between = Array2::from_shape_fn((p, p), |(k, l)| columns[k].dot(&columns[l]));
    let with_target: Array1<f64> = columns.iter().map(|column| column.dot(&target)).collect();
    if with_target.iter().chain(&between).any(|value| !value.is_finite()) {
        let reason = "a kernel has NaN or infinite entries".to_owned();
        return Err(LearningError::Numerical { operation: "centred alignment", reason });
    }
    let norm = target.dot(&target).sqrt();
    // A kernel that tells no two rows apart is 0 when centred: it is aligned with nothing.
    let cosine = |dot: f64, size: f64| if size > 0.0 { dot / (size * norm) } else { 0.0 };
    let single = (0..p).map(|k| cosine(with_target[k], between[[k, k]].sqrt())).collect();

    let (r, image) = qr(columns, &target);
    let unnormalised = nonnegative_least_squares(r.view(), image.view())
        .map_err(|error| crate::kernel_machine::failed(&error))?;
    let length = unnormalised.dot(&unnormalised).sqrt();
    let fallback = length == 0.0;
    let weights = if fallback {
        Array1::from_elem(p, 1.0 / (p as f64).sqrt())
    } else {
        &unnormalised / length
    };
    // ‖H K_μ H‖ from the factor, not from M.
    let combined = r.dot(&weights);
    let alignment = cosine(weights.dot(&with_target), combined.dot(&combined).sqrt());
    Ok(Alignment { unnormalised, weights, with_target, between, alignment, single, fallback })
}

/// The upper triangle of `H K H`, off-diagonal entries times `√2`: inner products of such vectors equal the inner
/// products of the matrices.
fn centred(gram: ArrayView2<'_, f64>) -> Array1<f64> {
    let n = gram.nrows();
    let means: Array1<f64> = gram.rows().into_iter().map(|row| row.sum() / n as f64).collect();
    let grand = means.sum() / n as f64;
    let mut vector = Vec::with_capacity(n * (n + 1) / 2);
    for i in 0..n {
        let row = gram.row(i);
        vector.push(row[i] - 2.0 * means[i] + grand);
        for j in i + 1..n {
            vector.push(std::f64::consts::SQRT_2 * (row[j] - means[i] - means[j] + grand));
        }
    }
    Array1::from_vec(vector)
}

/// `R` (`P × P`, upper triangular) and `Qᵀ t` of the columns, by Gram-Schmidt with every projection
/// done twice; a column that depends on the earlier ones to rounding leaves a 0 on the diagonal.
fn qr(mut columns: Vec<Array1<f64>>, target: &Array1<f64>) -> (Array2<f64>, Array1<f64>) {
    let p = columns.len();
    let mut r = Array2::zeros((p, p));
    for k in 0..p {
        let (basis, rest) = columns.split_at_mut(k);
        let column = &mut rest[0];
        let size = column.dot(column).sqrt();
        for _ in 0..2 {
            for (l, q) in basis.iter().enumerate() {
                let share = q.dot(column);
                r[[l, k]] += share;
                column.scaled_add(-share, q);
            }
        }
        let left = column.dot(column).sqrt();
        if left > 16.0 * f64::EPSILON * size {
            r[[k, k]] = left;
            *column /= left;
        } else {
            column.fill(0.0);
        }
    }
    let image = columns.iter().map(|q| q.dot(target)).collect();
    (r, image)
}

impl Kta {
    /// Checks the settings.
    ///
    /// # Errors
    /// [`LearningError::Setting`] names the first that is out of range.
    pub fn new(params: KtaParams) -> Result<Self, LearningError> {
        params.in_range()?;
        Ok(Self { params })
    }
}

impl Learner for Kta {
    fn fit(&self, sample: &Sample, fitting: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
        let sample = at_most(sample, self.params.cap, fitting)?;
        let (labels, n) = (labels(&sample)?, sample.rows());
        let bases: Vec<Base> = powers().into_iter().map(Base::Gaussian).collect();
        fitting.limits.reserve(8 * (bases.len() * n * n * 2) as u64)?;
        let grams: Vec<Array2<f64>> = bases.iter().map(|base| base.gram(sample.inputs())).collect();
        let found = align(&grams, labels)?;
        let mut gram = Array2::zeros((n, n));
        for (weight, part) in found.weights.iter().zip(&grams) {
            gram.scaled_add(*weight, part);
        }
        drop(grams);
        let (machine, choice) = second_stage(gram.view(), labels, self.params.tolerance, fitting)?;
        let mut facts = stage_facts(&machine, &choice, n);
        facts.insert("alignment".to_owned(), found.alignment);
        let used = found.weights.iter().filter(|weight| **weight > 0.0).count();
        facts.insert("kernels".to_owned(), used as f64);
        facts.insert("fallback".to_owned(), f64::from(u8::from(found.fallback)));
        let convergence = convergence(&machine);
        let support = machine.support();
        let rows = sample.inputs().select(Axis(0), &support);
        let weights = found.weights.to_vec();
        let kernel = Combination::new(&bases, &weights, rows.view());
        let machine = machine.kept(&support);
        let predictor = MachinePredictor { task: sample.task(), kernel, machine };
        Ok(Outcome { predictor, convergence, facts }.boxed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::{self, number, numbers};
    use approx::{assert_abs_diff_eq, assert_relative_eq};
    use ndarray::array;
    use toml::{Table, Value};

    fn golden() -> Value {
        let all: Table = include_str!("../../../experiments/golden/base.toml").parse().unwrap();
        all["base-4"].clone()
    }

    fn grams() -> Vec<Array2<f64>> {
        [0.5, 1.0, 2.0].map(|width| Base::Gaussian(width).gram(toy::points().view())).to_vec()
    }

    #[test]
    fn golden_alignment_of_two_classes() {
        let golden = golden();
        let near = |found: f64, name: &str| {
            assert_relative_eq!(found, number(&golden[name]), max_relative = 1e-8);
        };
        let all_near = |found: &Array1<f64>, name: &str| {
            assert_relative_eq!(*found, numbers(&golden[name]), max_relative = 1e-8);
        };
        let found = align(&grams(), &[1, 1, 1, 1, 0, 0]).unwrap();
        let a = numbers(&golden["with-target"]);
        // Row by row from the diagonal on.
        let upper = &golden["between"];
        let m = Array2::from_shape_fn((3, 3), |(k, l)| number(&upper[k.min(l)][k.abs_diff(l)]));
        all_near(&found.with_target, "with-target");
        assert_relative_eq!(found.between, m, max_relative = 1e-8);
        all_near(&found.unnormalised, "minimiser");
        all_near(&found.weights, "weights");
        all_near(&found.single, "single-alignments");
        near(found.alignment, "alignment");
        let v = &found.unnormalised;
        near(v.dot(&m.dot(v)) - 2.0 * v.dot(&a), "value");
        near(2.0 * (m.row(0).dot(v) - a[0]), "first-slope");
        assert!(!found.fallback);
    }

    #[test]
    fn golden_alignment_of_three_classes_and_of_one_kernel() {
        let golden = golden();
        for (labels, minimiser, alignment) in [
            ([0, 0, 1, 1, 2, 2], "classes-minimiser", "classes-alignment"),
            ([1, 0, 1, 0, 1, 0], "turns-minimiser", "turns-alignment"),
        ] {
            let found = align(&grams(), &labels).unwrap();
            let v = numbers(&golden[minimiser]);
            assert_relative_eq!(found.unnormalised, v, max_relative = 1e-8);
            assert_relative_eq!(found.alignment, number(&golden[alignment]), max_relative = 1e-8);
        }
    }

    #[test]
    fn wide_and_narrow_gaussians_at_once_reach_the_best_of_all_supports() {
        // Eleven widths: the narrow kernels are all I, the wide ones all affine in the distances.
        let x = Array2::from_shape_fn((20, 3), |(i, j)| ((i * 37 + j * 11) as f64 * 0.7).sin());
        let labels: Vec<u32> = (0..20).map(|i| u32::from(x[[i, 0]] * x[[i, 1]] > 0.0)).collect();
        let bases: Vec<Base> = powers().into_iter().map(Base::Gaussian).collect();
        let grams: Vec<Array2<f64>> = bases.iter().map(|base| base.gram(x.view())).collect();
        let found = align(&grams, &labels).unwrap();
        assert!(found.weights.iter().all(|weight| *weight >= 0.0));
        // The optimality conditions, by products of the long vectors.
        let slope = found.between.dot(&found.unnormalised) - &found.with_target;
        let scale = found.with_target.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
        for (k, &g) in slope.iter().enumerate() {
            assert!(g >= -1e-8 * scale, "kernel {k}: {g}");
            if found.unnormalised[k] > 0.0 {
                assert!(g.abs() <= 1e-8 * scale, "kernel {k}: {g}");
            }
        }
        assert!(found.single.iter().all(|&single| found.alignment >= single - 1e-12));
    }

    #[test]
    fn labels_that_no_kernel_aligns_with_give_equal_weights() {
        // A kernel that is largest across the classes.
        let gram = Array2::from_shape_fn((4, 4), |(i, j)| f64::from(u8::from(i % 2 != j % 2)));
        let found = align(&[gram.clone(), gram], &[0, 1, 0, 1]).unwrap();
        assert!(found.fallback);
        assert_abs_diff_eq!(found.weights, Array1::from_elem(2, 0.5f64.sqrt()), epsilon = 1e-15);
    }

    #[test]
    fn kernels_that_tell_no_rows_apart_are_aligned_with_nothing() {
        let (flat, target) = (Array2::ones((4, 4)), array![1.0, 1.0, -1.0, -1.0]);
        let found = align(&[flat.clone(), flat.clone()], &[0, 0, 1, 1]).unwrap();
        assert_eq!((found.alignment, found.single), (0.0, Array1::zeros(2)));
        // Beside one that does, they have no weight.
        let column = target.insert_axis(Axis(1));
        let found = align(&[flat, column.dot(&column.t())], &[0, 0, 1, 1]).unwrap();
        assert_abs_diff_eq!(found.weights, array![0.0, 1.0], epsilon = 1e-12);
        assert_abs_diff_eq!(found.alignment, 1.0, epsilon = 1e-12);
    }
}
