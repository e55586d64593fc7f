use super::distance::{self, Approximated, Distance, LandmarkPairs, SolutionError};
use super::nystrom::draw_landmarks;
use super::quads::{ErrorProbe, Quads};
use super::ridge::facts;
use super::system::{Span, System};
use super::{Learned, PairRidge, PairTarget, numerical, of_kernel, refused};
use mercer_kernels::{GaussianHyper, HyperKernel, Kernel, LearnedKernel, Pairs};
use mercer_learning::{Convergence, Fitting, LearningError};
use mercer_linalg::{PartialCholesky, in_order, multiplied, product};
use ndarray::{Array1, Array2, ArrayView2, Axis, s};

/// Products of landmark factors that one task sums.
const BLOCK: usize = 128;
/// Points that are looked at together.
const ROWS: usize = 2048;
/// Columns that a factor of growing rank begins with.
const FIRST_COLUMNS: usize = 64;

/// Nyström's hyper-KRR over **all** pairs of `m` points in time linear in `m`, for a Gaussian
/// hyper-kernel.
///
/// In the product form of [`GaussianHyper`], `h((i, j), q) = β_ij β_q w_q(i) w_q(j)` with
/// `w_q = u(·, z) u(·, z')` of the landmark pair `q = (z, z')`. Hence the normal matrix over all ordered
/// pairs is
/// ```text
/// G_qr = Σ_ij h((i, j), q) h((i, j), r) = β_q β_r S(q ∪ r),
/// S(z1, z2, z3, z4) = tᵀ B t,      t = u(·, z1) u(·, z2) u(·, z3) u(·, z4),      B_ij = β_ij²
/// ```
/// `B` is a Gaussian kernel of points, the same for all `q` and `r`, and `t` depends only on the
/// **multiset** of the four landmarks: of `P² / 2 ≈ M⁴/8` entries only `C(M + 3, 4) ≈ M⁴/24` are distinct.
/// With a partial Cholesky factor `B ≈ C Cᵀ` (`m × L`), `S ≈ |Cᵀ t|²`: `O(m L M⁴/24)` multiply-adds of
/// matrix products, `O(m L)` numbers, never `m²`; the paper's way is `O(m² M⁴)`.
///
/// **Error.** The residual `E = B − C Cᵀ` is positive semidefinite with known diagonal, and
/// `0 < t ≤ 1`. So `S` is never overestimated, and
/// ```text
/// 0 ≤ S − |Cᵀ t|² = tᵀ E t ≤ min( tr(E) Σ t_i²,  max_i E_ii (Σ t_i)² )
/// ```
/// The first is `tᵀ E t ≤ λ_max(E) |t|² ≤ tr(E) |t|²`; the second is `|E_ij| ≤ √(E_ii E_jj)`. For a coefficient vector
/// `b` the error of the form is `bᵀ (G − Ĝ) b = Σ_ij E_ij f_ij²` with
/// `f_ij = Σ_q b_q β_q w_q(i) w_q(j) = k_b(i, j)/β_ij`. A function that is small on all pairs tends to have a small error
/// too; that is no bound, for `β_ij` may be tiny where pairs are far apart: in one check (200 uniform points with 5
/// inputs, width 0.3, 8 landmarks, 60 columns) the normal matrix was 2 % off by Frobenius, and 8 % of itself along its
/// worst function. What counts is the error of the solution, below. The bound on `‖G − Ĝ‖_F / ‖Ĝ‖_F` that follows
/// entry by entry is among the facts (`normal-error-bound`); the true error is far smaller, since `E`
/// is largest along vectors that alternate and `t` is smooth. It is estimated from `E` among some
/// rows (`normal-error`); with a `normal_tolerance` the columns grow by half until the estimate is
/// below it, or there are `rank` of them, or the factor fills `factor_bytes`; with neither tolerance they
/// grow until `tr(E)/m` is at most `rank_tolerance`, or as far. If the goal was not met, whichever it was, the
/// fit counts as not converged ([`Convergence::FewColumns`]), and what is left is its residual; but a trace above
/// `rank_tolerance` is forgiven where the error of the solution, below, is not above it.
///
/// **Right-hand side.** For `Y = Σ_t c_t z_t z_tᵀ` (the ideal kernel is such a sum),
/// `Σ_ij Y_ij h((i, j), q) = β_q Σ_t c_t (z_t o w_q)ᵀ β (z_t o w_q)`, with a partial Cholesky factor of `β`;
/// any other `Y` costs `2 m² P` flops.
///
/// **Error of the solution.** What both approximations together do to the learned kernel `k̂` is among the
/// facts of every fit. With `A = T + t I`, `t = λ m²`, the exact normal equations in coordinates of unit
/// functions, `Â` the approximated ones, and `ρ` the residual that the solution leaves in the exact ones,
/// ```text
/// ‖k − k̂‖²_A = Σ_ij (k − k̂)(x_i, x_j)² + λ m² ‖k − k̂‖² = ρᵀ A⁻¹ ρ ≤ min( ρᵀ Â⁻¹ ρ/(1 − η), ‖ρ‖²/t ),
/// η = λ_max(Â^(−½) (T̂ − T) Â^(−½))
/// ```
/// for `A (z − ẑ) = ρ` and `A ⪰ (1 − η) Â`, and `A ⪰ t I` as `T` is a Gram matrix. `solution-error` is
/// `‖k − k̂‖_A` over the norm of `k̂` in `Â`; `solution-rms-error` is `‖k − k̂‖_A/m`, a bound on the root mean square
/// over all training pairs of how much the two kernels differ, and divided by `√λ` a bound on the
/// difference at any pair of points. `ρ` and `T̂ − T` are sums over pairs of the residuals of the two
/// factors. Up to 400 points both are summed in full, and the numbers are bounds, up to rounding. Beyond, `T̂ − T`
/// is the sum over the pairs of some 400 rows (fewer where the rank is above 150), and beyond 600 points `ρ` that of
/// 600: unbiased sums, from which the two numbers are estimated, with twice the deviation of `‖k − k̂‖_A` over draws
/// of the rows of `ρ` on top. No bound then, and nothing is proved of the side on which they err: the lesser of
/// two, over `1 − η`, is not convex. With a `solution_tolerance` the
/// columns grow by half until `solution-error` is below it for every ridge; a `normal_tolerance` beside it only
/// says from which columns on, since its estimate is cheaper and the solution is what is asked for: with a
/// small ridge it is several times as far from the exact one as the normal matrix is. A solution that does
/// not come near enough counts as not converged, and its `solution-error` is the residual.
///
/// The learned kernel is a [`LearnedKernel`] of `P` pairs of landmarks.
///
/// ```
/// use mercer_kernels::{GaussianHyper, HyperKernel};
/// use mercer_learning::Fitting;
/// use mercer_models::hyper_rkhs::{PairRidge, PairSolver, PairTarget};
/// use ndarray::Array2;
/// let points = Array2::from_shape_fn((12, 1), |(i, _)| 0.2 * i as f64);
/// let labels: Vec<u32> = (0..12).map(|i| i / 6).collect();
/// let hyper = HyperKernel::Gaussian(GaussianHyper::printed(0.5, 0.25)?);
/// let target = PairTarget::classes(&labels, 1.0, -1.0)?;
/// let learn = |solver| {
///     let ridge = PairRidge { solver, landmarks: Some(3), lambda: 0.1, ..PairRidge::default() };
///     ridge.learn(&hyper, points.view(), &target, &Fitting::seeded(1))
/// };
/// let (linear, all) = (learn(PairSolver::LinearTime)?, learn(PairSolver::Nystrom)?);
/// let gap = linear.kernel.gram(points.view(), 1) - all.kernel.gram(points.view(), 1);
/// assert!(gap.iter().all(|gap| gap.abs() < 1e-3)); // the same landmarks, the same kernel
/// assert!(linear.facts["solution-error"] < 1e-3); // and it says so itself
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinearTime {
    /// Landmarks `M`.
    pub landmarks: Option<usize>,
    /// Eigenvalues of the landmark pairs' Gram matrix at or below this times the largest count as 0.
    pub cutoff: f64,
    /// Goal for `tr(E)/m`, without a `normal_tolerance`.
    pub rank_tolerance: f64,
    /// Goal for the estimated relative error of the normal matrix; with a `solution_tolerance`, where
    /// the columns begin.
    pub normal_tolerance: Option<f64>,
    /// Goal for the estimated relative error of the solution.
    pub solution_tolerance: Option<f64>,
    /// Most columns `L`.
    pub rank: usize,
    /// Most bytes of a factor while it is made, twice its size.
    pub factor_bytes: u64,
}

