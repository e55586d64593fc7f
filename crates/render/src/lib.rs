//! Records to tables, figures and the HTML report: building blocks.
//!
//! - [`Table`]: rows of cells, written as LaTeX, Markdown, CSV or HTML.
//! - [`Figure`]: panels of series over two axes, as SVG or CSV; [`Diagram`]: boxes, arrows and
//!   lines for what is no plot; [`critical_difference`] draws mean ranks.
//! - [`Report`]: sections of these on one self-contained page, sortable, light and dark; [`site`]: several as pages
//!   with one header. [`Bars`]: how many of each class, for a page or as SVG.
//! - [`frame`]: records to and from Parquet.
//!
//! It knows no caption, no paper and no dataset: the experiments bring them.

mod axis;
mod bars;
mod canvas;
mod condense;
mod diagram;
mod error;
mod escape;
mod figure;
pub mod frame;
mod plot;
mod ranks;
mod raster;
mod report;
mod table;
mod whole;

pub use axis::{Axis, Scale};
pub use bars::{Bar, Bars};
pub use diagram::{Diagram, Shape};
pub use error::RenderError;
pub use figure::{Figure, Legend, Mark, Panel, Series, Style};
pub use ranks::{MeanRanks, critical_difference, critical_differences};
pub use raster::{Raster, blend, shade};
pub use report::{Block, Finding, Link, Report, Section, search_index, site};
pub use table::{
    Align, Badge, Cell, Column, Drawer, Estimate, EstimatePair, Kind, Row, Table, number,
    probability,
};
pub use whole::replace;
