use mercer_linalg::{Real, dispatched};
use serde::{Deserialize, Serialize};

/// A first-order optimiser; defaults are PyTorch's.
///
/// With gradient `g`, rate `η` and step `t` from 1 (all entrywise):
///
/// | optimiser | state | update |
/// |---|---|---|
/// | `Sgd` | none | `w ← w − η g` |
/// | `Momentum` | `m ← 0.9 m + g` (`m = g` at first) | `w ← w − η m` |
/// | `Adam` | `m ← 0.9 m + 0.1 g`, `v ← 0.999 v + 0.001 g²` | `w ← w − η m̂ / (√v̂ + 1e-8)`, `m̂ = m/(1 − 0.9^t)`, `v̂ = v/(1 − 0.999^t)` |
/// | `Adadelta` | `v ← 0.9 v + 0.1 g²`, `u ← 0.9 u + 0.1 Δ²` | `w ← w − η Δ`, `Δ = √(u + 1e-6)/√(v + 1e-6) g`, with the old `u` |
///
/// (Kingma and Ba 2015, Alg. 1; Zeiler 2012, Alg. 1.)
///
/// ```
/// use mercer_solvers::{Memory, Optimiser};
/// let second = |optimiser: Optimiser| {
///     let (mut w, mut memory) = ([0.0f64], Memory::new(optimiser, 1));
///     for t in 1..=2 {
///         optimiser.step(0.5, t).update(&mut w, &[1.0], memory.all());
///     }
///     w[0]
/// };
/// assert_eq!(second(Optimiser::Sgd), -1.0); // 0.5 + 0.5
/// assert!((second(Optimiser::Momentum) + 1.45).abs() < 1e-15); // 0.5 + 0.5 · 1.9
/// assert!((second(Optimiser::Adam) + 1.0).abs() < 1e-7); // a constant gradient: steps of the rate
/// assert_eq!(Optimiser::Adam.memory_per_parameter(), (1, 1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Optimiser {
    /// Stochastic gradient descent.
    Sgd,
    /// Gradient descent with momentum 0.9, not damped, not Nesterov's.
    Momentum,
    /// Adam with `β = (0.9, 0.999)`, `ε = 1e-8`, bias-corrected.
    Adam,
    /// Adadelta with `ρ = 0.9`, `ε = 1e-6`.
    Adadelta,
}

/// What an optimiser remembers of one block of parameters: up to two numbers a parameter.
///
/// ```
/// use mercer_solvers::{Memory, Optimiser};
/// let (mut w, mut memory) = ([1.0f64], Memory::new(Optimiser::Adam, 1));
/// Optimiser::Adam.step(0.1, 1).update(&mut w, &[3.0], memory.all());
/// assert!((w[0] - 0.9).abs() < 1e-9); // the first step of Adam has the size of the rate
/// ```
#[derive(Debug, Clone)]
pub struct Memory<F> {
    first: Vec<F>,
    second: Vec<F>,
}

/// The part of a [`Memory`] that belongs to a tile of the parameters.
///
/// ```
/// use mercer_solvers::{Memory, Optimiser};
/// let gradient = [1.0f64, -2.0, 3.0, -4.0];
/// let step = Optimiser::Adadelta.step(1.0, 1);
/// let (mut whole, mut memory) = ([0.0; 4], Memory::new(Optimiser::Adadelta, 4));
/// step.update(&mut whole, &gradient, memory.all());
/// // Tile by tile, in any order, the same bits.
/// let (mut tiled, mut memory) = ([0.0; 4], Memory::new(Optimiser::Adadelta, 4));
/// for range in [2..4, 0..2] {
///     step.update(&mut tiled[range.clone()], &gradient[range.clone()], memory.tile(range));
/// }
/// assert_eq!(whole, tiled);
/// ```
pub struct MemoryTile<'a, F> {
    first: &'a mut [F],
    second: &'a mut [F],
}

impl<F: Real> Memory<F> {
    /// Returns a blank memory for `parameters` parameters.
    pub fn new(optimiser: Optimiser, parameters: usize) -> Self {
        let (first, second) = optimiser.memory_per_parameter();
        Self {
            first: vec![F::zero(); first * parameters],
            second: vec![F::zero(); second * parameters],
        }
    }