/// What the approximations left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LinearTimeReport {
    /// Columns `L` of the factor of `B`.
    pub rank: usize,
    /// `tr(E)/m` of it.
    pub residual: f64,
    /// Columns of the factor of `β`; 0 for a target without structure.
    pub target_rank: usize,
    /// `tr/m` of its residual.
    pub target_residual: f64,
    /// Bound on `‖G − Ĝ‖_F / ‖Ĝ‖_F`.
    pub error_bound: f64,
    /// Estimate of it, where there is a tolerance for it.
    pub error: Option<f64>,
}

/// The normal equations, what was left out of them, and how far each of their solutions is from the exact
/// one, one a ridge.
struct Solved {
    system: System,
    report: LinearTimeReport,
    errors: Vec<SolutionError>,
}

impl LinearTime {
    pub(super) const fn of(ridge: &PairRidge) -> Self {
        Self {
            landmarks: ridge.landmarks,
            cutoff: ridge.cutoff,
            rank_tolerance: ridge.rank_tolerance,
            normal_tolerance: ridge.normal_tolerance,
            solution_tolerance: ridge.solution_tolerance,
            rank: ridge.rank,
            factor_bytes: ridge.factor_bytes,
        }
    }

    /// Columns that a factor of `m` rows may have.
    fn most_columns(&self, m: usize) -> usize {
        let fitting = self.factor_bytes / (16 * m.max(1) as u64);
        self.rank.min(m).min(usize::try_from(fitting).unwrap_or(usize::MAX)).max(1)
    }

