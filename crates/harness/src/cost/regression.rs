//! A log-linear regression that learns from other methods, its own, and its own cell.

use super::workload::{Part, Workload};
use mercer_linalg::Cholesky;
use ndarray::{Array1, Array2};
use std::collections::BTreeMap;

/// What is regressed, and how the declared cost enters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quantity {
    Seconds,
    Bytes,
}

/// One measurement.
#[derive(Debug, Clone)]
pub(crate) struct Observation {
    pub work: Workload,
    /// Seconds on the reference machine, or bytes.
    pub value: f64,
    /// Whether the value tells of the trial alone: not of what else the machine did.
    pub sound: bool,
}

/// Power of the declared cost in the prior: caches and vector units make it a little less than 1.
const POWER: f64 = 0.8;
/// How firmly the slopes are held at the prior, in weights of a trial.
const FIRMNESS: f64 = 5.0;
/// Weight of the prior "no deviation" of a group, of a place and of a cell.
const OF_GROUP: f64 = 1.0;
const OF_PLACE: f64 = 1.0;
const OF_CELL: f64 = 0.15;
const TERMS: usize = 5;
/// Weight of a measurement that the load of the machine may have inflated.
const OF_DOUBTFUL: f64 = 0.1;
/// The logarithm of how far above those seen a declared cost counts as larger than all of them.
const LARGER: f64 = 0.223_143_551_314_209_76;
/// How far beyond the declared costs that were seen one is believed, in their logarithm: a thousandfold.
/// A wrong formula would otherwise turn a larger dataset into centuries.
const REACH: f64 = 6.907_755_278_982_137;

/// Beyond the declared costs that were seen a method grows at least by this power of them, and at most in proportion.
const LEAST_GROWTH: f64 = 0.3;
/// How firmly the growth is held at [`POWER`]: the squared spread of the logarithms of declared costs, summed over
/// cells, that counts as much.
const OF_GROWTH: f64 = 4.0;

/// What was seen of a method: the least and largest logarithms of its declared cost and of its sizes.
#[derive(Debug, Clone, Copy)]
struct Range {
    declared: (f64, f64),
    sizes: [(f64, f64); 3],
}

impl Range {
    const NOTHING: Self = Self {
        declared: (f64::INFINITY, f64::NEG_INFINITY),
        sizes: [(f64::INFINITY, f64::NEG_INFINITY); 3],
    };

    fn widen(&mut self, declared: f64, sizes: [f64; 3]) {
        let all = [(&mut self.declared, declared)].into_iter();
        for (range, value) in all.chain(self.sizes.iter_mut().zip(sizes)) {
            *range = (range.0.min(value), range.1.max(value));
        }
    }
}

/// `ln y = a + Σ bⱼ ln xⱼ + deviation of the group + deviation of the place + deviation of the cell`: the place has
/// the cells of one variant, dataset and method, as a profile cuts them.
///
/// The xⱼ are the method's declared cost, n, d and the entries of both parts; a and b are the
/// method's own, held near those of all methods; the deviations are shrunk means of residuals. A
/// factor corrects the mean for the exponential of a spread.
#[derive(Debug, Clone)]
pub(crate) struct Regression {
    quantity: Quantity,
    /// Intercept of all methods, by part.
    pooled: BTreeMap<Part, f64>,
    methods: BTreeMap<(Part, String), Array1<f64>>,
    /// Power of the declared cost by which a method grows.
    growth: BTreeMap<(Part, String), f64>,
    groups: BTreeMap<String, f64>,
    places: BTreeMap<String, f64>,
    cells: BTreeMap<String, f64>,
    correction: f64,
    /// Of a method, and of all.
    seen: BTreeMap<(Part, String), Range>,
    seen_of_all: BTreeMap<Part, Range>,
}

/// A prediction, and how it came about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Predicted {
    pub value: f64,
    pub basis: Basis,
    /// Whether the declared cost lies so far from those seen that it was not believed.
    pub held_back: bool,
    /// Whether the declared cost is above all that were seen of the method by more than a quarter.
    pub larger: bool,
}

/// What a prediction rests on, best first.
///
/// ```
/// use mercer_harness::Basis;
/// // The best first: other repeats of a cell tell more than its method elsewhere.
/// assert!(Basis::Cell < Basis::Method && Basis::Method < Basis::Declared);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Basis {
    /// Records of other repeats of the same cell.
    Cell,
    /// Records of the same method.
    Method,
    /// The method's declared cost alone.
    Declared,
}

