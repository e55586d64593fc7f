use super::cache::RowCache;
use super::passes::{BLOCK, flattened, gain, gains, place_of_largest, update};
use super::{Dual, KernelRows, Solution};
use crate::SolverError;
use ndarray::{Array1, ArrayView1};

/// A run under way. Points have places: the first `active` are looked at, the others are set
/// aside. From `order` to `diagonal`, vectors are in the order of the places.
pub(super) struct Run<'a, R: ?Sized> {
    source: &'a R,
    dual: &'a Dual,
    cache: RowCache,
    /// The point at each place.
    order: Vec<usize>,
    /// `g = K β − z`; stale at places that are set aside.
    gradient: Vec<f64>,
    /// [`Dual::upward`] of the weight at a place.
    upward: Vec<f64>,
    /// [`Dual::downward`] of the weight at a place.
    downward: Vec<f64>,
    /// `k(x, x)`.
    diagonal: Vec<f64>,
    /// Places that are looked at.
    active: usize,
    /// `β`, in the order of the points.
    weights: Vec<f64>,
    /// Whether a point's kernel row has been seen to be finite.
    seen: Vec<bool>,
    /// Whether places are points.
    straight: bool,
    /// Least slope upwards, largest slope downwards, over the active places.
    extremes: (f64, f64),
    /// Room for the extremes of the blocks of places; `extremes` are the extremes of all.
    least: Vec<f64>,
    largest: Vec<f64>,
    /// Kernel rows computed, whole or in part.
    rows_computed: usize,
    /// Most places that were set aside at once.
    set_aside: usize,
    /// Whether a weight has stood at a bound other than 0.
    bounded: bool,
}

impl<'a, R: KernelRows + ?Sized> Run<'a, R> {
    pub(super) fn new(source: &'a R, dual: &'a Dual, cache: RowCache) -> Result<Self, SolverError> {
        let n = dual.len();
        let diagonal: Vec<f64> = (0..n).map(|t| source.diagonal(t)).collect();
        if let Some(&value) = diagonal.iter().find(|value| !value.is_finite()) {
            return Err(SolverError::NotFinite { what: "the kernel's diagonal", value });
        }
        let mut run = Self {
            source,
            dual,
            cache,
            order: (0..n).collect(),
            gradient: dual.targets.iter().map(|z| -z).collect(),
            upward: vec![0.0; n],
            downward: vec![0.0; n],
            diagonal,
            active: n,
            weights: vec![0.0; n],
            seen: vec![false; n],
            straight: true,
            extremes: (0.0, 0.0),
            least: vec![0.0; n.div_ceil(BLOCK)],
            largest: vec![0.0; n.div_ceil(BLOCK)],
            rows_computed: 0,
            set_aside: 0,
            bounded: false,
        };
        (0..n).for_each(|p| run.refresh(p));
        run.measure();
        Ok(run)
    }

    /// Begins at these weights instead of 0.
    pub(super) fn start_at(&mut self, start: ArrayView1<'_, f64>) -> Result<(), SolverError> {
        self.dual.check_start(start)?;
        self.weights = start.to_vec();
        self.bounded = (0..start.len()).any(|t| self.dual.stops(t, start[t]));
        for t in (0..start.len()).filter(|&t| start[t] != 0.0) {
            self.fetch(t, t)?;
            let row = held(self.source, &self.cache, self.straight, t);
            self.gradient.iter_mut().zip(row).for_each(|(g, &k)| *g += start[t] * k);
        }
        (0..self.order.len()).for_each(|p| self.refresh(p));
        self.measure();
        Ok(())
    }

    pub(super) fn is_whole(&self) -> bool {
        self.active == self.order.len()
    }

    /// What the worst pair of active places violates.
    pub(super) fn violation(&self) -> f64 {
        self.extremes.1 - self.extremes.0
    }

    /// The slopes at a place after its weight has changed.
    fn refresh(&mut self, place: usize) {
        let point = self.order[place];
        self.upward[place] = self.dual.upward(point, self.weights[point]);
        self.downward[place] = self.dual.downward(point, self.weights[point]);
    }

