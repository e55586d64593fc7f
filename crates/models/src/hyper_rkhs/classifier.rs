use super::linear_stage::LinearStage;
use super::machine::Machines;
use super::predictor::HyperMachine;
use super::search::search;
use super::{
    Learned, PairRidge, PairSolver, PairSvr, PairTarget, Stopped, many_subsets, of_kernel, refused,
};
use mercer_kernels::{
    GaussianHyper, HyperKernel, LearnedKernel, WishartHyper, entry_variance, total_variance,
};
use mercer_learning::{
    Allowed, Convergence, Fitted, Fitting, Learner, LearningError, Outcome, Parameters,
    SECOND_STAGE, Sample, Targets, fact,
};
use mercer_linalg::in_order;
use mercer_solvers::{PsdCorrection, Spectrum};
use ndarray::{Array1, Array2, ArrayView2, Axis};
use rand::seq::{SliceRandom, index};
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
/// for stage2 in [Stage2::Machine, Stage2::Features] {
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
    /// Support vector machines on its Gram matrix: quadratic in `machine_rows`.
    #[default]
    Machine,
    /// Ridge classification on its signed features ([`super::KreinFeatures`]), with `cost` the weight of
    /// the squared errors: linear in `machine_rows`. The negative part of the kernel's factor `f` is
    /// flipped ([`super::KreinFeatures`]), which is not the spectral flip of the kernel.
    Features,
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
    /// As `isotropic` where folds search the paper's grids, or where that leaves typical pairs a tenth of
    /// a tenth of similarity to themselves; else, which is from 8 columns on, as `matched`.
    Auto,
    /// `(b − d − 1) σ² I`: the mean covariance is `σ² I`. In many dimensions the learned kernel then vanishes
    /// off the diagonal: `h(p, p) = (1 + ‖x − x'‖²/D)^(−(b + 3)/2)` with a base of 2 or so and a power that grows with `d`.
    Isotropic,
    /// `b σ² I`: with it `h(p, p)` is near `exp(−‖x − x'‖²/(2 σ²))`, as of the Gaussian hyper-kernel, in any dimension.
    Matched,
    /// `(b − d − 1) σ² d diag(v)/Σ v` with the variances `v` of the columns: of the same trace, and the mean is
    /// a diagonal matrix. A column without variance, which tells no two points apart, has the mean of `v`.
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
    /// By 5-fold cross-validation over at most 100 of the training points, never over pairs: `spread` of
    /// five, `lambda` of eleven or `pair_cost` of seven, and `cost` of eleven values; then one fit of all.
    /// `pair_cost` is carried over from the pairs of a fold to those of the fit, as `1/(2 λ m²)` for the
    /// same `λ`: unscaled, it would regularise the less the more points there are. Of settings that get as
    /// many points right the first of the grids is taken: the smallest `spread`, then the smallest `lambda`
    /// or `pair_cost`, then the smallest `cost`.
    Folds,
    /// The same over all eleven printed values of `pair_cost`, to `10⁵`. Of a method without a `pair_cost` it
    /// is `Folds`.
    PrintedFolds,
    /// As `Folds`, but the regression on a fold is solved as the fit solves that of a subset: in the pairs
    /// of `landmarks` points and over `pairs` drawn pairs where the fit is. `Folds` solves the few points of a
    /// fold exactly, and the `λ` that is best there is far too small for few landmarks.
    FittedFolds,
    /// As `Folds`, but of settings that get as many points right the most regularised: the largest `lambda`
    /// or the smallest `pair_cost`, then the smallest `cost`, then the smallest `spread`. `Folds` takes the
    /// smallest `lambda`, which regularises the least, and the smallest `pair_cost`, which does the most.
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
        /// `C` of the machine.
        pub cost: f64 = 1.0, Allowed::POSITIVE;
        /// What uses the learned kernel (Gaussian).
        pub stage2: Stage2 = Stage2::Machine;
        /// Columns of the pair kernel's factor that the signed features are made with, at most.
        pub feature_rank: usize = 100, Allowed::COUNT;
        /// Training rows of the machine at most, drawn at random.
        pub machine_rows: usize = 3000, Allowed::PAIR;
        /// What is done about negative eigenvalues; signed features flip them. (Of methods by themselves `flip`, of the
        /// studies `as-is`.)
        pub spectrum: PsdCorrection = PsdCorrection::AsIs;
    }
}

