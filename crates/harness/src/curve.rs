//! Evaluation of a fit while it runs.

use crate::Parts;
use mercer_learning::{LearningError, Loss, Moment, Predictions, Predictor, Probe, Sample, score};
use mercer_records::CurvePoint;
use ndarray::{Array2, ArrayView1};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Training rows scored at every look, beside all test rows.
const TRAINING_ROWS_LOOKED_AT: usize = 2000;

/// The losses of classes that bounds speak of, by the names that they have in a curve.
const LOSSES: [(&str, Loss); 2] = [("hinge", Loss::Hinge), ("cross-entropy", Loss::CrossEntropy)];

/// Scores the test rows at every look; the learner never sees them.
pub(crate) struct Curve<'a> {
    every: usize,
    /// Whether the losses of classes are among the scores.
    losses: bool,
    train: Sample,
    test: &'a Sample,
    points: &'a RefCell<Vec<CurvePoint>>,
}

impl<'a> Curve<'a> {
    /// Evaluates every `every` steps and keeps the results in `points`.
    pub fn new(
        every: usize,
        losses: bool,
        parts: &'a Parts,
        points: &'a RefCell<Vec<CurvePoint>>,
    ) -> Result<Self, LearningError> {
        let rows: Vec<usize> = (0..parts.train.rows().min(TRAINING_ROWS_LOOKED_AT)).collect();
        let train = parts.train.select(&rows)?;
        Ok(Self { every, losses, train, test: &parts.test, points })
    }

    /// What a predictor scores on some rows, by names that begin with `before`.
    fn scores(&self, predictor: &dyn Predictor, rows: &Sample, before: &str) -> Vec<(String, f64)> {
        let decision = predictor.decision(rows.inputs());
        let said = Predictions::of_scores(predictor.task(), decision.view());
        let mut scores: Vec<(String, f64)> = score(&said, rows).into_iter().collect();
        if let (true, Some(labels)) = (self.losses, rows.labels()) {
            let means =
                LOSSES.map(|(name, loss)| (name.to_owned(), mean_of(loss, &decision, labels)));
            scores.extend(means);
        }
        scores.into_iter().map(|(name, value)| (format!("{before}{name}"), value)).collect()
    }
}

/// The mean loss of the scores (`n × K`) of rows of these classes.
fn mean_of(loss: Loss, scores: &Array2<f64>, labels: &[u32]) -> f64 {
    let of_row = |(scores, &label): (ArrayView1<'_, f64>, &u32)| {
        loss.of_class(&mut scores.to_vec(), label as usize)
    };
    let total: f64 = scores.rows().into_iter().zip(labels).map(of_row).sum();
    total / labels.len() as f64
}

impl Probe for Curve<'_> {
    fn interval(&self) -> usize {
        self.every
    }

    fn observe(
        &mut self,
        at: Moment,
        predictor: &dyn Predictor,
        numbers: &BTreeMap<String, f64>,
    ) -> Result<(), LearningError> {
        let mut values = numbers.clone();
        values.extend(self.scores(predictor, self.test, ""));
        values.extend(self.scores(predictor, &self.train, "train-"));
        self.points.borrow_mut().push(CurvePoint { step: at.step as u64, epoch: at.epoch, values });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_learning::{State, Task};
    use ndarray::{ArrayView2, array};

    /// Scores `(x, 0)`.
    struct Line;

    impl Predictor for Line {
        fn task(&self) -> Task {
            Task::Classification { classes: 2 }
        }
        fn features(&self) -> usize {
            1
        }
        fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
            ndarray::concatenate![ndarray::Axis(1), inputs, Array2::zeros(inputs.dim())]
        }
        fn state(&self) -> State {
            State::new()
        }
    }

    /// The names and values of one look.
    fn look(losses: bool) -> BTreeMap<String, f64> {
        let rows = |inputs, labels| Sample::classification(inputs, labels, 2).unwrap();
        let parts = Parts {
            train: rows(array![[2.0], [-2.0]], vec![0, 1]),
            test: rows(array![[0.5], [3.0]], vec![0, 1]),
        };
        let points = RefCell::default();
        let mut curve = Curve::new(7, losses, &parts, &points).unwrap();
        let numbers = BTreeMap::from([("loss".to_owned(), 0.25)]);
        curve.observe(Moment { step: 7, epoch: 1.0 }, &Line, &numbers).unwrap();
        points.into_inner().remove(0).values
    }

    #[test]
    fn a_look_says_losses_of_unseen_and_of_training_rows_where_it_is_asked_to() {
        let with = look(true);
        let ln = |x: f64| (1.0 + x.exp()).ln();
        let close = |name: &str, value: f64| assert!((with[name] - value).abs() < 1e-12, "{name}");
        close("loss", 0.25);
        close("accuracy", 0.5);
        close("hinge", f64::midpoint(0.5, 4.0));
        close("cross-entropy", f64::midpoint(ln(-0.5), ln(3.0)));
        close("train-hinge", 0.0);
        close("train-cross-entropy", ln(-2.0));
        // Without, what older records have: these are all that it adds.
        let mut fewer = with;
        fewer.retain(|name, _| !name.ends_with("hinge") && !name.ends_with("cross-entropy"));
        assert_eq!(look(false), fewer);
    }
}
