//! What can be typed after `fit`, `predict`, `evaluate`, `compare`, `tune` and `info`.

use clap::Args;
use mercer_learning::{Metric, Task};
use mercer_workbench::DivideBy;
use std::path::PathBuf;

/// A file of rows, and how it is to be understood.
#[derive(Debug, Args)]
pub(crate) struct TableArgs {
    /// CSV, TSV, svmlight, ARFF, JSON lines, Parquet or Arrow, plain or packed (gzip, xz, bzip2, zstd); - is standard input.
    #[arg(long, value_name = "FILE")]
    pub data: PathBuf,
    #[command(flatten)]
    pub columns: ColumnArgs,
}

/// How the lines of a file are to be read.
#[derive(Debug, Default, Args)]
pub(crate) struct FileArgs {
    /// Format, where neither suffix nor beginning tells it: csv, semicolon, tsv, svmlight, parquet.
    #[arg(long, value_enum)]
    pub format: Option<FormatName>,
    /// What stands between the fields of a text: a character, or blanks for any number of blanks and tabs.
    #[arg(long, value_name = "CHAR", value_parser = separator, conflicts_with = "format")]
    pub separator: Option<u8>,
    /// Lines before the table.
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub skip: usize,
    /// Lines of a text that begin so are read over.
    #[arg(long, value_name = "CHAR", value_parser = character)]
    pub comment: Option<u8>,
}

fn metric(text: &str) -> Result<Metric, String> {
    let all = [Task::Classification { classes: 2 }, Task::Regression].map(Metric::of_task).concat();
    let names: Vec<&str> = all.iter().map(|metric| metric.name()).collect();
    let found = all.iter().find(|metric| metric.name() == text).copied();
    found.ok_or_else(|| format!("there are {}", names.join(", ")))
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|own: &f64| *own > 0.0 && own.is_finite());
    seconds.ok_or_else(|| "write a number of seconds above 0".to_owned())
}

/// A number of rows, also as `1e5` or `100_000`.
fn count(text: &str) -> Result<usize, String> {
    let plain = text.replace('_', "");
    let whole = |number: &f64| (0.0..=2f64.powi(53)).contains(number) && number.fract() == 0.0;
    let number = plain.parse().ok().or_else(|| Some(plain.parse().ok().filter(whole)? as usize));
    number.ok_or_else(|| "write a number of rows, such as 100000 or 1e5".to_owned())
}

fn character(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [one] if !one.is_ascii_alphanumeric() && *one != b'"' => Ok(*one),
        _ => Err("it must be one character that is no letter, digit or quote".to_owned()),
    }
}

fn separator(text: &str) -> Result<u8, String> {
    match text {
        "blanks" | " " => Ok(b' '),
        "tab" | "\\t" => Ok(b'\t'),
        other => character(other).map_err(|error| format!("{error}, or tab, or blanks")),
    }
}

/// How the columns of a file are to be understood.
#[derive(Debug, Args)]
pub(crate) struct ColumnArgs {
    #[command(flatten)]
    pub file: FileArgs,
    /// Target column by name, or by number from 1 where there is no header; the last without it.
    #[arg(long, value_name = "COL")]
    pub target: Option<String>,
    /// What the target is; auto takes text and few whole numbers for classes.
    #[arg(long, value_enum, default_value = "auto")]
    pub task: TaskName,
    /// Whether the first row names the columns.
    #[arg(long, value_enum, default_value = "auto")]
    pub header: HeaderName,
    /// Columns to leave out (repeatable, or separated by commas).
    #[arg(long, value_name = "COL")]
    pub drop: Vec<String>,
    /// Columns of numbers that are categories (repeatable, or separated by commas).
    #[arg(long, value_name = "COL")]
    pub categorical: Vec<String>,
    /// How categories become numbers.
    #[arg(long, value_enum, default_value = "one-hot")]
    pub categories: CategoriesName,
    /// Columns of categories in which NA, null, ? and nothing are categories (repeatable, or separated by commas).
    #[arg(long, value_name = "COL")]
    pub keep_na: Vec<String>,
    /// Texts that mean missing, in place of NA, null, ? and the like (separated by commas); nothing always does.
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_hyphen_values = true)]
    pub missing: Option<Vec<String>>,
}

