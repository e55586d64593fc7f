//! Promises of the harness whatever the methods. They say who sees which rows, what a plan leaves on disk in which
//! order of events, and what stops a trial.

mod bench;
mod cluster;
mod cost;
mod doubles;
mod limits;
mod order;
mod planning;
mod resume;
mod script;
mod splits;
mod tuning;

use mercer_harness::MeteredAllocator;

#[global_allocator]
static ALLOCATOR: MeteredAllocator = MeteredAllocator;
