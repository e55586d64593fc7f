//! The preconditioned system: `(KᵀK/n + λ K_z) α = Kᵀy/n` in the coordinates in which it is near the identity.

use super::direct::{Direct, numerical, of_height};
use crate::kernel_ridge::Stopped;
use mercer_kernels::Sections;
use mercer_learning::{Fitting, LearningError, Sample};
use mercer_linalg::{
    Cholesky, Iterated, JITTER_LADDER, MatrixView, SymmetricOperator, conjugate_gradients,
    in_order, multiplied, product,
};
use ndarray::{Array2, ArrayView1, ArrayView2, Axis, s};
use std::ops::Range;

/// Sums over rows that are added up in order: the same for any number of threads.
const PARTS: usize = 32;

/// Kernel values that a thread holds at once: they stay in its cache.
const HELD: usize = 1 << 20;

/// `L Lᵀ = K_z`, `G Gᵀ = L⁻¹ K_sᵀK_s L⁻ᵀ/s + λ I` over `s` of the rows, and with `α = L⁻ᵀ G⁻ᵀ β` the matrix
/// `G⁻¹ (L⁻¹ KᵀK L⁻ᵀ/n + λ I) G⁻ᵀ` of `β`, near the identity since these rows stand for all.
pub(super) struct System<'a> {
    rows: Rows<'a>,
    lambda: f64,
    centres: Cholesky, // L
    scale: Cholesky,   // G
}

/// The rows of `K`.
struct Rows<'a> {
    inputs: MatrixView<'a>,
    weights: Option<ArrayView1<'a, f64>>,
    total: f64,
    sections: Sections,
    threads: usize,
}

impl<'a> System<'a> {
    /// The system of all rows, with that of some of them, formed, as its preconditioner.
    pub(super) fn new(
        some: Direct,
        sample: &'a Sample,
        lambda: f64,
        fitting: &Fitting<'_>,
    ) -> Result<Self, LearningError> {
        let (m, threads) = (some.sections.len(), fitting.threads.max(1));
        let parts = PARTS * m * (1 + sample.task().outputs());
        let doubles = 2 * m as u64 * m as u64 + (parts + threads * HELD.max(m)) as u64;
        fitting.limits.reserve(8 * doubles)?;
        let Direct { sections, centres, mut matrix, .. } = some;
        matrix.diag_mut().mapv_inplace(|entry| entry + lambda);
        // Any such factor is a change of coordinates: a jitter of it changes no solution.
        let (scale, _) = Cholesky::with_jitter_on(threads, matrix, &JITTER_LADDER)
            .map_err(|error| numerical(&error))?;
        fitting.limits.check()?;
        let (inputs, weights) = (sample.matrix(), sample.weights());
        let rows = Rows { inputs, weights, total: sample.total_weight(), sections, threads };
        Ok(Self { rows, lambda, centres, scale })
    }

    /// `α` (`M × K`) of targets `y` (`n × K`).
    pub(super) fn solve(
        &self,
        y: &Array2<f64>,
        tolerance: f64,
        iterations: usize,
        fitting: &Fitting<'_>,
    ) -> Result<Iterated, LearningError> {
        let sums = self.rows.sums(y.ncols(), |rows, _| y.slice(s![rows, ..]).to_owned());
        fitting.limits.check()?;
        let right = self.reduced(&sums);
        let precondition = |residual: ArrayView2<'_, f64>| residual.to_owned();
        let watch = |_, _| fitting.limits.check().map_err(Stopped::Outside);
        let solved =
            conjugate_gradients(self, right.view(), precondition, tolerance, iterations, watch);
        let solved = match solved {
            Ok(solved) => solved.useful().map_err(|error| numerical(&error))?,
            Err(Stopped::Outside(error)) => return Err(error),
            Err(Stopped::Numerical(error)) => return Err(numerical(&error)),
        };
        let x = of_height(self.centres.solve_upper(&of_height(self.scale.solve_upper(&solved.x))));
        Ok(Iterated { x, ..solved })
    }

    /// `G⁻¹ L⁻¹` of a sum over the rows, divided by their weight.
    fn reduced(&self, sums: &Array2<f64>) -> Array2<f64> {
        of_height(self.scale.solve_lower(&of_height(self.centres.solve_lower(sums))))
            / self.rows.total
    }

    pub(super) fn into_sections(self) -> Sections {
        self.rows.sections
    }
}

impl SymmetricOperator for System<'_> {
    fn size(&self) -> usize {
        self.centres.size()
    }

    fn apply(&self, x: ArrayView2<'_, f64>) -> Array2<f64> {
        let whitened = of_height(self.scale.solve_upper(&x.to_owned()));
        let alpha = of_height(self.centres.solve_upper(&whitened));
        let sums = self.rows.sums(x.ncols(), |_, values| multiplied(values, alpha.view()));
        let ridge = of_height(self.scale.solve_lower(&(whitened * self.lambda)));
        self.reduced(&sums) + ridge
    }
}

impl Rows<'_> {
    /// `Kᵀ W` of `n × outputs` numbers that `of` makes of some rows and their kernel values.
    fn sums(
        &self,
        outputs: usize,
        of: impl Fn(Range<usize>, ArrayView2<'_, f64>) -> Array2<f64> + Sync,
    ) -> Array2<f64> {
        let (n, m) = (self.inputs.dim().0, self.sections.len());
        let held = (HELD / m).clamp(64, 512);
        let part = n.div_ceil(PARTS).next_multiple_of(held);
        let parts = in_order(self.threads, n.div_ceil(part), |index| {
            let mut sum = Array2::zeros((m, outputs));
            let end = ((index + 1) * part).min(n);
            for start in (index * part..end).step_by(held) {
                let rows = start..(start + held).min(end);
                let values = self.inputs.within(rows.clone(), |rows| self.sections.at(rows));
                let mut made = of(rows.clone(), values.view());
                if let Some(weights) = self.weights {
                    made *= &weights.slice(s![rows]).insert_axis(Axis(1));
                }
                product(1.0, values.t(), made.view(), 1.0, sum.view_mut());
            }
            sum
        });
        parts
            .into_iter()
            .reduce(|all, part| all + part)
            .unwrap_or_else(|| Array2::zeros((m, outputs)))
    }
}
