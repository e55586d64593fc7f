/// No point: the end of the list of held rows.
const NONE: usize = usize::MAX;

/// Kernel rows by point, the least recently used making room.
///
/// A row holds the values for the first so many points in the order of a run.
pub(super) struct RowCache {
    rows: Vec<Vec<f64>>,
    /// The points whose rows are held, from the last used to the first: of each the one used before it, and after it.
    older: Vec<usize>,
    newer: Vec<usize>,
    newest: usize,
    oldest: usize,
    held: usize,
    capacity: usize,
}

impl RowCache {
    /// For `n` points, with at most so many bytes of values, but room for two rows.
    pub(super) fn new(n: usize, bytes: usize) -> Self {
        let capacity = (bytes / size_of::<f64>()).max(2 * n);
        Self {
            rows: vec![Vec::new(); n],
            older: vec![NONE; n],
            newer: vec![NONE; n],
            newest: NONE,
            oldest: NONE,
            held: 0,
            capacity,
        }
    }

    /// The values held for a point.
    pub(super) fn row(&self, point: usize) -> &[f64] {
        &self.rows[point]
    }

    /// Makes room for `length` values of a point, never by dropping `keep`; returns the row, which
    /// the caller completes, and how many of its values are there already.
    pub(super) fn grow(&mut self, point: usize, length: usize, keep: usize) -> (&mut [f64], usize) {
        let there = self.rows[point].len().min(length);
        let more = length - there;
        self.take_out(point);
        let (mut oldest, mut spare) = (self.oldest, Vec::new());
        while more > 0 && self.held + more > self.capacity && oldest != NONE {
            let next = self.newer[oldest];
            if oldest != keep {
                self.take_out(oldest);
                self.held -= self.rows[oldest].len();
                spare = std::mem::take(&mut self.rows[oldest]);
            }
            oldest = next;
        }
        if more > 0 {
            self.held += more;
            let row = &mut self.rows[point];
            // Pages that are there need not be cleared; but a long row under a short one is memory that nobody counts.
            if row.is_empty() && spare.capacity() / 8 * 7 <= length {
                spare.truncate(length);
                *row = spare;
            }
            row.resize(length, 0.0);
        }
        self.put_first(point);
        (&mut self.rows[point][..length], there)
    }

    /// Follows exchanges of two places in the order, `first < second`, one after the other. A row at a time, which stays
    /// in the processor's cache.
    pub(super) fn swap(&mut self, places: &[(usize, usize)]) {
        let mut point = self.newest;
        while point != NONE {
            let row = &mut self.rows[point];
            for &(first, second) in places {
                if row.len() > second {
                    row.swap(first, second);
                } else if row.len() > first {
                    // What stands at `first` now was never computed.
                    self.held -= row.len() - first;
                    row.truncate(first);
                }
            }
            point = self.older[point];
        }
    }

    fn take_out(&mut self, point: usize) {
        let (older, newer) = (self.older[point], self.newer[point]);
        match older {
            NONE if self.oldest == point => self.oldest = newer,
            NONE => {}
            older => self.newer[older] = newer,
        }
        match newer {
            NONE if self.newest == point => self.newest = older,
            NONE => {}
            newer => self.older[newer] = older,
        }
        (self.older[point], self.newer[point]) = (NONE, NONE);
    }

    fn put_first(&mut self, point: usize) {
        self.older[point] = self.newest;
        match self.newest {
            NONE => self.oldest = point,
            newest => self.newer[newest] = point,
        }
        self.newest = point;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Room for two rows of four: the row used longest ago goes, but not the one that is kept.
    #[test]
    fn the_row_used_longest_ago_makes_room() {
        let mut cache = RowCache::new(4, 0);
        for (point, keep, left) in [
            (0, 0, [4, 0, 0, 0]),
            (1, 0, [4, 4, 0, 0]),
            (0, 0, [4, 4, 0, 0]),
            (2, 0, [4, 0, 4, 0]),
            (3, 0, [4, 0, 0, 4]),
            (1, 3, [0, 4, 0, 4]),
        ] {
            cache.grow(point, 4, keep);
            let found = [0, 1, 2, 3].map(|point| cache.row(point).len());
            assert_eq!(found, left, "after point {point}");
        }
    }

    #[test]
    fn an_exchange_of_places_is_followed_by_the_rows_that_are_held() {
        let mut cache = RowCache::new(3, 1 << 10);
        cache.grow(0, 3, 0).0.copy_from_slice(&[1.0, 2.0, 3.0]);
        cache.grow(2, 2, 0).0.copy_from_slice(&[4.0, 5.0]);
        cache.swap(&[(1, 2)]);
        assert_eq!((cache.row(0), cache.row(2)), (&[1.0, 3.0, 2.0][..], &[4.0][..]));
        assert_eq!(cache.held, 4);
        // What is short grows again.
        assert_eq!(cache.grow(2, 3, 2).1, 1);
        assert_eq!(cache.held, 6);
    }
}
