use crate::StatisticsError;
use crate::error::{check_range, check_table};
use crate::random::SplitMix;
use std::collections::HashMap;
use std::num::NonZero;
use std::ops::Range;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::thread::{self, available_parallelism};

/// Resampled means of a paired difference, in the unit of the differences.
///
/// ```
/// use mercer_statistics::paired_bootstrap;
/// let same = paired_bootstrap(&[vec![0.5; 20]], 999, 1)?;
/// assert_eq!((same.mean, same.standard_error, same.interval(0.95)), (0.5, 0.0, (0.5, 0.5)));
/// assert!(same.degenerate && same.p_two_sided == 0.0);
/// let losses: Vec<f64> = (0..100).map(|row| f64::from(row % 2)).collect();
/// let test = paired_bootstrap(&[losses], 999, 1)?;
/// // The deviation of a mean of 100 fair coins is 0.05.
/// assert!((test.standard_error - 0.05).abs() < 0.01);
/// assert_eq!(test.p_two_sided, 0.002); // 2/(999 + 1), the least that 999 resamples can say
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Bootstrap {
    /// Mean difference over all rows and seeds.
    pub mean: f64,
    /// Deviation of the resampled means.
    pub standard_error: f64,
    /// `min(1, 2 (1 + #{means on the rarer side of 0, 0 included}) / (resamples + 1))`: never
    /// below `2 / (resamples + 1)` unless degenerate.
    pub p_two_sided: f64,
    /// Whether all differences are equal. Then `p` is 1 if they are 0 and 0 otherwise.
    pub degenerate: bool,
    /// The resampled means, ascending.
    sorted: Vec<f64>,
}

impl Bootstrap {
    /// Returns the percentile interval at confidence `level`.
    ///
    /// # Panics
    /// Unless `0 < level < 1`.
    pub fn interval(&self, level: f64) -> (f64, f64) {
        assert!(level > 0.0 && level < 1.0, "`level` is {level}; it must lie in (0, 1)");
        let last = self.sorted.len() - 1;
        let below = ((0.5 * (1.0 - level)) * last as f64).floor() as usize;
        (self.sorted[below], self.sorted[last - below])
    }
}