/// What is done to the numbers, and how a method is fitted.
#[derive(Debug, Args)]
pub(crate) struct FitChoices {
    /// A setting of the method in place of its default (repeatable); see `mercer list methods NAME`. In
    /// `compare` METHOD.NAME=VALUE is for one of the methods.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub settings: Vec<String>,
    /// Column of numbers that says how often each row counts in the fit, 0 never, 2 as two rows; it is no feature.
    /// Scores, folds and tuning count each row once. For methods that weigh rows: see `mercer list methods`.
    #[arg(long, value_name = "COL")]
    pub weights: Option<String>,
    /// Weights of classes, which multiply those of their rows. balanced gives every class the same total;
    /// CLASS=NUMBER,CLASS=NUMBER sets them, and a class without a number keeps 1.
    #[arg(long, value_name = "WEIGHTS")]
    pub class_weight: Option<String>,
    /// How inputs are scaled: to mean 0 and deviation 1, to 0..1, to -1..1, by 1/255, or not at all. A kernel matrix
    /// (--set kernel=precomputed) is not scaled.
    #[arg(long, default_value = "standard", value_parser = ["standard", "unit-interval", "symmetric", "bytes", "none"])]
    pub scale: String,
    /// Fill missing numbers with the training rows' mean or median, and missing categories with the most frequent
    /// one; category makes a missing category one of its own, and fills numbers with the mean. Without it they are
    /// refused.
    #[arg(long, value_enum)]
    pub impute: Option<ImputeName>,
    /// Tune the settings first, on the training rows.
    #[arg(long)]
    pub tune: bool,
    /// What settings are tuned and methods ranked by: accuracy, balanced-accuracy, f1, precision, log-loss, brier,
    /// auc; of numbers rmse, mae, r2, mape.
    #[arg(long, value_name = "METRIC", value_parser = metric)]
    pub metric: Option<Metric>,
    /// Learn probabilities from the scores of training rows held out in five folds: Platt's sigmoid of two classes,
    /// a temperature of more.
    #[arg(long)]
    pub calibrate: bool,
    /// Choose the threshold of two classes by accuracy, balanced-accuracy, f1 or precision, on training rows held out.
    #[arg(long, value_name = "METRIC", value_parser = metric)]
    pub threshold: Option<Metric>,
    /// Seconds that the command may take; a fit is stopped at its next step, and nothing is written.
    #[arg(long, value_name = "N", value_parser = seconds)]
    pub max_seconds: Option<f64>,
    /// What tuning may cost: a number of settings (27), or a time (60s, 5m); implies --tune. The fit with
    /// what was chosen comes on top.
    #[arg(long, value_name = "N|TIME")]
    pub budget: Option<String>,
    /// Read the file in passes and hold ROWS of its rows at a time, for files larger than memory.
    /// For methods that train by mini-batches (sk to askl, rf-sgd, rftk), rf-ridge, majority and mean. Tuning sees the
    /// rows of the first buffer. Without --weights, --class-weight, --calibrate, --threshold, --coverage, --importance,
    /// --learning-curve and --impute median.
    #[arg(long, value_name = "ROWS", value_parser = count)]
    pub buffer: Option<usize>,
    /// Root of the random streams.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Threads of a fit, by default one a core, which is also the most. Another number may round sums differently.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
}

/// How rows are divided.
#[derive(Debug, Args)]
pub(crate) struct SplitArgs {
    /// Parts of which each is the test part once [default: 5].
    #[arg(long, value_name = "K", conflicts_with = "holdout")]
    pub folds: Option<usize>,
    /// Hold out this share of the rows instead, such as 0.3.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub holdout: Option<f64>,
    /// How often rows are divided anew [default: 2, or 1 with --holdout, --time and --split-column].
    #[arg(long, value_name = "N")]
    pub repeats: Option<usize>,
    /// Rows with the same value in this column train together or test together; it is no feature.
    #[arg(long, value_name = "COL", conflicts_with_all = ["time", "split_column"])]
    pub groups: Option<String>,
    /// Test rows come after their training rows by this column, numbers or dates as 2026-11-27; it is no feature.
    #[arg(long, value_name = "COL", conflicts_with = "split_column")]
    pub time: Option<String>,
    /// This column says train or test for each row; it is no feature.
    #[arg(long, value_name = "COL", conflicts_with_all = ["folds", "holdout", "repeats"])]
    pub split_column: Option<String>,
    /// Say what each column is worth (the loss where its entries change places among the test rows), and how the prediction
    /// depends on those that are worth most (for --report and --json).
    #[arg(long)]
    pub importance: bool,
    /// Fit to an eighth, a quarter and a half of the training rows too (for --report and --json).
    #[arg(long)]
    pub learning_curve: bool,
}