    pub(super) fn learn_path(
        &self,
        kernel: &HyperKernel,
        inputs: ArrayView2<'_, f64>,
        target: &PairTarget<'_>,
        lambdas: &[f64],
        fitting: &Fitting<'_>,
    ) -> Result<Vec<Learned>, LearningError> {
        let HyperKernel::Gaussian(gaussian) = kernel else {
            let must = "another one with a Wishart hyper-kernel, which is no product over points";
            return Err(refused("solver", "linear-time", must));
        };
        let m = inputs.nrows();
        let ridge = PairRidge { landmarks: self.landmarks, ..PairRidge::default() };
        let count = ridge.landmarks_of(m)?;
        let rank = self.most_columns(m) as u64;
        let (rows, width) = (m as u64, Pairs::count(count) as u64);
        let looked = distance::held(m, Pairs::count(count), fitting.threads) as u64;
        let numbers = rows * (2 * rank + count as u64 + 8) + 4 * width * width + looked;
        fitting.limits.reserve(8 * numbers)?;
        // The landmarks that plain Nyström draws.
        let chosen = draw_landmarks(&fitting.streams.child("subset 0"), m, count);
        let landmarks = inputs.select(Axis(0), &chosen);
        let all = Pairs::all(count);
        let factors = gaussian.point_factors(landmarks.view(), inputs);
        let beta: Array1<f64> = {
            let kernel = gaussian.pair_kernel().gram(landmarks.view());
            all.as_slice().iter().map(|&(i, j)| kernel[[i, j]]).collect()
        };
        let span = Span::new(kernel.gram(landmarks.view(), &all, 1).view(), self.cutoff)?;
        let pairs = LandmarkPairs { factors: &factors, all: &all, beta: &beta };
        let mut columns = FIRST_COLUMNS.min(self.most_columns(m));
        let found = loop {
            let found =
                self.solve(gaussian, inputs, target, pairs, &span, lambdas, columns, fitting)?;
            let worst = found.errors.iter().map(|error| error.relative).fold(0.0, f64::max);
            let enough = self.solution_tolerance.is_none_or(|tolerance| worst <= tolerance);
            let rank = found.report.rank;
            // Fewer columns than were asked for: nothing is left but rounding.
            if enough || rank == self.most_columns(m) || rank < columns {
                break found;
            }
            columns = (rank + rank / 2).min(self.most_columns(m));
        };
        let report = found.report;
        let asked_of_errors = self.solution_tolerance.is_some() || self.normal_tolerance.is_some();
        // The goal that was asked for, and what is left of it.
        let asked = |error: &SolutionError| match (self.solution_tolerance, self.normal_tolerance) {
            (Some(goal), _) => (goal, error.relative),
            (None, Some(goal)) => (goal, report.error.unwrap_or(f64::NAN)),
            (None, None) => (self.rank_tolerance, report.residual.max(report.target_residual)),
        };
        lambdas
            .iter()
            .zip(&found.errors)
            .map(|(lambda, error)| {
                let coefficients = found.system.solve(lambda * (m * m) as f64);
                let convergence = match asked(error) {
                    (goal, residual) if residual <= goal => Convergence::Exact,
                    // A trace that is not small is no fault of a kernel that is near.
                    (goal, _) if !asked_of_errors && error.relative <= goal => Convergence::Exact,
                    (goal, residual) => {
                        Convergence::FewColumns { columns: report.rank, residual, goal }
                    }
                };
                let mut facts = facts([
                    ("pairs", (m * m) as f64),
                    ("landmark-pairs", all.len() as f64),
                    ("rank", span.rank() as f64),
                    ("pair-kernel-rank", report.rank as f64),
                    ("pair-kernel-residual", report.residual),
                    ("target-rank", report.target_rank as f64),
                    ("target-residual", report.target_residual),
                    ("normal-error-bound", report.error_bound),
                    ("solution-error", error.relative),
                    ("solution-rms-error", error.rms),
                ]);
                facts.extend(report.error.map(|error| ("normal-error".to_owned(), error)));
                let learned =
                    LearnedKernel::new(kernel.clone(), landmarks.view(), &all, &coefficients);
                Ok(Learned { kernel: learned.map_err(of_kernel)?, convergence, facts })
            })
            .collect()
    }