    /// The extremes over the active places, from scratch.
    fn measure(&mut self) {
        let mut extremes = (f64::INFINITY, f64::NEG_INFINITY);
        for (p, &g) in self.gradient[..self.active].iter().enumerate() {
            extremes.0 = extremes.0.min(g + self.upward[p]);
            extremes.1 = extremes.1.max(g + self.downward[p]);
        }
        self.extremes = extremes;
    }

    /// Makes the row of a point available for the active places, without losing the row of `keep`.
    fn fetch(&mut self, point: usize, keep: usize) -> Result<(), SolverError> {
        if self.straight && self.source.whole(point).is_some() {
            if !self.seen[point] {
                let row = self.source.whole(point).unwrap_or_default();
                check(row)?;
                self.seen[point] = true;
                self.rows_computed += 1;
            }
            return Ok(());
        }
        let (row, there) = self.cache.grow(point, self.active, keep);
        if there < row.len() {
            self.source.fill(point, &self.order[there..self.active], &mut row[there..]);
            check(&row[there..])?;
            self.rows_computed += 1;
        }
        Ok(())
    }

    /// Moves the best pair; false if rounding leaves nothing to move.
    pub(super) fn step(&mut self) -> Result<bool, SolverError> {
        let n = self.active;
        let (rise, _) = self.extremes;
        let Some(i) = self.place_of_least() else { return Ok(false) };
        let first = self.order[i];
        self.fetch(first, first)?;
        let Some(j) = self.partner(i, rise) else { return Ok(false) };
        let second = self.order[j];
        self.fetch(second, first)?;

        let between = held(self.source, &self.cache, self.straight, first)[j];
        let curvature = flattened(self.diagonal[i] + self.diagonal[j] - 2.0 * between);
        let step = (self.gradient[j] + self.downward[j] - rise) / curvature;
        let (old_i, old_j) = (self.weights[first], self.weights[second]);
        let top = self.dual.next_above(first, old_i);
        let bottom = self.dual.next_below(second, old_j);
        let (room_i, room_j) = (top - old_i, old_j - bottom);
        let moved = step.min(room_i).min(room_j);
        // What reaches an edge stands on it exactly.
        let new_i = if moved >= room_i { top } else { old_i + moved };
        let new_j = if moved >= room_j { bottom } else { old_j - moved };
        let moves = [new_i - old_i, new_j - old_j];
        if moves == [0.0, 0.0] {
            return Ok(false);
        }
        self.weights[first] = new_i;
        self.weights[second] = new_j;
        self.bounded |= self.dual.stops(first, new_i) || self.dual.stops(second, new_j);
        self.refresh(i);
        self.refresh(j);
        let row_i = held(self.source, &self.cache, self.straight, first);
        let row_j = held(self.source, &self.cache, self.straight, second);
        let blocks = n.div_ceil(BLOCK);
        update(
            moves,
            [&row_i[..n], &row_j[..n]],
            &mut self.gradient[..n],
            &self.upward[..n],
            &self.downward[..n],
            &mut self.least[..blocks],
            &mut self.largest[..blocks],
        );
        self.extremes = (
            self.least[..blocks].iter().copied().fold(f64::INFINITY, f64::min),
            self.largest[..blocks].iter().copied().fold(f64::NEG_INFINITY, f64::max),
        );
        Ok(true)
    }

    /// The first active place with the least slope upwards.
    fn place_of_least(&self) -> Option<usize> {
        let wanted = self.extremes.0;
        (0..self.active).find(|&p| self.gradient[p] + self.upward[p] <= wanted)
    }

    /// The first active place whose fall, paired with the rise at `i`, gains most.
    fn partner(&mut self, i: usize, rise: f64) -> Option<usize> {
        let n = self.active;
        let row = held(self.source, &self.cache, self.straight, self.order[i]);
        let blocks = n.div_ceil(BLOCK);
        let own = self.diagonal[i];
        gains(
            rise,
            own,
            &row[..n],
            &self.gradient[..n],
            &self.downward[..n],
            &self.diagonal[..n],
            &mut self.least[..blocks],
        );
        let best = self.least[..blocks].iter().copied().fold(0.0, f64::max);
        if best <= 0.0 {
            return None;
        }
        place_of_largest(&self.least[..blocks], best, n, |p| {
            let slope = self.gradient[p] + self.downward[p] - rise;
            gain(slope, own + self.diagonal[p] - (row[p] + row[p]))
        })
    }

