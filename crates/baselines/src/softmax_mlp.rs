use crate::network_classifier::{SoftmaxNetwork, SoftmaxNetworkParams, restore};
use mercer_learning::{Axis, Cost, Method, Range, Settings, Space, Tasks, declared};

pub(crate) const METHOD: Method = Method {
    name: "softmax-mlp",
    title: "MLP",
    summary: "two dense layers (96-32) with a softmax layer, cross-entropy",
    formula: "softmax of a network 96-32, cross-entropy",
    when: "as the network without a kernel beside `cen-2`",
    cites: "Rumelhart, Hinton & Williams (1986)",
    revision: 1,
    tasks: Tasks::Classification,
    cost: Cost {
        fit: "3 epochs n P, P = 96 d + 3072",
        predict: "P",
        memory: "n (d + 4 p) + 4 P, P = 96 d + 3072, p = 32",
    },
    resource: Some("epochs"),
    warnings: &[],
    settings: &declared::<SoftmaxNetworkParams>,
    defaults: &|_| Settings::of(&SoftmaxNetworkParams::default()),
    user_defaults: &mercer_learning::same_as_study,
    space: &|_| Space {
        axes: vec![Axis { name: "rate", range: Range::Log10(-4.0, -1.0) }],
        anchors: vec![Settings::new().with("rate", 0.01)],
    },
    build: &|settings| Ok(Box::new(SoftmaxNetwork::new(settings.read("softmax-mlp")?)?)),
    restore: &restore,
};
