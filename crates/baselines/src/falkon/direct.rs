//! The system in the coordinates in which the kernel of the centres is the identity, formed and solved.

use mercer_kernels::{Kernel, Sections};
use mercer_learning::{Fitting, LearningError, Sample};
use mercer_linalg::{
    Cholesky, Eigen, JITTER_LADDER, LinalgError, MatrixView, Whitening, add_symmetric_product,
    mirror_upper, multiplied, pipeline, product, symmetric_eigen,
};
use ndarray::{Array2, Axis, s};
use std::collections::BTreeMap;

/// Centres that are drawn by default, and over which a ridge is chosen at most: their matrix fills 32 MB.
pub(super) const CENTRES: usize = 2000;

/// Rows of a block: products of so many are fast, and a block of 2000 centres fills 16 MB.
const BLOCK: usize = 1024;

/// Groups of blocks that are summed apart, whatever the number of threads: their matrices are added in order.
const GROUPS: usize = 16;

/// Ridges that are compared, in half decades of `λ`: from rows without noise to rows without a signal.
fn grid() -> impl Iterator<Item = f64> {
    (0..=26).map(|half| 10f64.powf(0.5 * f64::from(half) - 13.0))
}

/// `A = ΦᵀΦ/n` and `Φᵀy/n` of `Φ = K L⁻ᵀ`, with `L Lᵀ = K_z`.
pub(super) struct Direct {
    pub(super) sections: Sections,
    pub(super) centres: Cholesky,
    /// What was added to the diagonal of `K_z`.
    pub(super) jitter: f64,
    pub(super) matrix: Array2<f64>,
    right: Array2<f64>,
    /// The mean of `y²`, summed over the outputs, and the number of different rows.
    square: f64,
    rows: f64,
    threads: usize,
}

/// `α`, and what is known of it.
pub(super) struct Solved {
    pub(super) coefficients: Array2<f64>,
    pub(super) facts: BTreeMap<String, f64>,
}

impl Direct {
    pub(super) fn new(
        kernel: Kernel,
        points: MatrixView<'_>,
        sample: &Sample,
        y: &Array2<f64>,
        fitting: &Fitting<'_>,
    ) -> Result<Self, LearningError> {
        let (m, threads) = (points.dim().0, fitting.threads.max(1));
        // The matrix, its factor or its vectors, and on each thread a sum of products and blocks.
        let doubles = 7 * m * m + threads * (m * m + 4 * BLOCK * m);
        fitting.limits.reserve(8 * doubles as u64)?;
        let mut gram = kernel.upper_gram(points, threads);
        // Equal centres want a jitter, for which the matrix is put back from its other half.
        mirror_upper(gram.view_mut());
        let (centres, jitter) = Cholesky::with_jitter_on(threads, gram, &JITTER_LADDER)
            .map_err(|error| numerical(&error))?;
        let whitening = Whitening::of(&centres);
        let sections = kernel.sections(points);
        let (matrix, right, square) = sums(&sections, &whitening, sample, y, fitting)?;
        // A row is left out with its copies: they would foretell it.
        let rows = sample.distinct_rows() as f64;
        Ok(Self { sections, centres, jitter, matrix, right, square, rows, threads })
    }

    /// The solution for a ridge, or for the one with the least error of generalised cross-validation,
    /// `mean (y − Φβ)² / (1 − tr A (A + λI)⁻¹/n)²`.
    pub(super) fn solve(&self, lambda: Option<f64>) -> Result<Solved, LearningError> {
        let mut facts = BTreeMap::from([("centre-jitter".to_owned(), self.jitter)]);
        let of_some = |facts: &mut BTreeMap<String, f64>| self.choose(CENTRES, facts);
        let lambda = match lambda {
            None if self.sections.len() > CENTRES => Some(of_some(&mut facts)?),
            other => other,
        };
        let whitened = if let Some(lambda) = lambda {
            let mut matrix = self.matrix.clone();
            matrix.diag_mut().mapv_inplace(|entry| entry + lambda);
            let factor = Cholesky::with_jitter_on(self.threads, matrix, &JITTER_LADDER);
            let (factor, _) = factor.map_err(|error| numerical(&error))?;
            of_height(factor.solve(&self.right))
        } else {
            let (lambda, eigen, turned) = self.chosen(self.sections.len(), &mut facts)?;
            let damped = eigen.values.mapv(|value| value.max(0.0) + lambda);
            multiplied(eigen.vectors.view(), (turned / damped.insert_axis(Axis(1))).view())
        };
        let coefficients = of_height(self.centres.solve_upper(&whitened));
        Ok(Solved { coefficients, facts })
    }

    /// The ridge of the system of the first centres, which is a corner of that of all.
    pub(super) fn choose(
        &self,
        first: usize,
        facts: &mut BTreeMap<String, f64>,
    ) -> Result<f64, LearningError> {
        self.chosen(first, facts).map(|(lambda, ..)| lambda)
    }

