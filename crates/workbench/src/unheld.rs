//! The rows of a table that are not held.

use crate::WorkbenchError;
use mercer_datasets::{RowFile, Widened};
use std::sync::Arc;

/// The rows of a table that stay in their file. Each part of them is read anew: see [`crate::Table::in_passes`].
///
/// ```
/// use mercer_datasets::{RowFile, SchemaOptions};
/// use mercer_workbench::Table;
/// let file = RowFile::spooled(&b"x,kind\n1,a\n2,b\n3,a\n"[..], "toys", None)?;
/// let table = Table::in_passes(file, &SchemaOptions::default(), None, 2)?;
/// assert_eq!((table.rows(), table.raw.nrows(), table.unheld.is_some()), (3, 0, true));
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Unheld {
    file: Arc<RowFile>,
    pub(crate) widened: Widened,
    /// Rows, and numbers, that may be held at a time.
    pub(crate) most: (usize, usize),
}

impl PartialEq for Unheld {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.file, &other.file) && self.most == other.most
    }
}

impl Unheld {
    pub(crate) fn new(
        file: RowFile,
        widened: Widened,
        buffer: usize,
        cells: usize,
    ) -> Result<Self, WorkbenchError> {
        enough(buffer)?;
        Ok(Self { file: Arc::new(file), widened, most: (buffer, cells) })
    }

    pub(crate) fn file(&self) -> &RowFile {
        &self.file
    }
}

pub(crate) fn whole_only(name: &'static str, value: String) -> WorkbenchError {
    let must = "left out where rows are read in passes (--buffer)".to_owned();
    WorkbenchError::Argument { name, value, must }
}

pub(crate) fn enough(buffer: usize) -> Result<(), WorkbenchError> {
    if buffer >= 2 {
        return Ok(());
    }
    let (value, must) = (buffer.to_string(), "at least 2 rows".to_owned());
    Err(WorkbenchError::Argument { name: "buffer", value, must })
}

pub(crate) fn one_class_first(rows: usize) -> WorkbenchError {
    let (value, must) = (rows.to_string(), "so large that its first rows have two classes, or the file shuffled: tuning sees the rows of the first buffer only".to_owned());
    WorkbenchError::Argument { name: "buffer", value, must }
}
