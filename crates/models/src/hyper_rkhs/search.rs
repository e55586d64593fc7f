//! The paper's own search, by cross-validation over points. It tunes `σ_h²` and `λ`, or the regression's `C`, and the
//! SVM's `C`.

use super::settings::{HyperClassifierParams, HyperForm, Search, Stage1};
use super::{Learned, PairRidge, PairSolver, PairSvr, PairTarget, Stopped};
use mercer_kernels::LearnedKernel;
use mercer_learning::{Fitting, LearningError, fact, folds};
use mercer_solvers::{OneVersusOne, PsdCorrection, Smo, Spectrum};
use ndarray::{Array2, ArrayView2, Axis};
use rand::seq::index;
use std::cmp::Reverse;
use std::ops::RangeInclusive;

const FOLDS: usize = 5;
/// The grids that [`Search::Folds`](super::Search::Folds) walks. They are the paper's, but for the regression's `C`.
/// Its printed grid goes on to `10⁵`, where the solution goes on changing and a fit takes longest:
/// [`Search::PrintedFolds`](super::Search::PrintedFolds) walks all of it.
///
/// ```
/// use mercer_models::hyper_rkhs::SEARCH_GRIDS;
/// assert_eq!(SEARCH_GRIDS.lambda_powers.clone().count(), 11);
/// assert_eq!(SEARCH_GRIDS.spreads[0], 0.25); // sigma_h^2 = sigma^2 / 4
/// assert_eq!(SEARCH_GRIDS.pair_cost_powers.end(), &1);
/// assert_eq!(SEARCH_GRIDS.printed_pair_cost_powers.end(), &5);
/// ```
#[derive(Debug, Clone)]
pub struct SearchGrids {
    /// `σ_h²` in multiples of `σ²`.
    pub spreads: [f64; 5],
    /// Exponents of ten of `λ`, relative to the unnormalised hyper-kernel.
    pub lambda_powers: RangeInclusive<i32>,
    /// Exponents of ten of the regression's `C` on the training part of a fold.
    pub pair_cost_powers: RangeInclusive<i32>,
    /// The same as the paper prints them.
    pub printed_pair_cost_powers: RangeInclusive<i32>,
    /// Exponents of two of the SVM's `C`.
    pub cost_powers: RangeInclusive<i32>,
}

/// The one value of [`SearchGrids`].
pub const SEARCH_GRIDS: SearchGrids = SearchGrids {
    spreads: [0.25, 0.5, 1.0, 2.0, 4.0],
    lambda_powers: -5..=5,
    pair_cost_powers: -5..=1,
    printed_pair_cost_powers: -5..=5,
    cost_powers: -5..=5,
};

/// Points that the folds divide at most.
const POINTS: usize = 100;

/// What the search chose, as settings, and how many of the points it got right.
pub(super) struct Chosen {
    pub params: HyperClassifierParams,
    /// `λ` as the grid has it, or the regression's `C` there. The `C` belongs to the regression on the training part of
    /// a fold.
    pub strength: f64,
    pub right: usize,
    pub points: usize,
    /// Regressions and SVMs of the search that stopped short of their tolerance.
    pub open: usize,
}

