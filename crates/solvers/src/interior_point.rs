//! Interior points for the SVM dual with a kernel of few features. The kernel is a product of these features.

use crate::{Dual, Solution, SolverError};
use mercer_linalg::{Cholesky, minimum_norm_solve, multiplied, symmetric_product};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, s};

/// How much of the way to the nearest bound a step goes.
const SHARE: f64 = 0.995;
/// Steps after which the gradient is computed anew: rounding adds up.
const REFRESH: usize = 8;
/// Weights between bounds whose kernel matrix is decomposed where the barriers do not meet the tolerance.
const POLISHED: usize = 400;

/// Settings of a primal-dual interior-point method for `K = F Fᵀ`, `F` of `n` rows and `r` columns.
///
/// Write `β = u − v` with `0 ≤ u ≤ upper`, `0 ≤ v ≤ −lower`: the [`Dual`] becomes a quadratic programme without kinks.
/// A Newton step for its optimality conditions, each complementarity set to `μ`, is a diagonal plus `F Fᵀ`. With
/// `E = diag(e)`, `1/e_t` the curvature of the barriers at point `t`, it takes the system
///
/// ```text
/// ( I + Fᵀ E F   Fᵀ e ) ( Fᵀ Δβ )   ( Fᵀ h       )
/// (   eᵀ F       1ᵀ e ) (  Δb   ) = ( 1ᵀ h + 1ᵀ β )
/// ```
/// of `r + 1` unknowns (Ferris & Munson, *Interior-point methods for massive support vector machines*, 2002; Fine &
/// Scheinberg, *Efficient SVM training using low-rank kernel representations*, 2001). It takes the system twice a step,
/// as Mehrotra (1992) predicts and corrects. The cost is `n r²` multiply-adds a step and some tens of steps, whatever
/// the cost parameter, where [`crate::Smo`] takes the more steps the larger it is. `O(n r)` memory.
///
/// After each step weights at a bound are put on it, and the gradient of these weights is computed from `F`. Their
/// violation is measured as [`crate::Smo`] measures it: the returned weights keep the bounds, and are as near to
/// optimal as the violation says.
///
/// ```
/// use mercer_solvers::{Dual, InteriorPoint};
/// use ndarray::array;
/// // A line through three points, one of them off by more than the tube.
/// let inputs = array![[0.0], [1.0], [2.0], [3.0]];
/// let dual = Dual::regression(array![0.0, 1.0, 2.0, 9.0].view(), 0.1, 1.0)?;
/// let solution = InteriorPoint { tolerance: 1e-8, ..Default::default() }.solve(inputs.view(), &dual)?;
/// assert!(solution.converged && (solution.weights[3] - 1.0).abs() < 1e-12); // at its bound
/// assert!(solution.weights.sum().abs() < 1e-9);
/// # Ok::<(), mercer_solvers::SolverError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InteriorPoint {
    /// Largest violation of optimality by a pair of weights at which the run ends. It is measured on the gradient, in
    /// units of the targets.
    pub tolerance: f64,
    /// Steps at most.
    pub max_steps: usize,
}

impl Default for InteriorPoint {
    fn default() -> Self {
        Self { tolerance: 1e-3, max_steps: 200 }
    }
}

impl InteriorPoint {
    /// Solves the dual with the kernel `F Fᵀ` of `features` (`n × r`). Of the [`Solution`], `rows_computed` and
    /// `set_aside` are 0.
    ///
    /// # Errors
    /// [`SolverError::Setting`] for a tolerance that is not positive, [`SolverError::Lengths`] if features and
    /// dual differ in size, [`SolverError::NotFinite`] for such features.
    pub fn solve(
        &self,
        features: ArrayView2<'_, f64>,
        dual: &Dual,
    ) -> Result<Solution, SolverError> {
        self.solve_checked(features, dual, || Ok(()))
    }

