use rand::Rng;
use rand::seq::SliceRandom;

/// Row numbers to train on and to test on; no row is in both.
///
/// ```
/// use mercer_datasets::random_split;
/// use mercer_learning::Streams;
/// let split = random_split(100, 0.8, &mut Streams::root(1).rng("split"));
/// let mut all: Vec<usize> = split.train.iter().chain(&split.test).copied().collect();
/// all.sort_unstable();
/// assert_eq!(all, (0..100).collect::<Vec<_>>()); // every row once
/// assert_eq!(split, random_split(100, 0.8, &mut Streams::root(1).rng("split")));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Rows to train on, in the order in which they were drawn.
    pub train: Vec<usize>,
    /// Rows to test on.
    pub test: Vec<usize>,
}

/// Splits a random permutation of `0..rows`: its first rows train, the others test.
///
/// The number of training rows is `train_share · rows` rounded to the nearest integer, halves up,
/// and then kept within `1..=rows − 1`.
///
/// ```
/// use mercer_datasets::random_split;
/// use mercer_learning::Streams;
/// let split = random_split(10, 0.8, &mut Streams::root(1).rng("split"));
/// assert_eq!((split.train.len(), split.test.len()), (8, 2));
/// ```
///
/// # Panics
/// If `rows < 2` or `train_share` is outside `(0, 1)`.
pub fn random_split(rows: usize, train_share: f64, rng: &mut impl Rng) -> Split {
    assert!(rows >= 2, "a split needs at least 2 rows, got {rows}");
    let count = train_count(rows, train_share);
    let mut train: Vec<usize> = (0..rows).collect();
    train.shuffle(rng);
    let test = train.split_off(count);
    Split { train, test }
}

fn train_count(rows: usize, train_share: f64) -> usize {
    assert!(
        train_share > 0.0 && train_share < 1.0,
        "the share of training rows must be between 0 and 1, got {train_share}"
    );
    ((train_share * rows as f64).round() as usize).clamp(1, rows - 1)
}

/// Splits at random with the shares of the classes kept: [`random_split`] within each class.
///
/// A class of a single row trains. The rows of both sides are shuffled across the classes at the
/// end.
///
/// ```
/// use mercer_datasets::stratified_split;
/// use mercer_learning::Streams;
/// let labels = [0, 0, 0, 0, 1, 1];
/// let split = stratified_split(&labels, 0.5, &mut Streams::root(1).rng("split"));
/// assert_eq!(split.test.iter().filter(|&&row| labels[row] == 1).count(), 1);
/// ```
///
/// # Panics
/// If no class has 2 rows, or `train_share` is outside `(0, 1)`.
pub fn stratified_split(labels: &[u32], train_share: f64, rng: &mut impl Rng) -> Split {
    let classes = labels.iter().max().map_or(0, |&label| label as usize + 1);
    let mut members = vec![Vec::new(); classes];
    for (row, &label) in labels.iter().enumerate() {
        members[label as usize].push(row);
    }
    let (mut train, mut test) = (Vec::new(), Vec::new());
    for mut rows in members {
        if rows.len() < 2 {
            train.append(&mut rows);
            continue;
        }
        rows.shuffle(rng);
        test.extend(rows.split_off(train_count(rows.len(), train_share)));
        train.append(&mut rows);
    }
    assert!(!test.is_empty(), "a stratified split needs a class of at least 2 rows");
    train.shuffle(rng);
    test.shuffle(rng);
    Split { train, test }
}

/// Returns `k` splits whose test sides divide `0..rows` at random; each trains on the rest.
///
/// The first `rows mod k` test sides have one row more than the others.
///
/// ```
/// use mercer_datasets::k_folds;
/// use mercer_learning::Streams;
/// let folds = k_folds(7, 3, &mut Streams::root(1).rng("folds"));
/// let sizes: Vec<usize> = folds.iter().map(|fold| fold.test.len()).collect();
/// assert_eq!(sizes, [3, 2, 2]);
/// ```
///
/// # Panics
/// Unless `2 ≤ k ≤ rows`.
pub fn k_folds(rows: usize, k: usize, rng: &mut impl Rng) -> Vec<Split> {
    assert!(2 <= k && k <= rows, "k must be at least 2 and at most the {rows} rows, got {k}");
    let mut order: Vec<usize> = (0..rows).collect();
    order.shuffle(rng);
    let (size, longer) = (rows / k, rows % k);
    let start_of = |fold: usize| fold * size + fold.min(longer);
    let fold = |fold: usize| {
        let (start, end) = (start_of(fold), start_of(fold + 1));
        let train = order[..start].iter().chain(&order[end..]).copied().collect();
        Split { train, test: order[start..end].to_vec() }
    };
    (0..k).map(fold).collect()
}