impl SplitArgs {
    /// The column that divides the rows, if one does.
    pub fn divided(&self) -> Option<DivideBy> {
        let groups = self.groups.clone().map(DivideBy::Groups);
        let time = || self.time.clone().map(DivideBy::Time);
        groups.or_else(time).or_else(|| self.split_column.clone().map(DivideBy::Part))
    }
}

/// A share of the rows.
fn share(text: &str) -> Result<f64, String> {
    let share: Option<f64> = text.parse().ok().filter(|share| *share > 0.0 && *share < 1.0);
    share.ok_or_else(|| "write a share of the rows above 0 and below 1, such as 0.3".to_owned())
}

#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    /// Method; see `mercer list methods`.
    #[arg(long, value_name = "M")]
    pub method: String,
    #[command(flatten)]
    pub table: TableArgs,
    #[command(flatten)]
    pub choices: FitChoices,
    /// Model file to write.
    #[arg(long, value_name = "MODEL", default_value = "model.safetensors")]
    pub out: PathBuf,
    /// Overwrite it.
    #[arg(long)]
    pub force: bool,
    /// Print the model's header as JSON.
    #[arg(long)]
    pub json: bool,
}

/// What stands beside each prediction.
#[derive(Debug, Args)]
pub(crate) struct BesideArgs {
    /// Class probabilities beside the labels, of methods that have them: see `mercer list methods NAME`.
    #[arg(long)]
    pub proba: bool,
    /// How unsure each label is, of the same methods: the entropy of its class probabilities in nats,
    /// from 0, one class has everything, to the logarithm of the number of classes, all are alike.
    /// Conditional mean embeddings also say it by an embedding of its own.
    #[arg(long)]
    pub entropy: bool,
    /// The standard deviation of each number that is predicted, of Gaussian processes.
    #[arg(long)]
    pub deviation: bool,
    #[command(flatten)]
    pub within: WithinArgs,
}

#[derive(Debug, Args)]
pub(crate) struct WithinArgs {
    /// Adds a set of classes, or an interval, to each prediction: of 0.9, nine in ten hold the truth. Their size is
    /// learned from the rows of --calibration (split conformal prediction); a set may be empty.
    #[arg(long, value_name = "SHARE", value_parser = share, requires = "calibration")]
    pub coverage: Option<f64>,
    /// Hold the truth of each class that often, and not of all rows together. A class with too few calibration rows
    /// is in every set.
    #[arg(long, requires = "coverage")]
    pub each_class: bool,
    /// Rows with their target that the model was not fitted to, and that are like those to predict.
    #[arg(long, value_name = "FILE", requires = "coverage")]
    pub calibration: Option<PathBuf>,
}

/// What becomes of a category that the fit did not see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum UnknownName {
    Error,
    Zeros,
    Skip,
}

#[derive(Debug, Args)]
pub(crate) struct PredictArgs {
    /// Model file.
    #[arg(value_name = "MODEL", required_unless_present = "model_flag")]
    pub model: Option<PathBuf>,
    /// The same, by name.
    #[arg(long = "model", value_name = "MODEL", conflicts_with = "model")]
    pub model_flag: Option<PathBuf>,
    /// Rows to predict, with the columns of the training file; the target may be there or not.
    #[arg(long, value_name = "FILE")]
    pub data: PathBuf,
    #[command(flatten)]
    pub file: FileArgs,
    #[command(flatten)]
    pub beside: BesideArgs,
    /// Columns to write before the predictions, by name: an identifier, say.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub keep: Vec<String>,
    /// Columns that the model does not know, to leave out, by name.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub drop: Vec<String>,
    /// A category that the fit did not see: error; zeros, none of those that it saw; skip leaves the row out.
    #[arg(long, value_enum, default_value = "error")]
    pub unknown: UnknownName,
    /// Where predictions go; standard output without it, or where it is -.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Overwrite it.
    #[arg(long)]
    pub force: bool,
    /// JSON instead of CSV.
    #[arg(long)]
    pub json: bool,
    /// Threads; all cores without it, and at most. The predictions do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
}