    /// Does the same, and asks `check` before every step whether to go on.
    ///
    /// # Errors
    /// As [`InteriorPoint::solve`], and whatever `check` says.
    pub fn solve_checked<E: From<SolverError>>(
        &self,
        features: ArrayView2<'_, f64>,
        dual: &Dual,
        mut check: impl FnMut() -> Result<(), E>,
    ) -> Result<Solution, E> {
        dual.check_run(self.tolerance, "the rows of the features", features.nrows())?;
        let n = dual.len();
        if let Some(&value) = features.iter().find(|value| !value.is_finite()) {
            return Err(SolverError::NotFinite { what: "the features", value }.into());
        }
        let mut run = Run::new(features.view(), dual);
        let mut best = run.closed(Array1::zeros(n), 0, self.tolerance);
        for step in 1..=self.max_steps {
            if best.converged {
                break;
            }
            check()?;
            if !run.step() {
                // Rounding has used up what the barriers could tell apart.
                break;
            }
            if step % REFRESH == 0 {
                run.refresh();
            }
            // Before that the bounds are not told from what is near them.
            if run.residual() > 0.5 * self.tolerance {
                continue;
            }
            let Some(weights) = run.rounded() else { continue };
            let mut closed = run.closed(weights, step, self.tolerance);
            if !closed.converged
                && let Some(weights) = run.polished(&closed.weights)
            {
                let polished = run.closed(weights, step, self.tolerance);
                if polished.violation < closed.violation {
                    closed = polished;
                }
            }
            if closed.violation < best.violation {
                best = closed;
            }
        }
        Ok(best)
    }
}

/// One of `u` and `v`: how far the weights reach on one side of 0. A point that has no room there is left out.
struct Side {
    /// 1 or −1.
    sign: f64,
    /// Upper bounds `c`; 0 where there is no room.
    room: Vec<f64>,
    /// `u`, strictly between 0 and `c`.
    value: Vec<f64>,
    /// Multipliers of `u ≥ 0`.
    low: Vec<f64>,
    /// Multipliers of `u ≤ c`.
    high: Vec<f64>,
    /// What a step adds to the three.
    moves: [Vec<f64>; 3],
}

impl Side {
    fn new(sign: f64, room: Vec<f64>, scale: f64) -> Self {
        let n = room.len();
        let start: Vec<f64> =
            room.iter().map(|&room| if room > 0.0 { scale } else { 0.0 }).collect();
        Self {
            sign,
            value: room.iter().map(|room| 0.5 * room).collect(),
            low: start.clone(),
            high: start,
            moves: [vec![0.0; n], vec![0.0; n], vec![0.0; n]],
            room,
        }
    }