/// Draws `count` of the rows at random without repetition. If there are fewer, it returns all of them, shuffled.
///
/// Only row numbers are copied: select from the sample once, at the end.
///
/// ```
/// use mercer_datasets::subsample;
/// use mercer_learning::Streams;
/// let drawn = subsample(&[4, 5, 6, 7], 2, &mut Streams::root(1).rng("rows"));
/// assert!(drawn.len() == 2 && drawn[0] != drawn[1] && drawn.iter().all(|row| (4..8).contains(row)));
/// ```
pub fn subsample(rows: &[usize], count: usize, rng: &mut impl Rng) -> Vec<usize> {
    let mut drawn: Vec<usize> = rows.to_vec();
    let (front, _) = drawn.partial_shuffle(rng, count.min(rows.len()));
    front.to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_learning::Streams;
    use proptest::prelude::*;

    fn is_permutation(split: &Split, rows: usize) -> bool {
        let mut all = [split.train.clone(), split.test.clone()].concat();
        all.sort_unstable();
        all == (0..rows).collect::<Vec<_>>()
    }

    #[test]
    fn halves_round_up_and_no_side_is_empty() {
        assert_eq!(train_count(5, 0.5), 3);
        assert_eq!(train_count(5, 0.8), 4);
        assert_eq!(train_count(2, 0.99), 1);
        assert_eq!(train_count(100, 1e-6), 1);
        assert_eq!(train_count(2310, 0.8), 1848);
    }

    proptest! {
        #[test]
        fn every_row_is_on_exactly_one_side(rows in 2usize..60, share in 0.01..0.99, seed: u64) {
            let mut rng = Streams::root(seed).rng("split");
            prop_assert!(is_permutation(&random_split(rows, share, &mut rng), rows));
            let labels: Vec<u32> = (0..rows).map(|row| (row % 3 == 0).into()).collect();
            if rows >= 3 {
                prop_assert!(is_permutation(&stratified_split(&labels, share, &mut rng), rows));
            }
            let k = 2 + (seed % 3) as usize;
            if k <= rows {
                let folds = k_folds(rows, k, &mut rng);
                prop_assert!(folds.iter().all(|fold| is_permutation(fold, rows)));
                let mut tested: Vec<usize> = folds.into_iter().flat_map(|fold| fold.test).collect();
                tested.sort_unstable();
                prop_assert_eq!(tested, (0..rows).collect::<Vec<_>>());
            }
        }

        #[test]
        fn a_subsample_holds_different_rows_of_the_set(count in 0usize..12, seed: u64) {
            let rows = [4, 8, 15, 16, 23, 42];
            let mut drawn = subsample(&rows, count, &mut Streams::root(seed).rng("subsample"));
            prop_assert_eq!(drawn.len(), count.min(6));
            drawn.sort_unstable();
            drawn.dedup();
            prop_assert_eq!(drawn.len(), count.min(6));
            prop_assert!(drawn.iter().all(|row| rows.contains(row)));
        }
    }

    #[test]
    fn strata_keep_their_shares() {
        let labels: Vec<u32> = (0..100).map(|row| u32::from(row >= 90)).collect();
        let split = stratified_split(&labels, 0.8, &mut Streams::root(3).rng("split"));
        assert_eq!(split.test.iter().filter(|&&row| row >= 90).count(), 2);
        assert_eq!(split.test.len(), 20);
    }

    #[test]
    #[should_panic(expected = "k must be at least 2 and at most the 3 rows, got 4")]
    fn too_many_folds_are_refused() {
        k_folds(3, 4, &mut Streams::root(1).rng("folds"));
    }
}
