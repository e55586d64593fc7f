use crate::network_classifier::{SoftmaxNetwork, SoftmaxNetworkParams, restore};
use mercer_learning::{Axis, Cost, Method, Range, Settings, Space, Tasks, declared};

pub(crate) const METHOD: Method = Method {
    name: "softmax-cnn",
    title: "CNN",
    summary: "two convolutions with pooling, a dense layer with dropout and a softmax layer, cross-entropy",
    formula: "softmax of a convolutional network, cross-entropy",
    when: "as the network without a kernel beside `cen-cnn`",
    cites: "LeCun, Bottou, Bengio & Haffner (1998)",
    revision: 1,
    tasks: Tasks::Classification,
    cost: Cost {
        fit: "3 epochs n C, C = 14000000",
        predict: "C",
        memory: "50 b d + 4 P, P = 3300000",
    },
    resource: Some("epochs"),
    warnings: &[],
    settings: &declared::<SoftmaxNetworkParams>,
    defaults: &|_| {
        Settings::of(&SoftmaxNetworkParams {
            hidden: None,
            features: 1024,
            rate: 0.001,
            epochs: 20.0,
            dropout: 0.5,
            ..SoftmaxNetworkParams::default()
        })
    },
    user_defaults: &mercer_learning::same_as_study,
    space: &|_| Space {
        axes: vec![Axis { name: "rate", range: Range::Log10(-4.5, -2.0) }],
        anchors: vec![Settings::new().with("rate", 0.001)],
    },
    build: &|settings| Ok(Box::new(SoftmaxNetwork::new(settings.read("softmax-cnn")?)?)),
    restore: &restore,
};
