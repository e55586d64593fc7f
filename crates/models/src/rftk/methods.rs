use super::{FeatureSgdParams, KernelRidgelessParams, RandomFeaturesParams, SgdKind};
use mercer_learning::{
    Axis, Condition, ConvergenceHint, Cost, Learner, LearningError, Method, Range, Settings, Shape,
    Space, Tasks, Where, declared, replacing, with_conditions, with_hints,
};

/// The paper's methods in the order of its Table 1. Kernel ridge regression (a baseline) is apart.
///
/// ```
/// use mercer_learning::{Fitting, Sample, Settings, find};
/// use mercer_models::rftk::METHODS;
/// use ndarray::array;
/// let sample = Sample::regression(array![[-1.0], [0.0], [1.0]], array![1.0, 0.0, 1.0])?;
/// let settings = Settings::new().with("features", 50).with("std", 1.0);
/// let learner = find(METHODS, "rf-ridgeless")?.learner(&settings, sample.task())?;
/// let fitted = learner.fit(&sample, &mut Fitting::seeded(1))?;
/// assert!(fitted.facts["loss"] < 1e-20); // 50 features pass through 3 points
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
pub const METHODS: &[Method] = &[KERNEL_RIDGELESS, RF_RIDGE, RF_RIDGELESS, RF_SGD, RFTK];

/// Relative cut-off of the features' singular values in a first run. At working precision, noise of the targets is
/// amplified by up to 1e13, and the fit of a smooth kernel to noisy rows is useless. The squares of these are the
/// kernel matrix's eigenvalues.
///
/// A cut-off regularises. The paper's text has none, and its variant `printed` sets it to null.
const CUTOFF: f64 = 1e-4;

const CITES: &str = "Li, Liu & Zhang (2022)";

const OF_KERNELS: &[Condition] = &[
    (&["tolerance", "iterations", "landmarks"], &[Where::is_not("solver", &["direct"])]),
    (&["solver", "tolerance", "iterations", "landmarks"], &[Where::is("precision", &["f64"])]),
    (&["cutoff"], &[Where::is("lambda", &["0"])]),
    (&["cutoff"], &[Where::is("precision", &["f64"])]),
    (&["cutoff"], &[Where::is_not("solver", &["iterative"])]),
];

/// A ridge that was given or is chosen needs no cut-off.
const OF_FEATURES: &[Condition] = &[
    (&["lambda", "cutoff"], &[Where::is("ridges", &["[]"])]),
    (&["cutoff"], &[Where::is("lambda", &["0"])]),
    (&["cutoff"], &[Where::is("precision", &["f64"])]),
];

const OF_STEPS: &[Condition] = &[
    (
        &["beta", "trace", "every", "trace_every", "trace_clock", "trace_rows", "trace_share"],
        &[Where::is("method", &["rftk"])],
    ),
    (&["frequency_rate"], &[Where::is("method", &["rftk"])]),
    (
        &["trace", "trace_every", "trace_clock", "trace_rows", "trace_share"],
        &[Where::is_not("beta", &["0"])],
    ),
];

const KERNEL_RIDGELESS: Method = Method {
    name: "kernel-ridgeless",
    title: "kernel ridgeless",
    summary: "Gaussian kernel without a ridge: solution of least norm, truncated by default; classes by least squares on one-hot",
    formula: "f(x) = Σ α_i k(x, x_i), α = K⁺ y, k(x, z) = exp(−s² ‖x − z‖²/2)",
    when: "to see what a ridge does; on noisy targets `kernel-ridge` is safer",
    cites: CITES,
    revision: 1,
    tasks: Tasks::Both,
    cost: Cost { fit: "9 n^3 + n^2 d", predict: "n (d + K)", memory: "n^2" },
    resource: None,
    warnings: super::warnings::OF_KERNELS,
    settings: &|| {
        let hints = [
            ("iterations", ConvergenceHint::More),
            ("landmarks", ConvergenceHint::More),
            ("tolerance", ConvergenceHint::Larger),
            ("lambda", ConvergenceHint::Larger),
        ];
        with_hints(with_conditions(declared::<KernelRidgelessParams>(), OF_KERNELS), &hints)
    },
    defaults: &|shape| {
        Settings::of(&KernelRidgelessParams {
            std: default_std(shape),
            cutoff: Some(CUTOFF * CUTOFF),
            ..KernelRidgelessParams::default()
        })
    },
    user_defaults: &mercer_learning::same_as_study,
    space: &|shape| Space { axes: vec![std_axis(shape)], anchors: vec![width_anchor(shape)] },
    build: &|settings| {
        Ok(Box::new(settings.read::<KernelRidgelessParams>("kernel-ridgeless")?.checked()?))
    },
    restore: &super::kernel::restore,
};

