//! Which rows each batch has.

use super::Plan;
use super::plan::Sampling;
use mercer_learning::Stream;
use rand::Rng;
use rand::seq::SliceRandom;

/// The rows at hand in the order in which batches take them, drawn anew for each pass.
pub(super) struct Order {
    /// Places among the rows at hand; with replacement some more, so that every batch is full.
    places: Vec<usize>,
    /// Places that batches have taken.
    taken: usize,
    /// Rows at hand.
    rows: usize,
    batch: usize,
    sampling: Sampling,
    stream: Stream,
}

impl Order {
    /// Returns an order of `rows` rows, to be drawn by [`Order::renew`].
    pub fn of(plan: &Plan, rows: usize, stream: Stream) -> Self {
        let (batch, sampling) = (plan.batch.min(rows), plan.sampling);
        let mut order = Self { places: Vec::new(), taken: 0, rows, batch, sampling, stream };
        order.begin_at(rows);
        order
    }

    /// Other rows are at hand, so many; to be drawn by [`Order::renew`].
    pub fn begin_at(&mut self, rows: usize) {
        let places = match self.sampling {
            Sampling::Shuffled => rows,
            Sampling::Replacement => rows.div_ceil(self.batch) * self.batch,
        };
        self.rows = rows;
        self.places = (0..places).collect();
        self.taken = places;
    }

    /// Returns whether batches have taken all.
    pub const fn is_used_up(&self) -> bool {
        self.taken == self.places.len()
    }

    /// Draws the order of a pass. Shuffling goes on from the order of the last one.
    pub fn renew(&mut self) {
        match self.sampling {
            Sampling::Shuffled => self.places.shuffle(&mut self.stream),
            Sampling::Replacement => {
                let (rows, stream) = (self.rows, &mut self.stream);
                self.places.fill_with(|| stream.gen_range(0..rows));
            }
        }
        self.taken = 0;
    }

    /// The rows of the next batch; the last one of a pass may have fewer.
    pub fn next_batch(&mut self) -> &[usize] {
        let from = self.taken;
        self.taken = (from + self.batch).min(self.places.len());
        &self.places[from..self.taken]
    }
}
