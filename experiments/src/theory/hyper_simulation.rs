//! Learning a known kernel from pairs of a finite population, where every term of the paper's error
//! analysis can be computed.
//!
//! The population is `N` points of the unit interval, all equally likely: expectations over it are
//! means over its `N²` pairs, and the population minimiser `k_λ` is hyper-KRR on all of them. A
//! sample is `m` points drawn with replacement; the target of two of them is `k_ρ` plus noise on `[−W, W]`,
//! uniform or triangular, the same for both orders.

use mercer_kernels::{GaussianHyper, HyperKernel, LearnedKernel};
use mercer_learning::{Fitting, LearningError, Streams};
use mercer_models::hyper_rkhs::{Learned, PairRidge, PairSolver, PairSvr, PairTarget};
use ndarray::{Array2, Axis};
use rand::Rng;
use std::collections::BTreeMap;

/// Points of the population.
pub(super) const POPULATION: usize = 100;
/// Half-width of the noise.
pub(super) const WIDTH: f64 = 0.5;
/// Range of the kernel that is learned, `exp(−|x − x'|/RANGE)`: continuous, and not smooth, so that
/// no hyper-kernel of Gaussians has it in its space.
pub(super) const RANGE: f64 = 0.3;
/// Variance of the Gaussian hyper-kernel, and of its means.
const VARIANCE: f64 = 0.02;

pub(super) struct World {
    hyper: HyperKernel,
    points: Array2<f64>,
    /// `k_ρ` on the population.
    truth: Array2<f64>,
    /// `k_λ` on the population and its squared norm, by the bits of `λ`.
    limits: BTreeMap<u64, (Array2<f64>, f64)>,
}

/// Density of the noise on `[−W, W]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Noise {
    /// The same everywhere.
    Uniform,
    /// `(1 − |t|/W)/W`: then the excess of the absolute loss is no multiple of the squared distance.
    Triangular,
}

/// Some points of the population, and noise for each pair of them.
pub(super) struct Draw {
    rows: Vec<usize>,
    noise: Array2<f64>,
}

/// How a subset is solved.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    pub lambda: f64,
    /// Nyström points, or all pairs.
    pub landmarks: Option<usize>,
    pub noisy: bool,
}

impl World {
    /// A population whose minimisers are wanted for these ridges: all its pairs are solved once for each.
    pub(super) fn new(ridges: impl IntoIterator<Item = f64>) -> Result<Self, LearningError> {
        let hyper = GaussianHyper::constructed(VARIANCE, VARIANCE).map_err(|error| {
            let operation = "building a hyper-kernel";
            LearningError::Numerical { operation, reason: error.to_string() }
        })?;
        let points =
            Array2::from_shape_fn((POPULATION, 1), |(i, _)| i as f64 / (POPULATION - 1) as f64);
        let truth = Array2::from_shape_fn((POPULATION, POPULATION), |(i, j)| {
            (-(points[[i, 0]] - points[[j, 0]]).abs() / RANGE).exp()
        });
        let (hyper, limits) = (HyperKernel::Gaussian(hyper), BTreeMap::new());
        let mut world = Self { hyper, points, truth, limits };
        for lambda in ridges {
            if !world.limits.contains_key(&lambda.to_bits()) {
                let limit = world.minimiser(lambda)?;
                world.limits.insert(lambda.to_bits(), limit);
            }
        }
        Ok(world)
    }

    pub(super) const fn truth(&self) -> &Array2<f64> {
        &self.truth
    }

    /// The values on the population of a learned kernel.
    fn values(&self, kernel: &LearnedKernel) -> Array2<f64> {
        kernel.gram(self.points.view(), 1)
    }

    /// `k_λ` on the population, and its squared norm, for a ridge that was asked for at the beginning.
    pub(super) fn limit(&self, lambda: f64) -> &(Array2<f64>, f64) {
        &self.limits[&lambda.to_bits()]
    }

    fn minimiser(&self, lambda: f64) -> Result<(Array2<f64>, f64), LearningError> {
        let target = PairTarget::matrix(self.truth.view())?;
        let ridge = PairRidge { lambda, solver: PairSolver::Cholesky, ..PairRidge::default() };
        let learned = ridge.learn(&self.hyper, self.points.view(), &target, &Fitting::seeded(0))?;
        Ok((self.values(&learned.kernel), learned.kernel.norm_squared(1)))
    }

    pub(super) fn draw(m: usize, density: Noise, streams: &Streams) -> Draw {
        let mut rng = streams.rng("points");
        let rows = (0..m).map(|_| rng.gen_range(0..POPULATION)).collect();
        let mut rng = streams.rng("noise");
        let mut noise = Array2::zeros((m, m));
        for i in 0..m {
            for j in i..m {
                noise[[i, j]] = match density {
                    Noise::Uniform => rng.gen_range(-WIDTH..=WIDTH),
                    Noise::Triangular => {
                        WIDTH * (rng.gen_range(0.0_f64..1.0) - rng.gen_range(0.0_f64..1.0))
                    }
                };
                noise[[j, i]] = noise[[i, j]];
            }
        }
        Draw { rows, noise }
    }

    /// The points of a draw with the targets of their pairs.
    fn sample(&self, draw: &Draw, noisy: bool) -> (Array2<f64>, Array2<f64>) {
        let points = self.points.select(Axis(0), &draw.rows);
        let truth = self.truth.select(Axis(0), &draw.rows).select(Axis(1), &draw.rows);
        (points, if noisy { truth + &draw.noise } else { truth })
    }

