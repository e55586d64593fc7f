use crate::SolverError;
use std::cmp::Ordering;
use std::collections::VecDeque;

/// Limited-memory BFGS for smooth functions of few variables, within a box if one is given.
///
/// The direction is `−H g` over the variables that are free. `H` comes from the last `memory` pairs of moves and
/// gradient changes (Nocedal and Wright, *Numerical Optimization*, 2nd ed., Alg. 7.4). A variable is not free while it
/// stands at its bound and the gradient pushes it outward. The step satisfies the weak Wolfe conditions (`c₁ = 1e-4`,
/// `c₂ = 0.9`), found by bisection (Lewis and Overton 2013). It goes along the path projected onto the box (Bertsekas
/// 1982); where the box cuts the step, sufficient decrease is enough.
///
/// ```
/// use mercer_solvers::Lbfgs;
/// // Rosenbrock's valley, minimal at (1, 1).
/// let valley = |x: &[f64]| {
///     let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
///     Ok::<_, mercer_solvers::SolverError>((
///         a * a + 100.0 * b * b,
///         vec![-2.0 * a - 400.0 * b * x[0], 200.0 * b],
///     ))
/// };
/// let minimum = Lbfgs::default().minimise(valley, &[-1.2, 1.0])?;
/// assert!(minimum.converged && (minimum.x[0] - 1.0).abs() < 1e-6);
/// # Ok::<(), mercer_solvers::SolverError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Lbfgs {
    /// Pairs that are remembered, at least 1.
    pub memory: usize,
    /// Iterations at most.
    pub iterations: usize,
    /// Largest entry of the projected gradient at which it has converged. It is in units of the function.
    pub tolerance: f64,
    /// Relative decrease of the value at which it has also converged. An iteration then lowers the value `f` by at most
    /// this times `max(1, |f|)`.
    pub decrease: f64,
    /// Lowest and highest value of each variable; none for all of them.
    pub bounds: Option<Vec<(f64, f64)>>,
}

impl Default for Lbfgs {
    fn default() -> Self {
        Self { memory: 10, iterations: 1000, tolerance: 1e-8, decrease: 0.0, bounds: None }
    }
}

/// Where a minimisation ended.
///
/// ```
/// use mercer_solvers::{Lbfgs, SolverError};
/// // (x − 3)² where x ≤ 1: the minimum stands at the bound, and its gradient of −4 does not count.
/// let bowl = |x: &[f64]| Ok::<_, SolverError>(((x[0] - 3.0).powi(2), vec![2.0 * (x[0] - 3.0)]));
/// let within = Lbfgs { bounds: Some(vec![(0.0, 1.0)]), ..Lbfgs::default() };
/// let minimum = within.minimise(bowl, &[0.5])?;
/// assert_eq!((minimum.x, minimum.value, minimum.gradient), (vec![1.0], 4.0, 0.0));
/// assert!(minimum.converged && minimum.evaluations >= minimum.iterations);
/// # Ok::<(), SolverError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Minimum {
    /// The point.
    pub x: Vec<f64>,
    /// The function there.
    pub value: f64,
    /// The largest entry of the projected gradient there.
    pub gradient: f64,
    /// Iterations that were run.
    pub iterations: usize,
    /// Evaluations of the function.
    pub evaluations: usize,
    /// Whether a tolerance was met.
    pub converged: bool,
}

/// Halvings and doublings of a step before it is given up.
const TRIALS: usize = 50;

struct Point {
    x: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
}

