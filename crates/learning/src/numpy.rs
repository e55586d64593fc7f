use serde::{Deserialize, Serialize};

/// Words of the generator's state.
const SIZE: usize = 624;
/// Distance of the recurrence.
const MIDDLE: usize = 397;

/// NumPy's legacy generator, `RandomState(seed)`: the 32-bit Mersenne Twister.
///
/// Only what published experiments need of it: its permutations. All of our own randomness comes
/// from [`crate::Streams`].
///
/// ```
/// use mercer_learning::NumpyRandomState;
/// let mut generator = NumpyRandomState::seed(0);
/// assert_eq!(generator.permutation(6), [5, 2, 1, 3, 0, 4]); // numpy.random.RandomState(0)
/// ```
#[derive(Clone)]
pub struct NumpyRandomState {
    state: [u32; SIZE],
    next: usize,
}

/// A fold of a permutation from NumPy's legacy generator. It has `blocks` consecutive blocks of `permutation(rows)`;
/// block `index` is tested.
///
/// The authors' code goes on drawing from the generator that made the folds; a learner that
/// imitates it needs to know where its fold stands.
///
/// ```
/// use mercer_learning::Fold;
/// // 690 rows in 4 blocks: 173, 173, 172, 172.
/// let fold = Fold { rows: 690, blocks: 4, index: 2, seed: 0 };
/// assert_eq!((fold.size_of(1), fold.size_of(2), fold.start_of(2)), (173, 172, 346));
/// assert_eq!(fold.training_rows(2), 518);
/// let (permutation, _) = fold.generator();
/// assert_eq!(permutation.len(), 690);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fold {
    /// Rows of the whole file.
    pub rows: usize,
    /// Number of blocks.
    pub blocks: usize,
    /// The block that is tested, from 0.
    pub index: usize,
    /// Seed of the generator.
    pub seed: u32,
}

impl NumpyRandomState {
    /// Returns the generator of `RandomState(seed)`.
    pub fn seed(seed: u32) -> Self {
        let mut state = [seed; SIZE];
        for i in 1..SIZE {
            let last = state[i - 1];
            state[i] = 1_812_433_253u32.wrapping_mul(last ^ (last >> 30)).wrapping_add(i as u32);
        }
        Self { state, next: SIZE }
    }

    /// Returns the next 32 bits.
    pub fn next_u32(&mut self) -> u32 {
        if self.next == SIZE {
            self.twist();
        }
        let mut word = self.state[self.next];
        self.next += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9d2c_5680;
        word ^= (word << 15) & 0xefc6_0000;
        word ^ (word >> 18)
    }

    /// Returns `permutation(n)`: `0..n`, shuffled from the last entry to the second.
    ///
    /// # Panics
    /// If `n` exceeds 2³², beyond which NumPy draws 64 bits.
    pub fn permutation(&mut self, n: usize) -> Vec<usize> {
        assert!(u32::try_from(n).is_ok(), "a permutation of at most 2^32 - 1 rows, got {n}");
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            order.swap(i, self.at_most(i as u32) as usize);
        }
        order
    }

    /// Draws what [`NumpyRandomState::permutation`] draws, and forgets it.
    pub fn skip_permutation(&mut self, n: usize) {
        for i in (1..n).rev() {
            self.at_most(i as u32);
        }
    }

    /// Uniform on `0..=limit`: words masked to the bits of `limit`, those above it rejected.
    fn at_most(&mut self, limit: u32) -> u32 {
        let mask = u32::MAX >> limit.leading_zeros();
        loop {
            let word = self.next_u32() & mask;
            if word <= limit {
                return word;
            }
        }
    }

    fn twist(&mut self) {
        for i in 0..SIZE {
            let joined = (self.state[i] & 0x8000_0000) | (self.state[(i + 1) % SIZE] & 0x7fff_ffff);
            let turned = if joined & 1 == 1 { 0x9908_b0df } else { 0 };
            self.state[i] = self.state[(i + MIDDLE) % SIZE] ^ (joined >> 1) ^ turned;
        }
        self.next = 0;
    }
}

impl std::fmt::Debug for NumpyRandomState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NumpyRandomState").field("next", &self.next).finish_non_exhaustive()
    }
}

impl Fold {
    /// Rows of block `index`: the first `rows mod blocks` have one more than the others.
    pub const fn size_of(&self, index: usize) -> usize {
        self.rows / self.blocks + if index < self.rows % self.blocks { 1 } else { 0 }
    }

    /// Where block `index` starts in the permutation.
    pub const fn start_of(&self, index: usize) -> usize {
        let (size, longer) = (self.rows / self.blocks, self.rows % self.blocks);
        index * size + if index < longer { index } else { longer }
    }

    /// Returns the rows on which the fits of fold `index` train.
    pub const fn training_rows(&self, index: usize) -> usize {
        self.rows - self.size_of(index)
    }

    /// Returns the generator after it has made the permutation.
    pub fn generator(&self) -> (Vec<usize>, NumpyRandomState) {
        let mut generator = NumpyRandomState::seed(self.seed);
        let permutation = generator.permutation(self.rows);
        (permutation, generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What NumPy's RandomState(0) gave.
    fn golden(name: &str) -> Vec<usize> {
        let golden: toml::Table =
            include_str!("../../../experiments/golden/mce.toml").parse().unwrap();
        let values = golden["mce-3"][name].as_array().unwrap();
        values.iter().map(|value| value.as_integer().unwrap() as usize).collect()
    }

    #[test]
    fn the_first_words_are_the_reference_s() {
        let mut generator = NumpyRandomState::seed(0);
        let words: Vec<usize> = (0..4).map(|_| generator.next_u32() as usize).collect();
        assert_eq!(words, golden("outputs"));
    }

    #[test]
    fn permutations_start_as_numpy_s_on_one_stream() {
        let first = |n: usize| NumpyRandomState::seed(0).permutation(n)[..8].to_vec();
        assert_eq!(first(178), golden("rows-of-178"));
        assert_eq!(first(336), golden("rows-of-336"));
        let (mut drawn, mut skipped) = (NumpyRandomState::seed(0), NumpyRandomState::seed(0));
        drawn.permutation(336);
        skipped.skip_permutation(336);
        assert_eq!(drawn.permutation(336), skipped.permutation(336));
        assert!(NumpyRandomState::seed(3).permutation(0).is_empty());
    }

    #[test]
    fn blocks_cover_the_permutation() {
        let fold = Fold { rows: 178, blocks: 10, index: 0, seed: 0 };
        assert_eq!((fold.size_of(7), fold.size_of(8)), (18, 17));
        assert_eq!((fold.start_of(8), fold.start_of(9)), (144, 161));
        assert_eq!(fold.training_rows(0), 160);
        assert_eq!((0..10).map(|index| fold.size_of(index)).sum::<usize>(), 178);
    }
}
