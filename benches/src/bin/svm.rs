//! Solves a support vector classification on a kernel matrix from a file. It times the solution and prints one JSON
//! line: the counterpart of `peers/scikit_learn_svm.py`.
//!
//! `svm FOLDER COST TOLERANCE ROUNDS` reads `FOLDER/gram.f64` (`n × n` numbers, little-endian) and
//! `FOLDER/labels.u8`, and writes `FOLDER/decision.f64`.

use mercer_benches::median;
use mercer_solvers::{Dual, Precomputed, Smo};
use ndarray::Array2;
use std::path::PathBuf;
use std::time::Instant;

#[global_allocator]
static ALLOCATOR: mercer_linalg::LargePages = mercer_linalg::LargePages;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, cost, tolerance, rounds] = &arguments[..] else {
        return Err("svm FOLDER COST TOLERANCE ROUNDS".into());
    };
    let folder = PathBuf::from(folder);
    let (cost, tolerance): (f64, f64) = (cost.parse()?, tolerance.parse()?);
    let labels = std::fs::read(folder.join("labels.u8"))?;
    let n = labels.len();
    let bytes = std::fs::read(folder.join("gram.f64"))?;
    let (numbers, _) = bytes.as_chunks::<8>();
    let gram = Array2::from_shape_vec(
        (n, n),
        numbers.iter().map(|&number| f64::from_le_bytes(number)).collect(),
    )?;
    let signs: Vec<bool> = labels.iter().map(|&label| label == 1).collect();
    let dual = Dual::classification(&signs, cost)?;
    let smo = Smo { tolerance, ..Smo::default() };
    let mut seconds = Vec::new();
    let mut solution = None;
    for _ in 0..rounds.parse::<usize>()? {
        let begun = Instant::now();
        solution = Some(smo.solve(&Precomputed::new(gram.view())?, &dual)?);
        seconds.push(begun.elapsed().as_secs_f64());
    }
    let Some(solution) = solution else { return Err("ROUNDS must be at least 1".into()) };
    let decision = solution.decision(gram.view());
    let written: Vec<u8> = decision.iter().flat_map(|value| value.to_le_bytes()).collect();
    std::fs::write(folder.join("decision.f64"), written)?;
    println!(
        "{{\"n\":{n},\"seconds\":{:.6},\"best\":{:.6},\"objective\":{:.12},\"bias\":{:.12},\"steps\":{},\"support\":{},\"set_aside\":{},\"converged\":{}}}",
        median(&seconds),
        seconds.iter().copied().fold(f64::INFINITY, f64::min),
        solution.objective,
        solution.bias,
        solution.steps,
        solution.support(),
        solution.set_aside,
        solution.converged,
    );
    Ok(())
}
