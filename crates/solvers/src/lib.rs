//! Minimisers that know no dataset and no paper.