    /// Hyper-KRR on consecutive parts of a draw: its values on the population, a part each.
    pub(super) fn by_parts(
        &self,
        draw: &Draw,
        parts: usize,
        way: Way,
        streams: &Streams,
    ) -> Result<Vec<Array2<f64>>, LearningError> {
        let m = draw.rows.len();
        (0..parts)
            .map(|part| {
                let range = m * part / parts..m * (part + 1) / parts;
                let noise = draw.noise.slice(ndarray::s![range.clone(), range.clone()]).to_owned();
                let own = Draw { rows: draw.rows[range].to_vec(), noise };
                let (points, target) = self.sample(&own, way.noisy);
                let solver = if way.landmarks.is_some() {
                    PairSolver::Nystrom
                } else {
                    PairSolver::Cholesky
                };
                let Way { lambda, landmarks, .. } = way;
                let ridge = PairRidge { lambda, solver, landmarks, ..PairRidge::default() };
                // The same landmarks with noise and without.
                let fitting = Fitting {
                    streams: streams.child(&format!("part {part}")),
                    ..Fitting::seeded(0)
                };
                let target = PairTarget::matrix(target.view())?;
                let learned = ridge.learn(&self.hyper, points.view(), &target, &fitting)?;
                Ok(self.values(&learned.kernel))
            })
            .collect()
    }

    /// Hyper-SVR on a noisy draw.
    pub(super) fn tube(
        &self,
        draw: &Draw,
        lambda: f64,
        epsilon: f64,
    ) -> Result<Tube, LearningError> {
        let (points, target) = self.sample(draw, true);
        let svr = PairSvr { ridge: Some(lambda), epsilon, tolerance: 1e-4, ..PairSvr::default() };
        let wanted = PairTarget::matrix(target.view())?;
        let Learned { kernel, .. } =
            svr.learn(&self.hyper, points.view(), &wanted, &Fitting::seeded(0))?;
        let at_sample = kernel.gram(points.view(), 1);
        Ok(Tube { values: self.values(&kernel), norm: kernel.norm_squared(1), at_sample, target })
    }

    /// Values at the pairs of a draw of a kernel that is known on the population.
    pub(super) fn at(draw: &Draw, values: &Array2<f64>) -> Array2<f64> {
        values.select(Axis(0), &draw.rows).select(Axis(1), &draw.rows)
    }

    /// `E(k) − E(k_ρ)` of the absolute loss, exactly, for triangular noise on `[−W, W]`: of a gap `δ` it is
    /// `2 ∫₀^δ P(0 ≤ ε ≤ s) ds = δ²/W − δ³/(3W²)`, and `|δ| − W/3` beyond `W`.
    pub(super) fn absolute_excess(&self, values: &Array2<f64>) -> f64 {
        mean((values - &self.truth).iter().map(|gap| {
            let gap = gap.abs();
            if gap <= WIDTH {
                gap * gap / WIDTH * (1.0 - gap / (3.0 * WIDTH))
            } else {
                gap - WIDTH / 3.0
            }
        }))
    }
}

/// A kernel that was learned by a regression with a tube.
pub(super) struct Tube {
    /// On the population.
    pub values: Array2<f64>,
    /// Squared norm, the bias apart.
    pub norm: f64,
    /// At the pairs of the sample, and their targets.
    pub at_sample: Array2<f64>,
    pub target: Array2<f64>,
}

pub(super) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0usize);
    for value in values {
        sum += value;
        count += 1;
    }
    sum / count.max(1) as f64
}

/// `‖a − b‖²` in the mean over pairs of the population.
pub(super) fn distance(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    mean(a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)))
}

/// The mean of functions.
pub(super) fn average(parts: &[Array2<f64>]) -> Array2<f64> {
    let mut sum = Array2::zeros(parts[0].dim());
    for part in parts {
        sum += part;
    }
    sum / parts.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    /// Against a Monte Carlo of the absolute loss.
    #[test]
    fn the_excess_of_the_absolute_loss_is_what_sampling_says() {
        let world = World::new([1e-3]).unwrap();
        for gap in [0.1, -0.4, 0.8] {
            let values = world.truth() + gap;
            let exact = world.absolute_excess(&values);
            let mut rng = Streams::root(1).rng("noise");
            let sampled = mean((0..200_000).map(|_| {
                let noise: f64 =
                    WIDTH * (rng.gen_range(0.0_f64..1.0) - rng.gen_range(0.0_f64..1.0));
                (noise - gap).abs() - noise.abs()
            }));
            assert_abs_diff_eq!(exact, sampled, epsilon = 3e-3);
        }
    }

    #[test]
    fn one_part_without_noise_of_the_whole_population_is_the_limit() {
        let world = World::new([1e-3]).unwrap();
        let draw = Draw {
            rows: (0..POPULATION).collect(),
            noise: Array2::zeros((POPULATION, POPULATION)),
        };
        let way = Way { lambda: 1e-3, landmarks: None, noisy: true };
        let own = world.by_parts(&draw, 1, way, &Streams::root(1)).unwrap();
        let (limit, norm) = world.limit(1e-3);
        assert!(distance(&own[0], limit) < 1e-20);
        // It minimises: no worse than 0.
        let zero = Array2::zeros(limit.dim());
        assert!(distance(limit, world.truth()) + 1e-3 * norm < distance(&zero, world.truth()));
    }
}
