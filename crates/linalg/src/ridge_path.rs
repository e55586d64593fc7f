use crate::filters::Filters;
use crate::{Eigen, LinalgError, multiplied, product, symmetric_eigen, symmetric_product};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis, s};
use std::sync::OnceLock;

/// Where less than this is left of `1 − H_ii`, and of the residual with it, rounding eats their
/// quotient's digits.
const LITTLE: f64 = 1e-6;
/// Columns from which the left singular vectors of leave-one-out's errors pass by in single precision: with
/// fewer, double precision takes no time that is worth a digit.
const MANY: usize = 512;
/// What single precision may put `H_ii` wrong by.
const SLIGHT: f64 = 1e-6;
/// What must be left of `1 − H_ii` that such an `H_ii` is taken from.
const MUCH: f64 = 0.1;

/// Ridge regressions of one matrix at any number of ridges, from one eigendecomposition.
///
/// ```text
/// w(t) = argmin ‖A w − B‖² + t ‖w‖²        A is n × D, B is n × r, t ≥ 0
/// ```
/// The smaller of `AᵀA` (`D × D`) and `A Aᵀ` (`n × n`) is decomposed, in `n D min(n, D)`
/// multiply-adds for the product and `9 min(n, D)³` for the eigenvectors; each ridge then costs
/// `O(min(n, D)² r)`. With the eigenvalues `l_j` and the left singular vectors `u_j` of `A`, the
/// hat matrix is `H(t) = Σ_j l_j/(l_j + t) u_j u_jᵀ`, whence the residuals of leave-one-out,
/// `(B − H B)_i / (1 − H_ii)`, without a refit (Allen 1974), and generalised cross-validation
/// (Golub, Heath & Wahba 1979). Both have a limit where the fit passes through the rows and
/// numerator and denominator vanish, and take it from the kernel matrix `K = A Aᵀ`.
///
/// Eigenvalues at or below `min(n, D) ε l_max` count as 0, for every ridge, so that `w(0)` is the
/// solution of least norm. A product squares the condition number: singular values below
/// `√(min(n, D) ε) s_1` are lost. Where they matter, [`crate::minimum_norm_solve`] has twice the
/// digits for some ten times the time.
///
/// ```
/// use mercer_linalg::RidgePath;
/// use ndarray::array;
/// let (a, b) = (array![[1.0], [1.0], [1.0]], array![[1.0], [2.0], [6.0]]);
/// let path = RidgePath::new(a.view(), b.view())?;
/// assert!((path.solve(0.0)?[[0, 0]] - 3.0).abs() < 1e-14); // the mean
/// assert!((path.leave_one_out(0.0)?[[2, 0]] - 4.5).abs() < 1e-14); // 6 less the mean of 1 and 2
/// # Ok::<(), mercer_linalg::LinalgError>(())
/// ```
#[derive(Debug)]
pub struct RidgePath<'a> {
    matrix: ArrayView2<'a, f64>,
    targets: ArrayView2<'a, f64>,
    /// Whether `AᵀA` was decomposed, not `A Aᵀ`.
    primal: bool,
    /// Eigenvalues `l_j` above the cut-off, ascending.
    values: Array1<f64>,
    cutoff: f64,
    /// Their eigenvectors, one a column (`min(n, D) × rank`).
    vectors: Array2<f64>,
    /// `Uᵀ B` (`rank × r`).
    coordinates: Array2<f64>,
    /// `U` (`n × rank`), once somebody asks for single rows.
    left: OnceLock<Array2<f64>>,
}

impl<'a> RidgePath<'a> {
    /// Decomposes `A` (`n × D`) for the right-hand sides in the columns of `B` (`n × r`).
    ///
    /// # Errors
    /// [`LinalgError::Height`], [`LinalgError::Empty`], [`LinalgError::NotFinite`] or
    /// [`LinalgError::NoConvergence`].
    pub fn new(
        matrix: ArrayView2<'a, f64>,
        right: ArrayView2<'a, f64>,
    ) -> Result<Self, LinalgError> {
        let (n, big_d) = matrix.dim();
        if n != right.nrows() {
            return Err(LinalgError::Height { expected: n, found: right.nrows() });
        }
        if n == 0 || big_d == 0 {
            return Err(LinalgError::Empty { rows: n, columns: big_d });
        }
        let primal = big_d <= n;
        let gram = symmetric_product(if primal { matrix } else { matrix.reversed_axes() });
        let (values, vectors, cutoff) = above_cutoff(symmetric_eigen(gram.view())?);
        drop(gram);
        let coordinates = if primal {
            let roots = values.mapv(f64::sqrt).insert_axis(Axis(1));
            multiplied(vectors.t(), multiplied(matrix.t(), right).view()) / roots
        } else {
            multiplied(vectors.t(), right)
        };
        let left = OnceLock::new();
        Ok(Self { matrix, targets: right, primal, values, cutoff, vectors, coordinates, left })
    }

