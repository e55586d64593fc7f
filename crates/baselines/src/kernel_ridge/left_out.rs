//! Leaving each training row out of a fitted kernel ridge regression, in closed form.

use super::{KernelExpansion, numerical};
use crate::left_out::RidgeLeftOut;
use mercer_learning::{LearningError, LeftOut, State};
use mercer_linalg::{Cholesky, MatrixView};
use ndarray::{Array2, Ix1};

/// How the coefficients were found: `(K + t I) α = y`, of targets less their mean or as they are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Solved {
    pub ridge: f64,
    pub centred: bool,
}

const NAME: &str = "solved";

impl Solved {
    pub(super) fn kept(self, state: State) -> State {
        let centred = f64::from(u8::from(self.centred));
        state.with_array(NAME, &ndarray::aview1(&[self.ridge, centred]))
    }

    pub(super) fn restored(state: &State) -> Result<Option<Self>, LearningError> {
        if !state.holds::<f64>(NAME) {
            return Ok(None);
        }
        let found = state.array_of::<f64, Ix1>(NAME, 2)?;
        Ok(Some(Self { ridge: found[0], centred: found[1] > 0.0 }))
    }

    pub(super) fn left_out(
        self,
        of: &KernelExpansion,
        threads: usize,
    ) -> Result<Box<dyn LeftOut>, LearningError> {
        let sections = of.sections.clone();
        let mut gram = sections.kernel().gram(sections.points());
        let coefficients = of.coefficients.column(0).to_owned();
        // The targets follow from the solution.
        let targets = gram.dot(&coefficients) + self.ridge * &coefficients;
        let n = targets.len();
        gram.diag_mut().mapv_inplace(|entry| entry + self.ridge);
        let factor = Cholesky::factor_on(threads, gram).map_err(|error| numerical(&error))?;
        let inverse = factor.solve(&Array2::eye(n)).map_err(|error| numerical(&error))?;
        let z = self.centred.then_some(&targets);
        let cross = move |inputs: MatrixView<'_>| sections.at(inputs);
        Ok(Box::new(RidgeLeftOut::new(cross, inverse, coefficients, z, of.mean[0])))
    }
}

#[cfg(test)]
mod tests {
    use crate::BASELINES;
    use mercer_learning::{Fitted, Fitting, Sample, Settings, find};
    use ndarray::{Array2, Axis};
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn fitted(sample: &Sample, settings: &Settings) -> Fitted {
        let method = find(BASELINES, "kernel-ridge").unwrap();
        let learner = method.learner(settings, sample.task()).unwrap();
        learner.fit(sample, &mut Fitting::seeded(1)).unwrap()
    }

    /// Each row left out by a fit to the others.
    #[test]
    fn left_out_is_a_fit_to_the_others() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let x: Array2<f64> = Array2::from_shape_simple_fn((25, 2), || rng.gen_range(-2.0..2.0));
        let y =
            x.map_axis(Axis(1), |row| 5.0 + f64::sin(row[0]) + row[1] * rng.gen_range(0.5..1.5));
        let new = Array2::from_shape_simple_fn((4, 2), || rng.gen_range(-2.0..2.0));
        for centre in [true, false] {
            // The ridge is λ times the rows: one less has the same with more of it.
            let settings = |rows: f64| {
                Settings::new().with("std", 0.8).with("lambda", 2.0 / rows).with("centre", centre)
            };
            let whole = fitted(&Sample::regression(x.clone(), y.clone()).unwrap(), &settings(25.0));
            let state = whole.predictor.state();
            let again = (find(BASELINES, "kernel-ridge").unwrap().restore)(&state).unwrap();
            let left = again.left_out(2).expect("a closed form").unwrap();
            let (residuals, values) = (left.residuals(), left.values(new.view().into()));
            for row in 0..25 {
                let others: Vec<usize> = (0..25).filter(|&other| other != row).collect();
                let sample =
                    Sample::regression(x.select(Axis(0), &others), y.select(Axis(0), &others));
                let one = fitted(&sample.unwrap(), &settings(24.0)).predictor;
                let own = y[row] - one.decision(x.select(Axis(0), &[row]).view())[[0, 0]];
                assert!((residuals[row] - own).abs() < 1e-10, "{row}: {} {own}", residuals[row]);
                for (found, expected) in values.column(row).iter().zip(one.decision(new.view())) {
                    assert!((found - expected).abs() < 1e-10, "{row}: {found} {expected}");
                }
            }
        }
    }

    #[test]
    fn left_out_is_of_numbers_that_count_alike() {
        let x = Array2::from_shape_fn((12, 1), |(i, _)| i as f64);
        let settings = Settings::new().with("std", 0.5).with("lambda", 0.1);
        let labels = (0..12).map(|i| i % 2).collect();
        let classes = Sample::classification(x.clone(), labels, 2).unwrap();
        assert!(fitted(&classes, &settings).predictor.left_out(1).is_none());
        let numbers = Sample::regression(x.clone(), x.column(0).to_owned()).unwrap();
        assert!(fitted(&numbers, &settings).predictor.left_out(1).is_some());
        let weights: Vec<f64> = (0..12).map(|i| f64::from(1 + i % 3)).collect();
        let weighted = numbers.weighted(&weights).unwrap();
        assert!(fitted(&weighted, &settings).predictor.left_out(1).is_none());
    }
}
