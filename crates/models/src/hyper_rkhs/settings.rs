//! Settings of an SVM with a learned kernel.

use super::{LandmarkChoice, PairRidge, PairSolver, PairSvr, PairTarget, of_kernel, refused};
use mercer_kernels::{GaussianHyper, HyperKernel, WishartHyper, entry_variance, total_variance};
use mercer_learning::{Allowed, LearningError, Parameters, fact};
use mercer_solvers::PsdCorrection;
use ndarray::{Array1, ArrayView2, Axis};
use serde::{Deserialize, Serialize};

/// Which regression learns the kernel.
///
/// ```
/// use mercer_learning::Fitting;
/// use mercer_models::hyper_rkhs::{HyperClassifierParams, Stage1};
/// use ndarray::array;
/// let points = array![[0.0], [0.3], [1.0], [1.4]];
/// let least = |stage1| {
///     let learner = HyperClassifierParams { stage1, width: 0.5, ..Default::default() }.checked()?;
///     let learned = learner.learn_kernel(points.view(), &[0, 0, 1, 1], &Fitting::seeded(1))?;
///     let least = learned.kernel.coefficients().iter().copied().fold(f64::INFINITY, f64::min);
///     Ok::<f64, mercer_learning::LearningError>(least)
/// };
/// assert!(least(Stage1::Ridge)? < 0.0);
/// assert!(least(Stage1::NonNegative)? >= 0.0); // so that the learned kernel is positive definite
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage1 {
    /// Least squares.
    #[default]
    Ridge,
    /// A tube without loss.
    Svr,
    /// Least squares with non-negative coefficients.
    NonNegative,
}

/// What uses the learned kernel.
///
/// ```
/// use mercer_learning::{Fitting, Learner, Predictions, Sample};
/// use mercer_models::hyper_rkhs::{HyperClassifierParams, Stage2};
/// use ndarray::array;
/// let points = array![[0.0], [0.3], [0.5], [1.0], [1.2], [1.4]];
/// let sample = Sample::classification(points.clone(), vec![0, 0, 0, 1, 1, 1], 2)?;
/// // Another way to the same end: both tell two groups apart.
/// for stage2 in [Stage2::Machine, Stage2::Features, Stage2::Rows] {
///     let params = HyperClassifierParams { stage2, width: 0.5, ..Default::default() };
///     let fitted = params.checked()?.fit(&sample, &mut Fitting::seeded(1))?;
///     let said = fitted.predictor.predict(points.view())?;
///     assert_eq!(said, Predictions::Classes(vec![0, 0, 0, 1, 1, 1]));
/// }
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage2 {
    /// SVMs on its Gram matrix: quadratic in `machine_rows`.
    #[default]
    Machine,
    /// Ridge classification on its signed features ([`super::KreinFeatures`]): linear in `machine_rows`. `cost` is the
    /// weight of the squared errors. The negative part of the kernel's factor `f` is flipped
    /// ([`super::KreinFeatures`]), which is not the spectral flip of the kernel.
    Features,
    /// SVMs on its kernel with the same factor flipped. Kernel rows are computed as they are asked for, so that
    /// `machine_rows` may be all rows.
    Rows,
}

/// Which hyper-kernel.
///
/// ```
/// use mercer_kernels::HyperKernel;
/// use mercer_models::hyper_rkhs::{HyperClassifierParams, HyperForm};
/// use ndarray::array;
/// let points = array![[0.0, 0.0], [2.0, 0.0]]; // of total variance 1
/// let pair_variance = |hyper| {
///     match (HyperClassifierParams { hyper, ..Default::default() }).kernel(points.view()) {
///         Ok(HyperKernel::Gaussian(kernel)) => kernel.pair_variance(),
///         other => panic!("no Gaussian: {other:?}"),
///     }
/// };
/// assert_eq!(pair_variance(HyperForm::GaussianPrinted), 1.0); // s
/// assert_eq!(pair_variance(HyperForm::GaussianConstructed), 2.0); // 2 s
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HyperForm {
    /// Gaussian, as its construction gives it.
    GaussianConstructed,
    /// Gaussian, as the paper prints it.
    GaussianPrinted,
    /// Wishart with `D` a multiple of the unit matrix.
    Wishart,
}