/// What is decided when a method is fitted, and not when a model is scored.
const OF_A_FIT: [&str; 28] = [
    "method",
    "target",
    "task",
    "header",
    "categorical",
    "categories",
    "keep_na",
    "missing",
    "settings",
    "weights",
    "class_weight",
    "scale",
    "impute",
    "tune",
    "metric",
    "calibrate",
    "threshold",
    "budget",
    "seed",
    "folds",
    "holdout",
    "repeats",
    "importance",
    "learning_curve",
    "coverage",
    "groups",
    "time",
    "split_column",
];

#[derive(Debug, Args)]
pub(crate) struct EvaluateArgs {
    /// Model file to score on all rows of the data; or name a --method to fit. A model is what it is:
    /// with it go no columns, no splits and no settings.
    #[arg(value_name = "MODEL", conflicts_with_all = OF_A_FIT)]
    pub model: Option<PathBuf>,
    /// The same, by name.
    #[arg(long = "model", value_name = "MODEL", conflicts_with = "model", conflicts_with_all = OF_A_FIT)]
    pub model_flag: Option<PathBuf>,
    /// Method to fit on a part of the rows and score on the rest; see `mercer list methods`.
    #[arg(long, value_name = "M")]
    pub method: Option<String>,
    #[command(flatten)]
    pub table: TableArgs,
    #[command(flatten)]
    pub choices: FitChoices,
    #[command(flatten)]
    pub split: SplitArgs,
    /// How often conformal sets hold the truth, in place of the scores: of 0.9, intervals or sets of classes that
    /// should hold nine in ten. A quarter of the training rows calibrates them.
    #[arg(long, value_name = "SHARE", value_parser = share, requires = "method")]
    pub coverage: Option<f64>,
    /// Hold the truth of each class that often, and not of all rows together. A class with too few calibration rows
    /// is in every set.
    #[arg(long, requires = "coverage")]
    pub each_class: bool,
    /// Write a page with scores, curves and calibration, or residuals.
    #[arg(long, value_name = "FILE.html", alias = "out")]
    pub report: Option<PathBuf>,
    /// Overwrite it.
    #[arg(long)]
    pub force: bool,
    /// JSON instead of a table.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Methods, separated by commas; see `mercer list methods`.
    #[arg(long, value_name = "M,M,...", value_delimiter = ',', required = true, alias = "method")]
    pub methods: Vec<String>,
    /// A table as for `fit`, plain or packed; several files (separated by commas, or the
    /// flag repeated) are compared one by one and together.
    #[arg(long, value_name = "FILE", value_delimiter = ',', required = true)]
    pub data: Vec<PathBuf>,
    #[command(flatten)]
    pub columns: ColumnArgs,
    #[command(flatten)]
    pub choices: FitChoices,
    #[command(flatten)]
    pub split: SplitArgs,
    /// Write a page with scores, tests, curves and calibration, or residuals.
    #[arg(long, value_name = "FILE.html", alias = "out")]
    pub report: Option<PathBuf>,
    /// Overwrite it.
    #[arg(long)]
    pub force: bool,
    /// JSON instead of a table.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TuneArgs {
    /// Method; see `mercer list methods`.
    #[arg(long, value_name = "M")]
    pub method: String,
    #[command(flatten)]
    pub table: TableArgs,
    #[command(flatten)]
    pub choices: FitChoices,
    /// Write a page with every candidate.
    #[arg(long, value_name = "FILE.html", alias = "out")]
    pub report: Option<PathBuf>,
    /// Overwrite it.
    #[arg(long)]
    pub force: bool,
    /// All candidates as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    /// Model file.
    pub model: PathBuf,
    /// Check the arrays too, however large they are; up to 64 MiB they always are.
    #[arg(long)]
    pub check: bool,
    /// The header as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum FormatName {
    /// Commas between fields.
    Csv,
    /// Semicolons between fields.
    Semicolon,
    /// Tabs between fields.
    Tsv,
    /// `target column:value ...`.
    Svmlight,
    /// Parquet.
    Parquet,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TaskName {
    /// By looking at the target.
    Auto,
    /// Classes.
    Classification,
    /// Numbers.
    Regression,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum HeaderName {
    /// By looking at the first rows; what is a guess is said.
    Auto,
    /// It does.
    Yes,
    /// It does not.
    No,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum CategoriesName {
    /// One column a category.
    OneHot,
    /// One number.
    Ordinal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ImputeName {
    /// The mean.
    Mean,
    /// The median.
    Median,
    /// A missing category is one of its own; numbers take the mean.
    Category,
}