    /// Sets aside the active places that no violating pair contains.
    pub(super) fn set_aside(&mut self) {
        let (least, largest) = self.extremes;
        let (mut p, mut places) = (0, Vec::new());
        while p < self.active {
            let rise = self.gradient[p] + self.upward[p];
            let fall = self.gradient[p] + self.downward[p];
            if rise > largest && fall < least {
                self.active -= 1;
                if p < self.active {
                    self.swap(p, self.active);
                    places.push((p, self.active));
                }
            } else {
                p += 1;
            }
        }
        self.straight &= places.is_empty();
        self.cache.swap(&places);
        self.set_aside = self.set_aside.max(self.order.len() - self.active);
    }

    /// Exchanges two places; the cache follows.
    fn swap(&mut self, first: usize, second: usize) {
        self.order.swap(first, second);
        self.gradient.swap(first, second);
        self.upward.swap(first, second);
        self.downward.swap(first, second);
        self.diagonal.swap(first, second);
    }

    /// Computes the gradient where it is stale, and looks at all places again.
    pub(super) fn restore(&mut self) -> Result<(), SolverError> {
        let (active, n) = (self.active, self.order.len());
        if active == n {
            return Ok(());
        }
        for p in active..n {
            self.gradient[p] = -self.dual.targets[self.order[p]];
        }
        let mut part = vec![0.0; n - active];
        for t in (0..n).filter(|&t| self.weights[t] != 0.0) {
            let cached = self.cache.row(t);
            let weight = self.weights[t];
            let values = if cached.len() == n {
                &cached[active..]
            } else {
                self.source.fill(t, &self.order[active..], &mut part);
                check(&part)?;
                self.rows_computed += 1;
                &part[..]
            };
            for (g, &k) in self.gradient[active..].iter_mut().zip(values) {
                *g += weight * k;
            }
        }
        self.active = n;
        (active..n).for_each(|p| self.refresh(p));
        self.measure();
        Ok(())
    }

    /// The solution; all places must be active.
    pub(super) fn finish(self, steps: usize, converged: bool, tolerance: f64) -> Solution {
        let (least, largest) = self.extremes;
        let gradient = self.order.iter().copied().zip(self.gradient.iter().copied());
        let (bias, objective) = self.dual.closed(&self.weights, gradient, self.extremes);
        let violation = (largest - least).max(0.0);
        Solution {
            weights: Array1::from_vec(self.weights),
            bias,
            objective,
            violation,
            steps,
            converged: converged && violation <= tolerance,
            rows_computed: self.rows_computed,
            set_aside: self.set_aside,
            bounded: self.bounded,
        }
    }
}

/// The row of a point that was fetched.
fn held<'a, R: KernelRows + ?Sized>(
    source: &'a R,
    cache: &'a RowCache,
    straight: bool,
    point: usize,
) -> &'a [f64] {
    let whole = if straight { source.whole(point) } else { None };
    whole.unwrap_or_else(|| cache.row(point))
}

fn check(row: &[f64]) -> Result<(), SolverError> {
    // One pass without branches: NaN and infinity are what is left of a finite number times 0.
    let (chunks, rest) = row.as_chunks::<8>();
    let mut left = [0.0; 8];
    for chunk in chunks {
        for (left, value) in left.iter_mut().zip(chunk) {
            *left += value * 0.0;
        }
    }
    if left.iter().sum::<f64>() + rest.iter().map(|value| value * 0.0).sum::<f64>() == 0.0 {
        return Ok(());
    }
    let value = row.iter().copied().find(|value| !value.is_finite()).unwrap_or(f64::NAN);
    Err(SolverError::NotFinite { what: "the kernel", value })
}