/// What "the variance of the data" is.
///
/// ```
/// use mercer_kernels::HyperKernel;
/// use mercer_models::hyper_rkhs::{HyperClassifierParams, Variance};
/// use ndarray::array;
/// let points = array![[0.0, 0.0], [2.0, 0.0]];
/// let variance = |variance| {
///     match (HyperClassifierParams { variance, ..Default::default() }).kernel(points.view()) {
///         Ok(HyperKernel::Gaussian(kernel)) => kernel.pair_variance() / 2.0,
///         other => panic!("no Gaussian: {other:?}"),
///     }
/// };
/// assert_eq!(variance(Variance::Total), 1.0); // of the points around (1, 0)
/// assert_eq!(variance(Variance::Entry), 0.75); // of 0, 0, 2, 0 around 1/2
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Variance {
    /// `(1/m) Σ ‖x_i − x̄‖²`.
    Total,
    /// Over all entries; with it the learned kernel vanishes off the diagonal in high dimensions.
    Entry,
}

/// `D` of the Wishart hyper-kernel.
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_models::hyper_rkhs::{HyperClassifierParams, Scatter};
/// let read = |word: &str| Settings::new().with("scatter", word).read::<HyperClassifierParams>("hyper-krr");
/// assert_eq!(read("per-feature")?.scatter, Scatter::PerFeature);
/// assert!(read("per-row").unwrap_err().to_string().contains("per-feature"));
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scatter {
    /// As `isotropic` or as `matched`, by the search and the typical pairs. It is `isotropic` where folds search the
    /// paper's grids, or where that leaves typical pairs a tenth of a tenth of similarity to themselves. Else, which is
    /// from 8 columns on, it is `matched`.
    Auto,
    /// `(b − d − 1) σ² I`: the mean covariance is `σ² I`. In many dimensions the learned kernel then vanishes
    /// off the diagonal: `h(p, p) = (1 + ‖x − x'‖²/D)^(−(b + 3)/2)` with a base of 2 or so and a power that grows with `d`.
    Isotropic,
    /// `b σ² I`: with it `h(p, p)` is near `exp(−‖x − x'‖²/(2 σ²))`, as of the Gaussian hyper-kernel, in any dimension.
    Matched,
    /// `(b − d − 1) σ² d diag(v)/Σ v` with the variances `v` of the columns. It has the same trace, and the mean is a
    /// diagonal matrix. A column without variance, which tells no two points apart, has the mean of `v`.
    PerFeature,
}

/// How the settings that the paper tunes are found.
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_models::hyper_rkhs::{HyperClassifierParams, Search};
/// // What is given is used, unless folds are to choose.
/// let read = |word: &str| Settings::new().with("search", word).read::<HyperClassifierParams>("hyper-krr");
/// assert_eq!(read("folds")?.search, Search::Folds);
/// assert_eq!(HyperClassifierParams::default().search, Search::None);
/// let refused = read("no such word").unwrap_err().to_string();
/// assert!(refused.contains("none, folds"), "{refused}");
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Search {
    /// They are as given.
    None,
    /// By 5-fold cross-validation over at most 100 training points, never over pairs. Then one fit uses all points. It
    /// tries `spread` of five, `lambda` of eleven or `pair_cost` of seven, and `cost` of eleven values. `pair_cost` is
    /// converted from the pairs of a fold to the pairs of the fit, as `1/(2 λ m²)` for the same `λ`: unscaled, it would
    /// regularise the less the more points there are. Of settings that get as many points right the first of the grids
    /// is taken: the smallest `spread`, then the smallest `lambda` or `pair_cost`, then the smallest `cost`.
    Folds,
    /// The same over all eleven printed values of `pair_cost`, to `10⁵`. Of a method without a `pair_cost` it
    /// is `Folds`.
    PrintedFolds,
    /// As `Folds`, but with regressions on folds solved as in the fit. The fit solves the regression of a subset in
    /// this way. It is in the pairs of `landmarks` points and over `pairs` drawn pairs where the fit is. `Folds` solves
    /// the few points of a fold exactly, and the `λ` that is best there is far too small for few landmarks.
    FittedFolds,
    /// As `Folds`, but of equally good settings the most regularised. Of settings that get as many points right it is
    /// the largest `lambda` or the smallest `pair_cost`, then the smallest `cost`, then the smallest `spread`. `Folds`
    /// takes the smallest `lambda`, which regularises the least, and the smallest `pair_cost`, which does the most.
    RegularisedFolds,
}