impl Regression {
    pub(crate) fn fit(quantity: Quantity, observations: &[&Observation]) -> Self {
        let mut fitted = Self {
            quantity,
            pooled: BTreeMap::new(),
            methods: BTreeMap::new(),
            growth: BTreeMap::new(),
            groups: BTreeMap::new(),
            places: BTreeMap::new(),
            cells: BTreeMap::new(),
            correction: 1.0,
            seen: BTreeMap::new(),
            seen_of_all: BTreeMap::new(),
        };
        for one in observations {
            let (work, declared) = (&one.work, fitted.declared(&one.work));
            let name = (work.part, work.method.clone());
            fitted.seen.entry(name).or_insert(Range::NOTHING).widen(declared, work.sizes);
            fitted
                .seen_of_all
                .entry(work.part)
                .or_insert(Range::NOTHING)
                .widen(declared, work.sizes);
        }
        let mut by_method: BTreeMap<(Part, String), Vec<&Observation>> = BTreeMap::new();
        let mut sums: BTreeMap<Part, (f64, f64)> = BTreeMap::new();
        for seen in observations {
            let weight = fitted.weight(seen);
            let sum = sums.entry(seen.work.part).or_default();
            sum.0 += weight * (seen.value.ln() - POWER * fitted.declared(&seen.work));
            sum.1 += weight;
            by_method.entry((seen.work.part, seen.work.method.clone())).or_default().push(seen);
        }
        fitted.pooled = sums
            .into_iter()
            .filter(|(_, (_, weight))| *weight > 0.0)
            .map(|(part, (sum, weight))| (part, sum / weight))
            .collect();
        for (method, seen) in by_method {
            fitted.growth.insert(method.clone(), fitted.grows(&seen));
            if let Some(coefficients) = fitted.own(method.0, &seen) {
                fitted.methods.insert(method, coefficients);
            }
        }
        fitted.groups = fitted.deviations(observations, OF_GROUP, |work| work.group.clone());
        fitted.places = fitted.deviations(observations, OF_PLACE, Workload::part_of_place);
        fitted.cells = fitted.deviations(observations, OF_CELL, |work| work.cell.clone());
        let (mut measured, mut predicted) = (0.0, 0.0);
        for seen in observations.iter().filter(|seen| seen.sound) {
            measured += seen.value;
            predicted += fitted.predict(&seen.work).value;
        }
        if predicted > 0.0 {
            fitted.correction = measured / predicted;
        }
        fitted
    }

    pub(crate) fn predict(&self, work: &Workload) -> Predicted {
        let name = (work.part, work.method.clone());
        let own = self.methods.get(&name);
        let mut terms = self.terms(work);
        let seen = self.seen.get(&name).or_else(|| self.seen_of_all.get(&work.part));
        let declared = terms[1];
        // Slopes in sizes that few datasets told apart say nothing beyond those: there the declared cost alone
        // tells.
        let mut beyond = 0.0;
        if let Some(Range { declared: (least, largest), sizes }) = seen {
            terms[1] = declared.clamp(*least, *largest);
            beyond = declared.clamp(least - REACH, largest + REACH) - terms[1];
            for (term, (least, largest)) in terms.iter_mut().skip(2).zip(sizes) {
                *term = term.clamp(*least, *largest);
            }
        }
        let held_back = (terms[1] + beyond - declared).abs() > 1e-9;
        let larger = declared - terms[1] > LARGER;
        let prior;
        let coefficients = if let Some(own) = own {
            own
        } else {
            prior = self.prior(work.part);
            &prior
        };
        let growth = self.growth.get(&name).copied().unwrap_or(POWER);
        let base = terms.dot(coefficients) + beyond * growth;
        let of = |deviations: &BTreeMap<String, f64>, name: &str| deviations.get(name).copied();
        let cell = of(&self.cells, &work.cell);
        let group = of(&self.groups, &work.group).unwrap_or(0.0);
        let basis = match (own, cell) {
            (_, Some(_)) => Basis::Cell,
            (Some(_), None) => Basis::Method,
            (None, None) => Basis::Declared,
        };
        let place = of(&self.places, &work.part_of_place()).unwrap_or(0.0);
        let logarithm = base + group + place + cell.unwrap_or(0.0);
        Predicted { value: logarithm.exp() * self.correction, basis, held_back, larger }
    }

