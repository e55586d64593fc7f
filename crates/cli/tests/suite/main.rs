//! The program as a user meets it: what it prints where, how it ends, and what it leaves on disk.

mod advice;
mod book;
#[path = "../../../render/tests/suite/browser.rs"]
mod browser;
mod cases;
mod cluster;
mod coverage;
mod determinism;
mod estimators;
mod faults;
mod interrupt;
mod outside;
mod own;
mod place;
mod prose;
#[path = "../../../render/tests/suite/protocol.rs"]
mod protocol;
mod rank;
mod reproduce;
mod results;
mod site;
mod usage;
mod words;