impl std::fmt::Display for Search {
    /// As a setting has it, in backquotes.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::None => "`none`",
            Self::Folds => "`folds`",
            Self::PrintedFolds => "`printed-folds`",
            Self::FittedFolds => "`fitted-folds`",
            Self::RegularisedFolds => "`regularised-folds`",
        })
    }
}

mercer_learning::parameters! {
    /// Settings of a support vector machine with a kernel that is learned by regression on pairs.
    ///
    /// ```
    /// use mercer_models::hyper_rkhs::HyperClassifierParams;
    /// use ndarray::Array2;
    /// let refused = HyperClassifierParams { freedom: 1.0, ..Default::default() }.checked().unwrap_err();
    /// assert_eq!(refused.to_string(), "setting `freedom` is 1; it must be finite and above 1");
    /// // Widths are in multiples of the variance: equal points have none.
    /// assert!(HyperClassifierParams::default().kernel(Array2::ones((5, 2)).view()).is_err());
    /// ```
    pub struct HyperClassifierParams {
        /// Which regression: the method's name says it.
        #[serde(skip)]
        pub stage1: Stage1 = Stage1::Ridge;
        /// Whether `spread`, `lambda` or `pair_cost`, and `cost` are searched for.
        pub search: Search = Search::None;
        /// Which hyper-kernel.
        pub hyper: HyperForm = HyperForm::GaussianConstructed;
        /// What `width` is a multiple of.
        pub variance: Variance = Variance::Total;
        /// `σ²` in multiples of the variance.
        pub width: f64 = 1.0, Allowed::POSITIVE;
        /// `σ_h²` in multiples of `σ²` (Gaussian).
        pub spread: f64 = 1.0, Allowed::POSITIVE;
        /// What `D` is (Wishart).
        pub scatter: Scatter = Scatter::Auto;
        /// `b − d > 1` (Wishart).
        pub freedom: f64 = 3.0, Allowed::between(1.0, false, f64::MAX, true, "finite and above 1");
        /// Target of pairs of the same class.
        pub same: f64 = 1.0;
        /// Target of other pairs.
        pub other: f64 = -1.0;
        /// `λ` (least squares).
        pub lambda: f64 = PairRidge::default().lambda, Allowed::POSITIVE;
        /// How the least squares are solved.
        pub solver: PairSolver = PairRidge::default().solver;
        /// Training rows of stage 1 at most, drawn at random; the rows of a tuner's rungs.
        pub points: usize = 1_000_000, Allowed::PAIR;
        /// Nyström points `M` of a subset, where not all its pairs have a coefficient (`solver`, `exact_points`).
        pub landmarks: Option<usize> = None, Allowed::COUNT;
        /// How the linear-time solver chooses them.
        pub landmark_choice: LandmarkChoice = LandmarkChoice::Random;
        /// Subsets `v`, whose learned functions are averaged.
        pub subsets: usize = 1, Allowed::COUNT;
        /// Ordered pairs that Nyström's equations, or the regression with a tube, sum over.
        pub pairs: Option<usize> = None, Allowed::COUNT;
        /// Columns `L` of the linear-time solver's factors at most.
        pub rank: usize = PairRidge::default().rank, Allowed::COUNT;
        /// Goal of their relative residual, where there is no `normal_tolerance` and no `solution_tolerance`.
        pub rank_tolerance: f64 = PairRidge::default().rank_tolerance, Allowed::INSIDE_ONE;
        /// Goal of the estimated relative error of the normal matrix over all pairs, which the columns
        /// grow to meet; with a `solution_tolerance`, only where they begin.
        pub normal_tolerance: Option<f64> = PairRidge::default().normal_tolerance, Allowed::INSIDE_ONE;
        /// Goal of the estimated relative error of the learned kernel, in the norm of the regression, of
        /// the linear-time solver, which the columns grow to meet.
        pub solution_tolerance: Option<f64> = PairRidge::default().solution_tolerance, Allowed::INSIDE_ONE;
        /// Most bytes of its two factors together.
        pub factor_bytes: u64 = PairRidge::default().factor_bytes;
        /// Residual of conjugate gradients.
        pub tolerance: f64 = 1e-4, Allowed::INSIDE_ONE;
        /// Iterations of conjugate gradients at most.
        pub iterations: usize = PairRidge::default().iterations, Allowed::COUNT;
        /// `C` of the regression with a tube, for the sum over ordered pairs, where there is no `pair_ridge`.
        pub pair_cost: f64 = PairSvr::default().cost, Allowed::POSITIVE;
        /// `λ` of the regression with a tube, `C = 1/(2 λ m²)`: means the same for few points and for many.
        pub pair_ridge: Option<f64> = None, Allowed::POSITIVE;
        /// `ε` of it.
        pub epsilon: f64 = PairSvr::default().epsilon, Allowed::NOT_NEGATIVE;
        /// Violation of optimality at which it ends.
        pub pair_tolerance: f64 = PairSvr::default().tolerance, Allowed::POSITIVE;
        /// Points up to which it uses all pairs: of a method by itself 80, for a first run of seconds (the studies
        /// have 276).
        pub exact_points: usize = PairSvr::default().exact_points;
        /// `C` of the SVM.
        pub cost: f64 = 1.0, Allowed::POSITIVE;
        /// What uses the learned kernel (Gaussian).
        pub stage2: Stage2 = Stage2::Machine;
        /// Columns of the pair kernel's factor that the signed features are made with, at most.
        pub feature_rank: usize = 100, Allowed::COUNT;
        /// Training rows of the SVM at most, drawn at random.
        pub machine_rows: usize = 3000, Allowed::PAIR;
        /// What is done about negative eigenvalues; signed features flip them. (Of methods by themselves `flip`, of the
        /// studies `as-is`.)
        pub spectrum: PsdCorrection = PsdCorrection::AsIs;
    }
}