    /// The normal equations with factors of at least so many columns, where there is a tolerance.
    #[expect(clippy::too_many_arguments, reason = "one system of equations is all of these")]
    fn solve(
        &self,
        gaussian: &GaussianHyper,
        inputs: ArrayView2<'_, f64>,
        target: &PairTarget<'_>,
        pairs: LandmarkPairs<'_>,
        span: &Span,
        lambdas: &[f64],
        columns: usize,
        fitting: &Fitting<'_>,
    ) -> Result<Solved, LearningError> {
        let m = inputs.nrows();
        let LandmarkPairs { factors, all, beta } = pairs;
        let rows = distance::rows(m, fitting);
        let (normal, squared, mut report) =
            self.normal(gaussian, inputs, pairs, &rows, columns, fitting)?;
        fitting.limits.check()?;
        let grows = self.normal_tolerance.is_some() || self.solution_tolerance.is_some();
        let mut target_factor = None;
        let right = if let Some(terms) = target.separable() {
            // β is smoother than its square: what is enough columns for that is for this.
            let most = if grows { report.rank } else { self.most_columns(m) };
            let tolerance =
                if self.solution_tolerance.is_some() { 0.0 } else { self.rank_tolerance };
            let factor = factor(&gaussian.pair_kernel(), inputs, tolerance, most, fitting)?;
            report.target_rank = factor.pivots.len();
            report.target_residual = factor.residual / m as f64;
            let forms = |(weight, values): &(f64, Array1<f64>)| {
                let vectors = |q: usize, rows: std::ops::Range<usize>, to: &mut [f64]| {
                    let (i, j) = all.as_slice()[q];
                    let (u, z) =
                        (factors.slice(s![i, rows.clone()]), factors.slice(s![j, rows.clone()]));
                    let values = values.slice(s![rows]);
                    for (to, ((u, z), v)) in to.iter_mut().zip(u.iter().zip(z).zip(values)) {
                        *to = u * z * v;
                    }
                };
                *weight * squares(&factor.factor, all.len(), vectors, fitting.threads)
            };
            let total = terms.iter().map(forms).reduce(|a, b| a + b);
            let total = total.unwrap_or_else(|| Array1::zeros(all.len()));
            target_factor = Some(factor.factor.select(Axis(0), &rows));
            total
        } else {
            dense_right(gaussian, inputs, target, factors, all, fitting)?
        };
        let right = right * beta;
        let coordinates =
            multiplied(span.basis.t(), multiplied(normal.view(), span.basis.view()).view());
        let system = System::new(span, coordinates.view(), &span.basis.t().dot(&right))?;
        let approximated = Approximated {
            rows: &rows,
            normal: &squared,
            right: target_factor.as_ref(),
            system: &system,
        };
        let distance = Distance::new(gaussian, inputs, target, pairs, &approximated, fitting);
        let errors = lambdas
            .iter()
            .map(|lambda| distance.of(&system, lambda * (m * m) as f64))
            .collect::<Result<_, _>>()?;
        Ok(Solved { system, report, errors })
    }

