//! Nyström's approximation of hyper-KRR, and divide and conquer (Algorithm 1).

use super::ridge::facts;
use super::system::{Span, System};
use super::{Learned, PairRidge, PairTarget, of_kernel};
use mercer_kernels::{HyperKernel, LearnedKernel, Pairs};
use mercer_learning::{Convergence, Fitting, LearningError, Limits, Streams, fact};
use mercer_linalg::{in_order, multiplied, symmetric_product};
use ndarray::{Array1, Array2, ArrayView2, Axis};
use rand::Rng;
use rand::seq::{SliceRandom, index};

/// Pairs whose hyper-kernel values are held at once.
const CHUNK: usize = 4096;
/// Parts into which the pairs of a subset are divided; their sums are added in order.
const LANES: usize = 8;

/// Rows that one subset draws as landmarks, in ascending order.
pub(super) fn draw_landmarks(streams: &Streams, points: usize, landmarks: usize) -> Vec<usize> {
    let mut rng = streams.rng("landmarks");
    let mut chosen = index::sample(&mut rng, points, landmarks).into_vec();
    chosen.sort_unstable();
    chosen
}

/// The average of the functions learned on `v` disjoint random subsets, each in the span of the pairs
/// of its own landmarks.
pub(super) fn learn(
    ridge: &PairRidge,
    kernel: &HyperKernel,
    inputs: ArrayView2<'_, f64>,
    target: &PairTarget<'_>,
    lambdas: &[f64],
    fitting: &Fitting<'_>,
) -> Result<Vec<Learned>, LearningError> {
    let (m, v) = (inputs.nrows(), ridge.subsets);
    let landmarks = ridge.landmarks_of(m / v)?;
    let width = Pairs::count(landmarks);
    fitting.limits.reserve(
        8 * (fitting.threads.max(1) * 2 * (CHUNK + width) * width
            + (LANES + 3) * width * width
            + 2 * ridge.pairs.unwrap_or(Pairs::count(m / v))) as u64,
    )?;
    let mut rows: Vec<usize> = (0..m).collect();
    if v > 1 {
        rows.shuffle(&mut fitting.streams.rng("subsets"));
    }
    // Subsets side by side; within one, chunks of pairs side by side if there is but one.
    let (outer, inner) = if v > 1 { (fitting.threads, 1) } else { (1, fitting.threads) };
    let (limits, whole) = (fitting.limits, &fitting.streams);
    let parts = in_order(outer, v, |part| {
        let mut chosen = rows[m * part / v..m * (part + 1) / v].to_vec();
        chosen.sort_unstable();
        let streams = whole.child(&format!("subset {part}"));
        let own = Subset { ridge, kernel, inputs, target, rows: &chosen, landmarks };
        own.solve(lambdas, &streams, inner, limits)
    });
    let parts = parts.into_iter().collect::<Result<Vec<Part>, _>>()?;
    let lacking = target.lacking(&rows, v);
    let total: f64 = parts.iter().map(|part| part.pairs as f64).sum();
    let ranks: f64 = parts.iter().map(|part| part.rank as f64).sum();
    (0..lambdas.len())
        .map(|index| {
            let kernel = mean(&parts, index, kernel, inputs)?;
            let mut facts = facts([
                ("pairs", total),
                ("landmark-pairs", (v * width) as f64),
                ("rank", ranks / v as f64),
            ]);
            if lacking > 0 {
                facts.insert(fact::SUBSETS_WITHOUT_A_CLASS.to_owned(), lacking as f64);
            }
            Ok(Learned { kernel, convergence: Convergence::Exact, facts })
        })
        .collect()
}

/// The mean of the functions of the subsets for one of the ridges.
fn mean(
    parts: &[Part],
    index: usize,
    kernel: &HyperKernel,
    inputs: ArrayView2<'_, f64>,
) -> Result<LearnedKernel, LearningError> {
    let rows: Vec<usize> = parts.iter().flat_map(|part| part.landmarks.iter().copied()).collect();
    let pairs = parts.iter().enumerate().flat_map(|(part, own)| {
        let landmarks = own.landmarks.len();
        let shift = part * landmarks;
        let all = Pairs::all(landmarks);
        let shifted = all.as_slice().iter().map(move |&(i, j)| (i + shift, j + shift));
        shifted.collect::<Vec<_>>()
    });
    let v = parts.len() as f64;
    let coefficients: Array1<f64> =
        parts.iter().flat_map(|part| part.coefficients[index].iter().map(|b| b / v)).collect();
    let points = inputs.select(Axis(0), &rows);
    LearnedKernel::new(kernel.clone(), points.view(), &Pairs::new(pairs), &coefficients)
        .map_err(of_kernel)
}

