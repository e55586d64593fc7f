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
/// The smaller of `AᵀA` (`D × D`) and `A Aᵀ` (`n × n`) is decomposed, in `n D min(n, D)` multiply-adds for the product
/// and `9 min(n, D)³` for the eigenvectors; each ridge then costs `O(min(n, D)² r)`. With the eigenvalues `l_j` and the
/// left singular vectors `u_j` of `A`, the hat matrix is `H(t) = Σ_j l_j/(l_j + t) u_j u_jᵀ`. It gives the residuals of
/// leave-one-out, `(B − H B)_i / (1 − H_ii)`, without a refit (Allen 1974), and generalised cross-validation (Golub,
/// Heath & Wahba 1979). Both have a limit where the fit passes through the rows and numerator and denominator vanish,
/// and take it from the kernel matrix `K = A Aᵀ`.
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

    /// Returns the number of rows `n`.
    pub fn rows(&self) -> usize {
        self.targets.nrows()
    }

    /// Returns the number of eigenvalues above the cut-off.
    pub fn rank(&self) -> usize {
        self.values.len()
    }

    /// Returns the cut-off of the eigenvalues, absolute: `min(n, D) ε l_max`.
    pub const fn cutoff(&self) -> f64 {
        self.cutoff
    }

    /// Returns eigenvalues `l_j` of `AᵀA` above the cut-off, ascending.
    pub const fn eigenvalues(&self) -> &Array1<f64> {
        &self.values
    }

    /// Returns `w(t)` (`D × r`).
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

    /// Returns residuals of leave-one-out, `b_i − f_{−i}(a_i)` (`n × r`). Row `i` is predicted by the regression on all
    /// other rows at the same `t`, at `t = 0` by the regression of least norm.
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

    /// Returns mean squared residuals of leave-one-out over rows and right-hand sides. There is one for each ridge.
    ///
    /// The rows of `U` pass by once for all ridges and are not kept: in the primal case `n D rank` multiply-adds for
    /// them, and `n rank (r + 1)` for each ridge. Those `n D rank` are done in single precision, in half the time,
    /// where there are 512 columns or more and the condition lets them. The condition is that
    /// `2 u R √w + u² R² Σ_j 1/(l_j + t)` says that `H_ii` is off by 1e-6 at most. Here the rounding is `u = 2^-24`,
    /// the longest row `R` and `w = 1/(min_j l_j + t)`. Residuals are in double precision all the same, and so is all
    /// of a row where less than a tenth is left of `1 − H_ii`. Each residual of leave-one-out is then known to 1e-5 of
    /// itself, and their mean square to some 1e-7.
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

    /// Adds the squared residuals of rows for which no ridge leaves little, and says which rows are left.
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

    /// Returns generalised cross-validation, `(1/(n r)) ‖B − H B‖² / (1 − tr H / n)²`. Where the rank is `n`, and the
    /// fit interpolates at `t = 0`, it is the same with `t` cancelled,
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

    /// Returns `tr H(t) = Σ_j l_j/(l_j + t)`: the effective dimension at ridge `t`.
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
mod tests;