    /// A factor of `B`, with as many columns as the tolerance asks for; and the estimated error of
    /// the normal matrix with it, if that is what was asked.
    fn factor_of_squares(
        &self,
        squared: &Kernel,
        inputs: ArrayView2<'_, f64>,
        probe: impl FnOnce() -> ErrorProbe,
        columns: usize,
        fitting: &Fitting<'_>,
    ) -> Result<(PartialCholesky, Option<f64>), LearningError> {
        let most = self.most_columns(inputs.nrows());
        let Some(tolerance) = self.normal_tolerance else {
            let found = if self.solution_tolerance.is_some() {
                factor(squared, inputs, 0.0, columns, fitting)?
            } else {
                factor(squared, inputs, self.rank_tolerance, most, fitting)?
            };
            return Ok((found, None));
        };
        let probe = probe();
        let mut columns = columns.min(most);
        loop {
            let found = factor(squared, inputs, 0.0, columns, fitting)?;
            fitting.limits.check()?;
            let error = probe.error(&found.factor);
            // Fewer columns than were asked for: nothing is left but rounding.
            if error <= tolerance || columns == most || found.pivots.len() < columns {
                return Ok((found, Some(error)));
            }
            drop(found);
            columns = (columns + columns / 2).min(most);
        }
    }

    /// `Ĝ`, `P × P`, and some rows of `C`, of at least so many columns where there is a tolerance.
    fn normal(
        &self,
        gaussian: &GaussianHyper,
        inputs: ArrayView2<'_, f64>,
        LandmarkPairs { factors, all, beta }: LandmarkPairs<'_>,
        rows: &[usize],
        columns: usize,
        fitting: &Fitting<'_>,
    ) -> Result<(Array2<f64>, Array2<f64>, LinearTimeReport), LearningError> {
        // β² is β at twice the rate.
        let squared = Kernel::Gaussian { std: (4.0 * gaussian.pair_rate()).sqrt() };
        let quads = Quads::new(factors.nrows());
        let probe = || ErrorProbe::new(&squared, inputs, factors, &quads, (all, beta), fitting);
        let (found, estimate) =
            self.factor_of_squares(&squared, inputs, probe, columns, fitting)?;
        fitting.limits.check()?;
        let vectors = |index: usize, rows: std::ops::Range<usize>, to: &mut [f64]| {
            let [a, b, c, d] = quads.sets[index].map(|z| factors.slice(s![z, rows.clone()]));
            for (to, (((a, b), c), d)) in to.iter_mut().zip(a.iter().zip(b).zip(c).zip(d)) {
                *to = (a * b) * (c * d);
            }
        };
        let forms = squares(&found.factor, quads.sets.len(), vectors, fitting.threads);
        let sums: Vec<(f64, f64)> = in_order(fitting.threads, quads.sets.len(), |index| {
            let mut buffer = vec![0.0; factors.ncols().min(ROWS)];
            let (mut one, mut two) = (0.0, 0.0);
            for start in (0..factors.ncols()).step_by(ROWS) {
                let rows = start..(start + ROWS).min(factors.ncols());
                let part = &mut buffer[..rows.len()];
                vectors(index, rows, part);
                one += part.iter().sum::<f64>();
                two += part.iter().map(|t| t * t).sum::<f64>();
            }
            (one, two)
        });
        let bounds: Array1<f64> = sums
            .iter()
            .map(|(one, two)| (found.residual * two).min(found.largest * one * one))
            .collect();
        let size = all.len();
        let mut normal = Array2::zeros((size, size));
        let (mut error, mut norm) = (0.0, 0.0);
        for (q, &(i, j)) in all.as_slice().iter().enumerate() {
            for (r, &(k, l)) in all.as_slice().iter().enumerate() {
                let index = quads.index(i, j, k, l);
                let scale = beta[q] * beta[r];
                normal[[q, r]] = scale * forms[index];
                error += (scale * bounds[index]).powi(2);
                norm += normal[[q, r]].powi(2);
            }
        }
        let report = LinearTimeReport {
            rank: found.pivots.len(),
            residual: found.residual / inputs.nrows() as f64,
            target_rank: 0,
            target_residual: 0.0,
            error_bound: if norm > 0.0 { (error / norm).sqrt() } else { 0.0 },
            error: estimate,
        };
        Ok((normal, found.factor.select(Axis(0), rows), report))
    }
}

