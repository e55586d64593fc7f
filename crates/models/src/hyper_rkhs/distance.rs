//! The distance between the solutions of approximated and of exact normal equations.

use super::system::System;
use super::{PairTarget, numerical};
use mercer_kernels::{GaussianHyper, Kernel, Pairs};
use mercer_learning::{Fitting, LearningError};
use mercer_linalg::{in_order, multiplied, product, symmetric_eigen};
use ndarray::{Array1, Array2, ArrayView2, Axis, s};
use rand::seq::index;

/// Rows that the residual is summed over.
const SAMPLE: usize = 600;
/// Rows that the excess is summed over: all up to so many, and of more as many at most, and at most the
/// other divided by the rank.
const FEW: usize = 400;
const FEW_BY_RANK: usize = 60_000;
/// Pairs whose unit functions are formed at once, and parts whose sums are added in order.
const CHUNK: usize = 1024;
const LANES: usize = 8;

/// What the factors of the pair kernel left out of the normal equations over all pairs, and with it a
/// bound on the distance of a solution from the exact one.
///
/// Let `A = T + t I`, `t = λ m²`, be the exact normal equations in coordinates of unit functions,
/// `Â = T̂ + t I` the approximated ones, and `Â ẑ = ĉ`. The distance of the solutions in the norm of the
/// regression is
/// ```text
/// ‖z − ẑ‖²_A = Σ_ij (k − k̂)(x_i, x_j)² + λ m² ‖k − k̂‖²,
/// ```
/// since `aᵀ T a = Σ_ij k_a(x_i, x_j)²` and `aᵀ a = ‖k_a‖²`. The residual that `ẑ` leaves in the exact equations,
/// `ρ = c − A ẑ = (c − ĉ) + (T̂ − T) ẑ`, is `A (z − ẑ)`; so `‖z − ẑ‖²_A = ρᵀ A⁻¹ ρ`, and
/// ```text
/// ρᵀ A⁻¹ ρ ≤ min( ρᵀ Â⁻¹ ρ / (1 − η),  ‖ρ‖²/t ),      η = λ_max(Â^(−½) (T̂ − T) Â^(−½)).
/// ```
/// The first holds if `η < 1`, as `A = Â − (T̂ − T) ⪰ (1 − η) Â`; the second always, as `T` is a Gram matrix and
/// `A ⪰ t I`. (Neither sign of `T̂ − T` is sure: `aᵀ (T − T̂) a = Σ_ij E_ij f_ij²` with `E ⪰ 0`, but `f o f` need
/// not be positive semidefinite.) Two numbers follow: the learned kernels differ by `‖z − ẑ‖_A / m` in root
/// mean square over all training pairs, and by at most `‖z − ẑ‖_A / (√λ m)` on any pair of points
/// whatever, as `|k(x, x')| ≤ ‖k‖ h^½ ≤ ‖k‖`.
///
/// With `φ_ij` the unit functions at a pair, `E = B − C Cᵀ` and `E' = β − C' C'ᵀ`,
/// ```text
/// T̂ − T = −Σ_ij E_ij (φ_ij/β_ij) (φ_ij/β_ij)ᵀ,      ρ = Σ_ij (E'_ij Y_ij/β_ij − E_ij k̂_ij/β_ij²) φ_ij
/// ```
/// (`φ_ij/β_ij` is a product of point factors: nothing is divided). Both are summed over the pairs of `n` rows drawn
/// without replacement. The pairs of a row with itself count times `m/n`, the others times `m (m − 1)/(n (n − 1))`. Up
/// to 400 points `n = m` in both, these are the sums, and what follows is a bound up to rounding. Beyond, the pairs of
/// fewer rows have the sums as expectations only: `η` is estimated from 400 rows ([`FEW`], fewer at a large rank), `ρ`
/// from 600 ([`SAMPLE`]). The distance is no convex function of them (a lesser of two, over `1 − η`), so that no side
/// is known on which it errs. Beyond 600 points twice its standard deviation over draws of the rows of `ρ`, with `η` as
/// it is, is added. A jackknife gives this deviation: it leaves out one of ten groups of rows, and the result is
/// multiplied by `(1 − n/m)^½`.
pub(super) struct Distance {
    /// `E` among the rows (`n × n`), and `E' o Y`.
    of_normal: Array2<f64>,
    of_right: Option<Array2<f64>>,
    /// Products of the point factors of each landmark pair at the rows (`P × n`), and `β` of the pairs.
    products: Array2<f64>,
    beta: Array1<f64>,
    /// `T̂ − T` in the coordinates in which `T̂` is diagonal (`r × r`).
    excess: Array2<f64>,
    points: usize,
}

/// At most so far, or about: see [`Distance`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SolutionError {
    /// `‖z − ẑ‖_A / ‖ẑ‖_Â`.
    pub relative: f64,
    /// `‖z − ẑ‖_A / m`, in units of the target.
    pub rms: f64,
}