/// A move and the change of the gradient along it.
struct Pair {
    step: Vec<f64>,
    change: Vec<f64>,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Lbfgs {
    /// Minimises `function`, which returns its value and gradient, from `start`.
    ///
    /// A value of `+∞` or NaN away from the start is a step too far and is halved; an error of
    /// `function` ends the minimisation and is passed on.
    ///
    /// # Errors
    /// What `function` says, or [`SolverError`] (turned into that type) for a memory of 0, a
    /// negative tolerance, bounds that are not as many as variables or out of order, a start that
    /// is not finite or where the function is not.
    pub fn minimise<E: From<SolverError>>(
        &self,
        mut function: impl FnMut(&[f64]) -> Result<(f64, Vec<f64>), E>,
        start: &[f64],
    ) -> Result<Minimum, E> {
        self.check(start)?;
        let mut evaluations = 0;
        let mut at = |x: Vec<f64>| {
            evaluations += 1;
            let (value, gradient) = function(&x)?;
            Ok::<_, E>(Point { x, value, gradient })
        };
        let mut here = at(self.inside(start.to_vec()))?;
        if let Some(&value) =
            std::iter::once(&here.value).chain(&here.gradient).find(|value| !value.is_finite())
        {
            let what = "the function or its gradient at the start";
            return Err(SolverError::NotFinite { what, value }.into());
        }
        let mut pairs: VecDeque<Pair> = VecDeque::new();
        let (mut iterations, mut converged) = (0, self.slope(&here) <= self.tolerance);
        while !converged && iterations < self.iterations {
            let free = self.free(&here);
            let mut direction = two_loops(&pairs, &here.gradient, &free);
            if dot(&direction, &here.gradient) >= 0.0 {
                // Rounding, or pairs from other free variables: begin afresh.
                pairs.clear();
                direction = two_loops(&pairs, &here.gradient, &free);
            }
            // Without pairs the gradient has no scale: a first step of length 1 at most.
            let length = dot(&direction, &direction).sqrt();
            let first = if pairs.is_empty() { length.recip().min(1.0) } else { 1.0 };
            let Some(next) = self.search(&mut at, &here, &direction, first)? else {
                if pairs.is_empty() {
                    break;
                }
                pairs.clear();
                continue;
            };
            iterations += 1;
            let pair = Pair {
                step: next.x.iter().zip(&here.x).map(|(a, b)| a - b).collect(),
                change: next.gradient.iter().zip(&here.gradient).map(|(a, b)| a - b).collect(),
            };
            let curvature = dot(&pair.step, &pair.change);
            if curvature > f64::EPSILON * dot(&pair.change, &pair.change) {
                pairs.push_back(pair);
                if pairs.len() > self.memory {
                    pairs.pop_front();
                }
            }
            let lowered = here.value - next.value;
            here = next;
            converged = self.slope(&here) <= self.tolerance
                || lowered <= self.decrease * here.value.abs().max(1.0);
        }
        let gradient = self.slope(&here);
        let Point { x, value, .. } = here;
        Ok(Minimum { x, value, gradient, iterations, evaluations, converged })
    }

    fn check(&self, start: &[f64]) -> Result<(), SolverError> {
        let refuse = |what, value| Err(SolverError::NotFinite { what, value });
        if let Some(&value) = start.iter().find(|value| !value.is_finite()) {
            return refuse("the start of a minimisation", value);
        }
        let setting = |name, value: f64, must| {
            Err(SolverError::Setting { name, value: value.to_string(), must })
        };
        if self.memory == 0 {
            return setting("memory", 0.0, "at least 1");
        }
        for (name, value) in [("tolerance", self.tolerance), ("decrease", self.decrease)] {
            if !(value >= 0.0 && value.is_finite()) {
                return setting(name, value, "at least 0 and finite");
            }
        }
        let Some(bounds) = &self.bounds else { return Ok(()) };
        if bounds.len() != start.len() {
            let (expected, found) = (start.len(), bounds.len());
            return Err(SolverError::Lengths { what: "the bounds", expected, found });
        }
        let ordered = |(low, high): &&(f64, f64)| low.partial_cmp(high) == Some(Ordering::Less);
        match bounds.iter().find(|bound| !ordered(bound)) {
            Some(&(low, _)) => setting("lower bound", low, "below the upper bound"),
            None => Ok(()),
        }
    }

    /// The nearest point of the box.
    fn inside(&self, mut x: Vec<f64>) -> Vec<f64> {
        if let Some(bounds) = &self.bounds {
            x.iter_mut().zip(bounds).for_each(|(x, &(low, high))| *x = x.clamp(low, high));
        }
        x
    }

    /// Which variables do not stand at a bound that the gradient pushes them against.
    fn free(&self, at: &Point) -> Vec<bool> {
        let Some(bounds) = &self.bounds else { return vec![true; at.x.len()] };
        let stuck = |(x, g): (&f64, &f64), &(low, high): &(f64, f64)| {
            (*x <= low && *g > 0.0) || (*x >= high && *g < 0.0)
        };
        at.x.iter().zip(&at.gradient).zip(bounds).map(|(pair, bound)| !stuck(pair, bound)).collect()
    }

    /// The largest entry of the projected gradient.
    fn slope(&self, at: &Point) -> f64 {
        let free = self.free(at);
        let entries = at.gradient.iter().zip(&free).filter(|(_, free)| **free);
        entries.fold(0.0, |largest: f64, (g, _)| largest.max(g.abs()))
    }

    /// A point along the direction that satisfies the weak Wolfe conditions, if one is found.
    fn search<E>(
        &self,
        at: &mut impl FnMut(Vec<f64>) -> Result<Point, E>,
        here: &Point,
        direction: &[f64],
        first: f64,
    ) -> Result<Option<Point>, E> {
        let slope = dot(direction, &here.gradient);
        let (mut low, mut high, mut t) = (0.0, f64::INFINITY, first);
        let mut best: Option<Point> = None;
        for _ in 0..TRIALS {
            let straight: Vec<f64> = here.x.iter().zip(direction).map(|(x, d)| x + t * d).collect();
            let moved = self.inside(straight.clone());
            let cut = moved != straight;
            let step: Vec<f64> = moved.iter().zip(&here.x).map(|(a, b)| a - b).collect();
            let there = at(moved)?;
            // So written, NaN is too far.
            let lower = there.value <= here.value + 1e-4 * dot(&here.gradient, &step)
                && there.gradient.iter().all(|g| g.is_finite());
            if !lower {
                high = t;
            } else if cut || dot(direction, &there.gradient) >= 0.9 * slope {
                return Ok(Some(there));
            } else {
                low = t;
                best = Some(there);
            }
            t = if high.is_finite() { f64::midpoint(low, high) } else { 2.0 * low };
        }
        Ok(best)
    }
}

/// `−H g` over the free variables, 0 elsewhere.
fn two_loops(pairs: &VecDeque<Pair>, gradient: &[f64], free: &[bool]) -> Vec<f64> {
    let restricted = |vector: &[f64]| -> Vec<f64> {
        vector.iter().zip(free).map(|(v, free)| if *free { *v } else { 0.0 }).collect()
    };
    let mut q = restricted(gradient);
    // Pairs as the free variables see them; those without curvature there do not count.
    let usable: Vec<(Vec<f64>, Vec<f64>, f64)> = pairs
        .iter()
        .map(|pair| (restricted(&pair.step), restricted(&pair.change)))
        .map(|(s, y)| (dot(&s, &y), s, y))
        .filter(|(curvature, _, y)| *curvature > f64::EPSILON * dot(y, y))
        .map(|(curvature, s, y)| (s, y, curvature.recip()))
        .collect();
    let mut weights = Vec::with_capacity(usable.len());
    for (s, y, rho) in usable.iter().rev() {
        let weight = rho * dot(s, &q);
        q.iter_mut().zip(y).for_each(|(q, y)| *q -= weight * y);
        weights.push(weight);
    }
    if let Some((_, y, rho)) = usable.last() {
        let scale = 1.0 / (rho * dot(y, y));
        for q in &mut q {
            *q *= scale;
        }
    }
    for ((s, y, rho), weight) in usable.iter().zip(weights.iter().rev()) {
        let other = rho * dot(y, &q);
        q.iter_mut().zip(s).for_each(|(q, s)| *q += (weight - other) * s);
    }
    for q in &mut q {
        *q = -*q;
    }
    q
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    type Value = Result<(f64, Vec<f64>), SolverError>;

    #[expect(clippy::unnecessary_wraps, reason = "the form in which a function is minimised")]
    fn valley(x: &[f64]) -> Value {
        let mut gradient = vec![0.0; x.len()];
        let mut value = 0.0;
        for i in 0..x.len() - 1 {
            let (a, b) = (1.0 - x[i], x[i + 1] - x[i] * x[i]);
            value += a * a + 100.0 * b * b;
            gradient[i] += -2.0 * a - 400.0 * b * x[i];
            gradient[i + 1] += 200.0 * b;
        }
        Ok((value, gradient))
    }

    #[test]
    fn the_bottom_of_a_valley_is_found() {
        for n in [2, 10, 40] {
            let start: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { -1.2 } else { 1.0 }).collect();
            let minimum = Lbfgs::default().minimise(valley, &start).unwrap();
            assert!(minimum.converged && minimum.gradient <= 1e-8);
            assert!(minimum.iterations <= minimum.evaluations);
            // Long valleys have another minimum near (-1, 1, ..., 1).
            assert!(minimum.value < 1e-12 || (minimum.value - 3.98).abs() < 0.02, "{minimum:?}");
        }
    }