/// Runs a paired bootstrap over seeds *and* test rows, for a fixed test set.
///
/// `differences[s][i]` is the difference of the two methods' losses with seed `s` on test row `i`. Each resample draws
/// seeds and rows, independently and with replacement, and averages over the drawn grid. This is the pigeonhole
/// bootstrap (Owen 2007, *Annals of Applied Statistics* 1), mildly conservative where rows and seeds are many. Of `S`
/// seeds it draws `S − 1`. The variance of a mean of `S − 1` draws from `S` values is `s²/S` with the unbiased `s²`.
/// With `S` draws it would be `(S − 1)/S` of that, a third too little with three seeds. Rows are many and drawn as many
/// as they are. With one seed it is the ordinary paired bootstrap over rows and says nothing about other seeds.
///
/// The time is `resamples × (rows + seeds + rows·seeds)`.
///
/// ```
/// use mercer_statistics::paired_bootstrap;
/// // The second method is wrong on 60 of 500 rows where the first is right, and never better.
/// let row = |i: usize| if i % 25 < 3 { 1.0 } else { 0.0 };
/// let differences = vec![(0..500).map(row).collect::<Vec<f64>>(); 3];
/// let test = paired_bootstrap(&differences, 999, 1)?;
/// let (low, high) = test.interval(0.95);
/// assert!(test.mean == 0.12 && 0.08 < low && high < 0.16 && test.p_two_sided == 0.002);
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
///
/// # Errors
/// No seeds or no rows; rows missing for a seed; NaN or infinity; fewer than 100 resamples.
pub fn paired_bootstrap(
    differences: &[Vec<f64>],
    resamples: usize,
    seed: u64,
) -> Result<Bootstrap, StatisticsError> {
    check_table("differences", differences, 1)?;
    check_range("resamples", resamples as f64, |b| b >= 100.0, "at least 100")?;
    let (seeds, rows) = (differences.len(), differences[0].len());
    let first = differences[0][0];
    let degenerate = differences.iter().flatten().all(|&d| d == first);
    let cells = (seeds * rows) as f64;
    let mean = if degenerate { first } else { differences.iter().flatten().sum::<f64>() / cells };
    let seeds_drawn = (seeds - 1).max(1);
    let cells_drawn = (seeds_drawn * rows) as f64;

    // Two good classifiers differ on few rows: the others add nothing to a sum.
    let different = |of_seed: &Vec<f64>| -> Vec<(usize, f64)> {
        of_seed.iter().copied().enumerate().filter(|(_, d)| *d != 0.0).collect()
    };
    let different: Vec<Vec<(usize, f64)>> = differences.iter().map(different).collect();
    let draws = draws(rows, seeds, resamples, seed);
    let mut sorted: Vec<f64> = draws
        .iter()
        .flat_map(|share| share.times_drawn.chunks(rows).zip(share.seeds.chunks(seeds_drawn)))
        .map(|(times_drawn, seeds)| {
            let of_seed = |&drawn: &usize| weighted_sum(&different[drawn], times_drawn);
            let total: f64 = seeds.iter().map(of_seed).sum();
            if degenerate { first } else { total / cells_drawn }
        })
        .collect();
    sorted.sort_by(f64::total_cmp);

    let center = sorted.iter().sum::<f64>() / resamples as f64;
    let squares: f64 = sorted.iter().map(|m| (m - center).powi(2)).sum();
    let standard_error = if degenerate { 0.0 } else { (squares / (resamples as f64 - 1.0)).sqrt() };
    let p_two_sided = if degenerate {
        if first == 0.0 { 1.0 } else { 0.0 }
    } else {
        let not_above = sorted.iter().filter(|&&m| m <= 0.0).count();
        let not_below = sorted.iter().filter(|&&m| m >= 0.0).count();
        let rarer = not_above.min(not_below) as f64;
        (2.0 * (1.0 + rarer) / (resamples as f64 + 1.0)).min(1.0)
    };
    Ok(Bootstrap { mean, standard_error, p_two_sided, degenerate, sorted })
}

/// `Σ d · times[row]`: four sums side by side, since each addition waits for the one before it.
fn weighted_sum(different: &[(usize, f64)], times: &[u8]) -> f64 {
    let term = |&(row, d): &(usize, f64)| d * f64::from(times[row]);
    let (fours, rest) = different.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for four in fours {
        for (sum, pair) in sums.iter_mut().zip(four) {
            *sum += term(pair);
        }
    }
    sums.iter().sum::<f64>() + rest.iter().map(term).sum::<f64>()
}

/// Some resamples, one after the other: how often each row is drawn, and which seeds.
struct Draws {
    times_drawn: Vec<u8>,
    seeds: Vec<usize>,
}

