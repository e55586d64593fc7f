//! Gradients against central differences, and the promises of the trait.

use approx::assert_relative_eq;
use mercer_linalg::Real;
use mercer_networks::{
    ConvolutionalParams, FullyConnectedParams, Initialisation, Last, Network, NetworkError,
};
use ndarray::{Array2, ArrayView2, s};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn random<F: Real>(rows: usize, columns: usize, seed: u64) -> Array2<F> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Array2::from_shape_simple_fn((rows, columns), || F::of(rng.gen_range(-1.0..1.0)))
}

fn dense(last: Last) -> FullyConnectedParams {
    FullyConnectedParams { inputs: 6, widths: vec![9, 8, 4], last }
}

fn small() -> ConvolutionalParams {
    ConvolutionalParams {
        height: 12,
        width: 12,
        channels: 1,
        filters: vec![4, 6],
        size: 5,
        features: 20,
    }
}

/// `<Z, G>`, whose gradient `backward(G)` is.
fn objective(net: &dyn Network<f64>, x: ArrayView2<'_, f64>, g: &Array2<f64>) -> f64 {
    (&net.apply(x, 1) * g).sum()
}

/// Every parameter, or a seeded choice of `count` of them.
fn check(net: &mut dyn Network<f64>, x: &Array2<f64>, count: usize) {
    let g = random::<f64>(x.nrows(), net.outputs(), 11);
    net.forward(x.view());
    net.backward(x.view(), g.view());
    let gradient = net.update().1.to_vec();
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    // The objective is piecewise linear in each parameter: truncation is 0 but at a kink, and a
    // small step makes kinks rare; rounding is about ε |L| / h = 1e-9.
    let h = 1e-6;
    let size = gradient.len();
    let chosen: Vec<usize> = match count {
        0 => (0..size).collect(),
        _ => (0..count).map(|_| rng.gen_range(0..size)).collect(),
    };
    for k in chosen {
        let mut at = |step: f64| {
            let before = net.parameters()[k];
            net.update().0[k] = before + step;
            let value = objective(net, x.view(), &g);
            net.update().0[k] = before;
            value
        };
        let numeric = (at(h) - at(-h)) / (2.0 * h);
        assert_relative_eq!(gradient[k], numeric, epsilon = 1e-7, max_relative = 1e-7);
    }
}

#[test]
fn fully_connected_gradients_agree_with_central_differences() {
    for last in [Last::Rectified, Last::Linear] {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut net = dense(last).draw::<f64>(&Initialisation::FanIn, 1, &mut rng).unwrap();
        // Several chunks, and one.
        for rows in [200, 3] {
            check(&mut net, &random(rows, 6, 2), 0);
        }
    }
}

#[test]
fn convolutional_gradients_agree_with_central_differences() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut net = small().draw::<f64>(&Initialisation::FanIn, 1, &mut rng).unwrap();
    check(&mut net, &random(5, 144, 2), 300);
    // Two channels, odd sizes, one block.
    let odd = ConvolutionalParams {
        height: 7,
        width: 5,
        channels: 2,
        filters: vec![3],
        size: 3,
        features: 4,
    };
    let mut net = odd.draw::<f64>(&Initialisation::FanIn, 1, &mut rng).unwrap();
    check(&mut net, &random(11, 70, 3), 0);
}

/// Ten steps of gradient descent on `|Z|²/2`, features and parameters.
fn trained<F: Real>(mut net: impl Network<F>, rows: usize) -> Vec<u64> {
    let x = random::<F>(rows, net.inputs(), 3);
    for _ in 0..10 {
        let g = net.forward(x.view()).to_owned();
        net.backward(x.view(), g.view());
        let (parameters, gradient) = net.update();
        for (w, &g) in parameters.iter_mut().zip(gradient) {
            *w -= F::of(1e-3) * g;
        }
    }
    let z = net.apply(x.view(), 2);
    net.parameters().iter().chain(&z).map(|value| value.wide().to_bits()).collect()
}

