use mercer_learning::{Fitting, LearningError, Sample, Streams, Task};
use rand::seq::index;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The sample itself, or `cap` of its rows, drawn without replacement from the stream `rows`.
pub(crate) fn at_most<'a>(
    sample: &'a Sample,
    cap: usize,
    fitting: &Fitting<'_>,
) -> Result<Cow<'a, Sample>, LearningError> {
    at_most_from("rows", sample, cap, fitting)
}

/// The same from a stream of another name: methods that draw as many from one draw the same.
pub(crate) fn at_most_from<'a>(
    stream: &str,
    sample: &'a Sample,
    cap: usize,
    fitting: &Fitting<'_>,
) -> Result<Cow<'a, Sample>, LearningError> {
    let Some(rows) = drawn_from(stream, sample.rows(), cap, &fitting.streams) else {
        return Ok(Cow::Borrowed(sample));
    };
    let mut wanted = 2;
    if fitting.every_class
        && let Some(labels) = sample.labels()
    {
        wanted = labels.iter().collect::<BTreeSet<_>>().len();
        if cap < wanted {
            return Err(LearningError::setting("cap", cap, "at least the number of classes"));
        }
    }
    Ok(Cow::Owned(sample.select(&with_other_classes(rows, sample, wanted))?))
}

/// Drawn rows. A draw of fewer classes than are wanted gets the first row of each other class in place of the last rows
/// of the largest. Two are wanted where records rest on the draw: no classifier can be fitted to one.
pub(crate) fn with_other_classes(
    mut rows: Vec<usize>,
    sample: &Sample,
    wanted: usize,
) -> Vec<usize> {
    let (Some(labels), Task::Classification { classes }) = (sample.labels(), sample.task()) else {
        return rows;
    };
    let mut drawn = vec![0_usize; classes];
    for &row in &rows {
        drawn[labels[row] as usize] += 1;
    }
    if drawn.iter().filter(|&&count| count > 0).count() >= wanted {
        return rows;
    }
    for class in 0..classes {
        let first = labels.iter().position(|&label| label as usize == class);
        let Some(first) = first.filter(|_| drawn[class] == 0) else { continue };
        let most = (0..classes).max_by_key(|&other| (drawn[other], other)).unwrap_or(class);
        let Some(place) = rows.iter().rposition(|&row| labels[row] as usize == most) else {
            continue;
        };
        if drawn[most] < 2 {
            break;
        }
        rows[place] = first;
        drawn[most] -= 1;
        drawn[class] = 1;
    }
    rows.sort_unstable();
    rows
}

/// `cap` of `count` places, ascending, drawn without replacement from the stream `rows`; `None` where all
/// fit.
pub(crate) fn drawn(count: usize, cap: usize, streams: &Streams) -> Option<Vec<usize>> {
    drawn_from("rows", count, cap, streams)
}

/// The same from a stream of another name.
pub(crate) fn drawn_from(
    stream: &str,
    count: usize,
    cap: usize,
    streams: &Streams,
) -> Option<Vec<usize>> {
    (count > cap).then(|| {
        let mut places = index::sample(&mut streams.rng(stream), count, cap).into_vec();
        places.sort_unstable();
        places
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_learning::SECOND_STAGE;
    use ndarray::{Array, Array1, Axis};

    #[test]
    fn rows_are_distinct_seeded_and_in_order() {
        let inputs = Array::range(0.0, 50.0, 1.0).insert_axis(Axis(1));
        let sample = Sample::regression(inputs, Array1::zeros(50)).unwrap();
        let rows = |cap, seed| {
            let picked = at_most(&sample, cap, &Fitting::seeded(seed)).unwrap();
            picked.inputs().column(0).to_vec()
        };
        assert_eq!(rows(50, 1), sample.inputs().column(0).to_vec());
        let few = rows(20, 1);
        assert_eq!(few.len(), 20);
        assert!(few.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(few, rows(20, 1));
        assert_ne!(few, rows(20, 2));
    }

    #[test]
    fn at_most_draws_no_single_class_where_there_are_more() {
        // One row in a hundred is of the third class, none of the second.
        let labels: Vec<u32> = (0..400).map(|row| if row % 100 == 57 { 2 } else { 0 }).collect();
        let inputs = Array::range(0.0, 400.0, 1.0).insert_axis(Axis(1));
        let sample = Sample::classification(inputs, labels, 3).unwrap();
        for seed in 0..50 {
            let picked = at_most(&sample, 20, &Fitting::seeded(seed)).unwrap();
            let rows = picked.inputs().column(0).to_vec();
            assert!(rows.len() == 20 && rows.windows(2).all(|pair| pair[0] < pair[1]), "{rows:?}");
            assert!(picked.labels().unwrap().contains(&2), "seed {seed}");
        }
        assert_eq!(at_most(&sample, 1, &Fitting::seeded(0)).unwrap().rows(), 1);
    }

    #[test]
    fn at_most_draws_every_class_where_that_is_asked() {
        let labels: Vec<u32> = (0..400)
            .map(|row| [0, 1, 2, 3][usize::from(row % 2 == 1) + 2 * usize::from(row == 7)])
            .collect();
        let inputs = Array::range(0.0, 400.0, 1.0).insert_axis(Axis(1));
        let sample = Sample::classification(inputs, labels, 5).unwrap();
        for seed in 0..50 {
            let fitting = Fitting { every_class: true, ..Fitting::seeded(seed) };
            let picked = at_most(&sample, 3, &fitting).unwrap();
            let mut classes = picked.labels().unwrap().to_vec();
            classes.sort_unstable();
            assert_eq!(classes, [0, 1, 3], "seed {seed}");
            let refused = at_most(&sample, 2, &fitting).unwrap_err().to_string();
            assert!(refused.contains("`cap` is 2"), "{refused}");
        }
    }

    /// The draw of `mercer_models::hyper_rkhs`: so many of the rows without replacement from the stream, in order.
    #[test]
    fn two_that_draw_from_one_stream_have_the_same_rows() {
        let inputs = Array::range(0.0, 50.0, 1.0).insert_axis(Axis(1));
        let sample = Sample::regression(inputs, Array1::zeros(50)).unwrap();
        let fitting = Fitting::seeded(3);
        let picked = at_most_from(SECOND_STAGE, &sample, 20, &fitting).unwrap();
        let mut expected = index::sample(&mut fitting.streams.rng(SECOND_STAGE), 50, 20).into_vec();
        expected.sort_unstable();
        let expected: Vec<f64> = expected.into_iter().map(|row| row as f64).collect();
        assert_eq!(picked.inputs().column(0).to_vec(), expected);
        assert_ne!(picked.inputs(), at_most(&sample, 20, &fitting).unwrap().inputs());
    }
}