/// Makes the resamples of tables of one size, which are the same for each of them, once.
fn draws(rows: usize, seeds: usize, resamples: usize, seed: u64) -> Arc<Vec<Draws>> {
    type Size = (usize, usize, usize, u64);
    static KNOWN: LazyLock<Mutex<HashMap<Size, Arc<Vec<Draws>>>>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    // A few sizes serve a whole report; what comes after many others begins anew.
    if known.len() >= 8 {
        known.clear();
    }
    let made = known.entry((rows, seeds, resamples, seed)).or_insert_with(|| {
        let seeds_drawn = (seeds - 1).max(1);
        // One allocation a thread: of many small ones the system takes longer to hand out the pages than it takes
        // to fill them.
        let draw = |numbers: Range<usize>| {
            let mut times_drawn = vec![0u8; numbers.len() * rows];
            let mut seeds_of = Vec::with_capacity(numbers.len() * seeds_drawn);
            for (number, own) in numbers.zip(times_drawn.chunks_mut(rows)) {
                let mut rng = SplitMix::seeded(seed).after((number * (rows + seeds_drawn)) as u64);
                for _ in 0..rows {
                    let drawn = &mut own[rng.below(rows)];
                    // A row is drawn once in the mean, and 255 times never.
                    *drawn = drawn.saturating_add(1);
                }
                seeds_of.extend((0..seeds_drawn).map(|_| rng.below(seeds)));
            }
            Draws { times_drawn, seeds: seeds_of }
        };
        // Threads of their own: one of a pool that waits here could take up work that asks for this lock.
        let share = resamples.div_ceil(available_parallelism().map_or(1, NonZero::get));
        let draw = &draw;
        Arc::new(thread::scope(|scope| {
            let shares: Vec<_> = (0..resamples)
                .step_by(share)
                .map(|from| {
                    let numbers = from..(from + share).min(resamples);
                    scope.spawn(move || draw(numbers))
                })
                .collect();
            let joined = shares.into_iter().map(|share| share.join().expect("it draws numbers"));
            joined.collect()
        }))
    });
    Arc::clone(made)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn one_seed_gives_the_standard_error_of_the_mean() {
        let mut rng = SplitMix::seeded(3);
        let rows: Vec<f64> = (0..400).map(|_| rng.normal()).collect();
        let summary = crate::summarise(&rows).unwrap();
        let test = paired_bootstrap(&[rows], 4000, 5).unwrap();
        // A deviation of 4000 means is known to 1/√8000 = 1.1 %: 5 % is more than 4 sigma.
        let expected = summary.population_std / 20.0;
        assert_relative_eq!(test.standard_error, expected, max_relative = 0.05);
    }

    #[test]
    fn seeds_vary_as_their_unbiased_variance_says() {
        // Rows that agree: only seeds vary, and the variance of their mean is s²/S.
        let of_seeds = [0.3, -1.1, 0.9, 2.0];
        let summary = crate::summarise(&of_seeds).unwrap();
        let table: Vec<Vec<f64>> = of_seeds.iter().map(|&value| vec![value; 10]).collect();
        let test = paired_bootstrap(&table, 20_000, 5).unwrap();
        assert_relative_eq!(test.standard_error, summary.sample_std / 2.0, max_relative = 0.02);
    }

    #[test]
    fn seeds_that_disagree_widen_the_interval() {
        // Every row says +1 with one seed and −1 with the other: only seeds matter.
        let test = paired_bootstrap(&[vec![1.0; 50], vec![-1.0; 50]], 2000, 5).unwrap();
        assert_eq!(test.interval(0.9), (-1.0, 1.0));
        // One of the two is drawn, each half of the time.
        assert!(test.p_two_sided > 0.9, "{}", test.p_two_sided);
    }

    #[test]
    fn same_seed_same_answer_and_equal_differences_are_degenerate() {
        let table = vec![vec![0.0, 1.0, 0.0, -1.0, 1.0]; 2];
        let once = paired_bootstrap(&table, 200, 9).unwrap();
        assert_eq!(once, paired_bootstrap(&table, 200, 9).unwrap());
        assert_ne!(once, paired_bootstrap(&table, 200, 10).unwrap());
        let nothing = paired_bootstrap(&[vec![0.0; 9]], 100, 1).unwrap();
        assert!(nothing.degenerate && nothing.p_two_sided == 1.0 && nothing.standard_error == 0.0);
        let always = paired_bootstrap(&[vec![0.1; 9]], 100, 1).unwrap();
        assert_eq!((always.p_two_sided, always.interval(0.95)), (0.0, (0.1, 0.1)));
    }

    #[test]
    fn a_ragged_or_empty_table_is_refused() {
        assert!(paired_bootstrap(&[], 100, 1).is_err());
        assert!(paired_bootstrap(&[vec![1.0], vec![1.0, 2.0]], 100, 1).is_err());
        assert!(paired_bootstrap(&[vec![1.0]], 99, 1).is_err());
    }
}
