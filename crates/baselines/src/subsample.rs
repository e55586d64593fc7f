use mercer_learning::{LearningError, Sample, Streams};
use rand::seq::index;
use std::borrow::Cow;

/// The sample itself, or `cap` of its rows, drawn without replacement from the stream `rows`.
pub(crate) fn at_most<'a>(
    sample: &'a Sample,
    cap: usize,
    streams: &Streams,
) -> Result<Cow<'a, Sample>, LearningError> {
    match drawn(sample.rows(), cap, streams) {
        Some(rows) => Ok(Cow::Owned(sample.select(&rows)?)),
        None => Ok(Cow::Borrowed(sample)),
    }
}

/// `cap` of `count` places, ascending, drawn without replacement from the stream `rows`; `None` where all
/// fit.
pub(crate) fn drawn(count: usize, cap: usize, streams: &Streams) -> Option<Vec<usize>> {
    (count > cap).then(|| {
        let mut places = index::sample(&mut streams.rng("rows"), count, cap).into_vec();
        places.sort_unstable();
        places
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array, Array1, Axis};

    #[test]
    fn rows_are_distinct_seeded_and_in_order() {
        let inputs = Array::range(0.0, 50.0, 1.0).insert_axis(Axis(1));
        let sample = Sample::regression(inputs, Array1::zeros(50)).unwrap();
        let rows = |cap, seed| {
            let picked = at_most(&sample, cap, &Streams::root(seed)).unwrap();
            picked.inputs().column(0).to_vec()
        };
        assert_eq!(rows(50, 1), sample.inputs().column(0).to_vec());
        let few = rows(20, 1);
        assert_eq!(few.len(), 20);
        assert!(few.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(few, rows(20, 1));
        assert_ne!(few, rows(20, 2));
    }
}
