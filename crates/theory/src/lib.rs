//! Bound calculators: numbers in, numbers out.
