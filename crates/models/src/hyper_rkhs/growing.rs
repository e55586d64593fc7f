//! The normal equations of all pairs by factors that grow.

use super::distance::{self, Approximated, Distance, LandmarkPairs, SolutionError};
use super::landmark_quadruples::{ErrorProbe, LandmarkQuadruples};
use super::system::{Span, System};
use super::{PairTarget, numerical};
use mercer_kernels::{GaussianHyper, Kernel, Pairs};
use mercer_learning::{Fitting, LearningError};
use mercer_linalg::{GrowingCholesky, in_order, multiplied, product};
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, s};
use std::ops::Range;

/// Products of landmark factors that one task sums.
const BLOCK: usize = 128;
/// Points that are looked at together.
const ROWS: usize = 2048;

/// What the approximations left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Report {
    /// Columns `L` of the factor of `B`.
    pub rank: usize,
    /// `tr(E)/m` of it.
    pub residual: f64,
    /// Columns of the factor of `β`; 0 for a target without structure.
    pub target_rank: usize,
    /// `tr/m` of its residual.
    pub target_residual: f64,
    /// Bound on `‖G − Ĝ‖_F / ‖Ĝ‖_F`.
    pub error_bound: f64,
    /// Estimate of it, where there is a tolerance for it.
    pub error: Option<f64>,
}

/// The normal equations, what was left out of them, and how far each of their solutions is from the exact
/// one, one a ridge.
pub(super) struct Solved {
    pub system: System,
    pub report: Report,
    pub errors: Vec<SolutionError>,
}

/// What says how many columns there are to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Asked {
    /// Goal for `tr(E)/m`, with neither of the others.
    pub rank_tolerance: f64,
    /// Goal for the estimated relative error of the normal matrix.
    pub normal_tolerance: Option<f64>,
    /// Whether there is one for the solution.
    pub solution: bool,
    /// Most columns.
    pub most: usize,
}

impl Asked {
    /// Whether columns are added until an error is small; else there are as many as the trace asks for.
    const fn grows(&self) -> bool {
        self.normal_tolerance.is_some() || self.solution
    }
}

type Columns<'a> = Box<dyn Fn(&[usize], Range<usize>, ArrayViewMut2<'_, f64>) + Sync + 'a>;

/// A factor `C` of a Gaussian kernel of the points, and sums over its columns.
struct Grown<'a> {
    factor: GrowingCholesky<Columns<'a>>,
    /// `|Cᵀ v|²` of each of some vectors, or the partial sums of it.
    sums: Array1<f64>,
    /// Columns that are in the sums.
    summed: usize,
}

impl<'a> Grown<'a> {
    fn new(
        kernel: Kernel,
        inputs: ArrayView2<'a, f64>,
        tolerance: f64,
        most: usize,
        count: usize,
        fitting: &Fitting<'_>,
    ) -> Result<Self, LearningError> {
        let columns: Columns<'a> = Box::new(move |pivots, rows, mut to| {
            let sections = kernel.sections(inputs.select(Axis(0), pivots).view());
            to.assign(&sections.at(inputs.slice(s![rows, ..])));
        });
        let ones = Array1::ones(inputs.nrows());
        let factor = GrowingCholesky::new(&ones, columns, tolerance, most, fitting.threads)
            .map_err(failed)?;
        Ok(Self { factor, sums: Array1::zeros(count), summed: 0 })
    }

    fn grow(&mut self, columns: usize) -> Result<(), LearningError> {
        self.factor.grow(columns).map_err(failed)
    }

    /// Adds `weight |Cᵀ v|²` over the columns that are new since they were last counted in.
    fn add(
        &mut self,
        weight: f64,
        vectors: impl Fn(usize, Range<usize>, &mut [f64]) + Sync,
        threads: usize,
    ) {
        let panels = self.factor.panels(self.summed);
        self.sums.scaled_add(weight, &squares(&panels, self.sums.len(), vectors, threads));
    }

    fn counted(&mut self) {
        self.summed = self.factor.rank();
    }

    /// `tr(E)/m`.
    fn residual(&self, m: usize) -> f64 {
        self.factor.residual() / m as f64
    }
}

