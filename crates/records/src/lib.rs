//! What a trial leaves on disk: the only types that are written.
//!
//! A [`Key`] holds everything that can change a result; its SHA-256 names the file. A [`Record`]
//! is a key, a [`Result`](TrialResult) (hashed: two records are equal when their results are),
//! and a [`Run`] (timings, memory, host: never compared). A [`Store`] is a directory of records
//! that any number of processes may write at once.
//!
//! It does not know what a dataset, a method or a table is.

mod compare;
mod disk;
mod error;
mod hash;
mod record;
mod store;

pub use compare::{Kind, Likeness, Numbers, compare, distance, numbers, promised};
pub use disk::{Disk, LocalDisk};
pub use error::RecordError;
pub use hash::{canonical, sha256_hex};
pub use record::{
    CurvePoint, Key, OPEN, Predicted, Record, Run, SCHEMA, Status, TrialResult, Tuning, TuningStep,
    shown_variant, stored_variant,
};
pub use store::{Listing, Store};