/// A partial Cholesky factor of a Gaussian kernel of the points.
fn factor(
    kernel: &Kernel,
    inputs: ArrayView2<'_, f64>,
    tolerance: f64,
    most: usize,
    fitting: &Fitting<'_>,
) -> Result<PartialCholesky, LearningError> {
    let columns = |pivots: &[usize],
                   rows: std::ops::Range<usize>,
                   mut to: ndarray::ArrayViewMut2<'_, f64>| {
        let sections = kernel.sections(inputs.select(Axis(0), pivots).view());
        to.assign(&sections.at(inputs.slice(s![rows, ..])));
    };
    let diagonal = Array1::ones(inputs.nrows());
    PartialCholesky::new(&diagonal, columns, tolerance, most, fitting.threads)
        .map_err(numerical("factoring the pair kernel"))
}

/// `|Cᵀ t_q|²` of `count` vectors `t_q` of `m` entries, written some at a time by `vectors`.
fn squares(
    factor: &Array2<f64>,
    count: usize,
    vectors: impl Fn(usize, std::ops::Range<usize>, &mut [f64]) + Sync,
    threads: usize,
) -> Array1<f64> {
    let (m, rank) = factor.dim();
    let parts = in_order(threads, count.div_ceil(BLOCK), |block| {
        let range = block * BLOCK..((block + 1) * BLOCK).min(count);
        let mut images = Array2::zeros((range.len(), rank));
        let mut buffer = vec![0.0; range.len() * ROWS.min(m)];
        for start in (0..m).step_by(ROWS) {
            let rows = start..(start + ROWS).min(m);
            let wide = rows.len();
            let buffer = &mut buffer[..range.len() * wide];
            for (q, to) in range.clone().zip(buffer.chunks_exact_mut(wide)) {
                vectors(q, rows.clone(), to);
            }
            let tile = ArrayView2::from_shape((range.len(), wide), buffer)
                .expect("the buffer has the length of the tile");
            product(1.0, tile, factor.slice(s![rows, ..]), 1.0, images.view_mut());
        }
        images.rows().into_iter().map(|image| image.dot(&image)).collect::<Vec<f64>>()
    });
    parts.into_iter().flatten().collect()
}

/// `Σ_ij Y_ij β_ij w_q(i) w_q(j)` of any symmetric target: `2 m² P` flops, a band of rows at a time.
fn dense_right(
    gaussian: &GaussianHyper,
    inputs: ArrayView2<'_, f64>,
    target: &PairTarget<'_>,
    factors: &Array2<f64>,
    all: &Pairs,
    fitting: &Fitting<'_>,
) -> Result<Array1<f64>, LearningError> {
    const BAND: usize = 256;
    let m = inputs.nrows();
    let sections = gaussian.pair_kernel().sections(inputs);
    let mut products = Array2::zeros((all.len(), m));
    for (&(i, j), mut row) in all.as_slice().iter().zip(products.rows_mut()) {
        row.assign(&(&factors.row(i) * &factors.row(j)));
    }
    let parts = in_order(fitting.threads, m.div_ceil(BAND), |band| {
        fitting.limits.check()?;
        let rows = band * BAND..((band + 1) * BAND).min(m);
        let mut values = sections.at(inputs.slice(s![rows.clone(), ..]));
        for ((i, j), value) in values.indexed_iter_mut() {
            *value *= target.of(rows.start + i, j);
        }
        let images = multiplied(products.view(), values.t());
        let own = products.slice(s![.., rows]);
        Ok::<_, LearningError>((&images * &own).sum_axis(Axis(1)))
    });
    let mut total = Array1::zeros(all.len());
    for part in parts {
        total += &part?;
    }
    Ok(total)
}