/// What the right-hand side is summed from.
enum Right<'a> {
    Separable { terms: Vec<(f64, Array1<f64>)>, factor: Box<Grown<'a>> },
    Dense(Array1<f64>),
}

/// The problem to solve, over which span, and how exactly.
#[derive(Clone, Copy)]
pub(super) struct Problem<'a, 't, 'f> {
    pub gaussian: &'a GaussianHyper,
    pub inputs: ArrayView2<'a, f64>,
    pub target: &'a PairTarget<'t>,
    pub pairs: LandmarkPairs<'a>,
    pub span: &'a Span,
    pub asked: Asked,
    pub fitting: &'a Fitting<'f>,
}

/// The normal equations of [`super::LinearTime`]: more columns are added to the present ones, and nothing that was
/// summed is summed again.
pub(super) struct Equations<'a, 't, 'f> {
    problem: Problem<'a, 't, 'f>,
    quads: LandmarkQuadruples,
    /// Rows that the error of the solution looks at.
    rows: Vec<usize>,
    probe: Option<ErrorProbe>,
    /// `Σ t_i` and `Σ t_i²` of each multiset of landmarks.
    sizes: Vec<(f64, f64)>,
    /// The factor of `B`, with `|Cᵀ t|²` of each multiset.
    squared: Grown<'a>,
    /// The estimated error of the normal matrix.
    error: Option<f64>,
    right: Right<'a>,
}

impl<'a, 't, 'f> Equations<'a, 't, 'f> {
    pub(super) fn new(problem: Problem<'a, 't, 'f>) -> Result<Self, LearningError> {
        let Problem { gaussian, inputs, target, pairs, asked, fitting, .. } = problem;
        let LandmarkPairs { factors, all, beta } = pairs;
        let quads = LandmarkQuadruples::new(factors.nrows());
        // β² is β at twice the rate.
        let square = Kernel::Gaussian { std: (4.0 * gaussian.pair_rate()).sqrt() };
        let probe = asked
            .normal_tolerance
            .map(|_| ErrorProbe::new(&square, inputs, factors, &quads, (all, beta), fitting));
        let tolerance = if asked.grows() { 0.0 } else { asked.rank_tolerance };
        let count = quads.sets.len();
        let squared = Grown::new(square, inputs, tolerance, asked.most, count, fitting)?;
        let right = if let Some(terms) = target.separable() {
            let kernel = gaussian.pair_kernel();
            let tolerance = if asked.solution { 0.0 } else { asked.rank_tolerance };
            let factor = Grown::new(kernel, inputs, tolerance, asked.most, all.len(), fitting)?;
            Right::Separable { terms, factor: Box::new(factor) }
        } else {
            Right::Dense(dense_right(gaussian, inputs, target, factors, all, fitting)?)
        };
        let sizes = sizes(&quads, factors, fitting.threads);
        let rows = distance::rows(inputs.nrows(), fitting);
        Ok(Self { problem, quads, rows, probe, sizes, squared, error: None, right })
    }

    /// Goes on to so many columns, where errors say how many; then to so many more that the error of the normal
    /// matrix is within its tolerance.
    pub(super) fn grow(&mut self, columns: usize) -> Result<(), LearningError> {
        let Problem { asked, fitting, pairs, .. } = self.problem;
        let mut columns = if asked.grows() { columns.min(asked.most) } else { asked.most };
        loop {
            self.squared.grow(columns)?;
            fitting.limits.check()?;
            let Some((probe, tolerance)) = self.probe.as_ref().zip(asked.normal_tolerance) else {
                break;
            };
            let error = probe.error(&self.squared.factor.rows(probe.rows()));
            self.error = Some(error);
            // Fewer columns than were asked for: nothing is left but rounding.
            let rank = self.squared.factor.rank();
            if error <= tolerance || columns == asked.most || rank < columns {
                break;
            }
            columns = (columns + columns / 2).min(asked.most);
        }
        let factors = pairs.factors;
        let sets = &self.quads.sets;
        self.squared.add(1.0, |set, rows, to| quad(factors, sets[set], rows, to), fitting.threads);
        self.squared.counted();
        fitting.limits.check()?;
        let rank = self.squared.factor.rank();
        if let Right::Separable { terms, factor } = &mut self.right {
            // β is smoother than its square: what is enough columns for that is for this.
            factor.grow(if asked.grows() { rank } else { asked.most })?;
            let all = pairs.all.as_slice();
            for (weight, values) in terms.iter() {
                let vectors = |q: usize, rows: Range<usize>, to: &mut [f64]| {
                    let (i, j) = all[q];
                    let (u, z) =
                        (factors.slice(s![i, rows.clone()]), factors.slice(s![j, rows.clone()]));
                    let values = values.slice(s![rows]);
                    for (to, ((u, z), v)) in to.iter_mut().zip(u.iter().zip(z).zip(values)) {
                        *to = u * z * v;
                    }
                };
                factor.add(*weight, vectors, fitting.threads);
            }
            factor.counted();
        }
        fitting.limits.check()?;
        Ok(())
    }

