//! The papers' learners.
