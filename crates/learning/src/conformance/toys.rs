//! Small samples, and limits and checkpoints that end a fit early.

use crate::{Checkpoints, LearningError, Limits, Sample, State, Task};
use ndarray::{Array1, Array2};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Limits that count the steps, and end a fit after so many.
pub(super) struct Steps {
    asked: AtomicUsize,
    until: usize,
}

impl Steps {
    pub(super) const fn until(until: usize) -> Self {
        Self { asked: AtomicUsize::new(0), until }
    }

    pub(super) fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

impl Limits for Steps {
    fn check(&self) -> Result<(), LearningError> {
        let steps = self.asked.fetch_add(1, Ordering::Relaxed);
        if steps < self.until { Ok(()) } else { Err(LearningError::Interrupted) }
    }

    fn reserve(&self, _bytes: u64) -> Result<(), LearningError> {
        Ok(())
    }
}

/// Keeps the last state, when a fit is interrupted.
#[derive(Default)]
pub(super) struct Kept {
    pub(super) last: Option<State>,
}

impl Checkpoints for Kept {
    fn last(&mut self) -> Option<State> {
        self.last.clone()
    }

    fn due(&self, _ended: bool) -> bool {
        false
    }

    fn keep(&mut self, state: State) {
        self.last = Some(state);
    }
}

/// Blobs of deviation 0.5 whose centres are 2 apart on a line or a triangle, the classes in turn;
/// or `y = 3 x_1 − x_2 + 1` with noise of deviation 0.1 over standard normal inputs.
pub(super) fn toy(task: Task, features: usize, rows: usize, seed: u64) -> Sample {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    // Twelve uniforms: variance 1, and enough of a bell for a toy.
    let mut normal = || (0..12).map(|_| rng.r#gen::<f64>()).sum::<f64>() - 6.0;
    let sample = match task {
        Task::Classification { classes } => {
            let centres =
                [[-1.0, 0.0], [1.0, 0.0], [if features == 1 { 3.0 } else { 0.0 }, 3f64.sqrt()]];
            let inputs = Array2::from_shape_fn((rows, features), |(i, j)| {
                centres[i % classes][j % 2] + 0.5 * normal()
            });
            let labels = (0..rows).map(|i| (i % classes) as u32).collect();
            Sample::classification(inputs, labels, classes)
        }
        Task::Regression => {
            let inputs = Array2::from_shape_simple_fn((rows, features), &mut normal);
            let values = Array1::from_shape_fn(rows, |i| {
                let second = if features > 1 { inputs[[i, 1]] } else { 0.0 };
                3.0 * inputs[[i, 0]] - second + 1.0 + 0.1 * normal()
            });
            Sample::regression(inputs, values)
        }
    };
    sample.expect("a finite, non-empty toy sample")
}
