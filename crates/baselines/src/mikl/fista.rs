use ndarray::{Array1, Array2, ArrayView2};

/// A penalty `(λ/q) ‖α‖_{p,q}^q`. The inner `p`-norm is over a group of weights, the outer `q`-norm over groups. Groups
/// are the weights of one sample in all kernels, or of one kernel at all samples.
///
/// ```
/// use mercer_baselines::{MixedNorm, fista};
/// use ndarray::array;
/// // One point, two kernels of value 1 and 2.
/// let run = |penalty| fista(array![[1.0], [2.0]].view(), penalty, 1.0, 1e-12, 100_000).weights;
/// let near = |found: ndarray::Array1<f64>, expected: [f64; 2]| {
///     found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-6)
/// };
/// assert!(near(run(MixedNorm::L1), [0.0, 0.375]));
/// // One group of both: none of its weights vanishes alone.
/// let share = (1.0 - 0.5 / 5f64.sqrt()) / 5.0;
/// let grouped = MixedNorm::Grouped { samples: 1, by_kernel: false };
/// assert!(near(run(grouped), [share, 2.0 * share]));
/// // Exclusive: within the group the larger one takes all, 4 (1 − 2 α) = α.
/// let exclusive = MixedNorm::Exclusive { samples: 1, by_kernel: false };
/// assert!(near(run(exclusive), [0.0, 4.0 / 9.0]));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MixedNorm {
    /// `λ ‖α‖₁`: groups do not matter.
    L1,
    /// `p = 2`, `q = 1`: whole groups vanish. The number of groups follows.
    Grouped {
        /// Samples `n`; column `j` of the stack belongs to sample `j mod n`.
        samples: usize,
        /// Whether a group is a kernel (all samples) or a sample (all kernels).
        by_kernel: bool,
    },
    /// `p = 1`, `q = 2`: every group keeps some of its weights.
    Exclusive {
        /// Samples `n`; column `j` of the stack belongs to sample `j mod n`.
        samples: usize,
        /// Whether a group is a kernel (all samples) or a sample (all kernels).
        by_kernel: bool,
    },
}

/// What [`fista`] leaves.
///
/// ```
/// use mercer_baselines::{MixedNorm, fista};
/// use ndarray::array;
/// let run = fista(array![[1.0], [2.0]].view(), MixedNorm::L1, 1.0, 1e-12, 10_000);
/// assert!((run.objective - 0.4375).abs() < 1e-9); // (1 − 3/4)² + 3/8
/// assert!((run.lipschitz - 10.0).abs() < 1e-6); // 2 (1² + 2²)
/// assert!(run.converged && run.steps < 10_000);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FistaRun {
    /// `α`, one a column of `K_y`.
    pub weights: Array1<f64>,
    /// The objective at `α`.
    pub objective: f64,
    /// The Lipschitz constant `2 ‖K Kᵀ‖₂` of the loss's gradient.
    pub lipschitz: f64,
    /// Steps taken.
    pub steps: usize,
    /// Whether the relative change of `α` fell to the tolerance.
    pub converged: bool,
}

impl MixedNorm {
    /// The index sets of the groups among `length` weights.
    fn groups(self, length: usize) -> Vec<Vec<usize>> {
        match self {
            Self::L1 => (0..length).map(|j| vec![j]).collect(),
            Self::Grouped { samples, by_kernel } | Self::Exclusive { samples, by_kernel } => {
                let kernels = length / samples.max(1);
                if by_kernel {
                    (0..kernels).map(|k| (k * samples..(k + 1) * samples).collect()).collect()
                } else {
                    (0..samples).map(|t| (0..kernels).map(|k| k * samples + t).collect()).collect()
                }
            }
        }
    }

    /// `(1/q) ‖α‖^q`.
    fn value(self, weights: &Array1<f64>) -> f64 {
        let groups = self.groups(weights.len());
        let over = |of: &dyn Fn(&[usize]) -> f64| groups.iter().map(|g| of(g)).sum::<f64>();
        match self {
            Self::L1 => weights.iter().map(|weight| weight.abs()).sum(),
            Self::Grouped { .. } => {
                over(&|g| g.iter().map(|&j| weights[j] * weights[j]).sum::<f64>().sqrt())
            }
            Self::Exclusive { .. } => {
                over(&|g| 0.5 * g.iter().map(|&j| weights[j].abs()).sum::<f64>().powi(2))
            }
        }
    }

    /// `argmin ½ ‖α − u‖² + t` times the penalty, in place.
    fn proximal(self, groups: &[Vec<usize>], u: &mut Array1<f64>, t: f64) {
        let soft = |value: f64, by: f64| value.signum() * (value.abs() - by).max(0.0);
        match self {
            Self::L1 => u.mapv_inplace(|value| soft(value, t)),
            Self::Grouped { .. } => {
                for group in groups {
                    let length = group.iter().map(|&j| u[j] * u[j]).sum::<f64>().sqrt();
                    let factor = if length > t { 1.0 - t / length } else { 0.0 };
                    for &j in group {
                        u[j] *= factor;
                    }
                }
            }
            Self::Exclusive { .. } => {
                for group in groups {
                    let mut sizes: Vec<f64> = group.iter().map(|&j| u[j].abs()).collect();
                    sizes.sort_by(|a, b| b.total_cmp(a));
                    let (mut sum, mut by) = (0.0, 0.0);
                    for (m, size) in sizes.iter().enumerate() {
                        let threshold = t * (sum + size) / (1.0 + t * (m + 1) as f64);
                        if *size <= threshold {
                            break;
                        }
                        sum += size;
                        by = threshold;
                    }
                    for &j in group {
                        u[j] = soft(u[j], by);
                    }
                }
            }
        }
    }
}

