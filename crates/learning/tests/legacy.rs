//! Permutations of NumPy's legacy generator, against NumPy's own.

use mercer_learning::{Fold, NumpyRandomState};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Entry {
    n: usize,
    permutation: Vec<usize>,
}

#[test]
fn permutations_are_numpy_s() {
    let text = include_str!("fixtures/numpy_permutations.toml");
    let entries: BTreeMap<String, Entry> = toml::from_str(text).unwrap();
    assert_eq!(entries.len(), 7);
    for (name, Entry { n, permutation }) in entries {
        assert_eq!(NumpyRandomState::seed(0).permutation(n), permutation, "{name}");
        let fold = Fold { rows: n, blocks: 10, index: 4, seed: 0 };
        let (rows, mut after) = fold.generator();
        assert_eq!(rows, permutation);
        // A second call on the same stream, NumPy 2.4.6.
        if name == "wine" {
            assert_eq!(after.permutation(160)[..6], SECOND);
        }
    }
}

/// `r = RandomState(0); r.permutation(178); r.permutation(160)[:6]`.
const SECOND: [usize; 6] = [74, 101, 56, 15, 83, 72];