/// What a solution was found with.
pub(super) struct Approximated<'a> {
    /// The rows that are looked at: see [`rows`].
    pub rows: &'a [usize],
    /// `C` at these (`n × L`).
    pub normal: &'a Array2<f64>,
    /// `C'` at these; none where the right-hand side is exact.
    pub right: Option<&'a Array2<f64>>,
    pub system: &'a System,
}

/// The landmark pairs: `u` of every landmark and row (`M × m`), the pairs, and `β` of each.
#[derive(Clone, Copy)]
pub(super) struct LandmarkPairs<'a> {
    pub factors: &'a Array2<f64>,
    pub all: &'a Pairs,
    pub beta: &'a Array1<f64>,
}

/// Rows whose pairs are looked at, in random order, of `m`.
pub(super) fn rows(m: usize, fitting: &Fitting<'_>) -> Vec<usize> {
    let mut rng = fitting.streams.rng("rows of the distance");
    index::sample(&mut rng, m, m.min(SAMPLE)).into_vec()
}

/// Numbers that a [`Distance`] of so many points and landmark pairs holds.
pub(super) fn held(m: usize, pairs: usize, threads: usize) -> usize {
    let n = m.min(SAMPLE);
    3 * n * n + pairs * (2 * n + 3 * CHUNK * threads.clamp(1, LANES) + (LANES + 2) * pairs)
}

impl Distance {
    pub(super) fn new(
        gaussian: &GaussianHyper,
        inputs: ArrayView2<'_, f64>,
        target: &PairTarget<'_>,
        landmarks: LandmarkPairs<'_>,
        approximated: &Approximated<'_>,
        fitting: &Fitting<'_>,
    ) -> Self {
        let (m, rows) = (inputs.nrows(), approximated.rows);
        let n = rows.len();
        let points = inputs.select(Axis(0), rows);
        let residual = |kernel: &Kernel, own: &Array2<f64>| {
            let mut left = kernel.gram(points.view());
            product(-1.0, own.view(), own.t(), 1.0, left.view_mut());
            left
        };
        let squared = Kernel::Gaussian { std: (4.0 * gaussian.pair_rate()).sqrt() };
        let of_normal = residual(&squared, approximated.normal);
        let of_right = approximated.right.map(|factor| {
            let mut left = residual(&gaussian.pair_kernel(), factor);
            for ((i, j), value) in left.indexed_iter_mut() {
                *value *= target.of(rows[i], rows[j]);
            }
            left
        });
        let few = landmarks.factors.select(Axis(1), rows);
        let mut products = Array2::zeros((landmarks.all.len(), n));
        for (&(a, b), mut row) in landmarks.all.as_slice().iter().zip(products.rows_mut()) {
            row.assign(&(&few.row(a) * &few.row(b)));
        }
        let axes = approximated.system.axes() * &landmarks.beta.view().insert_axis(Axis(1));
        // Of few points all, whatever the rank: only then is it a bound.
        let by_rank = (FEW_BY_RANK / axes.ncols().max(1)).max(2);
        let fewer = if m <= FEW { n } else { n.min(FEW).min(by_rank) };
        let mut excess = excess(&of_normal, &products, &axes, (m, fewer), fitting.threads);
        // Eigenvalues below 0 were lifted to 0.
        excess.diag_mut().scaled_add(1.0, approximated.system.lifted());
        let beta = landmarks.beta.clone();
        Self { of_normal, of_right, products, beta, excess, points: m }
    }

    /// Of the solution with the ridge `t = λ m²`.
    pub(super) fn of(&self, system: &System, ridge: f64) -> Result<SolutionError, LearningError> {
        let solution = system.coordinates(ridge);
        let axes = system.axes();
        let coefficients = axes.dot(&solution) * &self.beta;
        // k̂/β at the pairs of the rows.
        let weighted = &self.products * &coefficients.insert_axis(Axis(1));
        let mut left = multiplied(weighted.t(), self.products.view());
        left *= &self.of_normal;
        left.mapv_inplace(|value| -value);
        if let Some(right) = &self.of_right {
            left += right;
        }
        let diagonal = system.diagonal(ridge);
        let roots = diagonal.mapv(|value| value.sqrt().recip());
        let whitened = &self.excess * &roots.view().insert_axis(Axis(0));
        let whitened = whitened * &roots.insert_axis(Axis(1));
        let eigen = symmetric_eigen(whitened.view())
            .map_err(numerical("the error of the solution over all pairs"))?;
        let eta = eigen.values.last().copied().unwrap_or(0.0).max(0.0);
        let lifted = &solution * system.lifted();
        let distance = |sums: Array1<f64>| -> f64 {
            let residual = axes.t().dot(&(sums * &self.beta)) + &lifted;
            let plain = residual.dot(&residual) / ridge;
            let near = (&residual * &residual / &diagonal).sum() / (1.0 - eta);
            if eta < 1.0 { near.min(plain) } else { plain }.sqrt()
        };
        let sums = Sums::of(&left, &self.products);
        let drawn = self.products.ncols() as f64 / self.points as f64;
        let whole = distance(sums.without(None, self.points));
        let distance = if drawn < 1.0 {
            let few: Vec<f64> =
                (0..GROUPS).map(|group| distance(sums.without(Some(group), self.points))).collect();
            let mean = few.iter().sum::<f64>() / GROUPS as f64;
            let squares = few.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
            let variance = (GROUPS - 1) as f64 / GROUPS as f64 * squares * (1.0 - drawn);
            whole + 2.0 * variance.sqrt()
        } else {
            whole
        };
        let size = (&solution * &solution * &diagonal).sum().sqrt();
        Ok(SolutionError {
            relative: if size > 0.0 { distance / size } else { 0.0 },
            rms: distance / self.points as f64,
        })
    }
}

