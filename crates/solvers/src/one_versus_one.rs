use crate::{Dual, Precomputed, Smo, Solution, SolverError};
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut1, Axis, CowArray, Ix2};

/// Counts the votes of SVMs between two classes, `(a, b, f)` with `f > 0` for `a`, into `scores`, one a class. Each vote
/// is 1; the sums of the values, squashed to less than a third, order what has equally many. Of classes with the most votes
/// the first keeps the largest score.
///
/// ```
/// let mut scores = ndarray::Array1::zeros(3);
/// // Each class beats one other: by their votes the first wins, by their values the others follow.
/// mercer_solvers::vote(scores.view_mut(), [(0, 1, 0.5), (1, 2, 2.0), (2, 0, 1.0)].into_iter());
/// assert!(scores[0] >= scores[1] && scores[1] > scores[2]);
/// assert_eq!(scores.mapv(f64::round), ndarray::array![1.0, 1.0, 1.0]);
/// ```
///
/// # Panics
/// If a class has no score.
pub fn vote(mut scores: ArrayViewMut1<'_, f64>, values: impl Iterator<Item = (u32, u32, f64)>) {
    let mut sums = vec![0.0; scores.len()];
    for (a, b, f) in values {
        scores[if f > 0.0 { a } else { b } as usize] += 1.0;
        sums[a as usize] += f;
        sums[b as usize] -= f;
    }
    let most = scores.fold(f64::NEG_INFINITY, |most, &votes| most.max(votes));
    let winner = scores.iter().position(|&votes| votes >= most);
    scores.iter_mut().zip(sums).for_each(|(score, sum)| *score += sum / (3.0 * (sum.abs() + 1.0)));
    let largest = scores.fold(f64::NEG_INFINITY, |largest, &score| largest.max(score));
    if let Some(winner) = winner {
        scores[winner] = largest;
    }
}

/// SVMs for any number of classes on a kernel matrix. There is one SVM for each pair of classes that occur; most votes
/// win, ties go to the smaller class.
///
/// ```
/// use mercer_solvers::{OneVersusOne, Smo};
/// use ndarray::array;
/// let x = array![[-2.0], [-1.8], [0.1], [0.0], [2.0], [2.1]];
/// let gram = x.dot(&x.t()).mapv(|k| k + 1.0);
/// let labels = [0, 0, 1, 1, 2, 2];
/// let machine = OneVersusOne::fit(gram.view(), &labels, 100.0, &Smo::default())?;
/// assert_eq!(machine.classes(gram.view()), labels);
/// # Ok::<(), mercer_solvers::SolverError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct OneVersusOne {
    /// The classes that occurred, ascending.
    present: Vec<u32>,
    /// As [`OneVersusOne::pairs`] shows them.
    pairs: Vec<(u32, u32)>,
    /// Weights of the training points, one SVM a column: `n × pairs`.
    pub weights: Array2<f64>,
    /// Biases, one for each SVM.
    pub biases: Array1<f64>,
    /// Steps of all SVMs.
    pub steps: usize,
    /// The largest violation of optimality that an SVM left.
    pub violation: f64,
    /// Whether every SVM met its tolerance.
    pub converged: bool,
}

impl OneVersusOne {
    /// Fits the SVMs to the points of `gram`, `n × n`, with these classes.
    ///
    /// If only one class occurs there is no SVM, and that class is predicted.
    ///
    /// # Errors
    /// As [`Smo::solve`], and [`SolverError::Lengths`] unless there is a label a point.
    pub fn fit(
        gram: ArrayView2<'_, f64>,
        labels: &[u32],
        cost: f64,
        smo: &Smo,
    ) -> Result<Self, SolverError> {
        let mut path = Self::path(gram, labels, &[cost], smo, || Ok::<(), SolverError>(()))?;
        Ok(path.swap_remove(0))
    }