impl HyperClassifierParams {
    /// [`LearningError::Setting`] for the first that is out of range.
    pub(super) fn check(&self) -> Result<(), LearningError> {
        self.in_range()?;
        PairTarget::classes(&[], self.same, self.other)?;
        if self.stage1 != Stage1::Ridge && self.solver != PairSolver::Auto {
            return Err(refused("solver", self.solver, "`auto`, but for least squares"));
        }
        let non_negative = self.stage1 == Stage1::Ridge && self.solver == PairSolver::NonNegative;
        if non_negative && self.other < 0.0 {
            let must = "at least 0 with `solver` = `non-negative`, whose kernel is nowhere below 0: `other` = 0, say";
            return Err(refused("other", self.other, must));
        }
        if self.hyper == HyperForm::Wishart
            && matches!(self.solver, PairSolver::ConjugateGradients | PairSolver::LinearTime)
        {
            let must = "`auto`, `cholesky` or `nystrom` with a Wishart hyper-kernel, which is no product over points";
            return Err(refused("solver", self.solver, must));
        }
        if self.stage2 != Stage2::Machine {
            if self.hyper == HyperForm::Wishart {
                let stage2 = if self.stage2 == Stage2::Rows { "`rows`" } else { "`features`" };
                let must = "`machine` with a Wishart hyper-kernel, which is no product over points";
                return Err(refused("stage2", stage2, must));
            }
            if self.search != Search::None {
                let must =
                    "`none` unless `stage2` is `machine`: the folds choose the cost of a machine";
                return Err(refused("search", self.search, must));
            }
            if !matches!(self.spectrum, PsdCorrection::AsIs | PsdCorrection::Flip) {
                let must = "`as-is` or `flip` unless `stage2` is `machine`: the other stages flip what is negative";
                return Err(refused("spectrum", self.spectrum, must));
            }
        }
        self.ridge().check()?;
        self.svr().check()
    }

