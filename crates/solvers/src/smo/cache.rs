/// Kernel rows by point, the least recently used making room.
///
/// A row holds the values for the first so many points in the order of a run.
pub(super) struct RowCache {
    rows: Vec<Vec<f64>>,
    used: Vec<u64>,
    clock: u64,
    held: usize,
    capacity: usize,
}

impl RowCache {
    /// For `n` points, with at most so many bytes of values, but room for two rows.
    pub(super) fn new(n: usize, bytes: usize) -> Self {
        let capacity = (bytes / size_of::<f64>()).max(2 * n);
        Self { rows: vec![Vec::new(); n], used: vec![0; n], clock: 0, held: 0, capacity }
    }

    /// The values held for a point.
    pub(super) fn row(&self, point: usize) -> &[f64] {
        &self.rows[point]
    }

    /// Makes room for `length` values of a point, never by dropping `keep`; returns the row, which
    /// the caller completes, and how many of its values are there already.
    pub(super) fn grow(&mut self, point: usize, length: usize, keep: usize) -> (&mut [f64], usize) {
        self.clock += 1;
        self.used[point] = self.clock;
        let there = self.rows[point].len().min(length);
        let more = length - there;
        while more > 0 && self.held + more > self.capacity {
            let oldest = (0..self.rows.len())
                .filter(|&other| other != point && other != keep && !self.rows[other].is_empty())
                .min_by_key(|&other| self.used[other]);
            let Some(oldest) = oldest else { break };
            self.held -= self.rows[oldest].len();
            self.rows[oldest] = Vec::new();
        }
        if more > 0 {
            self.held += more;
            self.rows[point].resize(length, 0.0);
        }
        (&mut self.rows[point][..length], there)
    }

    /// Follows the exchange of two places in the order, `first < second`.
    pub(super) fn swap(&mut self, first: usize, second: usize) {
        for row in &mut self.rows {
            if row.len() > second {
                row.swap(first, second);
            } else if row.len() > first {
                // What stands at `first` now was never computed.
                self.held -= row.len() - first;
                row.truncate(first);
            }
        }
    }
}
