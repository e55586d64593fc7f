//! Tables, figures, reports and frames from outside, in one program: linking is the slow part.

mod browser;
mod figures;
mod frames;
mod protocol;
mod report;
#[path = "../../examples/gallery/sample.rs"]
mod sample;
mod tables;
