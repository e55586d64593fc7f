//! A user's own file, from fit to page: what works, and what is said where it does not.

mod browser;
mod buffer;
mod compare;
mod files;
mod fit;
mod held_out;
mod predict;
mod weights;

use crate::place::Place;
use std::fmt::Write as _;

/// Three kinds of toys by size, weight and colour; the kinds' names need quotes in CSV.
pub(super) fn toys(rows: usize) -> String {
    let mut text = "size,weight,colour,kind\n".to_owned();
    for i in 0..rows {
        let (kind, size, colour) =
            [("\"box, big\"", 5.0, "red"), ("ball", 1.0, "blue"), ("cone", -3.0, "red")][i % 3];
        let wave = |k: usize| ((i * k) as f64 * 0.618).sin();
        let (size, weight) = (size + 0.5 * wave(31), 10.0 + 3.0 * wave(17) + size);
        writeln!(text, "{size:.3},{weight:.3},{colour},{kind}").unwrap();
    }
    text
}

pub(super) fn place_with(files: &[(&str, &str)]) -> Place {
    let place = Place::new();
    for (name, text) in files {
        std::fs::write(place.path(name), text).unwrap();
    }
    place
}

/// Small and quick, but a fit.
pub(super) const QUICK: &str = "--set features=64 --set epochs=5";

/// Two classes of numbers, the second rare: one row in six.
pub(super) fn rare(rows: usize) -> String {
    let mut text = "x,z,kind\n".to_owned();
    for i in 0..rows {
        let wave = |k: usize| ((i * k) as f64 * 0.618).sin();
        let kind = if i % 6 == 0 { "rare" } else { "usual" };
        let x = wave(3) + if i % 6 == 0 { 1.0 } else { 0.0 };
        writeln!(text, "{x:.3},{:.3},{kind}", wave(11)).unwrap();
    }
    text
}
