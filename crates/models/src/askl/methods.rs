use super::{AsklParams, Kind};
use mercer_learning::{
    Axis, Condition, Cost, Learner, LearningError, Method, Range, Settings, Shape, Space, Tasks,
    Where, declared, with_conditions,
};

/// The paper's five methods, in the order of its tables.
///
/// ```
/// use mercer_learning::{Fitting, Sample, Settings, find};
/// use mercer_models::askl::METHODS;
/// use ndarray::array;
/// let sample = Sample::classification(array![[-1.0], [-0.5], [0.5], [1.0]], vec![0, 0, 1, 1], 2)?;
/// let settings = Settings::new().with("features", 50).with("std", 1.0).with("epochs", 200);
/// let learner = find(METHODS, "skl")?.learner(&settings, sample.task())?;
/// let fitted = learner.fit(&sample, &mut Fitting::seeded(1))?;
/// assert_eq!(fitted.predictor.predict(sample.inputs())?.len(), 4);
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
pub const METHODS: &[Method] = &[SK, NSK, SKL, NSKL, ASKL];

const CITES: &str = "Li, Liu & Wang (2020)";
const DRAWN: Cost =
    Cost { fit: "epochs n D (d + K)", predict: "D (d + K)", memory: "n d + D (d + K)" };
const LEARNED: Cost =
    Cost { fit: "epochs n D (d + K)", predict: "D (d + K)", memory: "n d + 4 D (d + K)" };

/// The five methods share a type of settings.
const CONDITIONS: &[Condition] = &[
    (&["std_prime", "phases"], &[Where::is("method", &["nsk", "nskl", "askl"])]),
    (&["lambda2", "read_out", "thresholding", "penalty_scale"], &[Where::is("method", &["askl"])]),
    (&["lambda1"], &[Where::is_not("method", &["askl"]), Where::is_not("thresholding", &["none"])]),
    (&["penalty_scale"], &[Where::is("norms", &["squared"])]),
];

const SK: Method = Method {
    name: "sk",
    title: "SK",
    summary: "stationary random features, output weights trained",
    formula: "f(x) = Wᵀ φ(x), φ(x) = √(2/D) cos(Oᵀx + b), O and b drawn; minimises loss + λ1 ‖W‖²",
    when: "as the fixed kernel beside `skl`: what learning the frequencies adds",
    cites: CITES,
    revision: 1,
    tasks: Tasks::Both,
    cost: DRAWN,
    resource: Some("epochs"),
    warnings: &[],
    settings: &|| with_conditions(declared::<AsklParams>(), CONDITIONS),
    defaults: &|shape| defaults(shape, Kind::Sk),
    user_defaults: &mercer_learning::same_as_study,
    space: &|shape| space(shape, Kind::Sk),
    build: &|settings| build(settings, Kind::Sk),
    restore: &crate::spectral::restore,
};

const NSK: Method = Method {
    name: "nsk",
    title: "NSK",
    summary: "non-stationary random features, output weights trained",
    formula: "f(x) = Wᵀ φ(x), φ(x) = (cos(Oᵀx + b) + cos(O'ᵀx + b))/√(2D), O and O' drawn; minimises loss + λ1 ‖W‖²",
    when: "as the fixed kernel beside `nskl` and `askl`",
    defaults: &|shape| defaults(shape, Kind::Nsk),
    space: &|shape| space(shape, Kind::Nsk),
    build: &|settings| build(settings, Kind::Nsk),
    ..SK
};

const SKL: Method = Method {
    name: "skl",
    title: "SKL",
    summary: "stationary features, frequencies and output weights learned",
    formula: "f(x) = Wᵀ φ(x), φ(x) = √(2/D) cos(Oᵀx + b); O and W minimise loss + λ1 ‖W‖²",
    when: "many rows, and columns that differ in what they say",
    cost: LEARNED,
    defaults: &|shape| defaults(shape, Kind::Skl),
    space: &|shape| space(shape, Kind::Skl),
    build: &|settings| build(settings, Kind::Skl),
    ..SK
};

const NSKL: Method = Method {
    name: "nskl",
    title: "NSKL",
    summary: "non-stationary features, frequencies and output weights learned",
    formula: "f(x) = Wᵀ φ(x), φ(x) = (cos(Oᵀx + b) + cos(O'ᵀx + b))/√(2D); O, O' and W minimise loss + λ1 ‖W‖²",
    when: "many rows; in our runs as good as `askl`, with a setting less",
    cost: LEARNED,
    defaults: &|shape| defaults(shape, Kind::Nskl),
    space: &|shape| space(shape, Kind::Nskl),
    build: &|settings| build(settings, Kind::Nskl),
    ..SK
};

const ASKL: Method = Method {
    name: "askl",
    title: "ASKL",
    summary: "non-stationary features learned under trace norm and feature norm",
    formula: "f(x) = Wᵀ φ(x), φ(x) = (cos(Oᵀx + b) + cos(O'ᵀx + b))/√(2D); O, O' and W minimise loss + λ1 ‖W‖_* + λ2 ‖φ(X)‖²/n",
    when: "many rows, up to millions, in passes; a kernel that need not be stationary",
    cost: LEARNED,
    defaults: &|shape| defaults(shape, Kind::Askl),
    space: &|shape| space(shape, Kind::Askl),
    build: &|settings| build(settings, Kind::Askl),
    ..SK
};

fn build(settings: &Settings, kind: Kind) -> Result<Box<dyn Learner>, LearningError> {
    let params: AsklParams = settings.read(kind.name())?;
    Ok(Box::new(AsklParams { kind, ..params }.checked()?))
}

/// Inputs of standard deviation 1 are about `√(2d)` apart: `σ = 1/√d` makes the kernel of two
/// typical points `1/e`.
fn defaults(shape: &Shape, _kind: Kind) -> Settings {
    let sigma = 1.0 / (shape.features as f64).sqrt();
    let params = AsklParams {
        std: format!("{sigma:.2e}").parse().unwrap_or(sigma),
        lambda1: 1e-4,
        lambda2: 1e-4,
        ..AsklParams::default()
    };
    Settings::of(&params)
}

/// Deviations over ten octaves that cover the code's grid (`2^-9 … 2^-1`), rates and penalties
/// over the paper's useful range; the code's values are tried first.
fn space(shape: &Shape, kind: Kind) -> Space {
    let mut axes = vec![
        Axis { name: "std", range: Range::Log2(-9.0, 1.0) },
        Axis { name: "rate", range: Range::Log10(-4.0, -1.0) },
        Axis { name: "lambda1", range: Range::Log10(-8.0, -1.0) },
    ];
    let mut code = Settings::new().with("std", 0.05).with("rate", 1e-2).with("lambda1", 1e-3);
    let start = defaults(shape, kind);
    let mut ours = ["std", "rate", "lambda1"]
        .into_iter()
        .filter_map(|name| start.get(name).map(|value| (name, value.clone())))
        .fold(Settings::new(), |settings, (name, value)| settings.with(name, value));
    if kind == Kind::Askl {
        axes.push(Axis { name: "lambda2", range: Range::Log10(-8.0, -1.0) });
        code = code.with("lambda2", 1e-3);
        ours = ours.with("lambda2", 1e-4);
    }
    Space { axes, anchors: vec![code, ours] }
}