    /// Trials of milliseconds tell of clocks and caches, not of the method.
    fn weight(&self, seen: &Observation) -> f64 {
        let trust = if seen.sound { 1.0 } else { OF_DOUBTFUL };
        trust
            * match self.quantity {
                Quantity::Seconds => seen.value / (seen.value + 0.05),
                Quantity::Bytes => seen.value / (seen.value + 1e6),
            }
    }

    fn declared(&self, work: &Workload) -> f64 {
        match self.quantity {
            Quantity::Seconds => work.operations,
            Quantity::Bytes => work.bytes,
        }
    }

    fn terms(&self, work: &Workload) -> Array1<f64> {
        let [n, d, entries] = work.sizes;
        Array1::from(vec![1.0, self.declared(work), n, d, entries])
    }

    /// Without a record of anything: a billion operations a second, the bytes declared.
    fn prior(&self, part: Part) -> Array1<f64> {
        let none = match self.quantity {
            Quantity::Seconds => -1e9_f64.ln() * POWER,
            Quantity::Bytes => 0.0,
        };
        let any = self.pooled.values().next().copied();
        let intercept = self.pooled.get(&part).copied().or(any).unwrap_or(none);
        Array1::from(vec![intercept, POWER, 0.0, 0.0, 0.0])
    }

    /// The power of the declared cost that tells the cells of a group apart, whose variant and study are the
    /// same: a slope through the means of cells, since repeats of one say nothing of it. The coefficients beside
    /// `n` and `d` would not do: they share out between them what grows together.
    fn grows(&self, seen: &[&Observation]) -> f64 {
        let mut cells: BTreeMap<(&str, &str), (f64, f64, f64)> = BTreeMap::new();
        for one in seen {
            let weight = self.weight(one);
            let cell = cells.entry((&one.work.group, &one.work.cell)).or_default();
            cell.0 += weight;
            cell.1 += weight * one.value.ln();
            cell.2 = self.declared(&one.work);
        }
        let mut groups: BTreeMap<&str, Vec<(f64, f64, f64)>> = BTreeMap::new();
        for ((group, _), (weight, sum, declared)) in cells {
            groups.entry(group).or_default().push((weight.min(1.0), declared, sum / weight));
        }
        let (mut spread, mut common) = (OF_GROWTH, OF_GROWTH * POWER);
        for cells in groups.values() {
            let all: f64 = cells.iter().map(|(weight, ..)| weight).sum();
            let mean = |of: &dyn Fn(&(f64, f64, f64)) -> f64| {
                cells.iter().map(|cell| cell.0 * of(cell)).sum::<f64>() / all
            };
            let (x, y) = (mean(&|cell| cell.1), mean(&|cell| cell.2));
            for (weight, declared, logarithm) in cells {
                spread += weight * (declared - x).powi(2);
                common += weight * (declared - x) * (logarithm - y);
            }
        }
        (common / spread).clamp(LEAST_GROWTH, 1.0)
    }

    /// Weighted least squares with a pull towards the prior.
    fn own(&self, part: Part, seen: &[&Observation]) -> Option<Array1<f64>> {
        let prior = self.prior(part);
        let mut normal = Array2::from_diag(&Array1::from_elem(TERMS, FIRMNESS));
        normal[[0, 0]] = 0.01;
        let mut right = Array2::zeros((TERMS, 1));
        for one in seen {
            let (terms, weight) = (self.terms(&one.work), self.weight(one));
            let gap = one.value.ln() - terms.dot(&prior);
            for i in 0..TERMS {
                right[[i, 0]] += weight * gap * terms[i];
                for j in 0..TERMS {
                    normal[[i, j]] += weight * terms[i] * terms[j];
                }
            }
        }
        let shift = Cholesky::factor(normal).ok()?.solve(&right).ok()?;
        Some(prior + shift.column(0))
    }