    /// The ridge, the eigenvectors `V` of the corner, and `Vᵀ Φᵀy/n`.
    fn chosen(
        &self,
        first: usize,
        facts: &mut BTreeMap<String, f64>,
    ) -> Result<(f64, Eigen, Array2<f64>), LearningError> {
        let corner = self.matrix.slice(s![..first, ..first]);
        let eigen = symmetric_eigen(corner).map_err(|error| numerical(&error))?;
        // Rounding leaves the smallest below 0 by a hair.
        let values = eigen.values.mapv(|value| value.max(0.0));
        let turned = multiplied(eigen.vectors.t(), self.right.slice(s![..first, ..]));
        let powers = turned.mapv(|b| b * b).sum_axis(Axis(1));
        let error = |lambda: f64| {
            let (mut residual, mut freedom) = (self.square, 0.0);
            for (&value, &power) in values.iter().zip(&powers) {
                let damped = value + lambda;
                residual -= power * (2.0 - value / damped) / damped;
                freedom += value / damped;
            }
            // A row is left out with all its weight.
            let left = (1.0 - freedom / self.rows).max(f64::EPSILON);
            residual.max(0.0) / (left * left)
        };
        let candidates: Vec<(f64, f64)> = grid().map(|lambda| (lambda, error(lambda))).collect();
        let best = (0..candidates.len())
            .min_by(|&a, &b| candidates[a].1.total_cmp(&candidates[b].1))
            .expect("there are some");
        let (lambda, error) = candidates[best];
        let outputs = self.right.ncols() as f64;
        let at_the_end = f64::from(u8::from(best == 0 || best + 1 == candidates.len()));
        let own = [
            ("lambda", lambda),
            ("generalised-cross-validation", error / outputs),
            ("grid-end", at_the_end),
        ];
        facts.extend(own.map(|(name, value)| (name.to_owned(), value)));
        Ok((lambda, eigen, turned))
    }

    pub(super) fn into_sections(self) -> Sections {
        self.sections
    }
}

/// `A`, `Φᵀy/n` and the mean of `y²`, of the rows with their weights.
fn sums(
    sections: &Sections,
    whitening: &Whitening,
    sample: &Sample,
    y: &Array2<f64>,
    fitting: &Fitting<'_>,
) -> Result<(Array2<f64>, Array2<f64>, f64), LearningError> {
    let (m, threads) = (sections.len(), fitting.threads.max(1));
    let (n, total, roots) = (sample.rows(), sample.total_weight(), sample.root_weights());
    let group = n.div_ceil(BLOCK).div_ceil(GROUPS).max(1) * BLOCK;
    let mut starts = (0..n).step_by(group);
    let (mut matrix, mut right) = (Array2::zeros((m, m)), Array2::zeros((m, y.ncols())));
    let mut square = 0.0;
    let work = |start: usize| {
        let end = (start + group).min(n);
        let mut sum = Array2::zeros((m, m));
        let mut of_targets = Array2::zeros((m, y.ncols()));
        let mut squares = 0.0;
        let mut room = Array2::zeros((BLOCK.min(n), m));
        for start in (start..end).step_by(BLOCK) {
            let rows = start..(start + BLOCK).min(end);
            let mut values = room.slice_mut(s![..rows.len(), ..]);
            sample.matrix().within(rows.clone(), |x| sections.write_at(x, values.view_mut()));
            let mut targets = y.slice(s![rows.clone(), ..]).to_owned();
            if let Some(roots) = &roots {
                let own = roots.slice(s![rows]).insert_axis(Axis(1));
                values *= &own;
                targets *= &own;
            }
            whitening.apply(values.view_mut());
            product(1.0, values.t(), targets.view(), 1.0, of_targets.view_mut());
            add_symmetric_product(values.view(), sum.view_mut());
            squares += targets.iter().map(|y| y * y).sum::<f64>();
            if fitting.limits.check().is_err() {
                break;
            }
        }
        (sum, of_targets, squares)
    };
    // In the order of the rows, whatever the number of threads.
    pipeline(
        threads,
        || starts.next(),
        work,
        |(sum, of_targets, squares)| {
            matrix += &sum;
            right += &of_targets;
            square += squares;
            fitting.limits.check()
        },
    )?;
    mirror_upper(matrix.view_mut());
    matrix /= total;
    right /= total;
    square /= total;
    Ok((matrix, right, square))
}

/// All that is solved here has a row a centre.
pub(super) fn of_height(solved: Result<Array2<f64>, LinalgError>) -> Array2<f64> {
    solved.expect("a row a centre")
}

pub(super) fn numerical(error: &LinalgError) -> LearningError {
    let operation = "solving (KᵀK + λ n K_z) α = Kᵀ y";
    LearningError::Numerical { operation, reason: error.to_string() }
}