    /// Fits classifiers for several costs, each starting where the last ended. Its weights are scaled by the ratio of
    /// the costs where that is at least 1.
    ///
    /// # Errors
    /// As [`OneVersusOne::fit`], and whatever `check` says, which is asked every few hundred steps.
    pub fn path<E: From<SolverError>>(
        gram: ArrayView2<'_, f64>,
        labels: &[u32],
        costs: &[f64],
        smo: &Smo,
        mut check: impl FnMut() -> Result<(), E>,
    ) -> Result<Vec<Self>, E> {
        let n = gram.nrows();
        if labels.len() != n {
            let (what, found) = ("the labels", labels.len());
            return Err(SolverError::Lengths { what, expected: n, found }.into());
        }
        let mut present = labels.to_vec();
        present.sort_unstable();
        present.dedup();
        let pairs = pairs_of(&present);
        let mut path: Vec<Self> = costs
            .iter()
            .map(|_| Self {
                present: present.clone(),
                pairs: pairs.clone(),
                weights: Array2::zeros((n, pairs.len())),
                biases: Array1::zeros(pairs.len()),
                steps: 0,
                violation: 0.0,
                converged: true,
            })
            .collect();
        for (machine, &pair) in pairs.iter().enumerate() {
            let duel = Duel::of(labels, pair, pairs.len() == 1);
            let own = duel.gram(gram);
            let kernel = Precomputed::new(own.view())?;
            let mut last: Option<(f64, Array1<f64>)> = None;
            for (found, &cost) in path.iter_mut().zip(costs) {
                let dual = Dual::classification(&duel.signs, cost)?;
                let start = last.take().filter(|(smaller, _)| *smaller <= cost).map(
                    |(smaller, weights)| {
                        // Rounding must not carry a weight over its bound.
                        weights.mapv(|w| (w * (cost / smaller)).clamp(-cost, cost))
                    },
                );
                let start = start.as_ref().map(Array1::view);
                let solution = smo.solve_checked(&kernel, &dual, start, &mut check)?;
                found.take(machine, &duel.rows, &solution);
                last = Some((cost, solution.weights));
            }
        }
        Ok(path)
    }

    /// Takes an SVM's solution over some of the rows.
    fn take(&mut self, machine: usize, rows: &[usize], solution: &Solution) {
        for (&row, &weight) in rows.iter().zip(&solution.weights) {
            self.weights[[row, machine]] = weight;
        }
        self.biases[machine] = solution.bias;
        self.steps += solution.steps;
        self.violation = self.violation.max(solution.violation);
        self.converged &= solution.converged;
    }

    /// Returns the two classes of each SVM. `f > 0` speaks for the first; for the second where there are only two
    /// classes.
    pub fn pairs(&self) -> &[(u32, u32)] {
        &self.pairs
    }

    /// Computes decision values of the SVMs for the rows of `cross` (`m × n`): `m × pairs`.
    ///
    /// # Panics
    /// If `cross` has another number of columns than there are training points.
    pub fn values(&self, cross: ArrayView2<'_, f64>) -> Array2<f64> {
        cross.dot(&self.weights) + &self.biases
    }

    /// Computes scores of classes `0..classes` for the rows of `cross`. They are `(−f, f)` where only classes 0 and 1
    /// occur, votes otherwise ([`vote`]).
    ///
    /// # Panics
    /// As [`OneVersusOne::values`], and if a class that occurred is not below `classes`.
    pub fn scores(&self, cross: ArrayView2<'_, f64>, classes: usize) -> Array2<f64> {
        self.scores_of_values(self.values(cross).view(), classes)
    }

    /// Computes [`OneVersusOne::scores`] from the SVMs' decision values.
    ///
    /// # Panics
    /// If there is not a column a machine.
    pub fn scores_of_values(&self, values: ArrayView2<'_, f64>, classes: usize) -> Array2<f64> {
        assert_eq!(values.ncols(), self.pairs.len(), "one value a machine");
        let mut scores = Array2::zeros((values.nrows(), classes));
        if let [only] = self.present[..] {
            scores.column_mut(only as usize).fill(1.0);
        }
        if let [(first, second)] = self.pairs[..] {
            for (mut row, &f) in scores.rows_mut().into_iter().zip(values.column(0)) {
                // A class that did not occur must not win between them.
                row.fill(f64::NEG_INFINITY);
                row[first as usize] = -f;
                row[second as usize] = f;
            }
            return scores;
        }
        if self.pairs.len() > 1 {
            for (row, values) in scores.rows_mut().into_iter().zip(values.rows()) {
                vote(row, self.pairs.iter().zip(values).map(|(&(a, b), &f)| (a, b, f)));
            }
        }
        scores
    }

