use super::settings::{HyperClassifierParams, HyperForm, Stage1};
use super::{PairSolver, predictor, refused};
use mercer_learning::{
    Axis, Condition, ConvergenceHint, Cost, Learner, LearningError, Method, Range, Settings, Shape,
    Space, Tasks, Where, declared, replacing, with_conditions, with_hints,
};

/// The paper's methods as classifiers. The ideal kernel of the labels is learned, and an SVM uses it.
///
/// ```
/// use mercer_learning::{Fitting, Sample, Settings, find};
/// use mercer_models::hyper_rkhs::METHODS;
/// use ndarray::array;
/// let sample = Sample::classification(array![[0.0], [0.2], [1.0], [1.2]], vec![0, 0, 1, 1], 2)?;
/// let learner = find(METHODS, "hyper-krr")?.learner(&Settings::new(), sample.task())?;
/// let fitted = learner.fit(&sample, &mut Fitting::seeded(1))?;
/// assert!(fitted.facts.contains_key("negative-mass"));
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
pub const METHODS: &[Method] = &[
    HYPER_KRR,
    HYPER_SVR,
    HYPER_KRR_WISHART,
    HYPER_SVR_WISHART,
    HYPER_KRR_LINEAR,
    HYPER_NON_NEGATIVE,
];

/// The `λ` for which the default `C` of the regression with a tube stands on some seventy points.
const PAIR_RIDGE: f64 = 1e-4;

/// The studies take a learned kernel as it is, as the paper seems to. Flipped, its SVM has one solution: on some
/// thousand rows and more that was the better one, on some hundred either was.
fn mended() -> Settings {
    Settings::new().with("spectrum", "flip")
}

const CITES: &str = "Liu, Shi, Huang, Yang & Suykens (2021)";

/// The methods with a regression with a tube.
const TUBE: &[&str] = &["hyper-svr", "hyper-svr-wishart"];

/// The methods that solve their regression in one way.
const OWN_WAY: &[&str] = &["hyper-svr", "hyper-svr-wishart", "hyper-non-negative"];

/// Conditions for settings, by the regression that a method has, its solver and its hyper-kernel.
const CONDITIONS: &[Condition] = &[
    (&["spread", "lambda", "pair_cost", "pair_ridge", "cost"], &[Where::is("search", &["none"])]),
    (&["spread"], &[Where::is_not("hyper", &["wishart"])]),
    (&["scatter", "freedom"], &[Where::is("hyper", &["wishart"])]),
    (&["lambda"], &[Where::is_not("method", TUBE)]),
    (
        &["pair_cost", "pair_ridge", "epsilon", "pair_tolerance", "exact_points"],
        &[Where::is("method", TUBE)],
    ),
    (&["pair_cost"], &[Where::is("pair_ridge", &["null"])]),
    (&["solver"], &[Where::is("method", &["hyper-krr", "hyper-krr-wishart"])]),
    (&["subsets", "pairs"], &[Where::is_not("method", &["hyper-krr-linear"])]),
    // Those of the regressions with a tube and without negative coefficients have no solver to choose.
    (
        &["landmarks"],
        &[
            Where::is("method", OWN_WAY),
            Where::is_not("solver", &["cholesky", "conjugate-gradients"]),
        ],
    ),
    (
        &["pairs"],
        &[Where::is("method", OWN_WAY), Where::is("solver", &["auto", "nystrom", "non-negative"])],
    ),
    (
        &[
            "landmark_choice",
            "rank",
            "rank_tolerance",
            "normal_tolerance",
            "solution_tolerance",
            "factor_bytes",
        ],
        &[Where::is("solver", &["auto", "linear-time"])],
    ),
    (
        &["tolerance", "iterations"],
        &[Where::is("solver", &["auto", "conjugate-gradients"]), Where::is("search", EXACT_FOLDS)],
    ),
    (&LEAST_SQUARES, &[Where::is("method", &["hyper-krr", "hyper-krr-linear"])]),
    (&LEAST_SQUARES, &[Where::is_not("hyper", &["wishart"])]),
    (&["stage2"], &[Where::is_not("hyper", &["wishart"])]),
    (&["feature_rank"], &[Where::is("stage2", &["features"])]),
    // The features' negative part is flipped, whatever this says.
    (&["spectrum"], &[Where::is("stage2", &["machine"])]),
];

