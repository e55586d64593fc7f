//! What stochastic gradient descent on random features costs by RFTK's Corollary 1, and the inputs' share.
//!
//! The corollary names three ways to the rate n^(-1/2), each a batch size and a number of steps that grow
//! with n; Table 2's cost of one of them, O(MbT), is then a cost in n alone.

use super::{measure, settings};
use crate::rftk::table2::{START, Sizes, seconds, work};
use mercer_report::{Scaling, Simulation};

pub(crate) const MEASUREMENT: Simulation = Simulation {
    name: "complexity/sgd",
    measures: true,
    revision: 1,
    settings: || settings(SERIES),
    compute: || measure(SERIES),
};

const COROLLARY: &str =
    "RFTK, Corollary 1: stochastic gradients in n, at the batch sizes and steps that it names";
const SECTION: &str = "RFTK, Section 5";

/// One row a step, one pass.
const fn single(n: usize) -> Sizes {
    Sizes { n, m: 2000, b: 1, t: n, ..START }
}

/// Batches of the root of n, one pass.
const fn root(n: usize) -> Sizes {
    Sizes { n, m: 2000, b: n.isqrt(), t: n.isqrt(), ..START }
}

/// All rows a step, as many passes as the root of n.
const fn full(n: usize) -> Sizes {
    Sizes { n, b: n, t: n.isqrt(), ..START }
}

/// Wide inputs, whose products are most of a feature.
const fn wide(d: usize) -> Sizes {
    Sizes { n: 4000, t: 100, d, ..START }
}

/// A series of steps in n.
macro_rules! in_rows {
    ($method:literal, $title:literal, $claim:literal, $values:expr, $printed:expr, $sizes:ident) => {
        Scaling {
            method: $method,
            title: $title,
            claim: $claim,
            source: COROLLARY,
            variable: "n",
            values: $values,
            printed: $printed,
            work: |n| work("rf-sgd", "n", $sizes(n)),
            seconds: |n| seconds("rf-sgd", $sizes(n)),
        }
    };
}

pub(crate) const SERIES: &[Scaling] = &[
    in_rows!(
        "rf-sgd-single",
        "b = 1, T = n",
        "O(nM)",
        [4000, 5657, 8000, 11_314, 16_000],
        |n| n,
        single
    ),
    // Squares, so that b and T are whole.
    in_rows!(
        "rf-sgd-root",
        "b = T = √n",
        "O(nM)",
        [4096, 8281, 16_384, 33_124, 65_536],
        |n| n,
        root
    ),
    in_rows!(
        "rf-sgd-full",
        "b = n, T = √n",
        "O(n√n M)",
        [1024, 1444, 2025, 2916, 4096],
        |n| n.powf(1.5),
        full
    ),
    Scaling {
        method: "rftk",
        title: "RFTK",
        claim: "O(nMdT/s)",
        source: SECTION,
        variable: "d",
        values: [32, 45, 64, 91, 128],
        printed: |d| d,
        work: |d| work("rftk", "d", wide(d)),
        seconds: |d| seconds("rftk", wide(d)),
    },
];

/// What these rows need said.
pub(crate) const NOTE: &str = "By Corollary 1, b = T = √n costs as much as b = 1, T = n, and b = n costs √n times more. Its bound is the same for all three; rftk/figure1b measures which batch comes nearer after the same passes.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_series_is_ruled_by_its_term_over_a_factor_of_four() {
        super::super::check(SERIES);
    }

    #[test]
    fn roots_are_whole() {
        for scaling in SERIES.iter().filter(|series| series.method == "rf-sgd-root") {
            assert!(scaling.values.iter().all(|n| n.isqrt().pow(2) == *n), "{:?}", scaling.values);
        }
        assert_eq!((root(4096).b, root(4096).t, full(1024).t), (64, 64, 32));
    }

    #[test]
    fn each_can_be_timed() {
        for (method, sizes) in [("rf-sgd", single(64)), ("rf-sgd", root(64)), ("rf-sgd", full(64))]
        {
            let seconds = seconds(method, Sizes { m: 16, ..sizes }).unwrap();
            assert!((0.0..10.0).contains(&seconds), "{sizes:?}: {seconds}");
        }
    }
}
