//! Against PyTorch in double precision: `fixtures/make.py` names the version and wrote the file.

use approx::assert_relative_eq;
use mercer_networks::{ConvolutionalParams, FullyConnectedParams, Initialisation, Last, Network};
use ndarray::Array2;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

fn fixture(section: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("fixtures/torch.json")).unwrap();
    assert_eq!(all["program"], "PyTorch 2.15.0");
    all[section].as_array().unwrap().clone()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|entry| entry.as_f64().unwrap()).collect()
}

fn size(given: &Value, name: &str) -> usize {
    given[name].as_u64().unwrap() as usize
}

fn sizes(given: &Value, name: &str) -> Vec<usize> {
    given[name].as_array().unwrap().iter().map(|v| v.as_u64().unwrap() as usize).collect()
}

fn compare(mut net: impl Network<f64>, given: &Value) {
    let matrix = |name: &str, columns| {
        Array2::from_shape_vec((size(given, "rows"), columns), numbers(&given[name])).unwrap()
    };
    let (x, g) = (matrix("x", net.inputs()), matrix("g", net.outputs()));
    net.update().0.copy_from_slice(&numbers(&given["parameters"]));
    let z = net.forward(x.view()).to_owned();
    for (ours, theirs) in z.iter().zip(&matrix("z", net.outputs())) {
        assert_relative_eq!(ours, theirs, epsilon = 1e-13);
    }
    net.backward(x.view(), g.view());
    let gradient = numbers(&given["gradient"]);
    let ours = net.update().1;
    assert_eq!(ours.len(), gradient.len());
    for (ours, theirs) in ours.iter().zip(&gradient) {
        assert_relative_eq!(ours, theirs, epsilon = 1e-12);
    }
}

#[test]
fn fully_connected_networks_are_those_of_pytorch() {
    for given in fixture("dense") {
        let last = serde_json::from_value::<Last>(given["last"].clone()).unwrap();
        let (inputs, widths) = (size(&given, "inputs"), sizes(&given, "widths"));
        let params = FullyConnectedParams { inputs, widths, last };
        let rng = &mut ChaCha8Rng::seed_from_u64(1);
        compare(params.draw(&Initialisation::FanIn, 2, rng).unwrap(), &given);
    }
}

#[test]
fn convolutional_networks_are_those_of_pytorch() {
    for given in fixture("convolutional") {
        let params = ConvolutionalParams {
            height: size(&given, "height"),
            width: size(&given, "width"),
            channels: size(&given, "channels"),
            filters: sizes(&given, "filters"),
            size: size(&given, "size"),
            features: size(&given, "features"),
        };
        let rng = &mut ChaCha8Rng::seed_from_u64(1);
        compare(params.draw(&Initialisation::FanIn, 2, rng).unwrap(), &given);
    }
}
