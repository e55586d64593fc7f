use std::path::PathBuf;

/// Why something could not be rendered.
///
/// ```
/// use mercer_render::{Axis, Figure, Panel, Series};
/// let short = Series::line("SGD", [(1.0, 2.0), (2.0, 1.0)]).band([(1.5, 2.5)]);
/// let panel = Panel::new(Axis::linear("epoch"), Axis::linear("loss")).series(short);
/// let refused = Figure::new("demo/band", "Loss").panel(panel).svg().unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     "series \"SGD\": the band has 1 limits for 2 points; give one pair a point"
/// );
/// let refused = Figure::new("demo/empty", "Nothing").svg().unwrap_err();
/// assert!(refused.to_string().starts_with("figure \"demo/empty\" has 0 panels"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// A band whose length is not that of its series.
    #[error(
        "series {series:?}: the band has {band} limits for {points} points; give one pair a point"
    )]
    Band {
        /// Label of the series.
        series: String,
        /// Number of points.
        points: usize,
        /// Number of pairs in the band.
        band: usize,
    },
    /// An axis range that is empty, not finite, or not positive on a logarithmic axis.
    #[error(
        "axis {axis:?}: cannot show the range {low} to {high}; the ends must be finite, different, in ascending order and, on a logarithmic axis, positive"
    )]
    Range {
        /// Label of the axis.
        axis: String,
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// A figure without panels, or with no columns to put them in.
    #[error("figure {id:?} has {panels} panels in {columns} columns; both must be at least 1")]
    Empty {
        /// Its id.
        id: String,
        /// Number of panels.
        panels: usize,
        /// Number of columns.
        columns: usize,
    },
    /// A picture without area, or one that would not fit into memory.
    #[error(
        "a picture of {width} x {height} pixels cannot be drawn; sides must be 1 to 20000, so change the scale"
    )]
    Size {
        /// Width in pixels.
        width: f64,
        /// Height in pixels.
        height: f64,
    },
    /// Ranks that are no ranks, or a critical difference that is none.
    #[error("{what} must be finite and positive, got {value}")]
    Rank {
        /// Which argument.
        what: String,
        /// Its value.
        value: f64,
    },
    /// Two parts of a report with one address.
    #[error("two parts of the report have the address {0:?}; rename one of them")]
    DuplicateId(String),
    /// The drawing library refused.
    #[error("cannot draw: {0}")]
    Drawing(String),
    /// A data frame without a column that records need, or with another type in it.
    #[error("column {column:?} of the record table: {reason}")]
    Column {
        /// Name of the column.
        column: String,
        /// What is wrong.
        reason: String,
    },
    /// A row of a data frame that is no record.
    #[error("row {row} of the record table is not a record: {reason}")]
    Row {
        /// Row, from 0.
        row: usize,
        /// What is wrong.
        reason: String,
    },
    /// The data-frame library refused.
    #[error("cannot {action} the record table: {source}")]
    Frame {
        /// What was tried.
        action: &'static str,
        /// What the library said.
        source: polars_core::error::PolarsError,
    },
    /// The operating system refused.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}
