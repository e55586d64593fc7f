//! What it takes to make a page again.

use crate::{Choices, Table};
use mercer_learning::{Task, counted};
use mercer_render::Report;

/// Who asked for a page, and when: what a page cannot know by itself.
///
/// ```
/// use mercer_baselines::BASELINES;
/// use mercer_datasets::{RowFile, SchemaOptions};
/// use mercer_workbench::{Provenance, Budget, Choices, Table, method_for, tune, tuning_page};
/// let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
/// let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// let table = Table::read(&file, &SchemaOptions::default())?;
/// let method = method_for(BASELINES, "kernel-ridge", table.task())?;
/// let choices = Choices::plain();
/// let tuning = tune(method, &table, Budget::Candidates(2), &choices)?;
/// let asked = Provenance { command: "mercer tune ...", date: "2026-11-20" };
/// let page = tuning_page(&table, method, &tuning, &choices, asked)?;
/// assert!(page.contains("<dd>mercer tune ...</dd>") && page.contains("<dd>2026-11-20</dd>"));
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Provenance<'a> {
    /// What was typed.
    pub command: &'a str,
    /// The day.
    pub date: &'a str,
}

impl Provenance<'_> {
    /// The first lines of every page's provenance.
    pub(crate) fn begin(self, report: Report) -> Report {
        report
            .provenance("Command", self.command)
            .provenance("Library", env!("CARGO_PKG_VERSION"))
            .provenance("Date", self.date)
    }
}

/// Names of entries that differ by file where several are compared.
pub(crate) const OF_A_FILE: [&str; 8] =
    ["Data", "SHA-256", "Rows", "Columns", "Task", "Target", "Imputed in", "Left out"];

/// What was fitted to, and by which choices: name and value.
pub(crate) fn provenance(table: &Table, choices: &Choices<'_>) -> Vec<(&'static str, String)> {
    let holes: usize = table.holes().iter().map(|(_, rows)| rows).sum();
    let own = table.missing_as_categories();
    let filled = match choices.impute {
        Some(_) if holes == 0 && own.is_empty() => "nothing was missing".to_owned(),
        Some(impute) if holes > 0 => {
            let how = format!("{impute:?}").to_lowercase();
            format!("{}, {how}", counted(holes, "entry", "entries"))
        }
        _ if own.is_empty() => "nothing".to_owned(),
        _ => String::new(),
    };
    let own = own.into_iter().map(|(column, rows)| {
        format!("{column} in {}, a category of its own", counted(rows, "row", "rows"))
    });
    let filled = std::iter::once(filled).filter(|text| !text.is_empty()).chain(own);
    let filled = filled.collect::<Vec<_>>().join("; ");
    let dropped: Vec<&str> = table.schema.dropped.iter().map(|(_, name)| name.as_str()).collect();
    let given: Vec<String> =
        choices.settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let or = |text: String, none: &str| if text.is_empty() { none.to_owned() } else { text };
    let task = match table.task() {
        Task::Classification { classes } => format!("classification, {classes} classes"),
        Task::Regression => "regression".to_owned(),
    };
    let (columns, inputs) = (table.schema.columns.len(), table.schema.width());
    let columns = if columns == inputs {
        columns.to_string()
    } else {
        format!("{columns}, which are {}", counted(inputs, "input", "inputs"))
    };
    let mut lines = vec![
        ("Data", table.name.clone()),
        ("SHA-256", table.sha256.clone()),
        ("Rows", table.rows().to_string()),
        ("Columns", columns),
        ("Task", task),
        ("Target", table.schema.target.name.clone()),
        ("Seed", choices.seed.to_string()),
        ("Threads", choices.threads.to_string()),
        ("Scaling", format!("{:?}", choices.scaling).to_lowercase()),
        ("Imputed in", filled),
        ("Left out", or(dropped.join(", "), "no column")),
        ("Settings given", or(given.join(", "), "none")),
        ("Tuned", if choices.tune.is_some() { "yes" } else { "no" }.to_owned()),
    ];
    let metric = choices.metric.map(|metric| ("Metric", metric.name().to_owned()));
    let by = table.division.as_ref().map(|division| ("Rows held out by", division.named()));
    let calibrated = choices.calibrate.then(|| ("Calibrated", "yes".to_owned()));
    let threshold = choices.threshold.map(|by| ("Threshold by", by.name().to_owned()));
    lines.extend([metric, by, calibrated, threshold].into_iter().flatten());
    let of_rows = table.weights.as_ref().map(|own| ("Weights of rows", own.column.clone()));
    let of_classes = choices.class_weight.as_ref();
    let of_classes = of_classes.map(|own| ("Weights of classes", own.to_string()));
    lines.extend(of_rows.into_iter().chain(of_classes));
    lines
}
