//! Paired and corrected tests, intervals, ranks and effect sizes.