    #[test]
    fn a_quadratic_takes_few_iterations() {
        let scale = [1.0, 10.0, 1e3, 1e5];
        let bowl = |x: &[f64]| -> Value {
            let g: Vec<f64> = x.iter().zip(scale).map(|(x, a)| a * (x - 1.0)).collect();
            Ok((0.5 * x.iter().zip(&g).map(|(x, g)| (x - 1.0) * g).sum::<f64>(), g))
        };
        let minimum = Lbfgs::default().minimise(bowl, &[0.0; 4]).unwrap();
        assert!(minimum.converged && minimum.iterations < 60, "{minimum:?}");
        minimum.x.iter().for_each(|x| assert_abs_diff_eq!(*x, 1.0, epsilon = 1e-7));
    }

    #[test]
    fn the_box_is_kept_and_its_wall_is_an_answer() {
        let inside = std::cell::Cell::new(true);
        let watched = |x: &[f64]| {
            inside.set(inside.get() && x[0] <= 0.5 && x[1] >= -0.3);
            valley(x)
        };
        let bounds = Some(vec![(-2.0, 0.5), (-0.3, 5.0)]);
        let minimum = Lbfgs { bounds, ..Lbfgs::default() }.minimise(watched, &[-1.2, 1.0]).unwrap();
        assert!(minimum.converged && inside.get());
        assert_abs_diff_eq!(minimum.x[0], 0.5, epsilon = 1e-12);
        assert_abs_diff_eq!(minimum.x[1], 0.25, epsilon = 1e-8);
    }