    /// Returns a memory of what [`Memory::moments`] showed.
    ///
    /// # Panics
    /// If the lengths are not those of `parameters` parameters.
    pub fn of(optimiser: Optimiser, parameters: usize, first: Vec<F>, second: Vec<F>) -> Self {
        let (a, b) = optimiser.memory_per_parameter();
        let lengths = (first.len(), second.len());
        assert_eq!(lengths, (a * parameters, b * parameters), "lengths of an optimiser's memory");
        Self { first, second }
    }

    /// Returns first and second moments, as far as the optimiser has them.
    pub fn moments(&self) -> (&[F], &[F]) {
        (&self.first, &self.second)
    }

    /// Returns the whole memory.
    pub fn all(&mut self) -> MemoryTile<'_, F> {
        MemoryTile { first: &mut self.first, second: &mut self.second }
    }

    /// Returns the memory of the parameters in `range`.
    ///
    /// # Panics
    /// If the range is out of bounds.
    pub fn tile(&mut self, range: std::ops::Range<usize>) -> MemoryTile<'_, F> {
        fn part<F>(of: &mut [F], range: std::ops::Range<usize>) -> &mut [F] {
            if of.is_empty() { of } else { &mut of[range] }
        }
        MemoryTile {
            first: part(&mut self.first, range.clone()),
            second: part(&mut self.second, range),
        }
    }
}

/// One step of an optimiser, its constants worked out: apply it to every tile.
///
/// ```
/// use mercer_solvers::{Memory, Optimiser, Step};
/// let step: Step<f64> = Optimiser::Sgd.step(0.25, 1);
/// let (mut w, mut none) = ([1.0, 2.0], Memory::new(Optimiser::Sgd, 2));
/// step.update(&mut w, &[4.0, -4.0], none.all());
/// assert_eq!(w, [0.0, 3.0]); // w − η g
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Step<F> {
    optimiser: Optimiser,
    rate: F,
    /// `η / (1 − 0.9^t)` and `1/√(1 − 0.999^t)`.
    corrected: (F, F),
    first: bool,
}

impl Optimiser {
    /// Returns how many numbers are kept for each parameter, first and second moments.
    pub const fn memory_per_parameter(self) -> (usize, usize) {
        match self {
            Self::Sgd => (0, 0),
            Self::Momentum => (1, 0),
            Self::Adam | Self::Adadelta => (1, 1),
        }
    }

    /// Returns the constants of step `t`, counted from 1, at rate `η`.
    pub fn step<F: Real>(self, rate: f64, t: usize) -> Step<F> {
        let t = i32::try_from(t).unwrap_or(i32::MAX);
        let corrected = (rate / (1.0 - 0.9f64.powi(t)), 1.0 / (1.0 - 0.999f64.powi(t)).sqrt());
        Step {
            optimiser: self,
            rate: F::of(rate),
            corrected: (F::of(corrected.0), F::of(corrected.1)),
            first: t == 1,
        }
    }
}

impl<F: Real> Step<F> {
    /// Moves a tile of parameters against its gradient.
    ///
    /// Entries do not influence each other, so tiles may be updated in any order.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn update(&self, parameters: &mut [F], gradient: &[F], memory: MemoryTile<'_, F>) {
        let MemoryTile { first, second } = memory;
        let (kept, n) = (self.optimiser.memory_per_parameter(), parameters.len());
        assert!(
            gradient.len() == n && first.len() == kept.0 * n && second.len() == kept.1 * n,
            "lengths of an optimiser's tile"
        );
        match self.optimiser {
            Optimiser::Sgd => descend(self.rate, parameters, gradient),
            Optimiser::Momentum => {
                let keep = if self.first { F::zero() } else { F::of(0.9) };
                roll(self.rate, keep, parameters, gradient, first);
            }
            Optimiser::Adam => {
                let (rate, inverse_root) = self.corrected;
                adam(rate, inverse_root, parameters, gradient, first, second);
            }
            Optimiser::Adadelta => adadelta(self.rate, parameters, gradient, first, second),
        }
    }
}

dispatched! {
    fn descend<F: Real>(rate: F, w: &mut [F], g: &[F]) {
        for (w, &g) in w.iter_mut().zip(g) {
            *w -= rate * g;
        }
    }
}

dispatched! {
    fn roll<F: Real>(rate: F, keep: F, w: &mut [F], g: &[F], m: &mut [F]) {
        for ((w, &g), m) in w.iter_mut().zip(g).zip(m) {
            *m = keep * *m + g;
            *w -= rate * *m;
        }
    }
}