    fn points(&self) -> impl Iterator<Item = usize> + use<'_> {
        (0..self.room.len()).filter(|&t| self.room[t] > 0.0)
    }

    /// `z/u + s/(c − u)`: the curvature of the barriers.
    fn curvature(&self, t: usize) -> f64 {
        self.low[t] / self.value[t] + self.high[t] / (self.room[t] - self.value[t])
    }

    /// What the stationarity of `u` lacks, `slope` being `(K β − z + b)_t`.
    fn lacking(&self, t: usize, slope: f64, epsilon: f64) -> f64 {
        self.sign * slope + epsilon - self.low[t] + self.high[t]
    }

    /// The right-hand side of a Newton step to complementarities `μ`; `corrected` takes in what the last step
    /// would leave of second order.
    fn right(&self, t: usize, slope: f64, epsilon: f64, mu: f64, corrected: bool) -> f64 {
        let (low, high) = self.goals(t, mu, corrected);
        -self.lacking(t, slope, epsilon) + (low / self.value[t] - self.low[t])
            - (high / (self.room[t] - self.value[t]) - self.high[t])
    }

    /// What the two complementarities are to become.
    fn goals(&self, t: usize, mu: f64, corrected: bool) -> (f64, f64) {
        if corrected {
            let [value, low, high] = &self.moves;
            (mu - value[t] * low[t], mu + value[t] * high[t])
        } else {
            (mu, mu)
        }
    }

    /// The step of one point, from its right-hand side and the change of its slope.
    fn aim(&mut self, t: usize, right: f64, change: f64, mu: f64, corrected: bool) {
        let (low, high) = self.goals(t, mu, corrected);
        let (value, above) = (self.value[t], self.room[t] - self.value[t]);
        let step = (right - self.sign * change) / self.curvature(t);
        self.moves[0][t] = step;
        self.moves[1][t] = low / value - self.low[t] - self.low[t] / value * step;
        self.moves[2][t] = high / above - self.high[t] + self.high[t] / above * step;
    }

    /// The longest step, at most 1, that leaves everything inside.
    fn longest(&self) -> f64 {
        let [value, low, high] = &self.moves;
        let mut longest: f64 = 1.0;
        for t in self.points() {
            let above = self.room[t] - self.value[t];
            for (at, step) in [
                (self.value[t], value[t]),
                (above, -value[t]),
                (self.low[t], low[t]),
                (self.high[t], high[t]),
            ] {
                if step < 0.0 {
                    longest = longest.min(-at / step);
                }
            }
        }
        longest
    }

    /// Sum of the complementarities after a step of this length, and how many there are.
    fn gap(&self, length: f64) -> (f64, usize) {
        let [value, low, high] = &self.moves;
        let (mut sum, mut count) = (0.0, 0);
        for t in self.points() {
            let at = self.value[t] + length * value[t];
            sum += at * (self.low[t] + length * low[t])
                + (self.room[t] - at) * (self.high[t] + length * high[t]);
            count += 2;
        }
        (sum, count)
    }

    fn go(&mut self, length: f64) {
        let [value, low, high] = &self.moves;
        for t in 0..self.room.len() {
            self.value[t] += length * value[t];
            self.low[t] += length * low[t];
            self.high[t] += length * high[t];
        }
    }

    /// The value, put on a bound whose multiplier outweighs the distance to it.
    fn rounded(&self, t: usize, scale: f64) -> f64 {
        if self.room[t] <= 0.0 || self.value[t] < scale * self.low[t] {
            0.0
        } else if self.room[t] - self.value[t] < scale * self.high[t] {
            self.room[t]
        } else {
            self.value[t]
        }
    }
}

struct Run<'a> {
    features: ArrayView2<'a, f64>,
    dual: &'a Dual,
    sides: [Side; 2],
    bias: f64,
    /// `K β − z`.
    gradient: Array1<f64>,
    /// Rows `√e_t (F_t, 1)` of the system's factor.
    scaled: Array2<f64>,
    /// `e`.
    weights: Array1<f64>,
}

impl<'a> Run<'a> {
    fn new(features: ArrayView2<'a, f64>, dual: &'a Dual) -> Self {
        let (n, r) = features.dim();
        let largest = dual.targets.iter().fold(0.0f64, |most, z| most.max(z.abs()));
        let scale = if largest + dual.epsilon > 0.0 { largest + dual.epsilon } else { 1.0 };
        let above = dual.upper.iter().map(|upper| upper.max(0.0)).collect();
        let below = dual.lower.iter().map(|lower| (-lower).max(0.0)).collect();
        let mut run = Self {
            features,
            dual,
            sides: [Side::new(1.0, above, scale), Side::new(-1.0, below, scale)],
            bias: 0.0,
            gradient: Array1::zeros(n),
            scaled: Array2::zeros((n, r + 1)),
            weights: Array1::zeros(n),
        };
        run.refresh();
        run
    }

    /// `β`.
    fn beta(&self) -> Array1<f64> {
        let [up, down] = &self.sides;
        up.value.iter().zip(&down.value).map(|(u, v)| u - v).collect()
    }

    /// `F Fᵀ β − z`.
    fn gradient_at(&self, beta: ArrayView1<'_, f64>) -> Array1<f64> {
        let coordinates = multiplied(self.features.t(), beta.insert_axis(Axis(1)));
        multiplied(self.features.view(), coordinates.view()).remove_axis(Axis(1))
            - &self.dual.targets
    }

    fn refresh(&mut self) {
        self.gradient = self.gradient_at(self.beta().view());
    }