    fn deviations(
        &self,
        observations: &[&Observation],
        shrinkage: f64,
        name: impl Fn(&Workload) -> String,
    ) -> BTreeMap<String, f64> {
        let mut sums: BTreeMap<String, (f64, f64)> = BTreeMap::new();
        for seen in observations {
            let weight = self.weight(seen);
            let gap = seen.value.ln() - self.predict(&seen.work).value.ln();
            let sum = sums.entry(name(&seen.work)).or_default();
            sum.0 += weight * gap;
            sum.1 += weight;
        }
        sums.into_iter().map(|(name, (sum, weight))| (name, sum / (weight + shrinkage))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(operations: f64, n: f64) -> Workload {
        Workload {
            part: Part::Fit,
            method: "m".to_owned(),
            group: "of all".to_owned(),
            // Another cell each time: nothing is known of it but its method.
            cell: format!("{operations} {n}"),
            place: "p".to_owned(),
            dataset: "d".to_owned(),
            operations: operations.ln(),
            bytes: operations.ln(),
            sizes: [n.ln(), 3.0, n.ln() + 3.0],
        }
    }

    /// A method that took `operations^power` nanoseconds from 1e6 to 1e9 operations on 100 to 1000 rows.
    fn fitted(power: f64) -> Regression {
        let seen: Vec<Observation> = (0..40)
            .map(|at| f64::from(at) / 39.0)
            .map(|share| {
                let operations = 1e6 * 1e3_f64.powf(share);
                let value = 1e-3 * (operations / 1e6).powf(power);
                Observation {
                    work: work(operations, 100.0 * 10_f64.powf(share)),
                    value,
                    sound: true,
                }
            })
            .collect();
        Regression::fit(Quantity::Seconds, &seen.iter().collect::<Vec<_>>())
    }

    #[test]
    fn beyond_the_sizes_seen_the_declared_cost_alone_extrapolates() {
        for power in [0.1, 0.6, 2.0] {
            let model = fitted(power);
            let at = |operations, n| {
                model.predict(&Workload { cell: "never seen".to_owned(), ..work(operations, n) })
            };
            let edge = at(1e9, 1e3);
            assert!(!edge.held_back && !edge.larger && edge.basis == Basis::Method);
            assert!(!at(1.2e9, 1e3).larger && at(1.3e9, 1e3).larger && !at(1e5, 1e3).larger);
            // More rows than were seen, at a declared cost that was: the same.
            assert!((at(1e9, 1e6).value / edge.value - 1.0).abs() < 1e-9, "{power}");
            let growth =
                |operations| (at(operations, 1e6).value / edge.value).log(operations / 1e9);
            // A hundredfold: by a power within bounds, the same over the whole way.
            let slope = growth(1e11);
            let (least, most) = (LEAST_GROWTH - 1e-9, 1.0 + 1e-9);
            assert!((least..=most).contains(&slope), "{power}: {slope}");
            assert!((growth(1e10) - slope).abs() < 1e-9, "{power}");
            // More than a thousandfold is not believed, and the prediction says so.
            let far = at(1e15, 1e6);
            assert!(far.held_back && !at(1e11, 1e6).held_back, "{power}");
            assert!((far.value / at(1e9 * REACH.exp(), 1e6).value - 1.0).abs() < 1e-9, "{power}");
        }
    }

    /// The larger cells are of a cheaper variant: over both the method would seem to shrink.
    #[test]
    fn growth_is_told_within_a_variant() {
        let seen = |group: &str, operations: f64, value: f64| Observation {
            work: Workload { group: group.to_owned(), ..work(operations, 100.0) },
            value,
            sound: true,
        };
        let of = |group: &str, from: f64, seconds: f64| {
            [1.0, 10.0, 100.0, 1000.0]
                .map(|times| seen(group, from * times, seconds * f64::powf(times, 0.5)))
        };
        let all: Vec<Observation> =
            of("dear", 1e6, 100.0).into_iter().chain(of("cheap", 1e8, 1.0)).collect();
        let model = Regression::fit(Quantity::Seconds, &all.iter().collect::<Vec<_>>());
        let growth = model.growth.values().copied().collect::<Vec<f64>>();
        assert!((growth[0] - 0.5).abs() < 0.05, "{growth:?}");
    }

    #[test]
    fn within_the_sizes_seen_the_methods_own_growth_is_predicted() {
        let model = fitted(0.6);
        for operations in [1e7, 1e8] {
            let n = 100.0 * (operations / 1e6_f64).powf(1.0 / 3.0);
            let measured = 1e-3 * (operations / 1e6).powf(0.6);
            let predicted = model.predict(&work(operations, n)).value;
            assert!((predicted / measured - 1.0).abs() < 0.25, "{predicted} for {measured}");
        }
    }
}
