//! Tables whose inputs are a kernel matrix (`kernel=precomputed`).

use crate::{Table, WorkbenchError};
use mercer_datasets::Scaling;
use mercer_learning::{Settings, counted, one_line};

/// Returns the scaling of inputs, where `asked` is the scaling asked for. Values of a kernel (`kernel=precomputed`) are
/// not scaled.
///
/// ```
/// use mercer_datasets::Scaling;
/// use mercer_learning::Settings;
/// use mercer_workbench::scaling_of;
/// let matrix = Settings::new().with("kernel", "precomputed");
/// assert_eq!(scaling_of(&matrix, Scaling::Standard), Scaling::None);
/// assert_eq!(scaling_of(&Settings::new(), Scaling::Standard), Scaling::Standard);
/// ```
pub fn scaling_of(settings: &Settings, asked: Scaling) -> Scaling {
    if of_matrix(settings) { Scaling::None } else { asked }
}

/// Whether the inputs are said to be a kernel matrix.
pub(crate) fn of_matrix(settings: &Settings) -> bool {
    let of_kernel = |name: &str| name == "kernel" || name.ends_with(".kernel");
    settings.iter().any(|(name, value)| of_kernel(name) && value == "precomputed")
}

/// Refuses a kernel matrix with holes: no number can stand for the kernel of two rows.
pub(crate) fn require_whole(table: &Table, settings: &Settings) -> Result<(), WorkbenchError> {
    let holes = table.holes();
    let Some((column, rows)) = holes.first().filter(|_| of_matrix(settings)) else {
        return Ok(());
    };
    let rows = counted(*rows, "row", "rows");
    let more = match holes.len() - 1 {
        0 => String::new(),
        more => format!(" (and {})", counted(more, "more column", "more columns")),
    };
    Err(WorkbenchError::Argument {
        name: "kernel",
        value: format!(
            "precomputed, and column `{}` has no value in {rows}{more}",
            one_line(column)
        ),
        must: "a matrix without holes: remove each such row and its column".to_owned(),
    })
}
