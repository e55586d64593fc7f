use rand::Rng;
use rand::seq::SliceRandom;

/// Returns in which of `count` folds each row is held out. Folds have equal size to within one row, and each class is
/// spread over them as evenly as it goes.
///
/// Rows of a class are shuffled and dealt out in turn, each class going on where the last stopped.
///
/// ```
/// use mercer_learning::{Streams, folds};
/// let held = folds(&[0, 0, 0, 0, 0, 1, 1, 1, 1, 1], 5, &mut Streams::root(1).rng("folds"));
/// for fold in 0..5 {
///     assert!(held[..5].contains(&fold) && held[5..].contains(&fold)); // one row of each class
/// }
/// ```
///
/// # Panics
/// If `count` is 0.
pub fn folds(labels: &[u32], count: usize, rng: &mut impl Rng) -> Vec<usize> {
    assert!(count > 0, "at least one fold");
    let mut held = vec![0; labels.len()];
    let classes = labels.iter().max().map_or(0, |&last| last + 1);
    let mut dealt = 0;
    for class in 0..classes {
        let mut rows: Vec<usize> = (0..labels.len()).filter(|&t| labels[t] == class).collect();
        rows.shuffle(rng);
        for row in rows {
            held[row] = dealt % count;
            dealt += 1;
        }
    }
    held
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    proptest! {
        #[test]
        fn folds_are_even_over_all_and_in_every_class(
            labels in prop::collection::vec(0u32..4, 1..60), count in 1usize..7, seed in 0u64..99,
        ) {
            let held = folds(&labels, count, &mut ChaCha8Rng::seed_from_u64(seed));
            prop_assert_eq!(&held, &folds(&labels, count, &mut ChaCha8Rng::seed_from_u64(seed)));
            let sizes = |of: &dyn Fn(usize) -> bool| -> Vec<usize> {
                (0..count).map(|f| (0..labels.len()).filter(|&t| held[t] == f && of(t)).count()).collect()
            };
            let even = |sizes: Vec<usize>| sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1;
            prop_assert!(even(sizes(&|_| true)));
            for class in 0..4 {
                prop_assert!(even(sizes(&|t| labels[t] == class)));
            }
        }
    }
}
