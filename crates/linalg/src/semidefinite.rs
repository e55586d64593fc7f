use crate::{Cholesky, LeastSquares, LinalgError, product, symmetric_eigen};
use ndarray::{Array1, Array2, ArrayView2, Axis, s};

/// Steps of inverse iteration, and how far above the cut-off the estimate must stay: from above it
/// is within a factor `n^(1/2·steps)` of the smallest eigenvalue, that is 1.7 at n = 10,000.
const STEPS: usize = 10;
const MARGIN: f64 = 10.0;

/// Computes `A⁺ B` of a symmetric positive semidefinite matrix (`n × n`). It is the least-squares solution of least
/// norm for the right-hand sides in the columns of `right` (`n × r`).
///
/// Eigenvalues at or below `cutoff` times the largest count as 0; `None` stands for `n ε`. If a Cholesky factor exists
/// and inverse iteration finds the smallest eigenvalue well above that (by a bound of the largest), all count and
/// `A⁺ = A⁻¹`. Then the factor solves, in `n³/3` multiply-adds; else the matrix is decomposed, some 27 times as much.
///
/// # Errors
/// [`LinalgError::NotSquare`], [`LinalgError::Empty`], [`LinalgError::Height`],
/// [`LinalgError::NotFinite`], [`LinalgError::NoConvergence`]; [`LinalgError::Argument`] for a
/// cut-off outside `[0, 1)`.
///
/// ```
/// use ndarray::array;
/// let (a, b) = (array![[1.0, 1.0], [1.0, 1.0]], array![[2.0], [2.0]]);
/// let solved = mercer_linalg::semidefinite_solve(&a, b.view(), None)?;
/// assert_eq!(solved.rank, 1);
/// assert!((solved.x[[0, 0]] - 1.0).abs() < 1e-14 && (solved.x[[1, 0]] - 1.0).abs() < 1e-14);
/// # Ok::<(), mercer_linalg::LinalgError>(())
/// ```
pub fn semidefinite_solve(
    matrix: &Array2<f64>,
    right: ArrayView2<'_, f64>,
    cutoff: Option<f64>,
) -> Result<LeastSquares, LinalgError> {
    let (expected, found) = (matrix.nrows(), right.nrows());
    if expected != found {
        return Err(LinalgError::Height { expected, found });
    }
    let relative = cutoff.unwrap_or(expected as f64 * f64::EPSILON);
    if !(0.0..1.0).contains(&relative) {
        let (name, must) = ("cut-off", "at least 0 and below 1");
        return Err(LinalgError::Argument { name, value: relative, must });
    }
    // Gershgorin: no eigenvalue exceeds the largest sum of a row.
    let sums = matrix.rows().into_iter().map(|row| row.iter().map(|a| a.abs()).sum::<f64>());
    let bound = relative * sums.fold(0.0, f64::max);
    match Cholesky::factor(matrix.clone()) {
        Ok(factor) if smallest(&factor)? > MARGIN * bound => {
            let x = factor.solve(&right.to_owned())?;
            return Ok(LeastSquares { x, rank: expected, cutoff: bound });
        }
        Ok(_) | Err(LinalgError::NotPositiveDefinite { .. }) => {}
        Err(error) => return Err(error),
    }
    let eigen = symmetric_eigen(matrix.view())?;
    let cutoff = relative * eigen.values[expected - 1].max(0.0);
    let first = eigen.values.iter().take_while(|&&value| value <= cutoff).count();
    let vectors = eigen.vectors.slice(s![.., first..]);
    let mut coordinates = Array2::zeros((expected - first, right.ncols()));
    product(1.0, vectors.t(), right, 0.0, coordinates.view_mut());
    coordinates /= &eigen.values.slice(s![first..]).insert_axis(Axis(1));
    let mut x = Array2::zeros(right.dim());
    product(1.0, vectors, coordinates.view(), 0.0, x.view_mut());
    Ok(LeastSquares { x, rank: expected - first, cutoff })
}

