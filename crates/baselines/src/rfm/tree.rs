//! Many rows in leaves of a few thousand, each with a machine of its own (Beaglehole, Holzmüller, Radhakrishnan &
//! Belkin 2025, xRFM).
//!
//! A node with more rows than a leaf may hold fits a machine in the identity to some of them. The first eigenvector `v`
//! of the mean outer product of its gradients is the direction in which the target changes most. The rows are divided at
//! the median of `vᵀx`. A row is asked of one leaf alone: hard routing.

use super::kernel::Expansion;
use mercer_learning::{LearningError, Predictor, State, Task};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, Ix1, Ix2};

/// Where the rows of a node part.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cut {
    /// `v`, `d`.
    pub direction: Array1<f64>,
    /// Rows with `vᵀx` below it go to the first side.
    pub threshold: f64,
}

impl Cut {
    /// At the median of `vᵀx`, or above the rows that share the least one if it is theirs. `None` if all share one.
    pub fn at_the_median(direction: Array1<f64>, inputs: ArrayView2<'_, f64>) -> Option<Self> {
        let mut along: Vec<f64> = inputs.rows().into_iter().map(|x| dot(x, &direction)).collect();
        along.sort_by(f64::total_cmp);
        let least = along[0];
        let threshold = match along[along.len() / 2] {
            median if median > least => median,
            _ => *along.iter().find(|value| **value > least)?,
        };
        Some(Self { direction, threshold })
    }

    pub fn is_first(&self, x: ArrayView1<'_, f64>) -> bool {
        dot(x, &self.direction) < self.threshold
    }
}

/// In the order of the columns, so that a row goes the same way alone and among others.
fn dot(x: ArrayView1<'_, f64>, direction: &Array1<f64>) -> f64 {
    x.iter().zip(direction).map(|(x, v)| x * v).sum()
}

/// One side of a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Cut(usize),
    Leaf(usize),
}

/// Cuts with their two sides, the root first, and the leaves.
pub(super) struct Tree {
    pub task: Task,
    pub features: usize,
    pub cuts: Vec<(Cut, [Side; 2])>,
    pub leaves: Vec<Expansion>,
}

impl Tree {
    fn leaf_of(&self, x: ArrayView1<'_, f64>) -> usize {
        let mut at = if self.cuts.is_empty() { Side::Leaf(0) } else { Side::Cut(0) };
        loop {
            match at {
                Side::Leaf(leaf) => return leaf,
                Side::Cut(number) => {
                    let (cut, [first, second]) = &self.cuts[number];
                    at = if cut.is_first(x) { *first } else { *second };
                }
            }
        }
    }

    pub fn restore(state: &State, task: Task, features: usize) -> Result<Self, LearningError> {
        let refuse = |problem: &str| LearningError::State {
            name: "sides".to_owned(),
            problem: problem.to_owned(),
        };
        let thresholds = state.array::<f64, Ix1>("thresholds")?;
        let count = thresholds.len();
        let directions = state.array_of::<f64, Ix2>("directions", (count, features))?;
        let sides: Vec<[i64; 2]> = state.value("sides")?;
        let leaves: usize = state.value("leaves")?;
        if sides.len() != count || leaves.checked_sub(1) != Some(count) {
            return Err(refuse("must be two a cut, and one leaf more than cuts"));
        }
        let mut met = vec![0; count + leaves];
        let mut cuts = Vec::with_capacity(count);
        for (number, pair) in sides.into_iter().enumerate() {
            // A cut is named by its number, a leaf by −1 less its number.
            let side = |side: i64| match usize::try_from(side) {
                Ok(cut) if cut > number && cut < count => Ok((Side::Cut(cut), cut)),
                Err(_) if side.unsigned_abs() as usize <= leaves => {
                    let leaf = side.unsigned_abs() as usize - 1;
                    Ok((Side::Leaf(leaf), count + leaf))
                }
                _ => Err(refuse("must lead to a later cut or to a leaf")),
            };
            let [(first, one), (second, other)] = [side(pair[0])?, side(pair[1])?];
            met[one] += 1;
            met[other] += 1;
            let direction = directions.row(number).to_owned();
            cuts.push((Cut { direction, threshold: thresholds[number] }, [first, second]));
        }
        if met.iter().skip(1).any(|&times| times != 1) {
            return Err(refuse("must lead to each cut and each leaf once"));
        }
        let leaf = |number: usize| {
            let part = state.part(&format!("leaf-{number}"))?;
            Expansion::restored(part, features, task.outputs())
        };
        let leaves = (0..leaves).map(leaf).collect::<Result<_, _>>()?;
        Ok(Self { task, features, cuts, leaves })
    }
}

impl Predictor for Tree {
    fn task(&self) -> Task {
        self.task
    }

    fn features(&self) -> usize {
        self.features
    }

    fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut places = vec![Vec::new(); self.leaves.len()];
        for (row, x) in inputs.rows().into_iter().enumerate() {
            places[self.leaf_of(x)].push(row);
        }
        let mut values = Array2::zeros((inputs.nrows(), self.task.outputs()));
        for (leaf, rows) in self.leaves.iter().zip(places) {
            let found = leaf.at(inputs.select(Axis(0), &rows).view());
            for (row, value) in rows.into_iter().zip(found.rows()) {
                values.row_mut(row).assign(&value);
            }
        }
        values
    }

    fn state(&self) -> State {
        let number = |side: &Side| match side {
            Side::Cut(cut) => *cut as i64,
            Side::Leaf(leaf) => -1 - *leaf as i64,
        };
        let sides: Vec<[i64; 2]> =
            self.cuts.iter().map(|(_, [first, second])| [number(first), number(second)]).collect();
        let thresholds: Array1<f64> = self.cuts.iter().map(|(cut, _)| cut.threshold).collect();
        let mut directions = Array2::zeros((self.cuts.len(), self.features));
        for (mut to, (cut, _)) in directions.rows_mut().into_iter().zip(&self.cuts) {
            to.assign(&cut.direction);
        }
        let state = State::new()
            .with("task", self.task)
            .with("features", self.features)
            .with("leaves", self.leaves.len())
            .with("sides", sides)
            .with_array("thresholds", &thresholds)
            .with_array("directions", &directions);
        self.leaves.iter().enumerate().fold(state, |state, (number, leaf)| {
            state.with_part(&format!("leaf-{number}"), leaf.kept(State::new()))
        })
    }
}
