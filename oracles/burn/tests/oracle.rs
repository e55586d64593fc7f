//! Networks written by hand against burn's tape: features, gradients, and a whole training.

use mercer_linalg::Real;
use mercer_networks::{ConvolutionalParams, FullyConnectedParams, Initialisation, Last, Network};
use mercer_networks_burn::burn::tensor::Device;
use mercer_networks_burn::{Architecture, Blocks, Dense, Number, Taped};
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn drawn<F: Real>(rows: usize, columns: usize, rng: &mut ChaCha8Rng) -> Array2<F> {
    Array2::from_shape_simple_fn((rows, columns), || F::of(rng.gen_range(-1.0..1.0)))
}

/// Largest difference of two slices, in units of the largest entry.
fn apart<F: Real>(ours: &[F], theirs: &[F]) -> f64 {
    assert_eq!(ours.len(), theirs.len());
    let largest = theirs.iter().fold(0.0, |a: f64, b| a.max(b.wide().abs()));
    assert!(largest > 0.0, "nothing to compare");
    let differences = ours.iter().zip(theirs).map(|(a, b)| (a.wide() - b.wide()).abs());
    differences.fold(0.0, f64::max) / largest
}

/// Features and gradients of both, of several batches, with `tolerance`.
fn compare<F: Number>(
    mut ours: impl Network<F>,
    architecture: impl Architecture,
    rows: usize,
    tolerance: f64,
) {
    let mut theirs = Taped::new(architecture, ours.parameters().to_vec(), Device::flex());
    assert_eq!((theirs.inputs(), theirs.outputs()), (ours.inputs(), ours.outputs()));
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    for rows in [1, rows] {
        let x = drawn::<F>(rows, ours.inputs(), &mut rng);
        let g = drawn::<F>(rows, ours.outputs(), &mut rng);
        let z = ours.forward(x.view()).to_owned();
        let expected = theirs.forward(x.view()).to_owned();
        assert!(apart(z.as_slice().unwrap(), expected.as_slice().unwrap()) < tolerance);
        let applied = theirs.apply(x.view(), 1);
        assert!(apart(applied.as_slice().unwrap(), expected.as_slice().unwrap()) < tolerance);
        ours.backward(x.view(), g.view());
        theirs.backward(x.view(), g.view());
        let difference = apart(ours.update().1, theirs.update().1);
        assert!(difference < tolerance, "gradients differ by {difference:e}");
    }
}

fn dense(inputs: usize, widths: &[usize], last: Last) -> FullyConnectedParams {
    FullyConnectedParams { inputs, widths: widths.to_vec(), last }
}

#[test]
fn fully_connected_networks_are_those_of_the_tape() {
    // The two of the MCE paper, one layer, and scores instead of features.
    let all = [
        dense(4, &[16, 32, 8], Last::Rectified),
        dense(19, &[96, 32], Last::Rectified),
        dense(3, &[5], Last::Linear),
        dense(7, &[6, 1], Last::Linear),
    ];
    for params in all {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let ours = params.draw::<f64>(&Initialisation::FanIn, 2, &mut rng).unwrap();
        compare(ours, Dense(params.clone()), 300, 1e-12);
        let ours = params.draw::<f32>(&Initialisation::FanIn, 2, &mut rng).unwrap();
        compare(ours, Dense(params), 300, 1e-5);
    }
}

#[test]
fn convolutional_networks_are_those_of_the_tape() {
    let small = ConvolutionalParams {
        height: 9,
        width: 6,
        channels: 2,
        filters: vec![3, 4],
        size: 3,
        features: 5,
    };
    // Odd sides lose their last row in a pool; the second has one block and no border to speak of.
    let single = ConvolutionalParams {
        height: 5,
        width: 5,
        channels: 1,
        filters: vec![2],
        size: 5,
        features: 3,
    };
    let paper = ConvolutionalParams { features: 32, ..ConvolutionalParams::default() };
    for (params, rows) in [(small, 40), (single, 11), (paper, 6)] {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let ours = params.draw::<f64>(&Initialisation::FanIn, 2, &mut rng).unwrap();
        compare(ours, Blocks(params.clone()), rows, 1e-12);
        let ours = params.draw::<f32>(&Initialisation::FanIn, 2, &mut rng).unwrap();
        compare(ours, Blocks(params), rows, 1e-5);
    }
}

#[test]
fn two_hundred_steps_end_in_the_same_place() {
    let params = dense(3, &[8, 2], Last::Linear);
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut ours = params.draw::<f64>(&Initialisation::FanIn, 1, &mut rng).unwrap();
    let mut theirs = Taped::new(Dense(params), ours.parameters().to_vec(), Device::flex());
    let x = drawn::<f64>(50, 3, &mut rng);
    let y = Array2::from_shape_fn((50, 2), |(i, j)| (x[[i, j]] * 2.0).sin());
    let start = (ours.apply(x.view(), 1) - &y).mapv(|e| e * e).sum();
    for _ in 0..200 {
        let nets: [&mut dyn Network<f64>; 2] = [&mut ours, &mut theirs];
        for net in nets {
            let gradient = &net.forward(x.view()) - &y;
            net.backward(x.view(), gradient.view());
            let (parameters, gradient) = net.update();
            parameters.iter_mut().zip(gradient).for_each(|(w, g)| *w -= 0.01 * g);
        }
    }
    let end = (theirs.apply(x.view(), 1) - &y).mapv(|e| e * e).sum();
    assert!(end < 0.2 * start, "{end} of {start}");
    assert!(apart(ours.parameters(), theirs.parameters()) < 1e-9);
}
