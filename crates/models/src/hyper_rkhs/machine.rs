use super::{Stopped, refused};
use mercer_learning::{Fitting, LearningError};
use mercer_solvers::{OneVersusOne, PsdCorrection, Smo, SolverError, Spectrum, vote};
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2};

/// SVMs on a precomputed kernel, one for each two classes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Machines {
    /// The classes that each SVM separates; a positive value means the second.
    pub pairs: Vec<(u32, u32)>,
    /// `n × machines`: `f(x) = Σ_i weights_i k(x_i, x) + bias`, with the kernel as it is.
    pub weights: Array2<f64>,
    /// One for each SVM.
    pub bias: Array1<f64>,
    /// Number of rows with a weight in some SVM, with the corrected kernel. With the kernel as it is, every row may
    /// have one.
    pub support: usize,
    /// SMO's steps of all SVMs.
    pub steps: usize,
    /// The largest violation that is left, and whether all met the tolerance.
    pub violation: f64,
    pub converged: bool,
}

impl Machines {
    /// Fits them to the Gram matrix of the points with these labels.
    pub(super) fn fit(
        gram: ArrayView2<'_, f64>,
        labels: &[u32],
        cost: f64,
        mending: PsdCorrection,
        fitting: &Fitting<'_>,
    ) -> Result<Self, LearningError> {
        if !(cost > 0.0 && cost.is_finite()) {
            return Err(refused("cost", cost, "positive and finite"));
        }
        let say = |stopped: Stopped| stopped.in_words("sequential minimal optimisation");
        let of_solver = |error: SolverError| say(error.into());
        let mended = match mending {
            PsdCorrection::AsIs => None,
            how => Some(Spectrum::of(gram).map_err(of_solver)?.mended(how)),
        };
        fitting.limits.check()?;
        let train = match &mended {
            Some(mended) => mended.train.view(),
            None => gram.reborrow(),
        };
        let check = || fitting.limits.check().map_err(Stopped::Outside);
        let mut path =
            OneVersusOne::path(train, labels, &[cost], &Smo::default(), check).map_err(say)?;
        let found = path.swap_remove(0);
        if found.pairs().is_empty() {
            return Err(LearningError::OneClass { rows: labels.len() });
        }
        let pairs = found.pairs().to_vec();
        let support = found.support().len();
        // T β, so that new points need the kernel as it is.
        let mut weights = match &mended {
            Some(mended) => mended.test(found.weights.t()).reversed_axes(),
            None => found.weights,
        };
        let mut bias = found.biases;
        // Of several machines each speaks for the first of its classes.
        if pairs.len() > 1 {
            weights.mapv_inplace(|weight| -weight);
            bias.mapv_inplace(|bias| -bias);
        }
        let weights = weights.as_standard_layout().into_owned();
        let (steps, violation, converged) = (found.steps, found.violation, found.converged);
        Ok(Self { pairs, weights, bias, support, steps, violation, converged })
    }
}

/// Scores of the classes by the values of an SVM for each two of them, positive for the second.
pub(super) fn voted(
    values: ArrayView2<'_, f64>,
    pairs: &Array2<u32>,
    mut scores: ArrayViewMut2<'_, f64>,
) {
    let classes = scores.ncols();
    for (mut scores, values) in scores.rows_mut().into_iter().zip(values.rows()) {
        let pairs = pairs.rows().into_iter().zip(values);
        let mut fights = pairs.map(|(pair, &value)| (pair[1], pair[0], value));
        if classes > 2 {
            vote(scores, fights);
        } else if let Some((second, first, value)) = fights.next() {
            scores[first as usize] = -value;
            scores[second as usize] = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use mercer_solvers::{Dual, Precomputed};
    use ndarray::array;

    const MENDINGS: [PsdCorrection; 4] =
        [PsdCorrection::AsIs, PsdCorrection::Clip, PsdCorrection::Flip, PsdCorrection::Shift];

    #[test]
    fn machines_say_what_the_mended_kernel_says_with_the_kernel_as_it_is() {
        let x = array![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0], [2.0, 2.0]];
        let labels = [1, 1, 0, 1, 0, 0];
        let tanh = |a: ArrayView2<'_, f64>| (a.dot(&x.t()) - 1.0).mapv(f64::tanh);
        let (gram, cross) = (tanh(x.view()), tanh(array![[1.5, 0.5], [0.2, 3.0]].view()));
        for how in MENDINGS {
            let machines =
                Machines::fit(gram.view(), &labels, 1.0, how, &Fitting::seeded(1)).unwrap();
            let said = cross.dot(&machines.weights) + &machines.bias;
            let mended = Spectrum::of(gram.view()).unwrap().mended(how);
            let dual = Dual::classification(&labels.map(|label| label == 1), 1.0).unwrap();
            let kernel = Precomputed::new(mended.train.view()).unwrap();
            let solution = Smo::default().solve(&kernel, &dual).unwrap();
            let wanted = solution.decision(mended.test(cross.view()).view());
            assert_abs_diff_eq!(said.column(0).to_owned(), wanted, epsilon = 1e-9);
        }
    }

    #[test]
    fn absent_classes_have_no_machine_and_one_class_is_refused() {
        let gram = Array2::<f64>::eye(4);
        let fit = |labels: &[u32]| {
            Machines::fit(gram.view(), labels, 1.0, PsdCorrection::AsIs, &Fitting::seeded(1))
        };
        let machines = fit(&[0, 3, 1, 0]).unwrap();
        assert_eq!(machines.pairs, [(0, 1), (0, 3), (1, 3)]);
        assert!(machines.converged);
        // Each says its second class of that class's point.
        let said = gram.dot(&machines.weights) + &machines.bias;
        assert!(said[[2, 0]] > 0.0 && said[[0, 0]] < 0.0 && said[[1, 2]] > 0.0);
        assert!(matches!(fit(&[2; 4]), Err(LearningError::OneClass { rows: 4 })));
    }
}