/// Searches whose folds are solved exactly.
const EXACT_FOLDS: &[&str] = &["folds", "printed-folds", "regularised-folds"];

/// Of solvers that are for least squares and Gaussian hyper-kernels.
const LEAST_SQUARES: [&str; 7] = [
    "rank",
    "rank_tolerance",
    "normal_tolerance",
    "solution_tolerance",
    "factor_bytes",
    "tolerance",
    "iterations",
];

/// Either stage may end above its tolerance.
const HINTS: &[(&str, ConvergenceHint)] = &[
    ("iterations", ConvergenceHint::More),
    ("tolerance", ConvergenceHint::Larger),
    ("pair_tolerance", ConvergenceHint::Larger),
    ("lambda", ConvergenceHint::Larger),
    ("pair_ridge", ConvergenceHint::Larger),
    ("pair_cost", ConvergenceHint::Smaller),
    ("cost", ConvergenceHint::Smaller),
];

const HYPER_KRR: Method = Method {
    name: "hyper-krr",
    title: "hyper-KRR (Gaussian)",
    summary: "SVM with a kernel learned by ridge regression on pairs, Gaussian hyper-kernel",
    formula: "k(x, x') = Σ_q γ_q h(q, (x, x')) minimises Σ (k(x_i, x_j) − Y_ij)²/m² + λ ‖k‖², Y_ij the ideal kernel of the labels; then an SVM with k",
    when: "up to some hundred rows; to learn any target kernel, also an indefinite one",
    cites: CITES,
    revision: 1,
    tasks: Tasks::Classification,
    cost: Cost {
        // Folds over s points, then subsets of u: the pairs of all, of 300 columns, or those that are drawn.
        fit: "search.folds 600 s^4 + subsets min(25 u^4, M^4/12 given(pairs, 300 u)) + r M n_test, \
              M = given(landmarks, 20), r = min(m, machine_rows), u = m/subsets, s = min(80, 0.8 m), \
              m = min(n, points)",
        predict: "n_sv n^2",
        memory: "min(n, points)^2",
    },
    resource: Some("points"),
    warnings: super::warnings::WARNINGS,
    settings: &|| {
        let declared = declared::<HyperClassifierParams>();
        with_hints(
            with_conditions(replacing(declared, "pair_cost", "pair_ridge"), CONDITIONS),
            HINTS,
        )
    },
    defaults: &|shape| defaults(shape, Stage1::Ridge, HyperForm::GaussianConstructed),
    user_defaults: &|_| mended(),
    space: &|shape| space(shape, Stage1::Ridge, HyperForm::GaussianConstructed),
    build: &|settings| build(settings, "hyper-krr", Stage1::Ridge),
    restore: &predictor::restore,
};

const HYPER_SVR: Method = Method {
    name: "hyper-svr",
    revision: 3,
    title: "hyper-SVR (Gaussian)",
    summary: "SVM with a kernel learned by support vector regression on pairs, Gaussian hyper-kernel",
    formula: "k(x, x') = Σ_q γ_q h(q, (x, x')) minimises ½ ‖k‖² + C Σ max(0, |k(x_i, x_j) + b − Y_ij| − ε), C = 1/(2 λ m²); then an SVM with k",
    when: "as `hyper-krr`, with a tube in place of squares",
    cost: Cost {
        fit: "search.folds 175 s^4 + subsets min(u^4, 10 P M^4) + r M n_test, P = given(pairs, 20000), \
              M = given(landmarks, 20), r = min(m, machine_rows), u = m/subsets, s = min(80, 0.8 m), \
              m = min(n, points)",
        predict: "n_sv · support pairs",
        memory: "min(u^4/8, 64000000 + given(pairs, 20000) M^2/2), M = given(landmarks, 20), \
                 u = min(n, points)/subsets",
    },
    defaults: &|shape| defaults(shape, Stage1::Svr, HyperForm::GaussianConstructed),
    // Of one's own table there may be ten rows or ten thousand: a `C` fits one number of them.
    user_defaults: &|_| mended().with("pair_ridge", PAIR_RIDGE),
    space: &|shape| space(shape, Stage1::Svr, HyperForm::GaussianConstructed),
    build: &|settings| build(settings, "hyper-svr", Stage1::Svr),
    ..HYPER_KRR
};