    pub(super) fn ridge(&self) -> PairRidge {
        PairRidge {
            lambda: self.lambda,
            solver: match self.stage1 {
                Stage1::NonNegative => PairSolver::NonNegative,
                _ => self.solver,
            },
            landmarks: self.landmarks,
            landmark_choice: self.landmark_choice,
            // The other regressions are divided here, not by their solvers.
            subsets: if self.stage1 == Stage1::Ridge { self.subsets } else { 1 },
            pairs: self.pairs,
            tolerance: self.tolerance,
            iterations: self.iterations,
            rank_tolerance: self.rank_tolerance,
            normal_tolerance: self.normal_tolerance,
            solution_tolerance: self.solution_tolerance,
            factor_bytes: self.factor_bytes,
            rank: self.rank,
            ..PairRidge::default()
        }
    }

    pub(super) fn svr(&self) -> PairSvr {
        let usual = PairSvr::default();
        PairSvr {
            cost: self.pair_cost,
            ridge: self.pair_ridge,
            epsilon: self.epsilon,
            tolerance: self.pair_tolerance,
            exact_points: self.exact_points,
            landmarks: self.landmarks.unwrap_or(usual.landmarks),
            pairs: self.pairs.unwrap_or(usual.pairs),
            ..usual
        }
    }

    /// Facts that name each setting which was changed and which the solver that `auto` stands for, with so many
    /// points, does not read.
    pub(super) fn unread(&self, points: usize) -> Vec<(String, f64)> {
        if self.stage1 != Stage1::Ridge || self.solver != PairSolver::Auto {
            return Vec::new();
        }
        let gaussian = self.hyper != HyperForm::Wishart;
        let solver = self.ridge().solver_for(gaussian, points);
        let usual = Self::default();
        let linear = solver == PairSolver::LinearTime;
        let by_products = solver == PairSolver::ConjugateGradients
            || (gaussian && !matches!(self.search, Search::None | Search::FittedFolds));
        let changed = [
            ("pairs", self.pairs != usual.pairs, solver == PairSolver::Nystrom),
            ("rank", self.rank != usual.rank, linear),
            (
                "rank_tolerance",
                self.rank_tolerance.to_bits() != usual.rank_tolerance.to_bits(),
                linear,
            ),
            ("normal_tolerance", self.normal_tolerance != usual.normal_tolerance, linear),
            ("solution_tolerance", self.solution_tolerance != usual.solution_tolerance, linear),
            ("factor_bytes", self.factor_bytes != usual.factor_bytes, linear),
            ("landmark_choice", self.landmark_choice != usual.landmark_choice, linear),
            ("tolerance", self.tolerance.to_bits() != usual.tolerance.to_bits(), by_products),
            ("iterations", self.iterations != usual.iterations, by_products),
        ];
        let unread = changed.into_iter().filter(|(_, changed, read)| *changed && !read);
        unread.map(|(name, ..)| (format!("{}{name}", fact::UNREAD), 1.0)).collect()
    }

    /// What `auto` stands for with so many columns. Two points of a typical pair are `2 σ²` apart in square.
    fn scatter(&self, columns: usize) -> Scatter {
        let power = 0.5 * (columns as f64 + self.freedom + 3.0);
        let typical = (1.0 + 2.0 / (self.freedom - 1.0)).powf(-power);
        match self.scatter {
            Scatter::Auto if self.search == Search::None && typical < 0.01 => Scatter::Matched,
            Scatter::Auto => Scatter::Isotropic,
            chosen => chosen,
        }
    }

