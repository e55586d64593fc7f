//! From a file or a generator to a sample.
//!
//! A [`Library`] finds the datasets of the [`Catalogue`] in folders with a `MANIFEST.toml` or in the
//! binary, reads them and holds each against the catalogue: rows, columns, class counts, [`fingerprint`]. The
//! parsers ([`svmlight`], [`Table::read`], [`idx`]) also serve files that no catalogue knows.
//! [`Scaler`] and [`random_split`] and their kin prepare a sample for training.
//!
//! | symbol | code | meaning | shape |
//! |---|---|---|---|
//! | `X` | `inputs` | one row per point | `n × d` |
//! | `y` | `targets` | class names or numbers as in the file; class indices in a sample | `n` |
//!
//! It knows neither the use of a sample nor any method.

mod calendar;
mod catalogue;
mod compression;
mod dataset;
mod download;
mod embedded;
mod error;
mod fingerprint;
mod generate;
mod hole;
pub mod idx;
mod library;
mod manifest;
mod number;
mod official;
mod pages;
mod preparation;
mod quiet;
mod rows;
mod scaling;
mod schema;
mod shell;
mod source;
mod split;
mod store;
mod strict;
pub mod svmlight;
mod table;

pub use calendar::iso_day;
pub use catalogue::{Catalogue, Entry, PartSizes};
pub use compression::decompress;
pub use dataset::{Dataset, Kind, Parts};
pub use download::Downloader;
pub use error::DataError;
pub use fingerprint::fingerprint;
pub use generate::{Generator, checkerboard, stand_in, two_gaussians};
pub use library::{DATA_VARIABLE, Library, Place, user_folder};
pub use manifest::{Content, ListedFile, Listing, MANIFEST, Manifest, Role};
pub use preparation::{Impute, Imputed, Imputer, Moments, Preparation, Preparing, TargetStandard};
pub use rows::{Field, Fields, Row, RowFile, RowFormat, Rows};
pub use scaling::{Scaler, Scaling, TargetScaler};
pub use schema::{
    Categories, Header, Holds, InputColumn, Numbering, ReadRow, Reading, Schema, SchemaOptions,
    TargetColumnKept, Truth, Truths, Unknown, Widened, survey,
};
pub use shell::shell_word;
pub use source::{Layout, Source, SourceFile, TargetColumn};
pub use split::{Split, k_folds, random_split, stratified_split, subsample};
pub use store::Store;
pub use strict::TableOptions;
pub use svmlight::Base;
pub use table::{Column, Limits, Table};