/// One subset of the points with what it is solved with.
struct Subset<'a, 'x, 't> {
    ridge: &'a PairRidge,
    kernel: &'a HyperKernel,
    inputs: ArrayView2<'x, f64>,
    target: &'a PairTarget<'t>,
    rows: &'a [usize],
    landmarks: usize,
}

/// The result of a subset.
struct Part {
    /// Rows of the whole sample.
    landmarks: Vec<usize>,
    /// One vector a ridge.
    coefficients: Vec<Array1<f64>>,
    /// Ordered pairs that the equations sum over.
    pairs: usize,
    rank: usize,
}

impl Subset<'_, '_, '_> {
    /// The ordered pairs that are drawn, if they are.
    fn drawn(&self, streams: &Streams) -> Option<Pairs> {
        let n = self.rows.len();
        self.ridge.pairs.map(|pairs| {
            let mut rng = streams.rng("pairs");
            Pairs::new((0..pairs).map(|_| (rng.gen_range(0..n), rng.gen_range(0..n))))
        })
    }

    fn solve(
        &self,
        lambdas: &[f64],
        streams: &Streams,
        threads: usize,
        limits: &dyn Limits,
    ) -> Result<Part, LearningError> {
        let n = self.rows.len();
        let points = self.inputs.select(Axis(0), self.rows);
        let chosen = draw_landmarks(streams, n, self.landmarks);
        let centres = points.select(Axis(0), &chosen);
        let all = Pairs::all(self.landmarks);
        let sections = self.kernel.sections(centres.view(), &all);
        let span = Span::new(sections.gram(threads).view(), self.ridge.cutoff)?;
        let rank = span.rank();
        // All unordered pairs with their weights, or a sample of ordered ones that stands for m².
        let whole = n * n;
        let sample = self.drawn(streams);
        let sampled = sample.is_some();
        let counted = sample.as_ref().map_or(whole, Pairs::len);
        let listed = sample.as_ref().map_or_else(|| Pairs::count(n), Pairs::len);
        let chunks = listed.div_ceil(CHUNK);
        let lanes = chunks.min(LANES);
        let sums = in_order(threads, lanes, |lane| {
            let mut normal = Array2::zeros((rank, rank));
            let mut right = Array1::<f64>::zeros(rank);
            for chunk in chunks * lane / lanes..chunks * (lane + 1) / lanes {
                limits.check()?;
                let own = chunk * CHUNK..((chunk + 1) * CHUNK).min(listed);
                let pairs = match &sample {
                    Some(drawn) => Pairs::new(drawn.as_slice()[own].iter().copied()),
                    None => Pairs::some(n, own),
                };
                let values = sections.at(points.view(), &pairs, 1);
                let mut features = multiplied(values.view(), span.basis.view());
                for (q, &(i, j)) in pairs.as_slice().iter().enumerate() {
                    let weight =
                        if sampled { whole as f64 / counted as f64 } else { pairs.weight(q) };
                    let y = self.target.of(self.rows[i], self.rows[j]);
                    let mut row = features.row_mut(q);
                    right.scaled_add(weight * y, &row);
                    row *= weight.sqrt();
                }
                normal += &symmetric_product(features.view());
            }
            Ok::<_, LearningError>((normal, right))
        });
        let mut normal = Array2::zeros((rank, rank));
        let mut right = Array1::zeros(rank);
        for sum in sums {
            let (part, own) = sum?;
            normal += &part;
            right += &own;
        }
        let system = System::new(&span, normal.view(), &right)?;
        let coefficients =
            lambdas.iter().map(|lambda| system.solve(lambda * whole as f64)).collect();
        let landmarks = chosen.into_iter().map(|row| self.rows[row]).collect();
        Ok(Part { landmarks, coefficients, pairs: counted, rank })
    }
}