    /// Returns predicted classes for the rows of `cross`.
    ///
    /// # Panics
    /// As [`OneVersusOne::values`].
    pub fn classes(&self, cross: ArrayView2<'_, f64>) -> Vec<u32> {
        let largest = self.present.last().map_or(0, |&class| class as usize + 1);
        let best = |row: ndarray::ArrayView1<'_, f64>| {
            let mut best = 0;
            for class in 1..row.len() {
                if row[class] > row[best] {
                    best = class;
                }
            }
            best as u32
        };
        self.scores(cross, largest).rows().into_iter().map(best).collect()
    }

    /// Returns the classes that occurred, ascending: with the weights and biases all that decides.
    pub fn present(&self) -> &[u32] {
        &self.present
    }

    /// Builds SVMs from kept parts; `present` are the classes, ascending. What the fit said of its convergence is not
    /// kept.
    ///
    /// # Errors
    /// [`SolverError::Lengths`] unless there is a column of weights and a bias a pair of classes;
    /// [`SolverError::Setting`] if the classes do not ascend.
    pub fn from_parts(
        present: Vec<u32>,
        weights: Array2<f64>,
        biases: Array1<f64>,
    ) -> Result<Self, SolverError> {
        if present.is_empty() || present.windows(2).any(|pair| pair[0] >= pair[1]) {
            let (value, must) = (format!("{present:?}"), "ascending, and at least one");
            return Err(SolverError::Setting { name: "classes", value, must });
        }
        let pairs = pairs_of(&present);
        for (what, found) in
            [("the columns of weights", weights.ncols()), ("the biases", biases.len())]
        {
            if found != pairs.len() {
                return Err(SolverError::Lengths { what, expected: pairs.len(), found });
            }
        }
        let (steps, violation, converged) = (0, 0.0, true);
        Ok(Self { present, pairs, weights, biases, steps, violation, converged })
    }

    /// Returns the same SVMs for a kernel evaluated at these training points only. The points are all that some SVM
    /// uses, in this order.
    ///
    /// # Panics
    /// If a point does not exist.
    #[must_use]
    pub fn kept(&self, points: &[usize]) -> Self {
        Self { weights: self.weights.select(Axis(0), points), ..self.clone() }
    }

    /// Returns training points that some SVM uses.
    pub fn support(&self) -> Vec<usize> {
        let used = |row: &usize| self.weights.row(*row).iter().any(|weight| *weight != 0.0);
        (0..self.weights.nrows()).filter(used).collect()
    }
}

/// The data of one SVM: the points of two classes.
struct Duel {
    rows: Vec<usize>,
    /// Whether a point is of the class that `f > 0` speaks for.
    signs: Vec<bool>,
    /// Whether these are all points.
    all: bool,
}

impl Duel {
    fn of(labels: &[u32], (first, second): (u32, u32), only: bool) -> Self {
        // Of two classes the decision value speaks for the second, as is usual.
        let positive = if only { second } else { first };
        let of_pair = |&row: &usize| only || [first, second].contains(&labels[row]);
        let rows: Vec<usize> = (0..labels.len()).filter(of_pair).collect();
        let signs = rows.iter().map(|&row| labels[row] == positive).collect();
        Self { rows, signs, all: only }
    }

    /// Its part of the Gram matrix of all points, copied where it is not the whole.
    fn gram<'a>(&self, all: ArrayView2<'a, f64>) -> CowArray<'a, f64, Ix2> {
        if self.all {
            return CowArray::from(all);
        }
        CowArray::from(all.select(Axis(0), &self.rows).select(Axis(1), &self.rows))
    }
}

/// Every pair of some classes.
fn pairs_of(present: &[u32]) -> Vec<(u32, u32)> {
    let after = |i: usize| present[i + 1..].iter().map(move |&second| (present[i], second));
    (0..present.len()).flat_map(after).collect()
}

/// What cross-validation says of some costs.
///
/// ```
/// use mercer_solvers::{Smo, SolverError, choose_cost};
/// use ndarray::Array2;
/// // The sign of x tells the class, but for the last point.
/// let x = [-2.0, 2.0, -1.5, 1.5, -1.0, -1.2];
/// let gram = Array2::from_shape_fn((6, 6), |(i, j)| x[i] * x[j]);
/// let (labels, folds) = ([0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 2, 2]);
/// let check = || Ok::<_, SolverError>(());
/// let found = choose_cost(gram.view(), &labels, &folds, &[0.1, 1.0], &Smo::default(), check)?;
/// assert!(found.converged && found.right.iter().all(|&right| right <= 5));
/// let refused = choose_cost(gram.view(), &labels, &folds, &[1.0, 0.1], &Smo::default(), check);
/// assert!(refused.is_err()); // costs ascend
/// # Ok::<(), SolverError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CostChoice {
    /// The cost with the most points right; of equals the smallest.
    pub cost: f64,
    /// Points classified right at each cost, each point once, while it was held out.
    pub right: Vec<usize>,
    /// Whether every SVM met its tolerance.
    pub converged: bool,
}

