use crate::table::task_of;
use crate::{Adjustment, Scores};
use mercer_datasets::{DataError, Impute, Preparation, Scaling, Schema};
use mercer_learning::{Convergence, Outline, Settings, Task};
use mercer_records::Tuning;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Major format of a model file. It is raised when an older program could not read it rightly.
pub const MAJOR: u32 = 1;

/// Minor format: raised when something is added that an older program may leave alone.
pub const MINOR: u32 = 1;

/// Where a model's training rows came from.
///
/// ```
/// use mercer_baselines::BASELINES;
/// use mercer_datasets::{RowFile, SchemaOptions};
/// use mercer_workbench::{Choices, Table, fit};
/// let file = RowFile::spooled(&b"x,kind\n-1,a\n1,b\n"[..], "toys", None)?;
/// let table = Table::read(&file, &SchemaOptions::default())?;
/// let model = fit(BASELINES, "majority", &table, &Choices::plain())?;
/// let note = &model.header.data;
/// assert_eq!((note.file.as_str(), note.rows), ("toys", 2));
/// assert_eq!(note.sha256, file.sha256()?); // by which the file can be told from another of its name
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataNote {
    /// Name of the file.
    pub file: String,
    /// Rows trained on.
    pub rows: usize,
    /// SHA-256 of the file's bytes.
    pub sha256: String,
}

/// What the user chose about a fit, beside what was left at its default.
///
/// ```
/// use mercer_baselines::BASELINES;
/// use mercer_datasets::{RowFile, Scaling, SchemaOptions};
/// use mercer_learning::Settings;
/// use mercer_workbench::{Choices, Origin, Table, fit};
/// let text = "x,kind\n-1,a\n-2,a\n1,b\n2,b\n";
/// let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// let table = Table::read(&file, &SchemaOptions::default())?;
/// let choices = Choices { settings: Settings::new().with("lambda", 0.5), ..Choices::plain() };
/// let header = fit(BASELINES, "kernel-ridge", &table, &choices)?.header;
/// let chosen = header.chosen.as_ref().expect("written by this program");
/// assert_eq!((&chosen.given[..], chosen.scaling), (&["lambda".to_owned()][..], Scaling::Standard));
/// assert_eq!(header.origin("lambda"), Some(Origin::Given));
/// assert_eq!(header.origin("std"), Some(Origin::Default));
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chosen {
    /// Settings that the user gave.
    pub given: Vec<String>,
    /// How inputs are scaled.
    pub scaling: Scaling,
    /// What stands in for missing numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impute: Option<Impute>,
    /// The column of the rows' weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<String>,
    /// Weights of classes, as they are typed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class_weight: Option<String>,
}

/// Where the value of a setting comes from.
///
/// ```
/// use mercer_workbench::Origin;
/// assert_eq!(Origin::Tuned.name(), "tuned");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The user.
    Given,
    /// The tuner.
    Tuned,
    /// The method, for data of this shape.
    Default,
}

impl Origin {
    /// Returns its name in a word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Tuned => "tuned",
            Self::Default => "default",
        }
    }
}

/// All of a model but its arrays: the JSON header of a model file.
///
/// ```
/// use mercer_baselines::BASELINES;
/// use mercer_datasets::{RowFile, SchemaOptions};
/// use mercer_workbench::{Choices, Table, fit};
/// let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
/// let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// let table = Table::read(&file, &SchemaOptions::default())?;
/// let model = fit(BASELINES, "kernel-ridge", &table, &Choices::plain())?;
/// let header = &model.header;
/// assert_eq!((header.method.as_str(), header.data.rows), ("kernel-ridge", 8));
/// assert_eq!(header.schema.target.labels, ["a", "b"]);
/// assert!(header.training["accuracy"] > 0.9);
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// [`MAJOR`] and [`MINOR`] of the program that wrote it, as `1.1`.
    pub format: String,
    /// Version of the library that wrote it.
    pub library: String,
    /// Name of the method.
    pub method: String,
    /// Its revision.
    pub revision: u32,
    /// Its settings, complete: those that were left at their defaults too.
    pub settings: Settings,
    /// What the user chose; not in models of format 1.0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<Chosen>,
    /// Root of the random streams of the fit.
    pub seed: u64,
    /// Threads of the fit: sums are taken in another order with another number.
    pub threads: usize,
    /// Rows held at a time, if the file was read in passes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<usize>,
    /// What the columns mean.
    pub schema: Schema,
    /// How rows are filled and scaled.
    pub preparation: Preparation,
    /// Where the training rows came from.
    pub data: DataNote,
    /// Scores on training rows: of the fit, not an estimate for other rows.
    pub training: Scores,
    /// Training rows behind these.
    pub training_rows: usize,
    /// How the fit ended.
    pub convergence: Convergence,
    /// Named numbers that the fit left.
    pub facts: BTreeMap<String, f64>,
    /// What the tuner did, if it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuning: Option<Tuning>,
    /// What stands between its scores and its predictions, if something does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adjustment: Option<Adjustment>,
    /// The predictor, without its arrays.
    pub state: Outline,
}

impl Header {
    /// Returns the task.
    pub const fn task(&self) -> Task {
        task_of(&self.schema)
    }

    /// Returns where the value of a setting comes from, if the file says so.
    ///
    /// ```
    /// # use mercer_baselines::BASELINES;
    /// # use mercer_datasets::{RowFile, SchemaOptions};
    /// # let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
    /// # let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
    /// # let table = Table::read(&file, &SchemaOptions::default())?;
    /// use mercer_workbench::{Budget, Choices, Origin, Table, fit};
    /// let choices = Choices { tune: Some(Budget::Candidates(2)), ..Choices::plain() };
    /// let header = fit(BASELINES, "kernel-ridge", &table, &choices)?.header;
    /// assert_eq!(header.origin("lambda"), Some(Origin::Tuned));
    /// assert_eq!(header.origin("cap"), Some(Origin::Default));
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    pub fn origin(&self, setting: &str) -> Option<Origin> {
        let tuned = |tuning: &Tuning| tuning.chosen.contains_key(setting);
        let chosen = self.chosen.as_ref()?;
        Some(if chosen.given.iter().any(|given| given == setting) {
            Origin::Given
        } else if self.tuning.as_ref().is_some_and(tuned) {
            Origin::Tuned
        } else {
            Origin::Default
        })
    }

    /// Checks that the parts belong together.
    ///
    /// # Errors
    /// What [`Schema::check`] and [`Preparation::check`] find.
    pub(crate) fn check(&self) -> Result<(), DataError> {
        self.schema.check()?;
        self.preparation.check(&self.schema)
    }
}