fn bits<F: Real>(threads: usize, rows: usize) -> [Vec<u64>; 2] {
    let start = Initialisation::default();
    let rng = || ChaCha8Rng::seed_from_u64(9);
    [
        trained(dense(Last::Rectified).draw::<F>(&start, threads, &mut rng()).unwrap(), rows),
        trained(small().draw::<F>(&start, threads, &mut rng()).unwrap(), rows),
    ]
}

#[test]
fn one_two_and_three_threads_give_the_same_bits() {
    for rows in [1, 150] {
        let (single, double) = (bits::<f32>(1, rows), bits::<f64>(1, rows));
        assert!(single != double);
        for threads in [2, 3] {
            assert!(bits::<f32>(threads, rows) == single, "f32, {rows} rows, {threads} threads");
            assert!(bits::<f64>(threads, rows) == double, "f64, {rows} rows, {threads} threads");
        }
    }
}

#[test]
fn prediction_and_training_see_the_same_features() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let start = Initialisation::FanIn;
    let mut nets: Vec<Box<dyn Network<f64>>> = vec![
        Box::new(dense(Last::Linear).draw(&start, 2, &mut rng).unwrap()),
        Box::new(small().draw(&start, 2, &mut rng).unwrap()),
    ];
    for net in &mut nets {
        // Reversed columns: no row is contiguous.
        let x = random::<f64>(70, net.inputs(), 8);
        let x = x.slice(s![.., ..;-1]);
        let z = net.forward(x).to_owned();
        let parts = [net.apply(x.slice(s![..33, ..]), 2), net.apply(x.slice(s![33.., ..]), 1)];
        let parts = ndarray::concatenate![ndarray::Axis(0), parts[0], parts[1]];
        for (a, b) in z.iter().zip(&parts) {
            assert_relative_eq!(a, b, epsilon = 1e-13);
        }
        assert_eq!(net.apply(x.slice(s![..0, ..]), 2).nrows(), 0);
    }
}

#[test]
fn a_nan_stays_visible() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let mut net = dense(Last::Rectified).draw::<f32>(&Initialisation::FanIn, 1, &mut rng).unwrap();
    net.update().0[0] = f32::NAN;
    assert!(net.apply(random(2, 6, 1).view(), 1).iter().all(|z| z.is_nan()));
    let mut net = small().draw::<f32>(&Initialisation::FanIn, 1, &mut rng).unwrap();
    net.update().0[0] = f32::NAN;
    assert!(net.apply(random(2, 144, 1).view(), 1).iter().all(|z| z.is_nan()));
}

#[test]
fn sizes_that_make_no_network_are_named() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let start = Initialisation::default();
    let dense = |inputs, widths| FullyConnectedParams { inputs, widths, last: Last::Linear };
    for (params, message) in [
        (dense(2, vec![]), "widths is empty; a network needs at least one layer of each kind"),
        (dense(0, vec![3]), "inputs is 0; it must be at least 1"),
        (dense(2, vec![3, 0]), "widths is 0; it must be at least 1"),
    ] {
        let error = params.draw::<f32>(&start, 1, &mut rng).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
    let default = ConvolutionalParams::default;
    for (params, name) in [
        (ConvolutionalParams { filters: vec![], ..default() }, "filters"),
        (ConvolutionalParams { filters: vec![8, 0], ..default() }, "filters"),
        (ConvolutionalParams { size: 4, ..default() }, "size"),
        (ConvolutionalParams { height: 3, ..default() }, "height"),
        (ConvolutionalParams { width: 0, ..default() }, "width"),
        (ConvolutionalParams { channels: 0, ..default() }, "channels"),
        (ConvolutionalParams { features: 0, ..default() }, "features"),
    ] {
        let error = params.draw::<f32>(&start, 1, &mut rng).unwrap_err();
        assert!(error.to_string().starts_with(name), "{error}");
    }
    let start = Initialisation::Truncated { std: -1.0, bias: 0.0 };
    let error = small().draw::<f32>(&start, 1, &mut rng).unwrap_err();
    assert!(matches!(error, NetworkError::Number { name: "std", .. }));
}
