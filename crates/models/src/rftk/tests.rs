//! The methods as a user meets them, golden values, and closed forms against obvious versions.

use super::METHODS;
use mercer_learning::conformance::{Conformance, distinct_names};

#[test]
fn the_registered_methods_keep_the_laws() {
    distinct_names(METHODS).unwrap();
    for method in METHODS {
        Conformance::of(method).check().unwrap();
    }
}