/// Weights of a row with itself and of two rows, `n` of `m`.
fn weights(m: usize, n: usize) -> (f64, f64) {
    let (whole, drawn) = (m as f64, n as f64);
    let others = if n < 2 { 0.0 } else { whole * (whole - 1.0) / (drawn * (drawn - 1.0)) };
    (whole / drawn, others)
}

/// Groups of rows that the jackknife leaves out one by one.
const GROUPS: usize = 10;

/// `Σ_ij A_ij w(i) w(j)` over the rows of each group with the rows of each, without the pairs of a row with itself, and
/// over these.
struct Sums {
    /// `GROUPS × GROUPS` vectors of `P`.
    others: Vec<Array1<f64>>,
    /// One a group.
    own: Vec<Array1<f64>>,
    /// Rows of each group.
    rows: Vec<usize>,
}

impl Sums {
    /// `entries` is `A` (`n × n`), `products` are `w` (`P × n`). Rows are in random order: a group is a
    /// run of them.
    fn of(entries: &Array2<f64>, products: &Array2<f64>) -> Self {
        let n = entries.nrows();
        let range = |group: usize| n * group / GROUPS..n * (group + 1) / GROUPS;
        let diagonal = entries.diag();
        let (mut others, mut own) = (Vec::new(), Vec::new());
        for group in 0..GROUPS {
            let left = products.slice(s![.., range(group)]);
            let images = multiplied(left, entries.slice(s![range(group), ..]));
            let squares = &left * &left * diagonal.slice(s![range(group)]);
            let of_own = squares.sum_axis(Axis(1));
            for other in 0..GROUPS {
                let right = products.slice(s![.., range(other)]);
                let mut sum = (&images.slice(s![.., range(other)]) * &right).sum_axis(Axis(1));
                if other == group {
                    sum -= &of_own;
                }
                others.push(sum);
            }
            own.push(of_own);
        }
        Self { others, own, rows: (0..GROUPS).map(|group| range(group).len()).collect() }
    }

    /// What the sums of all groups but one stand for among `m` rows.
    fn without(&self, left_out: Option<usize>, m: usize) -> Array1<f64> {
        let groups: Vec<usize> = (0..GROUPS).filter(|&group| Some(group) != left_out).collect();
        let (own, others) = weights(m, groups.iter().map(|&group| self.rows[group]).sum());
        let mut total = Array1::zeros(self.own[0].len());
        for &group in &groups {
            total.scaled_add(own, &self.own[group]);
            for &other in &groups {
                total.scaled_add(others, &self.others[group * GROUPS + other]);
            }
        }
        total
    }
}

/// `−Σ_ij E_ij φ_ij φ_ijᵀ` from the first `n` of the rows; `φ = axesᵀ products`.
fn excess(
    residual: &Array2<f64>,
    products: &Array2<f64>,
    axes: &Array2<f64>,
    (m, n): (usize, usize),
    threads: usize,
) -> Array2<f64> {
    let (own, others) = weights(m, n);
    let rows = products.t().as_standard_layout().into_owned();
    let pairs = Pairs::all(n);
    let chunks: Vec<&[(usize, usize)]> = pairs.as_slice().chunks(CHUNK).collect();
    let lanes = chunks.len().min(LANES);
    let parts = in_order(threads, lanes, |lane| {
        let mut sum = Array2::<f64>::zeros((axes.ncols(), axes.ncols()));
        for chunk in &chunks[chunks.len() * lane / lanes..chunks.len() * (lane + 1) / lanes] {
            let mut at = Array2::zeros((chunk.len(), rows.ncols()));
            for (&(i, j), mut row) in chunk.iter().zip(at.rows_mut()) {
                row.assign(&(&rows.row(i) * &rows.row(j)));
            }
            let unit = multiplied(at.view(), axes.view());
            let mut weighted = unit.clone();
            for (&(i, j), mut row) in chunk.iter().zip(weighted.rows_mut()) {
                // An unordered pair of two rows stands for two.
                let weight = if i == j { own } else { 2.0 * others };
                row *= -weight * residual[[i, j]];
            }
            sum += &multiplied(unit.t(), weighted.view());
        }
        sum
    });
    let total = parts.into_iter().fold(Array2::zeros((axes.ncols(), axes.ncols())), |a, b| a + b);
    // Exactly symmetric.
    (&total + &total.t()) * 0.5
}