/// A support vector machine with a kernel learned from the labels of the training rows.
///
/// Stage 1 regresses the ideal kernel (`same` for two rows of a class, `other` else) in a
/// hyper-kernel's space; stage 2 is a machine with the learned kernel for each two classes, and most
/// votes win. Facts of a fit: those of stage 1, and `smallest-eigenvalue`, `largest-eigenvalue`,
/// `negative-mass`, [`fact::KERNEL_VARIATION`] of the learned Gram matrix (of 1000 rows at most), with a tube also
/// `negative-mass-without-bias` (the regression's bias adds a constant to the kernel, which is of no
/// consequence to a machine that has its own), `support-vectors` of the machines, `rows-kept` in the model (all of them
/// with a mended spectrum), `machines`, `machine-rows`, `stage-1-rows`. `pairs` are ordered pairs, however the solver
/// counts them; with [`Search::Folds`] what it chose and `search-not-converged`.
///
/// ```
/// use mercer_learning::{Fitting, Learner, Sample};
/// use mercer_models::hyper_rkhs::HyperClassifierParams;
/// use ndarray::array;
/// // Exclusive or.
/// let corners = array![[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]];
/// let sample = Sample::classification(corners, vec![0, 0, 1, 1], 2)?;
/// let learner = HyperClassifierParams { width: 0.5, cost: 10.0, ..Default::default() }.checked()?;
/// let fitted = learner.fit(&sample, &mut Fitting::seeded(1))?;
/// let said = fitted.predictor.predict(sample.inputs())?;
/// assert_eq!(said, mercer_learning::Predictions::Classes(vec![0, 0, 1, 1]));
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct HyperClassifier(HyperClassifierParams);

/// Rows whose learned Gram matrix is decomposed for the record.
const SPECTRUM_ROWS: usize = 1000;
/// Rows of it that are looked at where signed features take the place of the matrix.
const FEW_ROWS: usize = 200;

impl HyperClassifierParams {
    /// The learner, after checking every setting.
    ///
    /// # Errors
    /// [`LearningError::Setting`] names the first that is out of range.
    pub fn checked(self) -> Result<HyperClassifier, LearningError> {
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
        if self.stage2 == Stage2::Features {
            if self.hyper == HyperForm::Wishart {
                let must = "`machine` with a Wishart hyper-kernel, which is no product over points";
                return Err(refused("stage2", "`features`", must));
            }
            if self.search != Search::None {
                let must = "`none` with signed features: the folds choose the cost of a machine";
                return Err(refused("search", self.search, must));
            }
            if !matches!(self.spectrum, PsdCorrection::AsIs | PsdCorrection::Flip) {
                let must = "`as-is` or `flip` with signed features, which flip what is negative";
                return Err(refused("spectrum", self.spectrum, must));
            }
        }
        self.ridge().check()?;
        self.svr().check()?;
        Ok(HyperClassifier(self))
    }

