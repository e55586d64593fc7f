use crate::{Cholesky, JITTER_LADDER, LinalgError, semidefinite_solve};
use ndarray::Array2;

/// A solution whose residual may be above this share of the right-hand side solves nothing.
const UNSOLVED: f64 = 1e-3;

/// What [`definite_solve`] found.
///
/// ```
/// use mercer_linalg::{LinalgError, definite_solve};
/// use ndarray::array;
/// let matrix = array![[4.0, 2.0], [2.0, 3.0]];
/// let again = || -> Result<_, LinalgError> { unreachable!("it is far from singular") };
/// let solved = definite_solve(1, matrix, &array![[8.0], [7.0]], again)?;
/// assert_eq!((solved.jitter, solved.rank, solved.cutoff), (0.0, 2, 0.0)); // by Cholesky, as it is
/// assert!((solved.x - array![[1.25], [1.5]]).iter().all(|gap| gap.abs() < 1e-14));
/// # Ok::<(), LinalgError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct DefiniteSolution {
    /// `X` (`n × r`).
    pub x: Array2<f64>,
    /// The jitter added to the diagonal, absolute. It is 0 where nothing was added, and of a least-squares solution.
    pub jitter: f64,
    /// `n`; of a least-squares solution, how many eigenvalues counted.
    pub rank: usize,
    /// Eigenvalues at or below this counted as 0 in a least-squares solution. It is 0 of any other.
    pub cutoff: f64,
}

