use super::params::CONDITIONS;
use super::{EmbeddingParams, Learning};
use mercer_learning::{
    Axis, Cost, Learner, LearningError, Method, Range, Settings, Space, Tasks, declared,
    with_conditions,
};

/// The paper's embeddings, and the methods it compares them with. All of them are settings of one model.
///
/// ```
/// use mercer_learning::{Fitting, Predictions, Sample, find};
/// use mercer_models::mce::METHODS;
/// use ndarray::array;
/// let x = array![[0.0], [0.2], [0.8], [1.0]];
/// let sample = Sample::classification(x, vec![0, 0, 1, 1], 2)?;
/// let method = find(METHODS, "mce-median")?;
/// let learner = method.learner(&(method.defaults)(&sample.shape()), sample.task())?;
/// let fitted = learner.fit(&sample, &mut Fitting::seeded(1))?;
/// let said = fitted.predictor.predict(array![[0.1]].view())?;
/// assert_eq!(said, Predictions::Classes(vec![0]));
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
pub const METHODS: &[Method] = &[GMCE, GMCE_SGD, ERM, CROSS_VALIDATED, MEDIAN];

/// Features of an explicit map; none without one.
macro_rules! width {
    () => {
        "p = map.fourier features + map.monomials choose(d + degree, degree)"
    };
}

/// The Gram matrix; or features with what their gradients need, and the normal matrix.
const MEMORY: &str = concat!("map.implicit n^2 + 4 n p + 2 p^2, ", width!());

const CITES: &str = "Hsu, Nock & Ramos (2018)";

const GMCE: Method = Method {
    name: "gmce",
    title: "GMCE",
    summary: "Gaussian conditional mean embedding, tuned by its Rademacher complexity bound on all rows",
    formula: "f(x) = Yᵀ (K + n λ I)⁻¹ k(x); length scales, scale and λ minimise Σ −log f_y(x) + τ α √tr(Vᵀ K V), V = (K + n λ I)⁻¹ Y, Y: classes as one-hot rows, f_y: the score of class y, τ = 4e, α = max √k(x, x)",
    when: "up to some 2000 rows; a length scale per column without a validation set",
    cites: CITES,
    revision: 1,
    tasks: Tasks::Classification,
    cost: Cost {
        fit: concat!(
            "epochs (map.implicit (n^3/3 + n^2 (d + K)) + n p (p + d + K) + p^3/3), ",
            width!()
        ),
        predict: "n (d + K), features instead of n with a map",
        memory: MEMORY,
    },
    resource: Some("epochs"),
    warnings: super::warnings::WARNINGS,
    settings: &|| with_conditions(declared::<EmbeddingParams>(), CONDITIONS),
    defaults: &|_| Settings::of(&params(Kind::Bound)),
    user_defaults: &mercer_learning::same_as_study,
    space: &|_| learned_space(Kind::Bound),
    build: &|settings| build(settings, "gmce", Kind::Bound),
    restore: &super::embedding::restore,
};

const GMCE_SGD: Method = Method {
    name: "gmce-sgd",
    title: "GMCE-SGD",
    summary: "Gaussian conditional mean embedding, tuned by its bound on a tenth of the rows at a time",
    formula: "as `gmce`, each step on a tenth of the rows",
    when: "as `gmce`, with ten times the rows",
    cost: Cost {
        fit: concat!(
            "map.implicit (epochs n^3/300 + n^3/3) + epochs (n p (p + d + K) + 10 p^3/3), ",
            width!()
        ),
        ..GMCE.cost
    },
    defaults: &|_| Settings::of(&params(Kind::Batches)),
    space: &|_| learned_space(Kind::Batches),
    build: &|settings| build(settings, "gmce-sgd", Kind::Batches),
    ..GMCE
};

