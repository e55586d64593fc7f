use super::interior::{Interior, combined};
use ndarray::{Array1, ArrayView2, Axis};

/// A solution of `min Σ_i (1 − Σ_j α_j c_ji)₊² + λ ‖α‖₁`, and how near the optimum it is.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Solution {
    /// `α`, with most entries exactly 0.
    pub(super) weights: Array1<f64>,
    pub(super) objective: f64,
    /// Objective minus the value of a dual point: at most so far from the optimum.
    pub(super) gap: f64,
    /// Newton steps.
    pub(super) steps: usize,
    /// Whether `gap` is within the tolerance.
    pub(super) converged: bool,
}

/// The columns `c_j` of `K_y` in rows (`nP × n`), and `λ`.
#[derive(Clone, Copy)]
struct Problem<'a> {
    columns: ArrayView2<'a, f64>,
    lambda: f64,
}

/// What weights are worth.
struct Value {
    objective: f64,
    gap: f64,
    /// `2 K_yᵀ (1 − K_y α)₊`: where it is beyond `±λ`, a weight of 0 should be another.
    pull: Array1<f64>,
}

/// Columns that join at once at most, where fewer than as many are in use.
const JOINING: usize = 32;

/// Share of the tolerance for the gap among the columns in use. The rest is for the columns that are not in use, and
/// for small weights that are left out at the end.
const SHARE: f64 = 0.01;

/// Steps without a smaller gap after which rounding has the last word.
const IDLE: usize = 8;

impl Solution {
    /// An interior point over the columns that pull hardest, which others join until the duality gap
    /// over all of them is at most `tolerance` times the objective.
    ///
    /// Few weights are other than 0, so few columns ever join. `columns` holds `c_j` in row `j`; those
    /// in use in `start`, as of a larger `λ`, are in use from the first. `steps` bounds the Newton
    /// steps of all rounds together.
    pub(super) fn run(
        columns: ArrayView2<'_, f64>,
        lambda: f64,
        start: Option<&Self>,
        tolerance: f64,
        steps: usize,
    ) -> Self {
        let problem = Problem { columns, lambda };
        let count = columns.nrows();
        let mut weights = start.map_or_else(|| Array1::zeros(count), |start| start.weights.clone());
        let mut chosen: Vec<usize> = (0..count).filter(|&j| weights[j] != 0.0).collect();
        let mut value = problem.value(&weights);
        let mut taken = 0;
        while value.gap > tolerance * value.objective && taken < steps {
            let joined = problem.join(&mut chosen, &value.pull);
            if !joined && taken > 0 {
                break; // No column is missing: rounding keeps the gap open.
            }
            let (own, more) = problem.among(&chosen, SHARE * tolerance, steps - taken);
            taken += more;
            weights.fill(0.0);
            for (&j, &weight) in chosen.iter().zip(&own) {
                weights[j] = weight;
            }
            value = problem.value(&weights);
        }
        let converged = value.gap <= tolerance * value.objective;
        if converged {
            weights = problem.with_fewest(&weights, &chosen, tolerance);
            value = problem.value(&weights);
        }
        Self { weights, objective: value.objective, gap: value.gap, steps: taken, converged }
    }
}

