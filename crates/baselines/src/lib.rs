//! Learners that others proposed, one file each.