const HYPER_KRR_WISHART: Method = Method {
    name: "hyper-krr-wishart",
    title: "hyper-KRR (Wishart)",
    summary: "SVM with a kernel learned by ridge regression on pairs, Wishart hyper-kernel",
    formula: "as `hyper-krr`, h Gaussians of the pairs' points, mixed over covariances from an inverse Wishart distribution",
    when: "to check the paper; the Gaussian hyper-kernel is faster and better here",
    cost: Cost {
        fit: "search.folds 55 s^6/24 + subsets min(u^6/24, given(pairs, u^2) M^4/8) + r M n_test, \
              M = given(landmarks, 20), r = min(m, machine_rows), u = m/subsets, s = min(80, 0.8 m), \
              m = min(n, points)",
        predict: "n_sv n^2",
        memory: "min(n^4/4, n^2 20^2/4), n = min(n, points)",
    },
    defaults: &|shape| defaults(shape, Stage1::Ridge, HyperForm::Wishart),
    space: &|shape| space(shape, Stage1::Ridge, HyperForm::Wishart),
    build: &|settings| build(settings, "hyper-krr-wishart", Stage1::Ridge),
    ..HYPER_KRR
};

const HYPER_SVR_WISHART: Method = Method {
    name: "hyper-svr-wishart",
    title: "hyper-SVR (Wishart)",
    summary: "SVM with a kernel learned by support vector regression on pairs, Wishart hyper-kernel",
    formula: "as `hyper-svr`, h Gaussians of the pairs' points, mixed over covariances from an inverse Wishart distribution",
    when: "to check the paper; the Gaussian hyper-kernel is faster and better here",
    defaults: &|shape| defaults(shape, Stage1::Svr, HyperForm::Wishart),
    space: &|shape| space(shape, Stage1::Svr, HyperForm::Wishart),
    build: &|settings| build(settings, "hyper-svr-wishart", Stage1::Svr),
    ..HYPER_SVR
};

const HYPER_KRR_LINEAR: Method = Method {
    name: "hyper-krr-linear",
    revision: 4,
    title: "hyper-KRR, all pairs",
    summary: "SVM with a kernel learned by Nyström's ridge regression on all pairs in linear time",
    formula: "as `hyper-krr`, over all n² pairs in the span of the pairs of M landmarks, in time linear in n",
    when: "hyper-kernels on thousands of rows",
    cites: "this project, after Liu, Shi, Huang, Yang & Suykens (2021)",
    cost: Cost {
        fit: "m L M^4/12 + r^2 M + r M n_test, L = 300, r = min(m, machine_rows), m = min(n, points)",
        predict: "n_sv M^2",
        memory: "min(n, points) L, L = 300",
    },
    defaults: &|shape| {
        let landmarks = 14.min(shape.rows / 2).max(1);
        defaults(shape, Stage1::Ridge, HyperForm::GaussianConstructed)
            .with("solver", "linear-time")
            .with("landmarks", landmarks)
            .with("normal_tolerance", 0.01)
            .with("solution_tolerance", 0.01)
            .with("rank", 1000)
            .with("width", 0.25)
            .with("lambda", 1e-3)
            .with("cost", 100.0)
    },
    space: &|shape| {
        let mut space = space(shape, Stage1::Ridge, HyperForm::GaussianConstructed);
        // With so many pairs a ridge below 1e-5 leaves the span of few landmarks as it is, and the
        // kernel is nearly of rank 1: what a machine can use are the smooth ones, at a large cost.
        space.axes.retain(|axis| !["lambda", "width", "cost"].contains(&axis.name));
        space.axes.push(Axis { name: "lambda", range: Range::Log10(-5.0, -1.0) });
        space.axes.push(Axis { name: "width", range: Range::Log2(-5.0, 0.0) });
        space.axes.push(Axis { name: "cost", range: Range::Log2(2.0, 12.0) });
        space.anchors =
            vec![Settings::new().with("width", 0.25).with("lambda", 1e-3).with("cost", 100.0)];
        space
    },
    build: &|settings| {
        let params: HyperClassifierParams = settings.read("hyper-krr-linear")?;
        if params.hyper == HyperForm::Wishart {
            let must = "a Gaussian one, which factors over points; `hyper-krr-wishart` is the method with the other";
            return Err(refused("hyper", "wishart", must));
        }
        if params.solver != PairSolver::LinearTime {
            let must =
                "`linear-time`, which is what this method is; `hyper-krr` has the other solvers";
            return Err(refused("solver", params.solver, must));
        }
        build(settings, "hyper-krr-linear", Stage1::Ridge)
    },
    ..HYPER_KRR
};

