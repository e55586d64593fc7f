//! Spec to trials to records.
