//! What changes from step to step of a training.

use mercer_learning::Stream;
use mercer_networks::Network;
use mercer_solvers::Memory;
use rand::seq::SliceRandom;

/// The parameters beside the network's, as logarithms: `λ`, then the kernel's.
pub(super) struct Logs {
    pub values: Vec<f64>,
    pub memory: Memory<f64>,
}

/// All that changes from step to step.
pub(super) struct Training<F> {
    pub net: Box<dyn Network<F>>,
    pub memory: Memory<F>,
    pub logs: Logs,
    pub masks: Stream,
    pub order: Order,
    /// Steps whose factorisation needed a jitter.
    pub jittered: usize,
}

/// Batches: consecutive rows of a permutation, which is drawn anew when fewer than a batch are left.
pub(super) struct Order {
    pub rows: Vec<usize>,
    pub next: usize,
    pub rng: Stream,
}

impl Order {
    pub fn new(n: usize, rng: Stream) -> Self {
        Self { rows: (0..n).collect(), next: n, rng }
    }

    /// Returns the next batch; none if it is all rows in their order.
    pub fn next(&mut self, batch: usize) -> Option<&[usize]> {
        if batch == self.rows.len() {
            return None;
        }
        if self.next + batch > self.rows.len() {
            self.rows.shuffle(&mut self.rng);
            self.next = 0;
        }
        let start = self.next;
        self.next += batch;
        Some(&self.rows[start..self.next])
    }
}