    /// The largest lack of stationarity.
    fn residual(&self) -> f64 {
        let lack = |side: &Side| {
            let lacking =
                |t| side.lacking(t, self.gradient[t] + self.bias, self.dual.epsilon).abs();
            side.points().map(lacking).fold(0.0, f64::max)
        };
        lack(&self.sides[0]).max(lack(&self.sides[1]))
    }

    /// Mean complementarity after a step of this length.
    fn mu(&self, length: f64) -> f64 {
        let [first, second] = [0, 1].map(|side| self.sides[side].gap(length));
        (first.0 + second.0) / (first.1 + second.1) as f64
    }

    /// One step; false if the system cannot be solved any more.
    fn step(&mut self) -> bool {
        let r = self.features.ncols();
        self.weights.fill(0.0);
        for side in &self.sides {
            for t in side.points() {
                self.weights[t] += side.curvature(t).recip();
            }
        }
        for ((mut to, from), weight) in
            self.scaled.rows_mut().into_iter().zip(self.features.rows()).zip(&self.weights)
        {
            let root = weight.sqrt();
            to.slice_mut(s![..r]).assign(&from);
            to[r] = 1.0;
            to *= root;
        }
        let mut system = symmetric_product(self.scaled.view());
        system.diag_mut().slice_mut(s![..r]).mapv_inplace(|entry| entry + 1.0);
        if system.iter().any(|entry| !entry.is_finite()) {
            return false;
        }
        let Ok(factor) = Cholesky::factor(system) else { return false };
        for side in &mut self.sides {
            side.moves.iter_mut().for_each(|moves| moves.fill(0.0));
        }
        let before = self.mu(0.0);
        if self.aim(&factor, 0.0, false).is_none() {
            return false;
        }
        let after = self.mu(self.longest());
        let centred = (after / before).powi(3).min(1.0) * before;
        let Some((change, shift)) = self.aim(&factor, centred, true) else { return false };
        let length = SHARE * self.longest();
        if !(length > 1e-12 && length.is_finite()) {
            return false;
        }
        self.sides.iter_mut().for_each(|side| side.go(length));
        self.bias += length * shift;
        self.gradient.scaled_add(length, &change);
        true
    }

    fn longest(&self) -> f64 {
        self.sides[0].longest().min(self.sides[1].longest())
    }

    /// Sets the moves of both sides to a Newton step; what it changes of the gradient, and of the bias.
    fn aim(&mut self, factor: &Cholesky, mu: f64, corrected: bool) -> Option<(Array1<f64>, f64)> {
        let (n, r) = self.features.dim();
        let epsilon = self.dual.epsilon;
        let mut rights = [vec![0.0; n], vec![0.0; n]];
        let mut h = Array1::<f64>::zeros(n);
        for (side, rights) in self.sides.iter().zip(&mut rights) {
            for t in side.points() {
                let slope = self.gradient[t] + self.bias;
                rights[t] = side.right(t, slope, epsilon, mu, corrected);
                h[t] += side.sign * rights[t] / side.curvature(t);
            }
        }
        let mut right = Array2::zeros((r + 1, 1));
        let coordinates = multiplied(self.features.t(), h.view().insert_axis(Axis(1)));
        right.slice_mut(s![..r, ..]).assign(&coordinates);
        right[[r, 0]] = h.sum() + self.beta().sum();
        let solved = factor.solve(&right).ok()?;
        let shift = solved[[r, 0]];
        let change =
            multiplied(self.features.view(), solved.slice(s![..r, ..])).remove_axis(Axis(1));
        for (side, rights) in self.sides.iter_mut().zip(&rights) {
            for t in 0..n {
                if side.room[t] > 0.0 {
                    side.aim(t, rights[t], change[t] + shift, mu, corrected);
                }
            }
        }
        Some((change, shift))
    }

