//! Times training steps of small networks and prints one JSON line: the counterpart of
//! `peers/torch_networks.py`.
//!
//! `network --convolutional 0 --rows 2079 --threads 2 --steps 300`
//!
//! 0 is the fully connected network 19-96-32, 1 the convolutional one of the MCE paper on 28 x 28
//! images. A step: features, backward from a given gradient, Adam; single precision.

use mercer_benches::{arguments, median};
use mercer_networks::{ConvolutionalParams, FullyConnectedParams, Initialisation, Last, Network};
use mercer_solvers::{Memory, Optimiser};
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::time::Instant;

#[global_allocator]
static ALLOCATOR: mercer_linalg::LargePages = mercer_linalg::LargePages;

const WARM_UP: usize = 3;

fn main() {
    let options =
        arguments(&[("convolutional", 0), ("rows", 2079), ("threads", 2), ("steps", 300)]);
    let [convolutional, rows, threads, steps] = options[..] else {
        unreachable!("as many values as names")
    };
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let start = Initialisation::FanIn;
    let mut net: Box<dyn Network<f32>> = if convolutional == 1 {
        let params = ConvolutionalParams::default();
        Box::new(params.draw(&start, threads, &mut rng).expect("a network"))
    } else {
        let params =
            FullyConnectedParams { inputs: 19, widths: vec![96, 32], last: Last::Rectified };
        Box::new(params.draw(&start, threads, &mut rng).expect("a network"))
    };
    let mut random =
        |columns| Array2::from_shape_simple_fn((rows, columns), || rng.gen_range(-1.0..1.0f32));
    let (x, g) = (random(net.inputs()), random(net.outputs()));
    let mut memory = Memory::new(Optimiser::Adam, net.parameters().len());
    let (mut times, mut forward) = (Vec::new(), Vec::new());
    for step in 1..=WARM_UP + steps {
        let clock = Instant::now();
        net.forward(x.view());
        let features = clock.elapsed();
        net.backward(x.view(), g.view());
        let (parameters, gradient) = net.update();
        Optimiser::Adam.step(1e-3, step).update(parameters, gradient, memory.all());
        if step > WARM_UP {
            times.push(clock.elapsed().as_secs_f64());
            forward.push(features.as_secs_f64());
        }
    }
    println!(
        "{{\"convolutional\":{convolutional},\"rows\":{rows},\"threads\":{threads},\
         \"median_ms\":{:.5},\"best_ms\":{:.5},\"forward_ms\":{:.5}}}",
        1e3 * median(&times),
        1e3 * times.iter().copied().fold(f64::INFINITY, f64::min),
        1e3 * median(&forward),
    );
}