    /// The equations with the columns that there are, and how far their solutions are from the exact ones.
    pub(super) fn solved(&self, lambdas: &[f64]) -> Result<Solved, LearningError> {
        let Problem { gaussian, inputs, target, pairs, span, fitting, .. } = self.problem;
        let m = inputs.nrows();
        let (normal, error_bound) = self.normal();
        let (right, of_right) = match &self.right {
            Right::Separable { factor, .. } => (&factor.sums, Some(factor)),
            Right::Dense(right) => (right, None),
        };
        let right = right * pairs.beta;
        let coordinates =
            multiplied(span.basis.t(), multiplied(normal.view(), span.basis.view()).view());
        let system = System::new(span, coordinates.view(), &span.basis.t().dot(&right))?;
        let at_rows = of_right.map(|right| right.factor.rows(&self.rows));
        let approximated = Approximated {
            rows: &self.rows,
            normal: &self.squared.factor.rows(&self.rows),
            right: at_rows.as_ref(),
            system: &system,
        };
        let distance = Distance::new(gaussian, inputs, target, pairs, &approximated, fitting);
        let errors = lambdas
            .iter()
            .map(|lambda| distance.of(&system, lambda * (m * m) as f64))
            .collect::<Result<_, _>>()?;
        let report = Report {
            rank: self.squared.factor.rank(),
            residual: self.squared.residual(m),
            target_rank: of_right.map_or(0, |right| right.factor.rank()),
            target_residual: of_right.map_or(0.0, |right| right.residual(m)),
            error_bound,
            error: self.error,
        };
        Ok(Solved { system, report, errors })
    }

    /// `Ĝ`, `P × P`, and the bound on its relative error.
    fn normal(&self) -> (Array2<f64>, f64) {
        let LandmarkPairs { all, beta, .. } = self.problem.pairs;
        let (residual, largest) = (self.squared.factor.residual(), self.squared.factor.largest());
        let size = all.len();
        let mut normal = Array2::zeros((size, size));
        let (mut error, mut norm) = (0.0, 0.0);
        for (q, &(i, j)) in all.as_slice().iter().enumerate() {
            for (r, &(k, l)) in all.as_slice().iter().enumerate() {
                let index = self.quads.index(i, j, k, l);
                let scale = beta[q] * beta[r];
                let (one, two) = self.sizes[index];
                normal[[q, r]] = scale * self.squared.sums[index];
                error += (scale * (residual * two).min(largest * one * one)).powi(2);
                norm += normal[[q, r]].powi(2);
            }
        }
        (normal, if norm > 0.0 { (error / norm).sqrt() } else { 0.0 })
    }
}

/// `t` of four landmarks at some points.
fn quad(factors: &Array2<f64>, set: [usize; 4], rows: Range<usize>, to: &mut [f64]) {
    let [a, b, c, d] = set.map(|z| factors.slice(s![z, rows.clone()]));
    for (to, (((a, b), c), d)) in to.iter_mut().zip(a.iter().zip(b).zip(c).zip(d)) {
        *to = (a * b) * (c * d);
    }
}

