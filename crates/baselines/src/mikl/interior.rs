use mercer_linalg::{Cholesky, JITTER_LADDER, LinalgError, symmetric_product};
use ndarray::{Array1, ArrayView2, Axis, Zip};

/// A primal-dual interior point of
///
/// ```text
/// min over θ ∈ Rⁿ   ¼ ‖θ‖² − 1ᵀθ    such that   s⁺ = λ − C θ ≥ 0,   s⁻ = λ + C θ ≥ 0,   θ ≥ 0,
/// ```
///
/// the dual of `min Σ_i (1 − (Cᵀα)_i)₊² + λ ‖α‖₁`. The multipliers of the first two are the weights, `α = u − v`. The
/// third multiplier is how far a margin is met, `w = (Cᵀα − 1)₊`. At the optimum `θ = 2 (1 − Cᵀα)₊`, and
/// `u s⁺ = v s⁻ = w θ = 0` entry by entry.
pub(super) struct Interior<'a> {
    /// `C`, `k × n`: one column of `K_y` in a row.
    columns: ArrayView2<'a, f64>,
    lambda: f64,
    /// `u` and `s⁺`: a weight above 0, and how far `c_jᵀθ` stays below `λ`.
    above: Pair,
    /// `v` and `s⁻`: a weight below 0, and how far `c_jᵀθ` stays above `−λ`.
    below: Pair,
    /// `w` and `θ`.
    samples: Pair,
}

/// Multipliers and what they multiply, entry by entry positive.
struct Pair {
    multiplier: Array1<f64>,
    slack: Array1<f64>,
}

/// A direction of a [`Pair`].
struct Change {
    multiplier: Array1<f64>,
    slack: Array1<f64>,
}

/// How far to the boundary a step goes.
const REACH: f64 = 0.995;

impl Pair {
    fn new(slack: Array1<f64>, product: f64) -> Self {
        Self { multiplier: slack.mapv(|slack| product / slack), slack }
    }

    /// Sum of the products, 0 at the optimum.
    fn total(&self) -> f64 {
        self.multiplier.dot(&self.slack)
    }

    /// The same after a step.
    fn total_after(&self, change: &Change, step: f64) -> f64 {
        let multiplier = &self.multiplier + &(step * &change.multiplier);
        multiplier.dot(&(&self.slack + &(step * &change.slack)))
    }

    /// The longest step up to 1 that leaves all entries at least 0.
    fn room(&self, change: &Change) -> f64 {
        let own = |now: &Array1<f64>, by: &Array1<f64>| {
            now.iter()
                .zip(by)
                .filter(|(_, by)| **by < 0.0)
                .fold(1.0f64, |a, (x, by)| a.min(-x / by))
        };
        own(&self.multiplier, &change.multiplier).min(own(&self.slack, &change.slack))
    }

    fn go(&mut self, change: &Change, step: f64) {
        self.multiplier.scaled_add(step, &change.multiplier);
        self.slack.scaled_add(step, &change.slack);
    }

    /// Products wanted: `centre`, less the second-order term of a step tried before.
    fn wanted(&self, centre: f64, tried: Option<&Change>) -> Array1<f64> {
        match tried {
            Some(change) => centre - &change.multiplier * &change.slack,
            None => Array1::from_elem(self.slack.len(), centre),
        }
    }
}

/// What a Newton step needs of the present point, whatever its right-hand side.
struct System {
    /// Cholesky factor of `D⁻¹ + C A⁻¹ Cᵀ` (`k × k`).
    factor: Cholesky,
    /// `A⁻¹`, `A = ½ + w/θ` (`n`).
    by_sample: Array1<f64>,
    /// `D⁻¹`, `D = u/s⁺ + v/s⁻` (`k`).
    by_column: Array1<f64>,
    /// `1 − Cᵀα − θ/2 + w` (`n`).
    residual: Array1<f64>,
    /// `λ − C θ − s⁺` and `λ + C θ − s⁻` (`k`).
    short: [Array1<f64>; 2],
}

/// `Cᵀα` (`n`), row by row: a plain product would stride through memory, and most weights are 0.
pub(super) fn combined(columns: ArrayView2<'_, f64>, weights: &Array1<f64>) -> Array1<f64> {
    let mut sum = Array1::zeros(columns.ncols());
    for (column, &weight) in columns.rows().into_iter().zip(weights) {
        if weight != 0.0 {
            sum.scaled_add(weight, &column);
        }
    }
    sum
}

impl<'a> Interior<'a> {
    /// A point in the middle: `θ` constant, half-way to the first constraint it would meet.
    pub(super) fn new(columns: ArrayView2<'a, f64>, lambda: f64) -> Self {
        let (k, n) = columns.dim();
        let sums = columns.sum_axis(Axis(1));
        let steepest = sums.iter().fold(0.0, |a: f64, sum| a.max(sum.abs()));
        let level = if steepest > lambda { 0.5 * lambda / steepest } else { 0.5 };
        let product = n as f64 / (2 * k + n) as f64;
        Self {
            columns,
            lambda,
            above: Pair::new(lambda - level * &sums, product),
            below: Pair::new(lambda + level * &sums, product),
            samples: Pair::new(Array1::from_elem(n, level), product),
        }
    }