/// An upper estimate of the smallest eigenvalue of a factored matrix, by inverse iteration.
fn smallest(factor: &Cholesky) -> Result<f64, LinalgError> {
    let n = factor.size();
    // A start without structure, so that no eigenvector is missed by symmetry.
    let start = Array1::from_shape_fn(n, |i| {
        (1.0 + (i as f64 * 0.618_033_988_749_895).fract()).sin() - 0.95
    });
    let mut x = start.insert_axis(Axis(1));
    let mut estimate = f64::INFINITY;
    for _ in 0..STEPS {
        let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        x /= norm;
        let next = factor.solve(&x)?;
        let quotient: f64 = x.iter().zip(&next).map(|(x, y)| x * y).sum();
        estimate = quotient.recip();
        x = next;
    }
    Ok(estimate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::minimum_norm_solve;
    use approx::assert_abs_diff_eq;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn random(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        Array2::from_shape_simple_fn((rows, columns), || rng.gen_range(-1.0..1.0))
    }

    #[test]
    fn the_smallest_eigenvalue_is_found_where_its_vector_sums_to_nothing() {
        let a = ndarray::array![[1.0, 0.9], [0.9, 1.0]]; // 0.1 with (1, -1), 1.9 with (1, 1)
        let found = smallest(&Cholesky::factor(a).unwrap()).unwrap();
        assert!((0.1 - 1e-12..0.2).contains(&found), "{found}");
    }

    #[test]
    fn either_route_gives_the_solution_of_least_norm() {
        for (n, rank) in [(1, 1), (20, 20), (30, 7), (90, 90), (90, 89)] {
            let half = random(n, rank, n as u64);
            let a = half.dot(&half.t());
            let b = random(n, 3, 2);
            let solved = semidefinite_solve(&a, b.view(), None).unwrap();
            let expected = minimum_norm_solve(a.view(), b.view(), None).unwrap();
            assert_eq!((solved.rank, expected.rank), (rank, rank));
            let scale = expected.x.iter().fold(1f64, |most, x| most.max(x.abs()));
            assert_abs_diff_eq!(solved.x / scale, expected.x / scale, epsilon = 1e-8);
        }
    }

    /// A factor exists down to rounding, but the stated cut-off says that the value does not count.
    #[test]
    fn the_cutoff_rules_even_where_a_factor_exists() {
        let a = Array2::from_diag(&ndarray::array![1.0, 1e-3]);
        let b = Array2::ones((2, 1));
        let cut = semidefinite_solve(&a, b.view(), Some(1e-2)).unwrap();
        assert_eq!((cut.rank, cut.x), (1, ndarray::array![[1.0], [0.0]]));
        let kept = semidefinite_solve(&a, b.view(), Some(1e-5)).unwrap();
        assert_eq!(kept.rank, 2);
        assert_abs_diff_eq!(kept.x, ndarray::array![[1.0], [1000.0]], epsilon = 1e-9);
    }

    /// A factor solves where all eigenvalues count: the cut-off is of Gershgorin's bound, 4, not of the
    /// largest eigenvalue, 2 + √2, which no decomposition has found.
    #[test]
    fn what_a_factor_can_solve_is_not_decomposed() {
        let a = ndarray::array![[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]];
        let solved = semidefinite_solve(&a, Array2::ones((3, 1)).view(), Some(1e-3)).unwrap();
        assert_eq!((solved.rank, solved.cutoff), (3, 4e-3));
        assert_abs_diff_eq!(solved.x, ndarray::array![[0.5], [0.0], [0.5]], epsilon = 1e-14);
    }

    #[test]
    fn what_cannot_be_solved_is_named() {
        let b = Array2::ones((2, 1));
        let solve = |a: Array2<f64>, cutoff| semidefinite_solve(&a, b.view(), cutoff);
        let nan = Array2::from_elem((2, 2), f64::NAN);
        assert!(matches!(solve(nan, None), Err(LinalgError::NotFinite { .. })));
        assert!(matches!(solve(Array2::eye(3), None), Err(LinalgError::Height { .. })));
        assert!(matches!(solve(Array2::zeros((2, 3)), None), Err(LinalgError::NotSquare { .. })));
        assert!(matches!(solve(Array2::eye(2), Some(1.0)), Err(LinalgError::Argument { .. })));
        let nothing = semidefinite_solve(&Array2::zeros((2, 2)), b.view(), None).unwrap();
        assert_eq!((nothing.rank, nothing.x), (0, Array2::zeros((2, 1))));
    }
}