const HYPER_NON_NEGATIVE: Method = Method {
    name: "hyper-non-negative",
    title: "Pan et al. (2017)",
    summary: "SVM with a kernel learned by non-negative least squares on pairs: positive definite",
    formula: "as `hyper-krr`, γ ≥ 0: k is positive definite",
    when: "where the learned kernel must be positive definite",
    cites: "Pan, Chen, Chen, Xu & Lai (2017)",
    cost: Cost {
        fit: "search.folds 200 (s^2 C^4/8 + C^6) + subsets (given(pairs, u^2) M^4/8 + M^6) + r M n_test, \
              C = min(s, 20), M = min(u, given(landmarks, 20)), r = min(m, machine_rows), u = m/subsets, \
              s = min(80, 0.8 m), m = min(n, points)",
        predict: "n_sv M^2",
        memory: "M^4, M = min(n, given(landmarks, 20))",
    },
    defaults: &|shape| {
        // Non-positive targets can only be fitted by 0.
        defaults(shape, Stage1::NonNegative, HyperForm::GaussianConstructed).with("other", 0.0)
    },
    // Its kernel has no negative eigenvalues.
    user_defaults: &mercer_learning::same_as_study,
    space: &|shape| space(shape, Stage1::NonNegative, HyperForm::GaussianConstructed),
    build: &|settings| build(settings, "hyper-non-negative", Stage1::NonNegative),
    ..HYPER_KRR
};

fn build(
    settings: &Settings,
    method: &'static str,
    stage1: Stage1,
) -> Result<Box<dyn Learner>, LearningError> {
    let params: HyperClassifierParams = settings.read(method)?;
    Ok(Box::new(HyperClassifierParams { stage1, ..params }.checked()?))
}

fn defaults(shape: &Shape, stage1: Stage1, hyper: HyperForm) -> Settings {
    let usual = HyperClassifierParams::default();
    Settings::of(&HyperClassifierParams {
        stage1,
        hyper,
        // A tuner's rungs are shares of this.
        points: shape.rows.max(2),
        solver: PairSolver::Auto,
        // A first run of seconds: beyond so few rows, a sample of pairs.
        exact_points: if stage1 == Stage1::Svr { 80 } else { usual.exact_points },
        pairs: (stage1 == Stage1::Svr).then_some(4000),
        ..usual
    })
}

/// The paper's grids:
/// - `σ_h²` of five multiples of `σ²`;
/// - `λ` on a logarithmic axis, relative to the unnormalised hyper-kernel, and also for the regression with a tube. A
///   `C` found on the few rows of a search would regularise a larger fit too little;
/// - the SVM's `C` in `2^±5`;
/// - the width, which the paper fixes at the variance.
fn space(_: &Shape, stage1: Stage1, hyper: HyperForm) -> Space {
    let mut axes = vec![
        Axis { name: "cost", range: Range::Log2(-5.0, 5.0) },
        Axis { name: "width", range: Range::Log2(-4.0, 1.0) },
    ];
    axes.push(if hyper == HyperForm::Wishart {
        Axis {
            name: "freedom",
            range: Range::Choice([1.5, 3.0, 6.0, 12.0].map(Into::into).to_vec()),
        }
    } else {
        let spreads = [0.25, 0.5, 1.0, 2.0, 4.0];
        Axis { name: "spread", range: Range::Choice(spreads.map(Into::into).to_vec()) }
    });
    axes.push(match stage1 {
        Stage1::Svr => Axis { name: "pair_ridge", range: Range::Log10(-6.0, 0.0) },
        _ => Axis { name: "lambda", range: Range::Log10(-6.0, 0.0) },
    });
    let usual = HyperClassifierParams::default();
    let mut anchor = Settings::new().with("cost", usual.cost).with("width", usual.width);
    if stage1 == Stage1::Svr {
        anchor = anchor.with("pair_ridge", PAIR_RIDGE);
    }
    Space { axes, anchors: vec![anchor] }
}