    /// `α = u − v`.
    pub(super) fn weights(&self) -> Array1<f64> {
        &self.above.multiplier - &self.below.multiplier
    }

    /// One step of Mehrotra's predictor and corrector (1992); returns its length, 1 at most.
    ///
    /// Newton's equations are solved for `dα`, which has as many entries as there are columns:
    ///
    /// ```text
    /// (D⁻¹ + C A⁻¹ Cᵀ) dα = C A⁻¹ g + D⁻¹ a,    dθ = A⁻¹ (g − Cᵀ dα),    C dθ = D⁻¹ (dα − a)
    /// ```
    ///
    /// # Errors
    /// Those of the factorisation, where rounding has used up what was left to gain.
    pub(super) fn step(&mut self) -> Result<f64, LinalgError> {
        let system = self.system()?;
        let pairs = (2 * self.columns.nrows() + self.columns.ncols()) as f64;
        let now = [&self.above, &self.below, &self.samples].map(Pair::total).iter().sum::<f64>();
        let straight = self.direction(&system, 0.0, None)?;
        let reach = self.room(&straight);
        let [above, below, samples] = &straight;
        let after = self.above.total_after(above, reach)
            + self.below.total_after(below, reach)
            + self.samples.total_after(samples, reach);
        let centre = (after / now).powi(3) * now / pairs;
        let corrected = self.direction(&system, centre, Some(&straight))?;
        let step = (REACH * self.room(&corrected)).min(1.0);
        let [above, below, samples] = &corrected;
        self.above.go(above, step);
        self.below.go(below, step);
        self.samples.go(samples, step);
        Ok(step)
    }

    fn room(&self, [above, below, samples]: &[Change; 3]) -> f64 {
        self.above.room(above).min(self.below.room(below)).min(self.samples.room(samples))
    }

    fn system(&self) -> Result<System, LinalgError> {
        let (theta, w) = (&self.samples.slack, &self.samples.multiplier);
        let pull = self.columns.dot(theta);
        let residual = 1.0 - combined(self.columns, &self.weights()) - 0.5 * theta + w;
        let by_sample = Zip::from(theta).and(w).map_collect(|theta, w| 1.0 / (0.5 + w / theta));
        let by_column = Zip::from(&self.above.multiplier)
            .and(&self.above.slack)
            .and(&self.below.multiplier)
            .and(&self.below.slack)
            .map_collect(|u, up, v, down| 1.0 / (u / up + v / down));
        let scaled = &self.columns * &by_sample.mapv(f64::sqrt);
        let mut matrix = symmetric_product(scaled.t());
        matrix.diag_mut().zip_mut_with(&by_column, |entry, own| *entry += own);
        let (factor, _) = Cholesky::with_jitter(matrix, &JITTER_LADDER)?;
        let short =
            [self.lambda - &pull - &self.above.slack, self.lambda + &pull - &self.below.slack];
        Ok(System { factor, by_sample, by_column, residual, short })
    }

    /// Newton's direction to products of `centre`, less the second-order terms of `tried`.
    fn direction(
        &self,
        system: &System,
        centre: f64,
        tried: Option<&[Change; 3]>,
    ) -> Result<[Change; 3], LinalgError> {
        // A multiplier's own part of its change: du = own + (u/s⁺) C dθ, and so on.
        let own = |pair: &Pair, index: usize, short: Option<&Array1<f64>>| {
            let mut wanted = pair.wanted(centre, tried.map(|changes| &changes[index]));
            if let Some(short) = short {
                wanted -= &(&pair.multiplier * short);
            }
            wanted / &pair.slack - &pair.multiplier
        };
        let [up_short, down_short] = &system.short;
        let up = own(&self.above, 0, Some(up_short));
        let down = own(&self.below, 1, Some(down_short));
        let met = own(&self.samples, 2, None);
        let a = &up - &down;
        let g = &system.residual + &met;
        let right = self.columns.dot(&(&system.by_sample * &g)) + &system.by_column * &a;
        let alpha = system.factor.solve(&right.insert_axis(Axis(1)))?.remove_axis(Axis(1));
        let theta = (g - combined(self.columns, &alpha)) * &system.by_sample;
        let pull = (alpha - a) * &system.by_column;
        let w = met - &self.samples.multiplier / &self.samples.slack * &theta;
        Ok([
            Change {
                multiplier: up + &self.above.multiplier / &self.above.slack * &pull,
                slack: up_short - &pull,
            },
            Change {
                multiplier: down - &self.below.multiplier / &self.below.slack * &pull,
                slack: down_short + &pull,
            },
            Change { multiplier: w, slack: theta },
        ])
    }
}
