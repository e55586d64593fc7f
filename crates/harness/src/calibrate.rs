//! Probabilities of a trial, calibrated inside its training part and scored on its test rows.

use crate::Parts;
use mercer_learning::{
    Calibration, Fitting, Learner, LearningError, Limits, Predictor, Sample, Streams,
    calibration_error, calibration_gaps, folds, row_losses, scores_to_calibrate,
};
use ndarray::{Array2, Axis};
use std::collections::BTreeMap;

/// Parts of the training rows; each is held out once.
const FOLDS: usize = 3;

/// Scores of the test rows' probabilities, by name. They are calibrated by training rows that a fit with the same settings
/// did not see. None of a target of numbers, nor where such a fit fails.
pub(crate) fn calibrated(
    learner: &dyn Learner,
    predictor: &dyn Predictor,
    parts: &Parts,
    streams: &Streams,
    limits: &dyn Limits,
) -> Result<BTreeMap<String, f64>, LearningError> {
    let (Some(labels), Some(truth)) = (parts.train.labels(), parts.test.labels()) else {
        return Ok(BTreeMap::new());
    };
    let held = dealt(labels, streams);
    let smoothing = 1.0 / labels.len() as f64;
    let calibration = match held_out(learner, &parts.train, (&held, smoothing), streams, limits) {
        Err(LearningError::Interrupted) => return Err(LearningError::Interrupted),
        Err(_) => return Ok(BTreeMap::new()),
        Ok((scores, rows)) => {
            let labels: Vec<u32> = rows.iter().map(|&row| labels[row]).collect();
            Calibration::fit(scores.view(), &labels)
        }
    };
    let (scores, _) = scores_to_calibrate(predictor, parts.test.matrix(), smoothing)?;
    let shares = calibration.probabilities(scores.view());
    let (log_losses, _) = row_losses(shares.view(), truth);
    let gaps = calibration_gaps(shares.view(), truth);
    let log_loss = log_losses.iter().sum::<f64>() / truth.len() as f64;
    let error = calibration_error(&gaps, &vec![1.0; truth.len()]);
    Ok([("log-loss", log_loss), ("calibration-error", error)]
        .map(|(name, score)| (name.to_owned(), score))
        .into())
}

/// The fold that holds each row out. The only row of a class trains each time.
fn dealt(labels: &[u32], streams: &Streams) -> Vec<usize> {
    let mut held = folds(labels, FOLDS.min(labels.len()), &mut streams.rng("folds"));
    for (row, fold) in held.iter_mut().enumerate() {
        if labels.iter().filter(|&&label| label == labels[row]).count() == 1 {
            *fold = FOLDS;
        }
    }
    held
}

/// Scores of rows by a fit without their fold, one fold after the other, and which rows they are.
fn held_out(
    learner: &dyn Learner,
    sample: &Sample,
    (held, smoothing): (&[usize], f64),
    streams: &Streams,
    limits: &dyn Limits,
) -> Result<(Array2<f64>, Vec<usize>), LearningError> {
    let (mut scores, mut rows) = (Array2::zeros((0, sample.task().outputs())), Vec::new());
    for fold in 0..FOLDS {
        let (test, train): (Vec<usize>, Vec<usize>) =
            (0..held.len()).partition(|&row| held[row] == fold);
        if test.is_empty() {
            continue;
        }
        let streams = streams.child(&format!("fold {fold}"));
        let mut fitting = Fitting { streams, limits, ..Fitting::seeded(0) };
        let fitted = learner.fit(&sample.select(&train)?, &mut fitting)?;
        let held_out = sample.select(&test)?;
        let (own, _) = scores_to_calibrate(&*fitted.predictor, held_out.matrix(), smoothing)?;
        scores.append(Axis(0), own.view()).expect("as many columns as outputs");
        rows.extend(test);
    }
    Ok((scores, rows))
}