impl Chosen {
    /// What was searched for this kernel and regression, and how its folds came out. The regression's C as the grid has
    /// it: the fit's own C belongs to its number of pairs.
    pub(super) fn facts(&self) -> Vec<(String, f64)> {
        let params = &self.params;
        let mut facts = vec![
            ("chosen-cost", params.cost),
            ("search-right", self.right as f64),
            ("search-points", self.points as f64),
            (fact::SEARCH_NOT_CONVERGED, self.open as f64),
        ];
        if params.hyper != HyperForm::Wishart {
            facts.push(("chosen-spread", params.spread));
        }
        match params.stage1 {
            Stage1::Svr => {
                facts
                    .extend([("chosen-pair-cost", self.strength), ("pair-cost", params.pair_cost)]);
            }
            Stage1::Ridge | Stage1::NonNegative => facts.push(("chosen-lambda", params.lambda)),
        }
        facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

/// One point of the grid but for the SVM's `C`.
#[derive(Clone, Copy)]
struct Candidate {
    spread: f64,
    /// `λ`, or the `C` of the regression with a tube.
    strength: f64,
}

impl Candidate {
    /// The settings of a fit with it, after folds of so many points. A subset of the fit has `of_fit`.
    fn settings(
        self,
        params: &HyperClassifierParams,
        cost: f64,
        points: usize,
        of_fit: usize,
    ) -> HyperClassifierParams {
        let Self { spread, strength } = self;
        let mut chosen = HyperClassifierParams { spread, cost, ..params.clone() };
        match params.stage1 {
            Stage1::Svr => {
                let validated = (points * (FOLDS - 1)) as f64 / FOLDS as f64;
                // What was validated is the `λ` that the grid's `C` stands for on the training part of a fold.
                chosen.pair_cost = PairSvr::carried_over(strength, validated, of_fit as f64);
                chosen.pair_ridge = None;
            }
            Stage1::Ridge | Stage1::NonNegative => chosen.lambda = strength,
        }
        chosen
    }
}

/// What the grids of these settings have.
struct Grid {
    spreads: Vec<f64>,
    strengths: Vec<f64>,
    costs: Vec<f64>,
}

impl Grid {
    fn of(params: &HyperClassifierParams) -> Self {
        let grids = SEARCH_GRIDS;
        let exponents = match (params.stage1, params.search) {
            (Stage1::Svr, Search::PrintedFolds) => grids.printed_pair_cost_powers,
            (Stage1::Svr, _) => grids.pair_cost_powers,
            _ => grids.lambda_powers,
        };
        let wishart = params.hyper == HyperForm::Wishart;
        Self {
            spreads: if wishart { vec![1.0] } else { grids.spreads.to_vec() },
            strengths: exponents.map(|power| 10f64.powi(power)).collect(),
            costs: grids.cost_powers.map(|power| 2f64.powi(power)).collect(),
        }
    }
}

/// One fold: points with labels to learn from, and others to try.
struct Fold {
    train: Array2<f64>,
    own: Vec<u32>,
    test: Array2<f64>,
    truth: Vec<u32>,
}

impl Fold {
    /// None where no point is out, or only one class is left.
    fn of(fold: usize, held: &[usize], points: &Array2<f64>, labels: &[u32]) -> Option<Self> {
        let (out, kept): (Vec<usize>, Vec<usize>) =
            (0..held.len()).partition(|&row| held[row] == fold);
        let labels_of = |rows: &[usize]| rows.iter().map(|&row| labels[row]).collect();
        let own: Vec<u32> = labels_of(&kept);
        if out.is_empty() || own.iter().all(|label| *label == own[0]) {
            return None;
        }
        let (train, test) = (points.select(Axis(0), &kept), points.select(Axis(0), &out));
        Some(Self { train, own, test, truth: labels_of(&out) })
    }

    /// How many points the SVMs of each cost get right, and how many SVMs stopped short. The kernel is given among the
    /// points to learn from, and between the others and these.
    fn right(
        &self,
        (gram, cross): (Array2<f64>, Array2<f64>),
        costs: &[f64],
        spectrum: PsdCorrection,
        fitting: &Fitting<'_>,
    ) -> Result<(Vec<usize>, usize), LearningError> {
        let say = |stopped: Stopped| stopped.in_words("sequential minimal optimisation");
        let (gram, cross) = match spectrum {
            PsdCorrection::AsIs => (gram, cross),
            how => {
                let spectrum = Spectrum::of(gram.view()).map_err(|error| say(error.into()))?;
                let mended = spectrum.mended(how);
                (mended.train.clone(), mended.test(cross.view()))
            }
        };
        let check = || fitting.limits.check().map_err(Stopped::Outside);
        let machines =
            OneVersusOne::path(gram.view(), &self.own, costs, &smo(), check).map_err(say)?;
        let short = machines.iter().filter(|machine| !machine.converged).count();
        let hits = |machine: &OneVersusOne| {
            let said = machine.classes(cross.view());
            self.truth.iter().zip(said).filter(|&(&truth, said)| truth == said).count()
        };
        Ok((machines.iter().map(hits).collect(), short))
    }
}

pub(super) fn search(
    params: &HyperClassifierParams,
    inputs: ArrayView2<'_, f64>,
    labels: &[u32],
    fitting: &Fitting<'_>,
) -> Result<Chosen, LearningError> {
    let rows = some_rows(inputs.nrows(), POINTS, "search", fitting);
    let points = inputs.select(Axis(0), &rows);
    let labels: Vec<u32> = rows.iter().map(|&row| labels[row]).collect();
    let held = folds(&labels, FOLDS, &mut fitting.streams.rng("folds"));
    let Grid { spreads, strengths, costs } = Grid::of(params);
    let candidates: Vec<Candidate> = spreads
        .iter()
        .flat_map(|&spread| strengths.iter().map(move |&strength| Candidate { spread, strength }))
        .collect();
    let of_fit = params.points.min(inputs.nrows()) / params.subsets.max(1);
    let mut right = vec![vec![0usize; costs.len()]; candidates.len()];
    let mut open = 0;
    for fold in 0..FOLDS {
        let Some(fold) = Fold::of(fold, &held, &points, &labels) else { continue };
        let (train, test) = (fold.train.view(), fold.test.view());
        for (group, &spread) in spreads.iter().enumerate() {
            let params = HyperClassifierParams { spread, ..params.clone() };
            let path = path(&params, train, &fold.own, &strengths, of_fit, fitting)?;
            let unmet: Vec<bool> =
                path.iter().map(|learned| learned.convergence.is_open()).collect();
            let kernels: Vec<LearnedKernel> =
                path.into_iter().map(|learned| learned.kernel).collect();
            let grams = LearnedKernel::grams(&kernels, train, fitting.threads);
            let crosses = LearnedKernel::blocks(&kernels, test, train, fitting.threads);
            // The last kernel is that of all strengths from there on.
            let first = group * strengths.len();
            let last = kernels.len() - 1;
            for (index, blocks) in grams.into_iter().zip(crosses).enumerate() {
                let stands_for =
                    first + index..first + if index == last { strengths.len() } else { index + 1 };
                let (hits, short) = fold.right(blocks, &costs, params.spectrum, fitting)?;
                open += stands_for.len() * (usize::from(unmet[index]) + short);
                for counts in &mut right[stands_for] {
                    counts.iter_mut().zip(&hits).for_each(|(count, hits)| *count += hits);
                }
            }
        }
    }
    let best = best_of(&right, |candidate, cost| rank(params, strengths.len(), candidate, cost));
    let candidate = candidates[best.0];
    Ok(Chosen {
        params: candidate.settings(params, costs[best.1], rows.len(), of_fit),
        strength: candidate.strength,
        right: right[best.0][best.1],
        points: rows.len(),
        open,
    })
}

/// So many of the rows at most, in order.
pub(super) fn some_rows(
    rows: usize,
    most: usize,
    purpose: &str,
    fitting: &Fitting<'_>,
) -> Vec<usize> {
    if rows <= most {
        return (0..rows).collect();
    }
    let mut rng = fitting.streams.rng(purpose);
    let mut chosen = index::sample(&mut rng, rows, most).into_vec();
    chosen.sort_unstable();
    chosen
}

/// Which of equals is chosen: the lowest, of so many strengths for each spread.
fn rank(
    params: &HyperClassifierParams,
    strengths: usize,
    candidate: usize,
    cost: usize,
) -> (usize, usize, usize) {
    if params.search != Search::RegularisedFolds {
        return (candidate, cost, 0);
    }
    let strength = candidate % strengths;
    let weaker = match params.stage1 {
        Stage1::Svr => strength,
        Stage1::Ridge | Stage1::NonNegative => strengths - 1 - strength,
    };
    (weaker, cost, candidate)
}

/// Of what got most points right, by candidate and cost, the one whose rank is the lowest.
fn best_of<R: Ord>(right: &[Vec<usize>], rank: impl Fn(usize, usize) -> R) -> (usize, usize) {
    let costs = right.first().map_or(0, Vec::len);
    (0..right.len())
        .flat_map(|candidate| (0..costs).map(move |cost| (candidate, cost)))
        .min_by_key(|&(candidate, cost)| (Reverse(right[candidate][cost]), rank(candidate, cost)))
        .unwrap_or((0, 0))
}

/// SVMs of the search stop after so many steps: with a kernel that has no structure and a large cost they would run for
/// long without telling more.
fn smo() -> Smo {
    Smo { max_steps: Some(100_000), ..Smo::default() }
}

/// The kernels learned from the training part of a fold, one for each strength. The last may stand for all strengths
/// from there on. A subset of the fit has `of_fit` points.
fn path(
    params: &HyperClassifierParams,
    inputs: ArrayView2<'_, f64>,
    labels: &[u32],
    strengths: &[f64],
    of_fit: usize,
    fitting: &Fitting<'_>,
) -> Result<Vec<Learned>, LearningError> {
    let kernel = params.kernel(inputs)?;
    let target = PairTarget::classes(labels, params.same, params.other)?;
    let as_fitted = params.search == Search::FittedFolds;
    let all = inputs.nrows();
    if params.stage1 == Stage1::Svr {
        let svr = PairSvr { steps: 100_000, ..params.svr() };
        if !as_fitted || of_fit <= svr.exact_points {
            return svr.learn_path(&kernel, inputs, &target, strengths, fitting);
        }
        let (exact_points, landmarks) = (svr.exact_points.min(all - 1), svr.landmarks.min(all));
        let at = |&cost: &f64| PairSvr { cost, ridge: None, exact_points, landmarks, ..svr };
        let learn = |svr: PairSvr| svr.learn(&kernel, inputs, &target, fitting);
        return strengths.iter().map(at).map(learn).collect();
    }
    let ridge = if as_fitted {
        let fit = params.ridge();
        let solver = fit.chosen(&kernel, of_fit);
        let landmarks = match solver {
            PairSolver::Cholesky | PairSolver::ConjugateGradients => fit.landmarks,
            _ => Some(fit.landmarks_of(of_fit)?.min(all)),
        };
        PairRidge { solver, landmarks, subsets: 1, ..fit }
    } else {
        let solver = match (params.stage1, params.hyper) {
            (Stage1::NonNegative, _) => PairSolver::NonNegative,
            (_, HyperForm::Wishart) => PairSolver::Cholesky,
            _ => PairSolver::ConjugateGradients,
        };
        let landmarks = (solver == PairSolver::NonNegative).then_some(20.min(all));
        PairRidge { solver, landmarks, subsets: 1, pairs: None, ..params.ridge() }
    };
    ridge.learn_path(&kernel, inputs, &target, strengths, fitting)
}

#[cfg(test)]
mod tests {
    use super::best_of;

    #[test]
    fn ties_go_to_the_lowest_rank() {
        let right = [vec![3, 5, 5], vec![5, 2, 5], vec![4, 4, 4]];
        assert_eq!(best_of(&right, |candidate, cost| (candidate, cost)), (0, 1));
        assert_eq!(best_of(&right, |candidate, cost| (2 - candidate, cost)), (1, 0));
        assert_eq!(best_of(&right, |candidate, cost| (2 - cost, candidate)), (0, 2));
    }
}