    /// Number of rows `n`.
    pub fn rows(&self) -> usize {
        self.targets.nrows()
    }

    /// Number of eigenvalues above the cut-off.
    pub fn rank(&self) -> usize {
        self.values.len()
    }

    /// The cut-off of the eigenvalues, absolute: `min(n, D) ε l_max`.
    pub const fn cutoff(&self) -> f64 {
        self.cutoff
    }

    /// Eigenvalues `l_j` of `AᵀA` above the cut-off, ascending.
    pub const fn eigenvalues(&self) -> &Array1<f64> {
        &self.values
    }

    /// `w(t)` (`D × r`).
    ///
    /// # Errors
    /// [`LinalgError::Argument`] for a ridge that is negative, infinite or NaN.
    pub fn solve(&self, ridge: f64) -> Result<Array2<f64>, LinalgError> {
        check(ridge)?;
        // w = V diag(√l/(l + t)) UᵀB, and V = Aᵀ U diag(l)^-½ where U is what was decomposed.
        let filter = self.values.mapv(|value| {
            if self.primal { value.sqrt() / (value + ridge) } else { (value + ridge).recip() }
        });
        let filtered = &self.coordinates * &filter.insert_axis(Axis(1));
        let solution = multiplied(self.vectors.view(), filtered.view());
        Ok(if self.primal { solution } else { multiplied(self.matrix.t(), solution.view()) })
    }

    /// Residuals of leave-one-out, `b_i − f_{−i}(a_i)` (`n × r`): row `i` is predicted by the
    /// regression on all other rows at the same `t`, at `t = 0` by that of least norm.
    ///
    /// Let `p_i` be the share of the `i`-th unit vector outside the range of `A`, and `q_i` that part
    /// of `b_i`. The residual over `1 − H_ii` is
    ///
    /// ```text
    /// (q_i + t Σ_j u_ij (Uᵀ B)_j/(l_j + t)) / (p_i + t Σ_j u_ij²/(l_j + t))
    /// ```
    /// Where `p_i = 0` (every row, if the rank is `n`), no other rows add up to row `i`, `q_i = 0`
    /// too and `t` cancels: `((K + tI)⁻¹ B)_i / ((K + tI)⁻¹)_ii`, also of a fit that interpolates.
    ///
    /// ```
    /// use mercer_linalg::RidgePath;
    /// use ndarray::array;
    /// // Without the second row the line through 0 has slope 3, and is 2.4 there where 1 was seen.
    /// let (a, b) = (array![[1.0, 0.0], [0.8, 0.6]], array![[3.0], [1.0]]);
    /// let path = RidgePath::new(a.view(), b.view())?;
    /// assert!((path.leave_one_out(0.0)?[[1, 0]] - (1.0 - 2.4)).abs() < 1e-14);
    /// # Ok::<(), mercer_linalg::LinalgError>(())
    /// ```
    ///
    /// # Errors
    /// As [`RidgePath::solve`].
    pub fn leave_one_out(&self, ridge: f64) -> Result<Array2<f64>, LinalgError> {
        check(ridge)?;
        let (left, shares) = (self.left(), self.shares(ridge));
        let filtered = &self.coordinates * &shares.view().insert_axis(Axis(1));
        let mut residuals = self.targets.to_owned();
        product(-1.0, left, filtered.view(), 1.0, residuals.view_mut());
        let mut shared = Array1::zeros(shares.len());
        for ((mut residual, u), b) in
            residuals.rows_mut().into_iter().zip(left.rows()).zip(self.targets.rows())
        {
            shared.assign(&u);
            shared *= &shares;
            let left_over = 1.0 - u.dot(&shared);
            if left_over > LITTLE {
                residual /= left_over;
            } else {
                residual.assign(&self.without(u, b, ridge));
            }
        }
        Ok(residuals)
    }

