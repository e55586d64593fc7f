use std::ops::Range;

/// Unordered pairs `(i, j)`, `i ≤ j`, of points.
///
/// A hyper-kernel ignores the order within a pair, so of the `m²` ordered pairs of `m` points only
/// `m(m + 1)/2` are distinct, and over ordered pairs every hyper-Gram matrix is singular. A sum over
/// ordered pairs is a sum over these with [`Pairs::weight`]: 1 on the diagonal, 2 off it. This is
/// the one representation: memory falls by 4 and the time of a factorisation by 8.
///
/// ```
/// use mercer_kernels::Pairs;
/// let pairs = Pairs::all(3);
/// assert_eq!(pairs.as_slice(), [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]);
/// assert_eq!((0..6).map(|q| pairs.weight(q)).sum::<f64>(), 9.0);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pairs(Vec<(usize, usize)>);

impl Pairs {
    /// Returns all of `m` points, row by row of the upper triangle.
    pub fn all(points: usize) -> Self {
        Self((0..points).flat_map(|i| (i..points).map(move |j| (i, j))).collect())
    }

    /// Lists the pairs of [`Pairs::all`] with these numbers in its order. It makes no list of the others: all pairs of
    /// many points can be gone through in parts.
    ///
    /// ```
    /// use mercer_kernels::Pairs;
    /// assert_eq!(Pairs::some(3, 1..4).as_slice(), [(0, 1), (0, 2), (1, 1)]);
    /// assert_eq!(Pairs::some(3, 5..9).as_slice(), [(2, 2)]); // there are six
    /// ```
    pub fn some(points: usize, numbers: Range<usize>) -> Self {
        // Rows 0 to i − 1 of the triangle have i (2 m − i + 1)/2 pairs.
        let before = |i: usize| i * (2 * points - i + 1) / 2;
        let end = numbers.end.min(Self::count(points));
        let Some(count) = end.checked_sub(numbers.start).filter(|&count| count > 0) else {
            return Self::default();
        };
        let (mut low, mut high) = (0, points);
        while high - low > 1 {
            let middle = low.midpoint(high);
            if before(middle) <= numbers.start { low = middle } else { high = middle }
        }
        let skipped = numbers.start - before(low);
        let rows = (low..points).flat_map(|i| (i..points).map(move |j| (i, j)));
        Self(rows.skip(skipped).take(count).collect())
    }

    /// Returns these, each with its smaller index first.
    pub fn new(pairs: impl IntoIterator<Item = (usize, usize)>) -> Self {
        Self(pairs.into_iter().map(|(i, j)| (i.min(j), i.max(j))).collect())
    }

    /// Returns the number of unordered pairs of `m` points, `m(m + 1)/2`, the diagonal included. (The paper's text
    /// prints a binomial coefficient upside down; `m(m − 1)/2` is the number without it.)
    pub const fn count(points: usize) -> usize {
        points * (points + 1) / 2
    }

    /// Returns the number of pairs.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the pairs, each with its smaller index first.
    pub fn as_slice(&self) -> &[(usize, usize)] {
        &self.0
    }

    /// Returns the number of ordered pairs that pair `q` stands for. It is 1 if its points are the same, else 2.
    ///
    /// # Panics
    /// If there is no pair `q`.
    pub fn weight(&self, q: usize) -> f64 {
        let (i, j) = self.0[q];
        if i == j { 1.0 } else { 2.0 }
    }

    /// Returns [`Pairs::weight`] of every pair.
    pub fn weights(&self) -> impl Iterator<Item = f64> {
        self.0.iter().map(|(i, j)| if i == j { 1.0 } else { 2.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_by_their_numbers_are_those_of_the_whole_list() {
        for points in [0, 1, 2, 3, 7, 40] {
            let all = Pairs::all(points);
            assert_eq!(all.len(), Pairs::count(points));
            for start in 0..=all.len() + 1 {
                for end in [start, start + 1, start + 5, all.len(), all.len() + 3] {
                    let wanted = all.as_slice().get(start..end.min(all.len())).unwrap_or(&[]);
                    assert_eq!(
                        Pairs::some(points, start..end).as_slice(),
                        wanted,
                        "{points} {start} {end}"
                    );
                }
            }
        }
    }
}