impl Problem<'_> {
    fn value(&self, weights: &Array1<f64>) -> Value {
        let hinge = combined(self.columns, weights).mapv(|f| (1.0 - f).max(0.0));
        let pull = 2.0 * self.columns.dot(&hinge);
        let size: f64 = weights.iter().map(|weight| weight.abs()).sum();
        let objective = hinge.dot(&hinge) + self.lambda * size;
        // The dual point 2 (1 − K_y α)₊, scaled into the constraint.
        let steepest = pull.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
        let scale = if steepest > self.lambda { self.lambda / steepest } else { 1.0 };
        let dual = scale * (2.0 * hinge.sum() - scale * hinge.dot(&hinge));
        Value { objective, gap: objective - dual, pull }
    }

    /// Adds the columns that pull harder than `λ`, the hardest first and at most as many as there
    /// are; says whether there was one.
    fn join(&self, chosen: &mut Vec<usize>, pull: &Array1<f64>) -> bool {
        let mut inside = vec![false; pull.len()];
        for &j in chosen.iter() {
            inside[j] = true;
        }
        let mut joining: Vec<usize> =
            (0..pull.len()).filter(|&j| !inside[j] && pull[j].abs() > self.lambda).collect();
        joining.sort_by(|&i, &j| pull[j].abs().total_cmp(&pull[i].abs()));
        joining.truncate(JOINING.max(chosen.len()));
        chosen.extend(&joining);
        !joining.is_empty()
    }

    /// Weights of these columns alone, down to a gap among them, relative to the objective, or to
    /// the smallest that rounding lets through; and the Newton steps that it took.
    fn among(&self, chosen: &[usize], tolerance: f64, steps: usize) -> (Array1<f64>, usize) {
        let columns = self.columns.select(Axis(0), chosen);
        let own = Problem { columns: columns.view(), lambda: self.lambda };
        let mut point = Interior::new(columns.view(), self.lambda);
        let (mut best, mut least, mut idle) = (Array1::zeros(chosen.len()), f64::INFINITY, 0);
        for taken in 1..=steps {
            let moved = point.step();
            let weights = point.weights();
            let value = own.value(&weights);
            let gap = value.gap / value.objective;
            idle += 1;
            if gap < least {
                (best, least, idle) = (weights, gap, 0);
            }
            if moved.is_err() || least <= tolerance || idle == IDLE {
                return (best, taken);
            }
        }
        (best, steps)
    }

    /// The weights less the smallest ones, as many as the tolerance lets go: an interior point has
    /// none that is exactly 0.
    fn with_fewest(&self, weights: &Array1<f64>, chosen: &[usize], tolerance: f64) -> Array1<f64> {
        let mut order = chosen.to_vec();
        order.sort_by(|&i, &j| weights[i].abs().total_cmp(&weights[j].abs()));
        let without = |count: usize| {
            let mut fewer = weights.clone();
            for &j in &order[..count] {
                fewer[j] = 0.0;
            }
            fewer
        };
        let (mut most, mut too_many) = (0, order.len() + 1);
        while too_many - most > 1 {
            let middle = usize::midpoint(most, too_many);
            let value = self.value(&without(middle));
            if value.gap <= tolerance * value.objective { most = middle } else { too_many = middle }
        }
        without(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use mercer_linalg::Cholesky;
    use ndarray::Array2;

    /// Numbers in `(−1, 1)` without structure.
    fn noise(rows: usize, columns: usize, seed: f64) -> Array2<f64> {
        Array2::from_shape_fn((rows, columns), |(i, j)| {
            let x = ((i * columns + j) as f64 + 1.0) * 12.9898 + seed;
            2.0 * (x.sin() * 43_758.545_3).rem_euclid(1.0) - 1.0
        })
    }

    /// The least objective over all sets of unmet margins and all signs of the weights: for each,
    /// the optimality conditions are a linear system.
    fn by_brute_force(columns: &Array2<f64>, lambda: f64) -> f64 {
        let (p, n) = columns.dim();
        let problem = Problem { columns: columns.view(), lambda };
        let mut least = problem.value(&Array1::zeros(p)).objective;
        for signs in 0..3usize.pow(p as u32) {
            let sign = |j: usize| [0.0, 1.0, -1.0][signs / 3usize.pow(j as u32) % 3];
            let used: Vec<usize> = (0..p).filter(|&j| sign(j) != 0.0).collect();
            for unmet in 1..1usize << n {
                let rows: Vec<usize> = (0..n).filter(|i| (unmet >> i) & 1 == 1).collect();
                let own = columns.select(Axis(0), &used).select(Axis(1), &rows);
                let right: Vec<f64> = used
                    .iter()
                    .enumerate()
                    .map(|(at, &j)| own.row(at).sum() - 0.5 * lambda * sign(j))
                    .collect();
                let right = Array2::from_shape_vec((used.len(), 1), right).unwrap();
                let Ok(factor) = Cholesky::factor(own.dot(&own.t())) else { continue };
                let solved = factor.solve(&right).unwrap();
                let mut weights = Array1::zeros(p);
                for (&j, &weight) in used.iter().zip(solved.column(0)) {
                    weights[j] = weight;
                }
                least = least.min(problem.value(&weights).objective);
            }
        }
        least
    }

    #[test]
    fn brute_force_finds_nothing_better() {
        for seed in 0..6 {
            let columns = noise(4, 5, f64::from(seed));
            let sums = columns.sum_axis(Axis(1));
            let largest = 2.0 * sums.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
            for share in [0.7, 0.2, 0.02] {
                let found = Solution::run(columns.view(), share * largest, None, 1e-12, 1000);
                let expected = by_brute_force(&columns, share * largest);
                assert!(found.converged, "{found:?}");
                assert_relative_eq!(found.objective, expected, max_relative = 1e-10);
            }
        }
    }

    /// A linear kernel, a narrow Gaussian and a wide one, whose columns are nearly equal: coordinate
    /// descent left gaps of up to half the objective of such problems after 5000 passes.
    #[test]
    fn nearly_equal_columns_are_no_obstacle() {
        let (n, d) = (50, 20);
        let x = noise(n, d, 0.5).mapv(|x| 0.5 * (x + 1.0));
        let signs = noise(n, 1, 7.5).mapv(f64::signum);
        let mut columns = Array2::zeros((3 * n, n));
        for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
            let squared = (&x.row(i) - &x.row(j)).mapv(|x| x * x).sum();
            let y = signs[[j, 0]];
            columns[[i, j]] = y * x.row(i).dot(&x.row(j));
            columns[[n + i, j]] = y * (-0.5 * squared / 0.01).exp();
            columns[[2 * n + i, j]] = y * (-0.5 * squared / 1e4).exp();
        }
        let sums = columns.sum_axis(Axis(1));
        let largest = 2.0 * sums.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
        let mut last: Option<Solution> = None;
        for step in 0..10 {
            let lambda = largest * 10f64.powf(-f64::from(step) / 3.0);
            let found = Solution::run(columns.view(), lambda, last.as_ref(), 1e-8, 500);
            assert!(found.converged && found.gap <= 1e-8 * found.objective, "{found:?}");
            // Optimality: no pull beyond λ, and λ itself where a weight is in use.
            let hinge = found.weights.dot(&columns).mapv(|f| (1.0 - f).max(0.0));
            let pull = 2.0 * columns.dot(&hinge);
            for (j, (pull, weight)) in pull.iter().zip(&found.weights).enumerate() {
                assert!(pull.abs() <= lambda * (1.0 + 1e-6), "{j}: {pull} and {lambda}");
                let slack = weight.abs() * (lambda - weight.signum() * pull).abs();
                assert!(slack <= 1e-7 * found.objective, "{j}: {weight} {pull} and {lambda}");
            }
            last = Some(found);
        }
        let last = last.expect("ten steps");
        let used = last.weights.iter().filter(|weight| **weight != 0.0).count();
        assert!(used < 3 * n, "{used}");
        // From nothing, the same optimum.
        let cold = Solution::run(columns.view(), 1e-3 * largest, None, 1e-8, 500);
        assert_relative_eq!(cold.objective, last.objective, max_relative = 2e-8);
    }

    #[test]
    fn too_few_steps_are_no_convergence() {
        let columns = noise(30, 10, 3.0);
        let found = Solution::run(columns.view(), 1e-3, None, 1e-8, 3);
        assert!(!found.converged && found.steps == 3 && found.gap > 1e-8 * found.objective);
        assert!(found.weights.iter().all(|weight| weight.is_finite()));
    }
}