dispatched! {
    fn adam<F: Real>(rate: F, inverse_root: F, w: &mut [F], g: &[F], m: &mut [F], v: &mut [F]) {
        let (b1, c1) = (F::of(0.9), F::of(0.1));
        let (b2, c2) = (F::of(0.999), F::of(0.001));
        let epsilon = F::of(1e-8);
        for (((w, &g), m), v) in w.iter_mut().zip(g).zip(m).zip(v) {
            *m = b1 * *m + c1 * g;
            *v = b2 * *v + c2 * g * g;
            *w -= rate * *m / (v.sqrt() * inverse_root + epsilon);
        }
    }
}

dispatched! {
    fn adadelta<F: Real>(rate: F, w: &mut [F], g: &[F], v: &mut [F], u: &mut [F]) {
        let (keep, add, epsilon) = (F::of(0.9), F::of(0.1), F::of(1e-6));
        for (((w, &g), v), u) in w.iter_mut().zip(g).zip(v).zip(u) {
            *v = keep * *v + add * g * g;
            let delta = ((*u + epsilon) / (*v + epsilon)).sqrt() * g;
            *u = keep * *u + add * delta * delta;
            *w -= rate * delta;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    /// Two parameters, three steps, gradients `w² − 1 + t/10`, against a slow scalar version
    /// written from the table above.
    #[test]
    fn each_optimiser_follows_its_formula() {
        let gradient = |w: f64, t: usize| w * w - 1.0 + t as f64 / 10.0;
        for optimiser in [Optimiser::Sgd, Optimiser::Momentum, Optimiser::Adam, Optimiser::Adadelta]
        {
            let mut w = [0.3, -1.7];
            let mut memory = Memory::new(optimiser, 2);
            let mut expected = w;
            let (mut m, mut v) = ([0.0; 2], [0.0; 2]);
            for t in 1..=3 {
                let g: Vec<f64> = w.iter().map(|&w| gradient(w, t)).collect();
                let step = optimiser.step(0.05, t);
                // Tile by tile, last tile first: the order must not matter.
                step.update(&mut w[1..], &g[1..], memory.tile(1..2));
                step.update(&mut w[..1], &g[..1], memory.tile(0..1));
                for i in 0..2 {
                    let g = gradient(expected[i], t);
                    expected[i] -= 0.05
                        * match optimiser {
                            Optimiser::Sgd => g,
                            Optimiser::Momentum => {
                                m[i] = if t == 1 { g } else { 0.9 * m[i] + g };
                                m[i]
                            }
                            Optimiser::Adam => {
                                m[i] = 0.9 * m[i] + 0.1 * g;
                                v[i] = 0.999 * v[i] + 0.001 * g * g;
                                let t = t as i32;
                                let mean = m[i] / (1.0 - 0.9f64.powi(t));
                                let square: f64 = v[i] / (1.0 - 0.999f64.powi(t));
                                mean / (square.sqrt() + 1e-8)
                            }
                            Optimiser::Adadelta => {
                                m[i] = 0.9 * m[i] + 0.1 * g * g;
                                let delta = f64::sqrt(v[i] + 1e-6) / f64::sqrt(m[i] + 1e-6) * g;
                                v[i] = 0.9 * v[i] + 0.1 * delta * delta;
                                delta
                            }
                        };
                }
            }
            for i in 0..2 {
                assert_relative_eq!(w[i], expected[i], max_relative = 1e-12);
            }
        }
    }

    #[test]
    fn single_precision_tiles_are_vectorised_without_changing_the_result() {
        let n = 1000;
        let g: Vec<f32> = (0..n).map(|i| (i as f32 * 0.7).sin()).collect();
        let step = Optimiser::Adam.step::<f32>(1e-2, 1);
        let (mut whole, mut tiled) = (vec![1.0f32; n], vec![1.0f32; n]);
        let (mut a, mut b) = (Memory::new(Optimiser::Adam, n), Memory::new(Optimiser::Adam, n));
        step.update(&mut whole, &g, a.all());
        for lo in (0..n).step_by(37) {
            let range = lo..(lo + 37).min(n);
            step.update(&mut tiled[range.clone()], &g[range.clone()], b.tile(range));
        }
        assert_eq!(whole, tiled);
    }
}