    pub(super) fn ridge(&self) -> PairRidge {
        PairRidge {
            lambda: self.lambda,
            solver: match self.stage1 {
                Stage1::NonNegative => PairSolver::NonNegative,
                _ => self.solver,
            },
            landmarks: self.landmarks,
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
    fn unread(&self, points: usize) -> Vec<(String, f64)> {
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
            ("tolerance", self.tolerance.to_bits() != usual.tolerance.to_bits(), by_products),
            ("iterations", self.iterations != usual.iterations, by_products),
        ];
        let unread = changed.into_iter().filter(|(_, changed, read)| *changed && !read);
        unread.map(|(name, ..)| (format!("{}{name}", fact::UNREAD), 1.0)).collect()
    }

    /// Stage 1 on all of these points at once. The defaults must fit few rows too; settings that were
    /// chosen are held to.
    fn learn_one(
        &self,
        kernel: &HyperKernel,
        inputs: ArrayView2<'_, f64>,
        labels: &[u32],
        fitting: &Fitting<'_>,
    ) -> Result<Learned, LearningError> {
        let target = PairTarget::classes(labels, self.same, self.other)?;
        if self.stage1 == Stage1::Svr {
            let mut svr = self.svr();
            if self.landmarks.is_none() {
                svr.landmarks = svr.landmarks.min(inputs.nrows());
            }
            return svr.learn(kernel, inputs, &target, fitting);
        }
        let mut ridge = self.ridge();
        if ridge.landmarks.is_none() && inputs.nrows() > NON_NEGATIVE_POINTS {
            ridge.landmarks = Some(NON_NEGATIVE_LANDMARKS);
        }
        ridge.learn(kernel, inputs, &target, fitting)
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

    /// The hyper-kernel for these points.
    ///
    /// # Errors
    /// [`LearningError::Numerical`] if the points have no variance.
    pub fn kernel(&self, inputs: ArrayView2<'_, f64>) -> Result<HyperKernel, LearningError> {
        let variance = match self.variance {
            Variance::Total => total_variance(inputs),
            Variance::Entry => entry_variance(inputs),
        } * self.width;
        if variance == 0.0 {
            let same = inputs.outer_iter().all(|row| row == inputs.row(0));
            let reason = if same {
                "all rows have the same inputs, so nothing tells them apart; add a column that varies, or \
                 take a classifier of the majority class (`--method majority`)"
            } else {
                "the inputs differ by so little that their variance is 0 in double precision, so pairs of \
                 them do not differ; scale the columns (`--scale`)"
            }
            .to_owned();
            return Err(LearningError::Numerical { operation: "building a hyper-kernel", reason });
        }
        let spread = self.spread * variance;
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

/// Variances of the columns over their mean; 1 of a column that has none.
fn shares(inputs: ArrayView2<'_, f64>) -> Array1<f64> {
    let own = inputs.var_axis(Axis(0), 0.0);
    let mean = own.mean().unwrap_or(1.0);
    own.mapv(|variance| if variance > 0.0 { variance / mean } else { 1.0 })
}

impl HyperClassifier {
    /// The settings.
    pub const fn params(&self) -> &HyperClassifierParams {
        &self.0
    }

    /// Stage 1 alone: the kernel learned for the rows of `inputs` and their labels.
    ///
    /// # Errors
    /// As [`PairRidge::learn`] and [`PairSvr::learn`].
    pub fn learn_kernel(
        &self,
        inputs: ArrayView2<'_, f64>,
        labels: &[u32],
        fitting: &Fitting<'_>,
    ) -> Result<Learned, LearningError> {
        let params = &self.0;
        let kernel = params.kernel(inputs)?;
        let target = PairTarget::classes(labels, params.same, params.other)?;
        match params.stage1 {
            Stage1::Ridge => params.ridge().learn(&kernel, inputs, &target, fitting),
            _ if params.subsets == 1 => params.learn_one(&kernel, inputs, labels, fitting),
            _ => self.learn_by_subsets(&kernel, inputs, labels, fitting),
        }
    }

    /// The average of what is learned on disjoint random subsets, each with its own landmarks and, if
    /// they are counted, its own pairs.
    fn learn_by_subsets(
        &self,
        kernel: &HyperKernel,
        inputs: ArrayView2<'_, f64>,
        labels: &[u32],
        fitting: &Fitting<'_>,
    ) -> Result<Learned, LearningError> {
        let (params, m) = (&self.0, inputs.nrows());
        let v = params.subsets;
        if v > m / 2 {
            return Err(many_subsets(v, m));
        }
        let mut rows: Vec<usize> = (0..m).collect();
        rows.shuffle(&mut fitting.streams.rng("subsets"));
        let (streams, limits) = (&fitting.streams, fitting.limits);
        let parts = in_order(fitting.threads, v, |part| {
            let mut chosen = rows[m * part / v..m * (part + 1) / v].to_vec();
            chosen.sort_unstable();
            let own: Vec<u32> = chosen.iter().map(|&row| labels[row]).collect();
            let streams = streams.child(&format!("subset {part}"));
            let inner = Fitting { streams, limits, ..Fitting::seeded(0) };
            params.learn_one(kernel, inputs.select(Axis(0), &chosen).view(), &own, &inner)
        });
        let parts = parts.into_iter().collect::<Result<Vec<Learned>, _>>()?;
        let kernels: Vec<_> = parts.iter().map(|part| part.kernel.clone()).collect();
        let mut facts = std::collections::BTreeMap::new();
        for part in &parts {
            for (name, &value) in &part.facts {
                // Work adds up; of how far a solver came, the worst part tells.
                let summed = SUMMED.contains(&name.as_str());
                let join =
                    |all: &mut f64| *all = if summed { *all + value } else { all.max(value) };
                facts.entry(name.clone()).and_modify(join).or_insert(value);
            }
        }
        let lacking = PairTarget::classes(labels, params.same, params.other)?.lacking(&rows, v);
        if lacking > 0 {
            facts.insert(fact::SUBSETS_WITHOUT_A_CLASS.to_owned(), lacking as f64);
        }
        let open = |part: &&Learned| part.convergence.is_open();
        let convergence = parts.iter().find(open).unwrap_or(&parts[0]).convergence;
        Ok(Learned {
            kernel: LearnedKernel::mean(&kernels).map_err(of_kernel)?,
            convergence,
            facts,
        })
    }
}

/// Facts of subsets that are those of all of them when added.
const SUMMED: [&str; 5] =
    ["iterations", "landmark-pairs", "pairs", "support-pairs", "machine-steps"];

/// Rows up to which all pairs may have a coefficient, and landmarks beyond.
const NON_NEGATIVE_POINTS: usize = 40;
const NON_NEGATIVE_LANDMARKS: usize = 20;

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

/// How far the values of a kernel for two rows that differ lie apart, largest less smallest, as a share of its
/// largest: where they are all the same, it knows of no two rows more than that they differ. `None` of so few rows
/// that equal values are no surprise.
fn variation(gram: ArrayView2<'_, f64>, points: ArrayView2<'_, f64>) -> Option<f64> {
    if gram.nrows() < 4 {
        return None;
    }
    let apart = |&((i, j), _): &((usize, usize), &f64)| i != j && points.row(i) != points.row(j);
    let off = gram.indexed_iter().filter(apart).map(|(_, &k)| k);
    let (least, most) =
        off.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), k| (a.min(k), b.max(k)));
    let largest = gram.iter().fold(0.0f64, |all, k| all.max(k.abs()));
    // No two rows that differ: nothing is said.
    (most >= least).then(|| if largest > 0.0 { (most - least) / largest } else { 0.0 })
}

/// What the eigenvalues of a learned Gram matrix say, and what they say without the regression's bias where
/// it has one.
fn spectrum_facts(
    gram: ArrayView2<'_, f64>,
    points: ArrayView2<'_, f64>,
    bias: f64,
) -> Result<Vec<(String, f64)>, LearningError> {
    let of = |gram: ArrayView2<'_, f64>| {
        Spectrum::of(gram)
            .map_err(|error| Stopped::from(error).in_words("the spectrum of the learned kernel"))
    };
    let spectrum = of(gram)?;
    let mut facts = vec![
        ("smallest-eigenvalue", spectrum.smallest()),
        ("largest-eigenvalue", spectrum.values().last().copied().unwrap_or(0.0)),
        ("negative-mass", spectrum.negative_share()),
    ];
    facts.extend(variation(gram, points).map(|variation| (fact::KERNEL_VARIATION, variation)));
    // A machine has a bias of its own: the kernel's is a negative eigenvalue without a consequence.
    if bias != 0.0 {
        facts.push(("negative-mass-without-bias", of((&gram - bias).view())?.negative_share()));
    }
    Ok(facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

impl Learner for HyperClassifier {
    fn fit(&self, sample: &Sample, fitting: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
        sample.require_two_classes()?;
        let Targets::Classes { labels, .. } = sample.targets() else {
            let method = "hyper-krr".to_owned();
            return Err(LearningError::Task { method, task: sample.task().name() });
        };
        let inputs = sample.inputs();
        let searched = match self.0.search {
            Search::None => None,
            Search::Folds
            | Search::PrintedFolds
            | Search::FittedFolds
            | Search::RegularisedFolds => Some(search(&self.0, inputs, labels, fitting)?),
        };
        let mut worker =
            Self(searched.as_ref().map_or_else(|| self.0.clone(), |s| s.params.clone()));
        if worker.0.points < sample.rows() {
            // A tuner's early rungs have fewer points than the full fit has landmarks.
            let most = worker.0.points / worker.0.subsets.max(1);
            worker.0.landmarks = worker.0.landmarks.map(|landmarks| landmarks.min(most.max(1)));
        }
        // Also where all pairs have a coefficient and landmarks are not looked at.
        if worker.0.subsets <= sample.rows() / 2 {
            worker.0.ridge().landmarks_of(sample.rows() / worker.0.subsets)?;
        }
        let params = &worker.0;
        let select = |rows: &[usize]| -> (Array2<f64>, Vec<u32>) {
            (inputs.select(Axis(0), rows), rows.iter().map(|&row| labels[row]).collect())
        };
        let first = some_rows(sample.rows(), params.points, "stage 1", fitting);
        let (points, own) = select(&first);
        let learned = worker.learn_kernel(points.view(), &own, fitting)?;
        fitting.limits.check()?;
        let second = some_rows(sample.rows(), params.machine_rows, SECOND_STAGE, fitting);
        let (points, own) = select(&second);
        let n = points.nrows();
        let mut learned = learned;
        learned.facts.extend(params.unread(first.len()));
        if params.stage2 == Stage2::Features {
            let (own_kernel, how) = (&learned.kernel, (params.cost, params.feature_rank));
            let stage =
                LinearStage::fit(sample.task(), own_kernel, points.view(), &own, how, fitting)?;
            let (features, negative) = stage.counts();
            let mut facts = learned.facts;
            let looked = points.select(Axis(0), &some_rows(n, FEW_ROWS, "spectrum", fitting));
            let gram = own_kernel.gram(looked.view(), fitting.threads);
            let variation = variation(gram.view(), looked.view());
            facts.extend(variation.map(|value| (fact::KERNEL_VARIATION.to_owned(), value)));
            for (name, value) in [
                ("features", features as f64),
                ("negative-features", negative as f64),
                (fact::FEATURES_ERROR, stage.error(looked.view(), gram.view())),
                ("machine-rows", n as f64),
                ("stage-1-rows", first.len() as f64),
            ] {
                facts.insert(name.to_owned(), value);
            }
            return Ok(
                Outcome { predictor: stage, convergence: learned.convergence, facts }.boxed()
            );
        }
        fitting.limits.reserve(8 * (3 * n * n) as u64)?;
        let gram = learned.kernel.gram(points.view(), fitting.threads);
        fitting.limits.check()?;
        let machines = Machines::fit(gram.view(), &own, params.cost, params.spectrum, fitting)?;
        let looked = some_rows(n, SPECTRUM_ROWS, "spectrum", fitting);
        let part = gram.select(Axis(0), &looked).select(Axis(1), &looked);
        drop(gram);
        let mut facts = learned.facts;
        let at = points.select(Axis(0), &looked);
        facts.extend(spectrum_facts(part.view(), at.view(), learned.kernel.bias())?);
        let (machine_steps, support) = (machines.steps, machines.support);
        let machine = if machines.converged {
            None
        } else {
            let (iterations, residual) = (machines.steps, machines.violation);
            Some(Convergence::NotConverged { iterations, residual })
        };
        let count = machines.pairs.len();
        let predictor = HyperMachine::new(sample.task(), learned.kernel, points.view(), machines);
        for (name, value) in [
            ("support-vectors", support as f64),
            ("rows-kept", predictor.support() as f64),
            ("machines", count as f64),
            ("machine-rows", n as f64),
            ("machine-steps", machine_steps as f64),
            ("stage-1-rows", first.len() as f64),
        ] {
            facts.insert(name.to_owned(), value);
        }
        if let Some(searched) = &searched {
            facts.extend(searched.facts());
        }
        let convergence = match (learned.convergence, machine) {
            (open, _) if open.is_open() => open,
            (_, Some(open)) => open,
            (Convergence::Exact, None) => Convergence::Converged { iterations: machine_steps },
            (closed, None) => closed,
        };
        Ok(Outcome { predictor, convergence, facts }.boxed())
    }
}