const RF_RIDGELESS: Method = Method {
    name: "rf-ridgeless",
    title: "RF",
    summary: "random features without a ridge: least squares of least norm, truncated by default",
    formula: "f(x) = wᵀ φ(x), w = Φ⁺ y, φ(x) = c cos(Oᵀx + b), O drawn from N(0, k²), k = std",
    when: "to see double descent; to predict, `rf-ridge` is safer",
    cites: CITES,
    revision: 1,
    tasks: Tasks::Both,
    cost: Cost {
        fit: "n D min(n, D) + min(n, D)^3",
        predict: "D (d + K)",
        memory: "n D + min(n, D)^2",
    },
    resource: None,
    warnings: super::warnings::OF_FEATURES,
    settings: &|| with_conditions(declared::<RandomFeaturesParams>(), OF_FEATURES),
    defaults: &|shape| closed_defaults(shape, 0.0),
    user_defaults: &mercer_learning::same_as_study,
    space: &|shape| Space { axes: vec![std_axis(shape)], anchors: vec![width_anchor(shape)] },
    build: &|settings| build_closed(settings, "rf-ridgeless"),
    restore: &crate::spectral::restore,
};

const RF_RIDGE: Method = Method {
    name: "rf-ridge",
    title: "RF ridge",
    summary: "random features, ridge regression",
    formula: "f(x) = wᵀ φ(x), w = (ΦᵀΦ + λ n I)⁻¹ Φᵀ y, φ(x) = c cos(Oᵀx + b), O drawn from N(0, k²), k = std",
    when: "kernel ridge on more rows than a Gram matrix can have: up to millions",
    defaults: &|shape| closed_defaults(shape, STUDIED),
    // A ridge that is right for a table of strangers is known to nobody.
    user_defaults: &|_| Settings::new().with("lambda", None::<f64>),
    space: &|shape| Space {
        axes: vec![std_axis(shape), Axis { name: "ridges", range: ridges() }],
        anchors: vec![width_anchor(shape)],
    },
    build: &|settings| build_closed(settings, "rf-ridge"),
    ..RF_RIDGELESS
};

/// The ridge of studies that give none.
const STUDIED: f64 = 1e-6;

/// Beside a ridge that was given there is none to choose. The studies' own is not given.
fn ridges() -> Range {
    Range::Given {
        setting: "lambda",
        cases: vec![(None::<f64>.into(), every_ridge()), (STUDIED.into(), every_ridge())],
        otherwise: Box::new(Range::Choice(vec![Vec::<f64>::new().into()])),
    }
}

/// The fit itself chooses among half decades, by leave-one-out: exact, and for one decomposition.
fn every_ridge() -> Range {
    let grid: Vec<f64> = (0..=18).map(|i| rounded(10f64.powf(0.5 * f64::from(i) - 10.0))).collect();
    Range::Choice(vec![grid.into()])
}

const RF_SGD: Method = Method {
    name: "rf-sgd",
    title: "RF-SGD",
    summary: "random features, output weights by stochastic gradients",
    formula: "f(x) = wᵀ φ(x), φ(x) = c cos(Oᵀx + b), O drawn; w follows minibatch gradients of the loss from 0",
    when: "as the fixed kernel beside `rftk`; for rows that come in passes",
    cites: CITES,
    revision: 1,
    tasks: Tasks::Both,
    cost: Cost { fit: "epochs n D (d + K)", predict: "D (d + K)", memory: "n d + D (d + K)" },
    resource: Some("epochs"),
    warnings: super::warnings::OF_STEPS,
    settings: &|| with_conditions(declared::<FeatureSgdParams>(), OF_STEPS),
    defaults: &|shape| trained_defaults(shape, SgdKind::RfSgd),
    user_defaults: &mercer_learning::same_as_study,
    space: &|shape| trained_space(shape, SgdKind::RfSgd),
    build: &|settings| build_trained(settings, SgdKind::RfSgd),
    restore: &crate::spectral::restore,
};

const RFTK: Method = Method {
    name: "rftk",
    title: "RFTK",
    summary: "random features whose frequencies are learned under a penalty of the kernel's trace",
    formula: "f(x) = wᵀ φ(x), φ(x) = c cos(Oᵀx + b); w follows gradients of the loss, O every s steps those of loss + β ‖φ(X)‖²",
    when: "many rows; frequencies learned, with steps of their own",
    // Whoever says how often the frequencies move means the penalty too, as in Algorithm 1.
    settings: &|| {
        let settings = with_conditions(declared::<FeatureSgdParams>(), OF_STEPS);
        replacing(settings, "every", "trace_every")
    },
    cost: Cost {
        // The penalty's step goes over so many rows every so many steps, where there is one.
        fit: "epochs n D (d + K) (1 + min(1, 1e9 beta) R/(s b)), s = given(trace_every, every), \
              R = min(given(trace_rows, n), given(trace_share, 1) n)",
        predict: "D (d + K)",
        memory: "n d + 3 D (d + K)",
    },
    defaults: &|shape| trained_defaults(shape, SgdKind::Rftk),
    user_defaults: &moving,
    space: &|shape| trained_space(shape, SgdKind::Rftk),
    build: &|settings| build_trained(settings, SgdKind::Rftk),
    ..RF_SGD
};