/// `Σ t_i` and `Σ t_i²` over the points, of each multiset.
fn sizes(quads: &LandmarkQuadruples, factors: &Array2<f64>, threads: usize) -> Vec<(f64, f64)> {
    let m = factors.ncols();
    in_order(threads, quads.sets.len(), |index| {
        let mut buffer = vec![0.0; m.min(ROWS)];
        let (mut one, mut two) = (0.0, 0.0);
        for start in (0..m).step_by(ROWS) {
            let rows = start..(start + ROWS).min(m);
            let part = &mut buffer[..rows.len()];
            quad(factors, quads.sets[index], rows, part);
            one += part.iter().sum::<f64>();
            two += part.iter().map(|t| t * t).sum::<f64>();
        }
        (one, two)
    })
}

pub(super) fn failed(error: mercer_linalg::LinalgError) -> LearningError {
    numerical("factoring the pair kernel")(error)
}

/// `|Cᵀ v|²` of `count` vectors of `m` entries, written some at a time by `vectors`, over the columns of some panels
/// of `C` (`m ×` some).
fn squares(
    panels: &[ArrayView2<'_, f64>],
    count: usize,
    vectors: impl Fn(usize, Range<usize>, &mut [f64]) + Sync,
    threads: usize,
) -> Array1<f64> {
    let Some(m) = panels.first().map(ArrayView2::nrows) else { return Array1::zeros(count) };
    let columns = panels.iter().map(ArrayView2::ncols).sum();
    let parts = in_order(threads, count.div_ceil(BLOCK), |block| {
        let range = block * BLOCK..((block + 1) * BLOCK).min(count);
        let mut images = Array2::zeros((range.len(), columns));
        let mut buffer = vec![0.0; range.len() * ROWS.min(m)];
        for start in (0..m).step_by(ROWS) {
            let rows = start..(start + ROWS).min(m);
            let wide = rows.len();
            let buffer = &mut buffer[..range.len() * wide];
            for (q, to) in range.clone().zip(buffer.chunks_exact_mut(wide)) {
                vectors(q, rows.clone(), to);
            }
            let tile = ArrayView2::from_shape((range.len(), wide), &*buffer)
                .expect("the buffer has the length of the tile");
            let mut first = 0;
            for panel in panels {
                let last = first + panel.ncols();
                let to = images.slice_mut(s![.., first..last]);
                product(1.0, tile, panel.slice(s![rows.clone(), ..]), 1.0, to);
                first = last;
            }
        }
        images.rows().into_iter().map(|image| image.dot(&image)).collect::<Vec<f64>>()
    });
    parts.into_iter().flatten().collect()
}

/// `Σ_ij Y_ij β_ij w_q(i) w_q(j)` of any symmetric target: `2 m² P` flops, a band of rows at a time.
fn dense_right(
    gaussian: &GaussianHyper,
    inputs: ArrayView2<'_, f64>,
    target: &PairTarget<'_>,
    factors: &Array2<f64>,
    all: &Pairs,
    fitting: &Fitting<'_>,
) -> Result<Array1<f64>, LearningError> {
    const BAND: usize = 256;
    let m = inputs.nrows();
    let sections = gaussian.pair_kernel().sections(inputs);
    let mut products = Array2::zeros((all.len(), m));
    for (&(i, j), mut row) in all.as_slice().iter().zip(products.rows_mut()) {
        row.assign(&(&factors.row(i) * &factors.row(j)));
    }
    let parts = in_order(fitting.threads, m.div_ceil(BAND), |band| {
        fitting.limits.check()?;
        let rows = band * BAND..((band + 1) * BAND).min(m);
        let mut values = sections.at(inputs.slice(s![rows.clone(), ..]));
        for ((i, j), value) in values.indexed_iter_mut() {
            *value *= target.of(rows.start + i, j);
        }
        let images = multiplied(products.view(), values.t());
        let own = products.slice(s![.., rows]);
        Ok::<_, LearningError>((&images * &own).sum_axis(Axis(1)))
    });
    let mut total = Array1::zeros(all.len());
    for part in parts {
        total += &part?;
    }
    Ok(total)
}
