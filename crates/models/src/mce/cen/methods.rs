use super::{CenParams, Layers, Masks, Precision, predictor::restore};
use crate::mce::Sensitivity;
use mercer_kernels::Covariance;
use mercer_learning::{
    Axis, Condition, Cost, Learner, LearningError, Method, Range, Settings, Shape, Space, Tasks,
    Where, declared, with_conditions,
};

/// The networks of the paper, and one with a kernel on its features.
pub const METHODS: &[Method] = &[CEN_1, CEN_2, CEN_IMPLICIT, CEN_CNN];

const CONDITIONS: &[Condition] = &[
    (&["last"], &[Where::is_not("layers", &["convolutional"])]),
    (&["masks"], &[Where::is_not("dropout", &["0"])]),
];

const CEN_1: Method = Method {
    name: "cen-1",
    title: "CEN-1",
    summary: "conditional embedding of a network's features (16-32-8), tuned by its complexity bound",
    formula: "f(x) = Wᵀ φ(x), W = (ΦᵀΦ + n λ I)⁻¹ Φᵀ Y, φ a network 16-32-8; its weights and λ minimise Σ −log f_y(x) + τ ‖W‖",
    when: "small tables of classes, where a network's features shall have a bound",
    cites: "Hsu, Nock & Ramos (2018)",
    // 2: `alpha`, `norm` and `mean-loss` stand among the facts.
    revision: 2,
    tasks: Tasks::Classification,
    cost: Cost {
        fit: "3 epochs n (P + p^2), P = 16 d + 768, p = 8",
        predict: "P + p K",
        memory: "n (d + 8 p) + 4 P, P = 16 d + 768, p = 8",
    },
    resource: Some("epochs"),
    warnings: &[crate::mce::warnings::batches_of_one],
    settings: &|| with_conditions(declared::<CenParams>(), CONDITIONS),
    defaults: &|_| Settings::of(&dense(&[16, 32], 8)),
    user_defaults: &mercer_learning::same_as_study,
    space: &space,
    build: &|settings| build(settings, "cen-1"),
    restore: &restore,
};

const CEN_2: Method = Method {
    name: "cen-2",
    title: "CEN-2",
    summary: "conditional embedding of a network's features (96-32), tuned by its complexity bound",
    formula: "f(x) = Wᵀ φ(x), W = (ΦᵀΦ + n λ I)⁻¹ Φᵀ Y, φ a network 96-32; its weights and λ minimise Σ −log f_y(x) + τ ‖W‖",
    when: "as `cen-1`, for more columns",
    cost: Cost {
        fit: "3 epochs n (P + p^2), P = 96 d + 3072, p = 32",
        predict: "P + p K",
        memory: "n (d + 8 p) + 4 P, P = 96 d + 3072, p = 32",
    },
    defaults: &|_| Settings::of(&dense(&[96], 32)),
    build: &|settings| build(settings, "cen-2"),
    ..CEN_1
};

const CEN_IMPLICIT: Method = Method {
    name: "cen-implicit",
    title: "implicit CEN",
    summary: "embedding with a Gaussian kernel of a network's features (96-32), all learned together",
    formula: "f(x) = Yᵀ (K + n λ I)⁻¹ k(φ(x)), k Gaussian, φ a network 96-32; all minimise the loss + τ α √tr(Vᵀ K V)",
    when: "to try a kernel on top of a network's features; costs a solve per step",
    cost: Cost {
        fit: "3 epochs n (P + b p + b^2/3), P = 96 d + 3072, p = 32",
        predict: "P + n (p + K)",
        memory: "3 b^2 + n (d + 8 p) + 4 P, P = 96 d + 3072, p = 32",
    },
    defaults: &|_| {
        let kernel = Some(Covariance::Gaussian { scale: 1.0, lengths: vec![1.0] });
        // Scale and ridge are one parameter: with 1 for `α` the scale alone could take all complexity away.
        let sensitivity = Sensitivity::Supremum;
        Settings::of(&CenParams { kernel, sensitivity, ..dense(&[96], 32) })
    },
    build: &|settings| build(settings, "cen-implicit"),
    ..CEN_1
};

const CEN_CNN: Method = Method {
    name: "cen-cnn",
    title: "CEN",
    summary: "conditional embedding of a convolutional network's features, two dropout masks a step",
    formula: "f(x) = Wᵀ φ(x), W = (ΦᵀΦ + n λ I)⁻¹ Φᵀ Y, φ a convolutional network; its weights and λ minimise Σ −log f_y(x) + τ ‖W‖",
    when: "images of 28 × 28 pixels",
    cost: Cost {
        // Multiply-adds of an image of 28 x 28 in both convolutions and the dense layer, features p.
        fit: "3 epochs n (C + p^2), C = 14000000, p = 1024",
        predict: "C + p K",
        memory: "50 b d + 4 P, P = 3300000",
    },
    defaults: &|_| {
        Settings::of(&CenParams {
            layers: Layers::Convolutional,
            features: 1024,
            lambda: 10.0,
            rate: 0.001,
            epochs: 20.0,
            dropout: 0.5,
            masks: Masks::Two,
            precision: Precision::F32,
            ..CenParams::default()
        })
    },
    build: &|settings| build(settings, "cen-cnn"),
    ..CEN_1
};

/// On standardised inputs: the paper's layers at a rate that does not kill its units, and from a
/// `λ` that does not drown small samples.
fn dense(hidden: &[usize], features: usize) -> CenParams {
    CenParams {
        layers: Layers::Dense(hidden.to_vec()),
        features,
        rate: 0.01,
        epochs: 200.0,
        ..CenParams::default()
    }
}

fn build(settings: &Settings, name: &str) -> Result<Box<dyn Learner>, LearningError> {
    let params: CenParams = settings.read(name)?;
    Ok(Box::new(params.checked()?))
}

/// The rate and the start of `λ` around the paper's values, which are tried first. Also the weight of the complexity
/// from none to the printed one, which is the default of these.
fn space(_: &Shape) -> Space {
    Space {
        axes: vec![
            Axis { name: "rate", range: Range::Log10(-3.5, -0.5) },
            Axis { name: "lambda", range: Range::Log10(-4.0, 1.0) },
            Axis { name: "weight", range: Range::Log10(-3.0, 1.5) },
        ],
        anchors: vec![
            Settings::new().with("rate", 0.1).with("lambda", 1.0),
            Settings::new().with("rate", 0.01).with("lambda", 1.0),
        ],
    }
}