const ERM: Method = Method {
    name: "mce-erm",
    title: "ERM",
    summary: "Gaussian conditional mean embedding, tuned by its empirical risk alone",
    formula: "f(x) = Yᵀ (K + n λ I)⁻¹ k(x); length scales, scale and λ minimise Σ −log f_y(x) on the training rows, f_y: the score of class y",
    when: "to see what the complexity term of `gmce` adds",
    defaults: &|_| Settings::of(&params(Kind::Risk)),
    space: &|_| learned_space(Kind::Risk),
    build: &|settings| build(settings, "mce-erm", Kind::Risk),
    ..GMCE
};

const CROSS_VALIDATED: Method = Method {
    name: "mce-cv",
    title: "CV",
    summary: "Gaussian conditional mean embedding, one length scale and the ridge chosen by cross-validation",
    formula: "f(x) = Yᵀ (K + n λ I)⁻¹ k(x); one length scale and λ by cross-validation",
    when: "to see what length scales per column add in `gmce`",
    cost: Cost { fit: "245 n^3/6", predict: "n (d + K)", memory: "n^2" },
    resource: None,
    defaults: &|_| Settings::of(&params(Kind::CrossValidated)),
    user_defaults: &mercer_learning::same_as_study,
    space: &|_| Space::default(),
    build: &|settings| build(settings, "mce-cv", Kind::CrossValidated),
    ..GMCE
};

const MEDIAN: Method = Method {
    name: "mce-median",
    title: "MED",
    summary: "Gaussian conditional mean embedding, length scale the median distance of the rows",
    formula: "f(x) = Yᵀ (K + n λ I)⁻¹ k(x), length scale: the median distance of the rows",
    when: "as the untuned start beside `gmce`",
    cost: Cost { fit: concat!("map.implicit n^3/3 + n p^2 + p^3/3, ", width!()), ..GMCE.cost },
    resource: None,
    defaults: &|_| Settings::of(&params(Kind::Median)),
    user_defaults: &mercer_learning::same_as_study,
    space: &|_| Space {
        axes: vec![Axis { name: "lambda", range: Range::Log10(-6.0, 0.0) }],
        anchors: vec![Settings::new().with("lambda", 0.01)],
    },
    build: &|settings| build(settings, "mce-median", Kind::Median),
    ..GMCE
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bound,
    Batches,
    Risk,
    CrossValidated,
    Median,
}

fn params(kind: Kind) -> EmbeddingParams {
    let base = EmbeddingParams::default();
    match kind {
        Kind::Bound => base,
        Kind::Batches => EmbeddingParams { batches: 10, ..base },
        Kind::Risk => EmbeddingParams { weight: Some(0.0), ..base },
        Kind::CrossValidated => {
            EmbeddingParams { learning: Learning::CrossValidation, anisotropic: false, ..base }
        }
        Kind::Median => EmbeddingParams {
            learning: Learning::Nothing,
            anisotropic: false,
            length: None,
            lambda: 0.01,
            ..base
        },
    }
}

fn build(
    settings: &Settings,
    method: &'static str,
    kind: Kind,
) -> Result<Box<dyn Learner>, LearningError> {
    let mut read: EmbeddingParams = settings.read(method)?;
    // Where rows of a batch are set, the method's own number of batches is none that anybody asked for.
    if read.batch.is_some() && read.batches == params(kind).batches {
        read.batches = 1;
    }
    Ok(Box::new(read.checked()?))
}

/// Where the learned parameters start, and the weight of the complexity. The weight is the paper's `4e` or less, as the
/// paper recommends below equation (13). `4e` is the default that the anchor leaves as it is: by its number it would be
/// another candidate that does the same.
fn learned_space(kind: Kind) -> Space {
    let start = Settings::new().with("length", 1.0).with("lambda", 1.0);
    let mut axes = vec![
        Axis { name: "length", range: Range::Log2(-3.0, 3.0) },
        Axis { name: "lambda", range: Range::Log10(-6.0, 0.0) },
    ];
    if kind == Kind::Risk {
        return Space { axes, anchors: vec![start] };
    }
    axes.push(Axis { name: "weight", range: Range::Log10(-2.0, 1.0) });
    Space { axes, anchors: vec![start] }
}