    /// The residual of leave-one-out of a row that the fit nearly passes through: nothing is
    /// subtracted that is nearly equal.
    fn without(&self, u: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>, ridge: f64) -> Array1<f64> {
        let largest = self.values.last().copied().unwrap_or(1.0);
        let mut above = Array1::zeros(b.len());
        let (mut below, mut inside, mut rounding) = (0.0, 0.0, 0.0);
        for ((&u, &value), c) in u.iter().zip(&self.values).zip(self.coordinates.rows()) {
            above.scaled_add(u / (value + ridge), &c);
            below += u * u / (value + ridge);
            inside += u * u;
            // Where `U = A V diag(l)^-½`, it is known to so much.
            rounding += u * u * if self.primal { largest / value } else { 1.0 };
        }
        let outside = 1.0 - inside;
        let apart = self.rank() < self.targets.nrows()
            && outside > self.targets.nrows() as f64 * f64::EPSILON * rounding;
        if !apart {
            return above / below;
        }
        let fitted = self.coordinates.t().dot(&u);
        (&b - &fitted + above * ridge) / (outside + ridge * below)
    }

    /// Mean squared residuals of leave-one-out over rows and right-hand sides, one for each ridge.
    ///
    /// The rows of `U` pass by once for all ridges and are not kept: in the primal case `n D rank`
    /// multiply-adds for them, and `n rank (r + 1)` for each ridge. Those `n D rank` are done in single
    /// precision, in half the time, where there are 512 columns or more and the condition lets them: where
    /// `2 u R √w + u² R² Σ_j 1/(l_j + t)`, with the rounding `u = 2^-24`, the longest row `R` and
    /// `w = 1/(min_j l_j + t)`, says that `H_ii` is off by 1e-6 at most. Residuals are in double precision
    /// all the same, and so is all of a row where less than a tenth is left of `1 − H_ii`: each residual
    /// of leave-one-out is then known to 1e-5 of itself, and their mean square to some 1e-7.
    ///
    /// ```
    /// use mercer_linalg::RidgePath;
    /// use ndarray::array;
    /// let (a, b) = (array![[1.0], [1.0], [1.0]], array![[1.0], [2.0], [6.0]]);
    /// let path = RidgePath::new(a.view(), b.view())?;
    /// let errors = path.leave_one_out_errors(&[0.0, 1e9])?;
    /// let (mean, zero) = ((3.0f64.powi(2) + 1.5f64.powi(2) + 4.5f64.powi(2)) / 3.0, 41.0 / 3.0);
    /// assert!((errors[0] - mean).abs() < 1e-13 && (errors[1] - zero).abs() < 1e-6);
    /// # Ok::<(), mercer_linalg::LinalgError>(())
    /// ```
    ///
    /// # Errors
    /// As [`RidgePath::solve`].
    pub fn leave_one_out_errors(&self, ridges: &[f64]) -> Result<Vec<f64>, LinalgError> {
        for &ridge in ridges {
            check(ridge)?;
        }
        // In the primal case A V passes by, which is U with the roots of the eigenvalues.
        let scales =
            if self.primal { self.values.mapv(f64::sqrt) } else { Array1::ones(self.rank()) };
        let filters = Filters::new(&self.coordinates, &scales, ridges, |ridge| self.shares(ridge));
        let mut squares = vec![0.0; ridges.len()];
        if self.single_precision_will_do(ridges) {
            let rest = self.add_rows_with_much_left(&filters, &mut squares);
            let (matrix, targets) =
                (self.matrix.select(Axis(0), &rest), self.targets.select(Axis(0), &rest));
            let left = |start, block: ArrayViewMut2<'_, f64>| {
                let rows = s![start..start + block.nrows(), ..];
                product(1.0, matrix.slice(rows), self.vectors.view(), 0.0, block);
            };
            self.add_rows(&filters, &scales, ridges, targets.view(), left, &mut squares);
        } else {
            let left = |start, mut block: ArrayViewMut2<'_, f64>| {
                let rows = s![start..start + block.nrows(), ..];
                if self.primal {
                    product(1.0, self.matrix.slice(rows), self.vectors.view(), 0.0, block);
                } else {
                    block.assign(&self.vectors.slice(rows));
                }
            };
            self.add_rows(&filters, &scales, ridges, self.targets, left, &mut squares);
        }
        Ok(squares.into_iter().map(|sum| sum / self.targets.len() as f64).collect())
    }

    /// Adds the squared residuals of leave-one-out of rows with these targets, which `left` knows.
    fn add_rows(
        &self,
        filters: &Filters,
        scales: &Array1<f64>,
        ridges: &[f64],
        targets: ArrayView2<'_, f64>,
        left: impl Fn(usize, ArrayViewMut2<'_, f64>),
        squares: &mut [f64],
    ) {
        filters.pass(targets.nrows(), left, |start, scaled, filtered| {
            for (row, scaled) in scaled.rows().into_iter().enumerate() {
                let b = targets.row(start + row);
                for (k, &ridge) in ridges.iter().enumerate() {
                    let left_over = 1.0 - filtered.own(row, k);
                    squares[k] += if left_over > LITTLE {
                        squared(b, filtered.values(row, k), left_over)
                    } else {
                        let u = &scaled / scales;
                        self.without(u.view(), b, ridge).iter().map(|r| r * r).sum::<f64>()
                    };
                }
            }
        });
    }

    /// Whether `A V` in single precision leaves every `H_ii(t)` where it is, but for [`SLIGHT`].
    ///
    /// An entry of row `a_i` of `A V` is off by some `u ‖a_i‖`, independently of the others. In
    /// `H_ii = Σ_j (A V)_ij²/(l_j + t)` that makes `2 u ‖a_i‖ √(Σ_j (A V)_ij²/(l_j + t)²)`, and the root is
    /// at most `√(H_ii max_j 1/(l_j + t))`; its square adds up.
    fn single_precision_will_do(&self, ridges: &[f64]) -> bool {
        if !self.primal || self.rank() < MANY {
            return false;
        }
        let unit = f64::from(f32::EPSILON) / 2.0;
        let longest = self.matrix.rows().into_iter().map(|row| row.dot(&row)).fold(0.0, f64::max);
        let inside_range = longest < f64::from(f32::MAX).sqrt() && longest > 1e-20;
        let ridge = ridges.iter().copied().fold(f64::INFINITY, f64::min);
        let inverse = self.values.mapv(|value| (value + ridge).recip());
        let off = 2.0 * unit * (longest * inverse[0]).sqrt();
        inside_range && off + unit * unit * longest * inverse.sum() <= SLIGHT
    }

    /// Adds the squared residuals of the rows of which no ridge leaves little, and says which rows are left.
    fn add_rows_with_much_left(&self, filters: &Filters, squares: &mut [f64]) -> Vec<usize> {
        let weights = multiplied(self.vectors.view(), filters.filtered());
        let vectors = self.vectors.mapv(|entry| entry as f32);
        let mut rest = Vec::new();
        filters.pass_in_single_precision(self.matrix, vectors.view(), |start, own| {
            let rows = self.matrix.slice(s![start..start + own.nrows(), ..]);
            let fitted = multiplied(rows, weights.view());
            for (row, own) in own.rows().into_iter().enumerate() {
                if own.iter().any(|own| 1.0 - own < MUCH) {
                    rest.push(start + row);
                    continue;
                }
                let b = self.targets.row(start + row);
                for (k, (square, own)) in squares.iter_mut().zip(own).enumerate() {
                    let fitted = fitted.slice(s![row, k * b.len()..(k + 1) * b.len()]);
                    *square += squared(b, fitted, 1.0 - own);
                }
            }
        });
        rest
    }

    /// Generalised cross-validation, `(1/(n r)) ‖B − H B‖² / (1 − tr H / n)²`; where the rank is
    /// `n`, and the fit interpolates at `t = 0`, the same with `t` cancelled,
    /// `(1/(n r)) ‖(K + tI)⁻¹ B‖² / (tr (K + tI)⁻¹ / n)²`.
    ///
    /// # Errors
    /// As [`RidgePath::solve`].
    pub fn generalised_cross_validation(&self, ridge: f64) -> Result<f64, LinalgError> {
        check(ridge)?;
        let n = self.targets.nrows() as f64;
        if self.rank() == self.targets.nrows() {
            let inverse = self.values.mapv(|value| (value + ridge).recip());
            let mean = inverse.sum() / n;
            let solved = &self.coordinates * &inverse.insert_axis(Axis(1));
            let squares: f64 = solved.iter().map(|c| (c / mean).powi(2)).sum();
            return Ok(squares / self.targets.len() as f64);
        }
        let kept: f64 = self.coordinates.iter().map(|c| c * c).sum();
        // What lies outside the range of A, and what the ridge takes from what lies in it.
        let outside = (self.targets.iter().map(|b| b * b).sum::<f64>() - kept).max(0.0);
        let rest = self.values.mapv(|value| ridge / (value + ridge));
        let inside: f64 =
            (&self.coordinates * &rest.insert_axis(Axis(1))).iter().map(|c| c * c).sum();
        // At least 1/n: the rank is below n.
        let left_over = 1.0 - self.degrees_of_freedom(ridge)? / n;
        Ok((outside + inside) / self.targets.len() as f64 / (left_over * left_over))
    }

    /// `tr H(t) = Σ_j l_j/(l_j + t)`: the effective dimension at ridge `t`.
    ///
    /// # Errors
    /// As [`RidgePath::solve`].
    pub fn degrees_of_freedom(&self, ridge: f64) -> Result<f64, LinalgError> {
        check(ridge)?;
        Ok(self.shares(ridge).sum())
    }

    /// `l_j/(l_j + t)`.
    fn shares(&self, ridge: f64) -> Array1<f64> {
        self.values.mapv(|value| value / (value + ridge))
    }

    /// `U`: in the primal case computed when first needed, in `n D rank` multiply-adds.
    fn left(&self) -> ArrayView2<'_, f64> {
        if !self.primal {
            return self.vectors.view();
        }
        let image = || multiplied(self.matrix, self.vectors.view()) / &self.values.mapv(f64::sqrt);
        self.left.get_or_init(image).view()
    }
}