    /// The weights with those on their bounds that belong there, their sum 0; none while the movable weights cannot
    /// make it so.
    fn rounded(&self) -> Option<Array1<f64>> {
        let beta = self.beta();
        let size = beta.iter().map(|weight| weight.abs()).sum::<f64>() / beta.len() as f64;
        let multipliers: f64 =
            self.sides.iter().flat_map(|side| side.low.iter().chain(&side.high)).sum();
        let scale = size / (multipliers / (4 * beta.len()) as f64);
        let [up, down] = &self.sides;
        let mut weights: Array1<f64> =
            (0..beta.len()).map(|t| up.rounded(t, scale) - down.rounded(t, scale)).collect();
        for _ in 0..8 {
            let lacking = -weights.sum();
            if lacking.abs() <= 1e-12 * weights.iter().map(|weight| weight.abs()).sum::<f64>() {
                return Some(weights);
            }
            // As a change of the bias would: in proportion to how easily a weight moves.
            let free = |t: usize, weight: f64| {
                weight != 0.0 && weight > self.dual.lower[t] && weight < self.dual.upper[t]
            };
            let ease =
                |(t, &weight): (usize, &f64)| if free(t, weight) { self.weights[t] } else { 0.0 };
            let all: f64 = weights.iter().enumerate().map(ease).sum();
            if all <= 0.0 {
                return None;
            }
            for (t, weight) in weights.iter_mut().enumerate() {
                if free(t, *weight) {
                    let moved = *weight + lacking * self.weights[t] / all;
                    *weight = moved.clamp(self.dual.lower[t], self.dual.upper[t]);
                }
            }
        }
        None
    }

    /// The nearest weights at which those between bounds have a slope of 0 and the sum is 0: the barriers have
    /// used up half of the digits near the optimum. None where there are too many of them to decompose their
    /// kernel matrix, or where one would leave its place.
    fn polished(&self, weights: &Array1<f64>) -> Option<Array1<f64>> {
        let dual = self.dual;
        let free: Vec<usize> = (0..weights.len())
            .filter(|&t| {
                let weight = weights[t];
                weight != 0.0 && weight > dual.lower[t] && weight < dual.upper[t]
            })
            .collect();
        let k = free.len();
        if k == 0 || k > POLISHED {
            return None;
        }
        let gradient = self.gradient_at(weights.view());
        let own = self.features.select(Axis(0), &free);
        let mut system = Array2::ones((k + 1, k + 1));
        system.slice_mut(s![..k, ..k]).assign(&multiplied(own.view(), own.t()));
        system[[k, k]] = 0.0;
        let mut right = Array2::zeros((k + 1, 1));
        for (i, &t) in free.iter().enumerate() {
            right[[i, 0]] = -gradient[t] - dual.epsilon * weights[t].signum() - self.bias;
        }
        right[[k, 0]] = -weights.sum();
        let moves = minimum_norm_solve(system.view(), right.view(), None).ok()?.x;
        let mut polished = weights.clone();
        for (&t, step) in free.iter().zip(&moves) {
            let weight = weights[t] + step;
            if weight * weights[t] <= 0.0 || !(dual.lower[t]..=dual.upper[t]).contains(&weight) {
                return None;
            }
            polished[t] = weight;
        }
        Some(polished)
    }

    /// What these weights are, judged from the features alone.
    fn closed(&self, weights: Array1<f64>, steps: usize, tolerance: f64) -> Solution {
        let gradient = self.gradient_at(weights.view());
        let (mut least, mut largest) = (f64::INFINITY, f64::NEG_INFINITY);
        for (t, (&weight, &g)) in weights.iter().zip(&gradient).enumerate() {
            least = least.min(g + self.dual.upward(t, weight));
            largest = largest.max(g + self.dual.downward(t, weight));
        }
        let gradient = gradient.iter().copied().enumerate();
        let (bias, objective) = self.dual.closed(&weights.to_vec(), gradient, (least, largest));
        let violation = (largest - least).max(0.0);
        let bounded = weights.iter().enumerate().any(|(t, &weight)| self.dual.stops(t, weight));
        Solution {
            weights,
            bias,
            objective,
            violation,
            steps,
            converged: violation <= tolerance,
            rows_computed: 0,
            set_aside: 0,
            bounded,
        }
    }
}

#[cfg(test)]
mod tests;