    #[test]
    fn steps_into_infinity_are_taken_back() {
        // -log x - log(1 - x): infinite or NaN beyond 0 and 1.
        let barrier = |x: &[f64]| -> Value {
            Ok((-x[0].ln() - (1.0 - x[0]).ln(), vec![-1.0 / x[0] + 1.0 / (1.0 - x[0])]))
        };
        let minimum = Lbfgs::default().minimise(barrier, &[0.001]).unwrap();
        assert!(minimum.converged);
        assert_abs_diff_eq!(minimum.x[0], 0.5, epsilon = 1e-8);
    }

    #[test]
    fn limits_and_faults_are_told() {
        let few = Lbfgs { iterations: 3, ..Lbfgs::default() };
        let minimum = few.minimise(valley, &[-1.2, 1.0]).unwrap();
        assert!(!minimum.converged && minimum.iterations == 3);
        let fault =
            |lbfgs: Lbfgs, start: &[f64]| lbfgs.minimise(valley, start).unwrap_err().to_string();
        let of = |bounds| Lbfgs { bounds: Some(bounds), ..Lbfgs::default() };
        assert!(fault(Lbfgs::default(), &[f64::NAN, 0.0]).contains("NaN"));
        assert!(fault(Lbfgs { memory: 0, ..Lbfgs::default() }, &[0.0, 0.0]).contains("memory"));
        assert!(
            fault(Lbfgs { tolerance: -1.0, ..Lbfgs::default() }, &[0.0; 2]).contains("tolerance")
        );
        assert!(fault(of(vec![(0.0, 1.0)]), &[0.0; 2]).contains("the bounds are 1"));
        assert!(fault(of(vec![(0.0, 1.0), (2.0, 1.0)]), &[0.0; 2]).contains("`lower bound` is 2"));
        let broken = |_: &[f64]| Ok::<_, SolverError>((f64::NAN, vec![0.0]));
        assert!(Lbfgs::default().minimise(broken, &[0.0]).is_err());
    }
}