fn build_closed(
    settings: &Settings,
    method: &'static str,
) -> Result<Box<dyn Learner>, LearningError> {
    Ok(Box::new(settings.read::<RandomFeaturesParams>(method)?.checked()?))
}

fn build_trained(settings: &Settings, kind: SgdKind) -> Result<Box<dyn Learner>, LearningError> {
    let params: FeatureSgdParams = settings.read(kind.name())?;
    Ok(Box::new(FeatureSgdParams { kind, ..params }.checked()?))
}

/// Inputs of standard deviation 1 are about `√(2d)` apart: `k = 1/√d` makes the kernel of two
/// typical points `1/e`.
fn default_std(shape: &Shape) -> f64 {
    rounded(1.0 / (shape.features as f64).sqrt())
}

fn rounded(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

fn width_anchor(shape: &Shape) -> Settings {
    Settings::new().with("std", default_std(shape))
}

/// Eight octaves around the default.
fn std_axis(shape: &Shape) -> Axis {
    let centre = default_std(shape).log2();
    Axis { name: "std", range: Range::Log2(centre - 4.0, centre + 4.0) }
}

fn closed_defaults(shape: &Shape, lambda: f64) -> Settings {
    let std = default_std(shape);
    let cutoff = (lambda == 0.0).then_some(CUTOFF);
    let lambda = Some(lambda);
    Settings::of(&RandomFeaturesParams { std, lambda, cutoff, ..RandomFeaturesParams::default() })
}

/// A trace of `n/2` then weighs 0.005; and rates at which neither step overshoots on data of
/// standard deviation 1.
fn trained_defaults(shape: &Shape, kind: SgdKind) -> Settings {
    let learns = kind == SgdKind::Rftk;
    Settings::of(&FeatureSgdParams {
        std: default_std(shape),
        rate: if learns { 0.5 } else { 1.0 },
        beta: if learns { rounded(0.01 / shape.rows as f64) } else { 0.0 },
        frequency_rate: learns.then_some(1.0),
        ..FeatureSgdParams::default()
    })
}

/// Moves of the frequencies in a first run: each costs about a step, and a table of a hundred rows has no
/// more steps than these.
const MOVES: f64 = 400.0;

/// One move in so many has the penalty, which goes over all rows: 50 of them in 100 passes add half of what
/// the training costs, however few the rows are.
const MOVES_A_PENALTY: usize = 8;

/// A table of a few hundred rows ends before the frequencies have moved ten times, at the pace that studies
/// hold to: they would be those that were drawn. A large one moves them often enough.
fn moving(shape: &Shape) -> Settings {
    let studied = FeatureSgdParams::default();
    let steps = studied.epochs * shape.rows.div_ceil(studied.batch) as f64;
    let every = ((steps / MOVES) as usize).max(1);
    if every >= studied.every {
        return Settings::new();
    }
    Settings::new().with("every", every).with("trace_every", MOVES_A_PENALTY * every)
}

/// Rates between these powers of ten: of plain steps by the loss (squared, or cross-entropy, whose
/// gradients stay bounded), and of Adam, which moves every entry by about its rate.
fn rates(squared: (f64, f64), entropy: (f64, f64)) -> Range {
    let range = |(low, high)| Range::Log10(low, high);
    let plain = Range::Given {
        setting: "loss",
        cases: vec![("squared".into(), range(squared))],
        otherwise: Box::new(range(entropy)),
    };
    Range::Given {
        setting: "optimiser",
        cases: vec![("adam".into(), Range::Log10(-4.5, -1.5))],
        otherwise: Box::new(plain),
    }
}

fn trained_space(shape: &Shape, kind: SgdKind) -> Space {
    let start = trained_defaults(shape, kind);
    let mut axes =
        vec![std_axis(shape), Axis { name: "rate", range: rates((-2.0, 0.5), (-1.0, 2.0)) }];
    if kind == SgdKind::Rftk {
        let beta = rounded(1.0 / shape.rows as f64).log10();
        // The code's weights of the norm over its rows lie between 1e-3 and 100.
        let by_form = Range::Given {
            setting: "trace",
            cases: vec![("norm-by-rows".into(), Range::Log10(-3.0, 2.0))],
            otherwise: Box::new(Range::Log10(beta - 5.0, beta)),
        };
        axes.push(Axis { name: "beta", range: by_form });
        axes.push(Axis { name: "frequency_rate", range: rates((-1.0, 3.0), (-1.0, 3.0)) });
    }
    let anchor = axes
        .iter()
        .filter_map(|axis| start.get(axis.name).map(|value| (axis.name, value.clone())))
        .fold(Settings::new(), |settings, (name, value)| settings.with(name, value));
    Space { axes, anchors: vec![anchor] }
}