/// Minimises `Σ_i (1 − Σ_j α_j c_ji)₊² + λ Ω(α)` by accelerated proximal gradients with restarts. Source: Kowalski,
/// Szafranski & Ralaivola 2009; `columns` holds the columns `c_j` of `K_y = diag(y) [K_1 .. K_P]` in its rows, kernel
/// after kernel.
///
/// ```
/// use mercer_baselines::{MixedNorm, fista};
/// use ndarray::array;
/// // One point, two kernels of value 1 and 2: the larger one carries all.
/// let run = fista(array![[1.0], [2.0]].view(), MixedNorm::L1, 1.0, 1e-12, 10_000);
/// assert!(run.converged && run.weights[0].abs() < 1e-9);
/// assert!((run.weights[1] - 0.375).abs() < 1e-9); // 4 (1 − 2 α) = 1
/// ```
pub fn fista(
    columns: ArrayView2<'_, f64>,
    penalty: MixedNorm,
    lambda: f64,
    tolerance: f64,
    steps: usize,
) -> FistaRun {
    let lipschitz = 2.0 * largest_eigenvalue(columns);
    let groups = penalty.groups(columns.nrows());
    let hinge = |weights: &Array1<f64>| weights.dot(&columns).mapv(|f| (1.0 - f).max(0.0));
    let mut weights = Array1::<f64>::zeros(columns.nrows());
    let (mut z, mut tau) = (weights.clone(), 1.0f64);
    let (mut taken, mut converged) = (0, lipschitz == 0.0);
    while taken < steps && !converged {
        taken += 1;
        let mut next = &z + &(columns.dot(&hinge(&z)) * (2.0 / lipschitz));
        penalty.proximal(&groups, &mut next, lambda / lipschitz);
        let change = &next - &weights;
        let later = 0.5 * (1.0 + (1.0 + 4.0 * tau * tau).sqrt());
        if (&z - &next).dot(&change) > 0.0 {
            // The momentum points uphill: begin it anew.
            tau = 1.0;
            z.assign(&next);
        } else {
            z = &next + &(&change * ((tau - 1.0) / later));
            tau = later;
        }
        let size = next.dot(&next).sqrt();
        converged = change.dot(&change).sqrt() <= tolerance * size.max(f64::MIN_POSITIVE);
        weights = next;
    }
    let left = hinge(&weights);
    let objective = left.dot(&left) + lambda * penalty.value(&weights);
    FistaRun { weights, objective, lipschitz, steps: taken, converged }
}

/// `‖K Kᵀ‖₂` by power iteration, to rounding.
fn largest_eigenvalue(columns: ArrayView2<'_, f64>) -> f64 {
    let gram: Array2<f64> = columns.t().dot(&columns);
    let n = gram.nrows();
    // No direction of structure is orthogonal to this one.
    let mut vector = Array1::from_shape_fn(n, |i| 1.0 + ((i as f64) * 0.618).fract());
    let mut value = 0.0f64;
    for _ in 0..100_000 {
        let next = gram.dot(&vector);
        let size = next.dot(&next).sqrt();
        if size == 0.0 {
            return 0.0;
        }
        let done = (size - value).abs() <= 4.0 * f64::EPSILON * size;
        value = size;
        vector = next / size;
        if done {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::numbers;
    use approx::assert_abs_diff_eq;
    use ndarray::array;
    use toml::Table;

    #[test]
    fn golden_proximal_maps() {
        let golden: Table =
            include_str!("../../../../experiments/golden/base.toml").parse().unwrap();
        let golden = &golden["base-6"];
        let mut u = array![3.0, -2.0, 1.0, 0.1];
        let exclusive = MixedNorm::Exclusive { samples: 4, by_kernel: true };
        exclusive.proximal(&exclusive.groups(4), &mut u, 0.5);
        assert_abs_diff_eq!(u, numbers(&golden["exclusive-map"]), epsilon = 1e-12);
        let mut v = array![3.0, 4.0];
        let grouped = MixedNorm::Grouped { samples: 2, by_kernel: true };
        grouped.proximal(&grouped.groups(2), &mut v, 1.0);
        assert_abs_diff_eq!(v, numbers(&golden["grouped-map"]), epsilon = 1e-12);
    }

    #[test]
    fn the_proximal_map_minimises_what_it_says() {
        let u = array![1.3, -0.4, 0.9, 0.2, -1.1, 0.6];
        for penalty in [
            MixedNorm::L1,
            MixedNorm::Grouped { samples: 3, by_kernel: true },
            MixedNorm::Grouped { samples: 3, by_kernel: false },
            MixedNorm::Exclusive { samples: 3, by_kernel: true },
            MixedNorm::Exclusive { samples: 2, by_kernel: false },
        ] {
            let t = 0.3;
            let value =
                |a: &Array1<f64>| 0.5 * (a - &u).mapv(|d| d * d).sum() + t * penalty.value(a);
            let mut best = u.clone();
            penalty.proximal(&penalty.groups(6), &mut best, t);
            let at = value(&best);
            for j in 0..6 {
                for step in [-1e-3, 1e-3, -0.1, 0.1] {
                    let mut other = best.clone();
                    other[j] += step;
                    assert!(value(&other) >= at - 1e-12, "{penalty:?}");
                }
            }
        }
    }
}