/// `‖(b − f)/s‖²`.
fn squared(b: ArrayView1<'_, f64>, fitted: ArrayView1<'_, f64>, left_over: f64) -> f64 {
    b.iter().zip(fitted).map(|(b, f)| ((b - f) / left_over).powi(2)).sum()
}

fn check(ridge: f64) -> Result<(), LinalgError> {
    if ridge >= 0.0 && ridge.is_finite() {
        return Ok(());
    }
    Err(LinalgError::Argument { name: "ridge", value: ridge, must: "at least 0 and finite" })
}

/// The eigenvalues above `n ε l_max` with their vectors, and that cut-off.
fn above_cutoff(eigen: Eigen) -> (Array1<f64>, Array2<f64>, f64) {
    let Eigen { values, vectors } = eigen;
    let n = values.len();
    let cutoff = n as f64 * f64::EPSILON * values[n - 1].max(0.0);
    let first = values.iter().take_while(|&&value| value <= cutoff).count();
    if first == 0 {
        return (values, vectors, cutoff);
    }
    (values.slice_move(s![first..]), vectors.slice_move(s![.., first..]), cutoff)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cholesky, minimum_norm_solve, thin_svd};
    use approx::assert_abs_diff_eq;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn random(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        Array2::from_shape_simple_fn((rows, columns), || rng.gen_range(-1.0..1.0))
    }

    /// `(AᵀA + t I)⁻¹ Aᵀ B`, the long way.
    fn direct(a: &Array2<f64>, b: &Array2<f64>, t: f64) -> Array2<f64> {
        let gram = a.t().dot(a) + t * Array2::<f64>::eye(a.ncols());
        Cholesky::factor(gram).unwrap().solve(&a.t().dot(b)).unwrap()
    }

    #[test]
    fn each_ridge_agrees_with_a_direct_solve_on_either_side() {
        for (n, d) in [(40, 7), (7, 40), (12, 12), (1, 3), (3, 1)] {
            let (a, b) = (random(n, d, 1), random(n, 3, 2));
            let path = RidgePath::new(a.view(), b.view()).unwrap();
            for t in [1e-3, 0.1, 10.0] {
                let expected = direct(&a, &b, t);
                assert_abs_diff_eq!(path.solve(t).unwrap(), expected, epsilon = 1e-10);
                let hat = a.dot(&direct(&a, &Array2::eye(n), t));
                assert_abs_diff_eq!(
                    path.degrees_of_freedom(t).unwrap(),
                    hat.diag().sum(),
                    epsilon = 1e-9
                );
            }
        }
    }

    #[test]
    fn without_a_ridge_it_is_the_solution_of_least_norm() {
        // Full rank on either side, and rank 4 of 9 x 11.
        let low = random(9, 4, 5).dot(&random(4, 11, 6));
        for a in [random(30, 8, 3), random(8, 30, 4), low] {
            let b = random(a.nrows(), 2, 7);
            let path = RidgePath::new(a.view(), b.view()).unwrap();
            let expected = minimum_norm_solve(a.view(), b.view(), None).unwrap();
            assert_eq!(path.rank(), expected.rank);
            assert_abs_diff_eq!(path.solve(0.0).unwrap(), expected.x, epsilon = 1e-9);
            // And the ridge's limit is the ridgeless fit.
            assert_abs_diff_eq!(path.solve(1e-11).unwrap(), expected.x, epsilon = 1e-7);
        }
    }

    #[test]
    fn leave_one_out_is_what_refitting_without_each_row_gives() {
        for (n, d) in [(15, 4), (9, 25)] {
            let (a, b) = (random(n, d, 8), random(n, 2, 9));
            let path = RidgePath::new(a.view(), b.view()).unwrap();
            for t in [1e-2, 1.0] {
                let found = path.leave_one_out(t).unwrap();
                let mut total = 0.0;
                for i in 0..n {
                    let others: Vec<usize> = (0..n).filter(|&other| other != i).collect();
                    let (ai, bi) = (a.select(Axis(0), &others), b.select(Axis(0), &others));
                    let expected = &b.row(i) - &a.row(i).dot(&direct(&ai, &bi, t));
                    assert_abs_diff_eq!(found.row(i), expected, epsilon = 1e-9);
                    total += expected.dot(&expected);
                }
                let errors = path.leave_one_out_errors(&[0.5, t]).unwrap();
                assert_abs_diff_eq!(errors[1], total / (2 * n) as f64, epsilon = 1e-9);
            }
        }
    }

    /// `argmin ‖A w − B‖² + t ‖w‖²` by singular values, of least norm at `t = 0`.
    fn refit(a: &Array2<f64>, b: &Array2<f64>, t: f64) -> Array2<f64> {
        let svd = thin_svd(a.view()).unwrap();
        let least = 1e-12 * svd.singular[0];
        let filter = svd.singular.mapv(|s| if s > least { s / (s * s + t) } else { 0.0 });
        svd.vt.t().dot(&(svd.u.t().dot(b) * filter.insert_axis(Axis(1))))
    }

    #[test]
    fn leave_one_out_is_that_of_refits_however_small_the_ridge() {
        let low = random(9, 4, 5).dot(&random(4, 11, 6));
        let mut twice = random(8, 20, 7);
        let first = twice.row(0).to_owned();
        twice.row_mut(5).assign(&first);
        // Only row 3 speaks of the last column.
        let mut alone = random(14, 4, 8);
        alone.column_mut(3).fill(0.0);
        alone[[3, 3]] = 1.0;
        let cases = [
            ("n < D", random(9, 25, 9)),
            ("n = D", random(12, 12, 10)),
            ("n > D", random(15, 4, 11)),
            ("rank 4 of 9 x 11", low),
            ("a row twice", twice),
            ("a row alone in its direction", alone),
        ];
        for (name, a) in cases {
            let n = a.nrows();
            let b = random(n, 2, 12);
            let path = RidgePath::new(a.view(), b.view()).unwrap();
            let ridges = [0.0, 1e-300, 1e-16, 1e-13, 1e-10, 1e-7, 1e-6, 1e-5, 1e-3, 1.0];
            let errors = path.leave_one_out_errors(&ridges).unwrap();
            for (t, error) in ridges.into_iter().zip(errors) {
                let found = path.leave_one_out(t).unwrap();
                let mean = found.iter().map(|r| r * r).sum::<f64>() / found.len() as f64;
                assert!((error / mean - 1.0).abs() < 1e-9, "{name}, t = {t:e}: {error}, {mean}");
                for i in 0..n {
                    let others: Vec<usize> = (0..n).filter(|&other| other != i).collect();
                    let (ai, bi) = (a.select(Axis(0), &others), b.select(Axis(0), &others));
                    let expected = &b.row(i) - &a.row(i).dot(&refit(&ai, &bi, t));
                    for (found, expected) in found.row(i).iter().zip(&expected) {
                        let apart = (found - expected).abs() / expected.abs().max(1.0);
                        assert!(apart < 1e-7, "{name}, t = {t:e}, row {i}: {found}, {expected}");
                    }
                }
            }
        }
    }

    /// A row that decides its own prediction but for two parts in 10^10, under a ridge that is as much.
    #[test]
    fn leave_one_out_of_a_row_that_decides_alone_has_the_ridge_of_the_rest() {
        let (a, b) = (ndarray::array![[1e5], [1.0], [1.0]], ndarray::array![[2e5], [1.0], [3.0]]);
        let path = RidgePath::new(a.view(), b.view()).unwrap();
        for ridge in [0.5, 1.0, 7.0] {
            let found = path.leave_one_out(ridge).unwrap()[[0, 0]];
            let expected = 2e5 - 1e5 * 4.0 / (2.0 + ridge);
            assert!((found / expected - 1.0).abs() < 1e-4, "{ridge}: {found} {expected}");
        }
    }

    /// What is left of a row outside the others is known to a few digits of its own directions, however weak
    /// another direction is that it has no part in.
    #[test]
    fn a_weak_direction_of_other_rows_hides_nothing_of_a_row() {
        let a = ndarray::array![[1.0, 0.0], [5e-4, 0.0], [0.0, 1e-6], [0.0, 1e-6]];
        let b = ndarray::array![[1.0], [2.0], [0.0], [0.0]];
        let path = RidgePath::new(a.view(), b.view()).unwrap();
        assert_eq!(path.rank(), 2);
        let found = path.leave_one_out(0.0).unwrap()[[0, 0]];
        assert!((found / (1.0 - 2.0 / 5e-4) - 1.0).abs() < 1e-6, "{found}");
    }

    #[test]
    fn the_cutoff_is_rounding_in_as_many_directions_as_there_may_be() {
        let b = Array2::ones((3, 1));
        for columns in [2, 3, 5] {
            let mut a = Array2::zeros((3, columns));
            (a[[0, 0]], a[[1, 1]]) = (3.0, 1.0);
            let path = RidgePath::new(a.view(), b.view()).unwrap();
            let expected = columns.min(3) as f64 * f64::EPSILON * 9.0;
            assert!((path.cutoff() / expected - 1.0).abs() < 1e-12, "{columns}");
            assert_eq!(path.rank(), 2);
        }
    }

    /// More rows than pass by together, and not a multiple of them.
    #[test]
    fn errors_of_many_ridges_are_those_of_each_ones_residuals() {
        for (n, d) in [(1100, 5), (700, 720)] {
            let (a, b) = (random(n, d, 13), random(n, 3, 14));
            let path = RidgePath::new(a.view(), b.view()).unwrap();
            let ridges = [0.0, 1e-3, 10.0];
            let errors = path.leave_one_out_errors(&ridges).unwrap();
            for (ridge, error) in ridges.into_iter().zip(errors) {
                let residuals = path.leave_one_out(ridge).unwrap();
                let mean = residuals.iter().map(|r| r * r).sum::<f64>() / residuals.len() as f64;
                assert!((error / mean - 1.0).abs() < 1e-10, "{n}, {ridge:e}: {error}, {mean}");
            }
            assert_eq!(path.leave_one_out_errors(&[]).unwrap(), [0.0; 0]);
            assert!(path.leave_one_out_errors(&[1.0, -1.0]).is_err());
        }
    }

    /// Well conditioned, rows of which little is left among them; of a scale that is far from 1; and with a
    /// direction so weak that single precision would not do.
    #[test]
    fn errors_in_single_precision_are_those_in_double() {
        let (n, d) = (1500, 600);
        let b = random(n, 3, 16);
        let plain = random(n, d, 15);
        let mut alone = plain.clone();
        alone.slice_mut(s![..9, ..]).mapv_inplace(|entry| 4.0 * entry);
        let mut weak = plain.clone();
        weak.column_mut(7).mapv_inplace(|entry| 1e-4 * entry);
        let cases = [
            ("plain", plain.clone(), true),
            ("rows that decide alone", alone, true),
            ("large", &plain * 1e6, true),
            ("small", &plain * 1e-6, true),
            ("too large", &plain * 1e30, false),
            ("a weak direction", weak, false),
        ];
        for (name, a, single) in cases {
            let path = RidgePath::new(a.view(), b.view()).unwrap();
            let scale = path.eigenvalues().mean().unwrap();
            let ridges = [0.0, 1e-4 * scale, scale];
            assert_eq!(path.single_precision_will_do(&ridges), single, "{name}");
            let errors = path.leave_one_out_errors(&ridges).unwrap();
            let (mut most, tolerance) = (0.0f64, if single { 1e-6 } else { 1e-10 });
            for (ridge, error) in ridges.into_iter().zip(errors) {
                let residuals = path.leave_one_out(ridge).unwrap();
                let mean = residuals.iter().map(|r| r * r).sum::<f64>() / residuals.len() as f64;
                let apart = (error / mean - 1.0).abs();
                assert!(apart < tolerance, "{name}, {ridge:e}: {error}, {mean}");
                most = most.max(apart);
            }
            assert!(!single || most > 1e-12, "{name}: in double precision, it seems; {most:e}");
        }
    }

    #[test]
    fn generalised_cross_validation_follows_its_formula() {
        let (a, b) = (random(20, 6, 10), random(20, 1, 11));
        let path = RidgePath::new(a.view(), b.view()).unwrap();
        let hat = a.dot(&direct(&a, &Array2::eye(20), 0.3));
        let residual = &b - &hat.dot(&b);
        let mean = residual.iter().map(|r| r * r).sum::<f64>() / 20.0;
        let expected = mean / (1.0 - hat.diag().sum() / 20.0).powi(2);
        let found = path.generalised_cross_validation(0.3).unwrap();
        assert_abs_diff_eq!(found, expected, epsilon = 1e-12);
        // Of more columns than rows the formula holds down to where it is 0 over 0, and its limit there.
        let (a, b) = (random(5, 9, 1), random(5, 1, 2));
        let wide = RidgePath::new(a.view(), b.view()).unwrap();
        let hat = a.dot(&direct(&a, &Array2::eye(5), 1e-4));
        let mean = (&b - &hat.dot(&b)).iter().map(|r| r * r).sum::<f64>() / 5.0;
        let expected = mean / (1.0 - hat.diag().sum() / 5.0).powi(2);
        let found = wide.generalised_cross_validation(1e-4).unwrap();
        assert!((found / expected - 1.0).abs() < 1e-8, "{found}, {expected}");
        let limit = wide.generalised_cross_validation(0.0).unwrap();
        let near = wide.generalised_cross_validation(1e-9).unwrap();
        assert!((limit / near - 1.0).abs() < 1e-6, "{limit}, {near}");
    }

    #[test]
    fn nothing_can_be_learned_from_a_matrix_of_zeros() {
        let (a, b) = (Array2::zeros((4, 3)), random(4, 1, 1));
        let path = RidgePath::new(a.view(), b.view()).unwrap();
        assert_eq!((path.rank(), path.solve(0.0).unwrap()), (0, Array2::zeros((3, 1))));
        assert_eq!(path.leave_one_out(0.5).unwrap(), b);
        let mean = b.iter().map(|b| b * b).sum::<f64>() / 4.0;
        assert_eq!(path.leave_one_out_errors(&[0.5, 0.0]).unwrap(), [mean, mean]);
    }

    #[test]
    fn what_cannot_be_solved_is_named() {
        let (a, b) = (random(4, 2, 1), random(4, 1, 2));
        let path = RidgePath::new(a.view(), b.view()).unwrap();
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(path.solve(bad), Err(LinalgError::Argument { name: "ridge", .. })));
        }
        assert!(matches!(
            RidgePath::new(a.view(), random(3, 1, 1).view()),
            Err(LinalgError::Height { expected: 4, found: 3 })
        ));
        assert!(matches!(
            RidgePath::new(Array2::zeros((4, 0)).view(), b.view()),
            Err(LinalgError::Empty { .. })
        ));
        let poisoned = Array2::from_elem((4, 2), f64::NAN);
        assert!(matches!(
            RidgePath::new(poisoned.view(), b.view()),
            Err(LinalgError::NotFinite { .. })
        ));
    }
}
