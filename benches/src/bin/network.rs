//! Times training steps of small networks and prints one JSON line: the counterpart of
//! `peers/torch_networks.py`.
//!
//! `network --convolutional 0 --rows 2079 --threads 2 --steps 300`
//!
//! 0 is the fully connected network 19-96-32, 1 the convolutional one of the MCE paper on 28 x 28
//! images. A step: features, backward from a given gradient, Adam; single precision.
//!
//! `network --cen 1 --rows 2079 --threads 2 --steps 300` is a whole step of CEN-2 as it runs, in double precision:
//! - the features of 19-96-32,
//! - the summed losses of their embedding in seven classes with the complexity,
//! - its gradient through the layers,
//! - Adam for the network and for `ln λ`.

use mercer_benches::{arguments, median};
use mercer_linalg::Real;
use mercer_models::mce::{Explicit, Form, Objective, Sensitivity};
use mercer_networks::{ConvolutionalParams, FullyConnectedParams, Initialisation, Last, Network};
use mercer_solvers::{Memory, Optimiser};
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::time::Instant;

#[global_allocator]
static ALLOCATOR: mercer_linalg::LargePages = mercer_linalg::LargePages;

const WARM_UP: usize = 3;

/// Classes of segment.
const CLASSES: u32 = 7;

fn dense() -> FullyConnectedParams {
    FullyConnectedParams { inputs: 19, widths: vec![96, 32], last: Last::Rectified }
}

/// Seconds of each step, and of the features in it.
#[derive(Default)]
struct Times {
    step: Vec<f64>,
    forward: Vec<f64>,
}

impl Times {
    fn keep(&mut self, step: usize, since: Instant, features: f64) {
        if step > WARM_UP {
            self.step.push(since.elapsed().as_secs_f64());
            self.forward.push(features);
        }
    }
}

/// Steps from a given gradient of the features.
fn given<F: Real>(
    net: &mut dyn Network<F>,
    rows: usize,
    steps: usize,
    rng: &mut impl Rng,
) -> Times {
    let mut random =
        |columns| Array2::from_shape_simple_fn((rows, columns), || F::of(rng.gen_range(-1.0..1.0)));
    let (x, g) = (random(net.inputs()), random(net.outputs()));
    let mut memory = Memory::new(Optimiser::Adam, net.parameters().len());
    let mut times = Times::default();
    for step in 1..=WARM_UP + steps {
        let clock = Instant::now();
        net.forward(x.view());
        let features = clock.elapsed().as_secs_f64();
        net.backward(x.view(), g.view());
        let (parameters, gradient) = net.update();
        Optimiser::Adam.step(1e-3, step).update(parameters, gradient, memory.all());
        times.keep(step, clock, features);
    }
    times
}

/// Steps of an embedding network.
fn embedded(net: &mut dyn Network<f64>, rows: usize, steps: usize, rng: &mut impl Rng) -> Times {
    let x = Array2::from_shape_simple_fn((rows, net.inputs()), || rng.gen_range(-1.0..1.0));
    let labels: Vec<u32> = (0..rows).map(|_| rng.gen_range(0..CLASSES)).collect();
    let objective =
        Objective { form: Form::Sum, sensitivity: Sensitivity::One, ..Objective::default() };
    let mut memory = Memory::new(Optimiser::Adam, net.parameters().len());
    let (mut log, mut of_log) = ([0.0_f64], Memory::new(Optimiser::Adam, 1));
    let mut times = Times::default();
    for step in 1..=WARM_UP + steps {
        let clock = Instant::now();
        let z = net.forward(x.view()).to_owned();
        let features = clock.elapsed().as_secs_f64();
        let embedding = Explicit::new(z.view(), &labels, CLASSES as usize, log[0].exp())
            .expect("a ridge above 0");
        let found = embedding.gradient(&objective, None).expect("a factor");
        net.backward(x.view(), found.features.view());
        let now = Optimiser::Adam.step(1e-3, step);
        let (parameters, gradient) = net.update();
        now.update(parameters, gradient, memory.all());
        now.update(&mut log, &[found.log_lambda], of_log.all());
        times.keep(step, clock, features);
    }
    times
}

fn main() {
    let names = [("convolutional", 0), ("cen", 0), ("rows", 2079), ("threads", 2), ("steps", 300)];
    let options = arguments(&names);
    let [convolutional, cen, rows, threads, steps] = options[..] else {
        unreachable!("as many values as names")
    };
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    let start = Initialisation::FanIn;
    let times = if cen == 1 {
        let mut net = dense().draw::<f64>(&start, threads, rng).expect("a network");
        embedded(&mut net, rows, steps, rng)
    } else if convolutional == 1 {
        let params = ConvolutionalParams::default();
        let mut net = params.draw::<f32>(&start, threads, rng).expect("a network");
        given(&mut net, rows, steps, rng)
    } else {
        let mut net = dense().draw::<f32>(&start, threads, rng).expect("a network");
        given(&mut net, rows, steps, rng)
    };
    println!(
        "{{\"convolutional\":{convolutional},\"cen\":{cen},\"rows\":{rows},\"threads\":{threads},\
         \"median_ms\":{:.5},\"best_ms\":{:.5},\"forward_ms\":{:.5}}}",
        1e3 * median(&times.step),
        1e3 * times.step.iter().copied().fold(f64::INFINITY, f64::min),
        1e3 * median(&times.forward),
    );
}