    /// Refuses variances whose use overflows.
    fn check_scales(&self, variance: f64, spread: f64) -> Result<(), LearningError> {
        let widths = [("width", self.width, variance), ("spread", self.spread, spread)];
        let wishart = self.hyper == HyperForm::Wishart;
        let used = if wishart { 1 } else { 2 };
        // Three products of squared distances over it must be numbers.
        if wishart && !(1e-90..1e90).contains(&self.width) {
            let must = "between 1e-90 and 1e90 with a Wishart hyper-kernel, whose determinants else overflow";
            return Err(refused("width", format!("{:e}", self.width), must));
        }
        for (name, setting, value) in widths.into_iter().take(used) {
            if !(1e-300..1e300).contains(&value) {
                let reason = format!(
                    "`{name}` = {setting:e} makes a variance of {value:e}, of inputs whose own is {:e}; it \
                     must lie between 1e-300 and 1e300: change `{name}`, or scale the columns (`--scale`)",
                    variance / self.width
                );
                return Err(LearningError::Numerical {
                    operation: "building a hyper-kernel",
                    reason,
                });
            }
        }
        // Squared distances over them, too.
        let must = "between 1e-200 and 1e200, beyond which squared distances over it overflow";
        let product = self.spread * self.width;
        for (name, value) in [("width", self.width), ("spread", product)] {
            if !wishart && !(1e-200..1e200).contains(&value) {
                let with = if name == "spread" { ", times `width`" } else { "" };
                return Err(refused(name, format!("{value:e}{with}"), must));
            }
        }
        Ok(())
    }

    /// Returns the hyper-kernel for these points.
    ///
    /// # Errors
    /// [`LearningError::Numerical`] if the points have no variance.
    pub fn kernel(&self, inputs: ArrayView2<'_, f64>) -> Result<HyperKernel, LearningError> {
        let variance = match self.variance {
            Variance::Total => total_variance(inputs),
            Variance::Entry => entry_variance(inputs),
        } * self.width;
        if variance == 0.0 {
            return Err(without_variance(inputs));
        }
        let spread = self.spread * variance;
        self.check_scales(variance, spread)?;
        match self.hyper {
            HyperForm::GaussianConstructed => {
                GaussianHyper::constructed(variance, spread).map(HyperKernel::Gaussian)
            }
            HyperForm::GaussianPrinted => {
                GaussianHyper::printed(variance, spread).map(HyperKernel::Gaussian)
            }
            HyperForm::Wishart => {
                let d = inputs.ncols();
                let variances = match self.scatter(d) {
                    Scatter::Auto | Scatter::Isotropic => Array1::from_elem(d, variance),
                    Scatter::Matched => {
                        let freedom = d as f64 + self.freedom;
                        Array1::from_elem(d, variance * freedom / (self.freedom - 1.0))
                    }
                    Scatter::PerFeature => shares(inputs) * variance,
                };
                WishartHyper::diagonal(&variances, self.freedom).map(HyperKernel::Wishart)
            }
        }
        .map_err(of_kernel)
    }
}

/// Why points without a variance have no hyper-kernel.
fn without_variance(inputs: ArrayView2<'_, f64>) -> LearningError {
    let same = inputs.outer_iter().all(|row| row == inputs.row(0));
    let reason = if same {
        "all rows have the same inputs, so nothing tells them apart; add a column that varies, or \
         take a classifier of the majority class (`--method majority`)"
    } else {
        "the inputs differ by so little that their variance is 0 in double precision, so pairs of \
         them do not differ; scale the columns (`--scale`)"
    }
    .to_owned();
    LearningError::Numerical { operation: "building a hyper-kernel", reason }
}

/// Variances of the columns over their mean; 1 of a column that has none.
fn shares(inputs: ArrayView2<'_, f64>) -> Array1<f64> {
    let own = inputs.var_axis(Axis(0), 0.0);
    let mean = own.mean().unwrap_or(1.0);
    own.mapv(|variance| if variance > 0.0 { variance / mean } else { 1.0 })
}