/// Chooses the cost of [`OneVersusOne`] on a kernel matrix by cross-validation. `folds` says in which fold each point
/// is held out.
///
/// ```
/// use mercer_solvers::{Smo, SolverError, choose_cost};
/// use ndarray::Array2;
/// let x = [-2.0, 2.0, -1.5, 1.5, -1.0, 1.0];
/// let gram = Array2::from_shape_fn((6, 6), |(i, j)| x[i] * x[j]);
/// let (labels, folds) = ([0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 2, 2]);
/// let found =
///     choose_cost(gram.view(), &labels, &folds, &[0.1, 1.0], &Smo::default(), || Ok::<_, SolverError>(()))?;
/// assert_eq!((found.cost, found.right), (0.1, vec![6, 6])); // the smallest of equals
/// # Ok::<(), SolverError>(())
/// ```
///
/// # Errors
/// As [`OneVersusOne::path`]; [`SolverError::Lengths`] unless there is a fold a point;
/// [`SolverError::Setting`] without costs, or if they do not ascend.
pub fn choose_cost<E: From<SolverError>>(
    gram: ArrayView2<'_, f64>,
    labels: &[u32],
    folds: &[usize],
    costs: &[f64],
    smo: &Smo,
    mut check: impl FnMut() -> Result<(), E>,
) -> Result<CostChoice, E> {
    let n = gram.nrows();
    if folds.len() != n {
        let (what, found) = ("the folds of points", folds.len());
        return Err(SolverError::Lengths { what, expected: n, found }.into());
    }
    if costs.is_empty() || costs.windows(2).any(|pair| pair[0] >= pair[1]) {
        let value = format!("{costs:?}");
        let must = "a list of ascending costs, at least one";
        return Err(SolverError::Setting { name: "costs", value, must }.into());
    }
    let mut right = vec![0; costs.len()];
    let mut converged = true;
    let count = folds.iter().max().map_or(0, |&last| last + 1);
    for fold in 0..count {
        let (held, kept): (Vec<usize>, Vec<usize>) = (0..n).partition(|&t| folds[t] == fold);
        if held.is_empty() || kept.is_empty() {
            continue;
        }
        let columns = gram.select(Axis(1), &kept);
        let (train, test) = (columns.select(Axis(0), &kept), columns.select(Axis(0), &held));
        let known: Vec<u32> = kept.iter().map(|&t| labels[t]).collect();
        let path = OneVersusOne::path(train.view(), &known, costs, smo, &mut check)?;
        for (machine, right) in path.iter().zip(&mut right) {
            let said = machine.classes(test.view());
            *right += held.iter().zip(said).filter(|&(&t, said)| labels[t] == said).count();
            converged &= machine.converged;
        }
    }
    let most = right.iter().max().copied().unwrap_or(0);
    let cost = costs[right.iter().position(|&count| count == most).unwrap_or(0)];
    Ok(CostChoice { cost, right, converged })
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    /// Three clouds on a line of two dimensions.
    fn clouds(n: usize) -> (Array2<f64>, Vec<u32>) {
        let noise = |t: usize| ((t * 7919 % 997) as f64 / 997.0 - 0.5) * 1.7;
        let x = Array2::from_shape_fn((n, 2), |(t, j)| (t % 3) as f64 + noise(2 * t + j));
        (x, (0..n).map(|t| (t % 3) as u32).collect())
    }

    fn gaussian(x: &Array2<f64>) -> Array2<f64> {
        Array2::from_shape_fn((x.nrows(), x.nrows()), |(i, j)| {
            (-(&x.row(i) - &x.row(j)).mapv(|d| d * d).sum()).exp()
        })
    }

    #[test]
    fn a_path_is_the_same_as_fits_one_by_one() {
        let (x, labels) = clouds(90);
        let gram = gaussian(&x);
        let smo = Smo { tolerance: 1e-9, ..Smo::default() };
        let costs = [0.25, 1.0, 1.0, 3.0, 0.5];
        let path =
            OneVersusOne::path(gram.view(), &labels, &costs, &smo, || Ok::<(), SolverError>(()))
                .unwrap();
        for (machine, &cost) in path.iter().zip(&costs) {
            let alone = OneVersusOne::fit(gram.view(), &labels, cost, &smo).unwrap();
            assert!(machine.converged);
            let (ours, theirs) = (machine.values(gram.view()), alone.values(gram.view()));
            assert_abs_diff_eq!(ours, theirs, epsilon = 1e-6);
            assert_eq!(ours.ncols(), 3);
            assert_eq!(machine.classes(gram.view()), alone.classes(gram.view()));
        }
        let votes = path[1].scores(gram.view(), 5);
        let whole = votes.mapv(f64::round);
        assert!(whole.rows().into_iter().all(|row| (row.sum() - 3.0).abs() < 1e-12));
        assert!(votes.column(4).iter().all(|&vote| vote == 0.0));

        let kept = &path[1];
        let parts = (kept.present().to_vec(), kept.weights.clone(), kept.biases.clone());
        let again = OneVersusOne::from_parts(parts.0, parts.1.clone(), parts.2.clone()).unwrap();
        assert_eq!(again.classes(gram.view()), kept.classes(gram.view()));
        assert!(OneVersusOne::from_parts(vec![0, 1], parts.1.clone(), parts.2.clone()).is_err());
        assert!(OneVersusOne::from_parts(vec![1, 0, 2], parts.1, parts.2).is_err());
    }

    #[test]
    fn two_classes_are_one_machine_wherever_they_stand() {
        let (x, labels) = clouds(60);
        let labels: Vec<u32> = labels.iter().map(|&c| if c == 1 { 4 } else { 2 }).collect();
        let gram = gaussian(&x);
        let machine = OneVersusOne::fit(gram.view(), &labels, 5.0, &Smo::default()).unwrap();
        let f = machine.values(gram.view());
        let scores = machine.scores(gram.view(), 6);
        assert_abs_diff_eq!(scores.column(4), f.column(0), epsilon = 0.0);
        assert_abs_diff_eq!(scores.column(2).to_owned(), -&f.column(0), epsilon = 0.0);
        assert!(machine.classes(gram.view()).iter().all(|class| [2, 4].contains(class)));
        let only = OneVersusOne::fit(gram.view(), &[3; 60], 5.0, &Smo::default()).unwrap();
        assert_eq!(only.classes(gram.view()), vec![3; 60]);
        assert!(only.support().is_empty() && only.converged);
    }

    #[test]
    fn the_cost_is_that_of_a_plain_search() {
        let (x, labels) = clouds(75);
        let gram = gaussian(&x);
        let folds: Vec<usize> = (0..75).map(|t| (t / 3) % 5).collect();
        let smo = Smo { tolerance: 1e-6, ..Smo::default() };
        let costs: Vec<f64> = (-5..=5).map(|p| f64::from(p).exp2()).collect();
        let check = || Ok::<(), SolverError>(());
        let choice = choose_cost(gram.view(), &labels, &folds, &costs, &smo, check).unwrap();
        for (&cost, &right) in costs.iter().zip(&choice.right) {
            let mut slow = 0;
            for fold in 0..5 {
                let kept: Vec<usize> = (0..75).filter(|&t| folds[t] != fold).collect();
                let own = gram.select(Axis(0), &kept).select(Axis(1), &kept);
                let known: Vec<u32> = kept.iter().map(|&t| labels[t]).collect();
                let machine = OneVersusOne::fit(own.view(), &known, cost, &smo).unwrap();
                for t in (0..75).filter(|&t| folds[t] == fold) {
                    let cross = gram.select(Axis(0), &[t]).select(Axis(1), &kept);
                    slow += usize::from(machine.classes(cross.view())[0] == labels[t]);
                }
            }
            assert_eq!(right, slow, "cost {cost}");
        }
        let most = choice.right.iter().max().unwrap();
        let first = choice.right.iter().position(|right| right == most).unwrap();
        assert!((choice.cost - costs[first]).abs() < 1e-12 && choice.converged);
        assert!(choose_cost(gram.view(), &labels, &folds[1..], &costs, &smo, check).is_err());
        assert!(choose_cost(gram.view(), &labels, &folds, &[], &smo, check).is_err());
        assert!(choose_cost(gram.view(), &labels, &folds, &[2.0, 1.0], &smo, check).is_err());
        assert!(OneVersusOne::fit(gram.view(), &labels[1..], 1.0, &smo).is_err());
    }
}