/// Computes `A⁻¹ B` of a symmetric matrix (`n × n`) that should be positive definite. It uses Cholesky with the jitters
/// of [`JITTER_LADDER`]; or, where that solves nothing, it returns `A⁺ B`.
///
/// A jitter `j` leaves the residual `−j X`, and rounding one of the order `ε tr(A) X`. With a singular matrix and
/// targets that contradict each other, as of two equal rows, `X` is as large as `1/j`, and no residual is small. Then
/// the result is the least-squares solution of least norm ([`semidefinite_solve`], at its own cut-off).
///
/// - `matrix` is `A`; only its triangle on and above the diagonal is read, and its memory is used up
/// - `right` is `B` (`n × r`)
/// - `again` gives the whole of `A`, both triangles, where it is not positive definite as it is
///
/// # Errors
/// Those of [`Cholesky::with_jitter`] and [`semidefinite_solve`], and whatever `again` says.
///
/// ```
/// use mercer_linalg::{LinalgError, definite_solve};
/// use ndarray::array;
/// // The same row twice, with 1 and 3: the mean is as near as any function comes.
/// let twice = || array![[1.0, 1.0], [1.0, 1.0]];
/// let solved = definite_solve(1, twice(), &array![[1.0], [3.0]], || Ok::<_, LinalgError>(twice()))?;
/// assert_eq!(solved.rank, 1);
/// assert!((twice().dot(&solved.x)[[0, 0]] - 2.0).abs() < 1e-14);
/// # Ok::<(), mercer_linalg::LinalgError>(())
/// ```
pub fn definite_solve<E: From<LinalgError>>(
    threads: usize,
    matrix: Array2<f64>,
    right: &Array2<f64>,
    again: impl Fn() -> Result<Array2<f64>, E>,
) -> Result<DefiniteSolution, E> {
    let (n, trace) = (matrix.nrows(), matrix.diag().sum());
    let factored = match Cholesky::factor_on(threads, matrix) {
        // A ladder puts the matrix back from its other triangle, which was not asked for.
        Err(LinalgError::NotPositiveDefinite { .. }) => {
            Cholesky::with_jitter_on(threads, again()?, &JITTER_LADDER)
        }
        factored => factored.map(|factor| (factor, 0.0)),
    };
    match factored {
        Ok((factor, jitter)) => {
            let x = factor.solve(right)?;
            if (jitter + f64::EPSILON * trace) * largest_ratio(&x, right) <= UNSOLVED {
                return Ok(DefiniteSolution { x, jitter, rank: n, cutoff: 0.0 });
            }
        }
        Err(LinalgError::NotPositiveDefinite { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let solved = semidefinite_solve(&again()?, right.view(), None)?;
    Ok(DefiniteSolution { x: solved.x, jitter: 0.0, rank: solved.rank, cutoff: solved.cutoff })
}

/// The largest `‖x_c‖ / ‖b_c‖` over the columns; NaN where a number is.
fn largest_ratio(x: &Array2<f64>, b: &Array2<f64>) -> f64 {
    let norm = |column: ndarray::ArrayView1<'_, f64>| column.dot(&column).sqrt();
    let ratios = x.columns().into_iter().zip(b.columns()).map(|(x, b)| (norm(x), norm(b)));
    ratios.filter(|(x, b)| *x > 0.0 || *b > 0.0 || x.is_nan()).fold(0.0, |most, (x, b)| {
        let ratio = x / b;
        if ratio.is_nan() || ratio > most { ratio } else { most }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use ndarray::{Axis, array, concatenate};

    fn gaussian(points: &[f64]) -> Array2<f64> {
        let n = points.len();
        Array2::from_shape_fn((n, n), |(i, j)| (-0.5 * (points[i] - points[j]).powi(2)).exp())
    }

    fn solved(matrix: &Array2<f64>, right: &Array2<f64>) -> DefiniteSolution {
        definite_solve(1, matrix.clone(), right, || Ok::<_, LinalgError>(matrix.clone())).unwrap()
    }

    #[test]
    fn the_largest_ratio_is_of_the_columns_that_have_one() {
        let b = array![[3.0, 0.0, 0.0], [4.0, 0.0, 2.0]];
        let ratio = |x: Array2<f64>| largest_ratio(&x, &b);
        assert!((ratio(array![[6.0, 0.0, 0.0], [8.0, 0.0, 3.0]]) - 2.0).abs() < 1e-15);
        assert!((ratio(array![[0.0, 0.0, 0.0], [0.0, 0.0, 3.0]]) - 1.5).abs() < 1e-15);
        // A solution where nothing was asked for is beyond any bound.
        assert!(ratio(array![[6.0, 1.0, 0.0], [8.0, 0.0, 3.0]]).is_infinite());
        assert!(ratio(array![[6.0, f64::NAN, 0.0], [8.0, 0.0, 3.0]]).is_nan());
    }

    #[test]
    fn a_definite_matrix_is_solved_by_its_factor() {
        let a = array![[4.0, 1.0], [1.0, 3.0]];
        let b = array![[1.0, 0.0], [2.0, 0.0]];
        let found = solved(&a, &b);
        assert_eq!((found.rank, found.jitter, found.cutoff), (2, 0.0, 0.0));
        assert_abs_diff_eq!(a.dot(&found.x), b, epsilon = 1e-14);
        let refused = definite_solve(1, a.clone(), &b, || -> Result<_, LinalgError> {
            panic!("the whole matrix is not asked for")
        });
        assert_eq!(refused.unwrap(), found);
    }

    /// The ladder's first jitter gave values of 1e15 in the coefficients, and a fit worse than 0.
    #[test]
    fn contradicting_targets_of_equal_rows_are_met_in_their_mean() {
        let points: Vec<f64> = (0..20).map(|i| f64::from(i % 10)).collect();
        let (a, once) = (gaussian(&points), gaussian(&points[..10]));
        let b =
            Array2::from_shape_fn((20, 1), |(i, _)| (i as f64 * 0.7).sin() + f64::from(i >= 10));
        let found = solved(&a, &b);
        assert_eq!((found.rank, found.jitter), (10, 0.0));
        assert!(found.cutoff > 0.0);
        let mean = 0.5 * (&b.slice(ndarray::s![..10, ..]) + &b.slice(ndarray::s![10.., ..]));
        let twice = concatenate![Axis(0), mean, mean];
        assert_abs_diff_eq!(a.dot(&found.x), twice, epsilon = 1e-8);
        assert_abs_diff_eq!(once.dot(&solved(&once, &mean).x), mean, epsilon = 1e-8);
        // Where equal rows agree, a jitter is enough.
        let agreeing = solved(&a, &twice);
        assert!(agreeing.jitter > 0.0 && agreeing.rank == 20);
        assert_abs_diff_eq!(a.dot(&agreeing.x), twice, epsilon = 1e-8);
    }

    /// Only half of the matrix was there when the jitters put it back.
    #[test]
    fn of_a_singular_matrix_the_upper_triangle_is_enough() {
        let points: Vec<f64> = (0..12).map(|i| f64::from(i % 10) * 3.0).collect();
        let whole = gaussian(&points);
        let mut half = whole.clone();
        (0..12).for_each(|i| (0..i).for_each(|j| half[[i, j]] = 0.0));
        let b = Array2::from_shape_fn((12, 1), |(i, _)| ((i % 10) as f64).sin());
        let again = || Ok::<_, LinalgError>(whole.clone());
        let found = definite_solve(1, half, &b, again).unwrap();
        assert_eq!(found, solved(&whole, &b));
        assert!(found.jitter > 0.0);
        assert_abs_diff_eq!(whole.dot(&found.x), b, epsilon = 1e-8);
    }
}
