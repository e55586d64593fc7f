//! What can be typed after `fit`, `predict`, `evaluate`, `compare`, `tune` and `info`.

use clap::Args;
use mercer_datasets::Unknown;
use mercer_learning::{Metric, Task};
use mercer_workbench::DivideBy;
use std::path::PathBuf;

/// A file of rows, and how it is to be understood.
#[derive(Debug, Args)]
pub(crate) struct TableArgs {
    /// Read the table from FILE; - is standard input. Formats: CSV, TSV, svmlight, ARFF, JSON lines, Parquet and Arrow,
    /// plain or compressed (gzip, xz, bzip2, zstd).
    #[arg(long, value_name = "FILE")]
    pub data: PathBuf,
    #[command(flatten)]
    pub columns: ColumnArgs,
}

/// How the lines of a file are to be read.
#[derive(Debug, Default, Args)]
pub(crate) struct FileArgs {
    /// Read the file in this format; ARFF, JSON lines and Arrow need none [default: by its suffix or beginning].
    #[arg(long, value_enum)]
    pub format: Option<FormatName>,
    /// Split the fields of a text at CHAR: one character, tab, semicolon, or blanks for any number of blanks and tabs.
    #[arg(long, value_name = "CHAR", value_parser = separator)]
    pub separator: Option<u8>,
    /// Skip N lines before the table.
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub skip: usize,
    /// Skip lines that begin with this.
    #[arg(long, value_name = "CHAR", value_parser = character)]
    pub comment: Option<u8>,
    /// The sign before the decimals of a number. With a comma, points between thousands are read, too.
    #[arg(long, value_name = "CHAR", value_parser = [",", "."])]
    pub decimal: Option<String>,
}

fn metric(text: &str) -> Result<Metric, String> {
    let all = [Task::Classification { classes: 2 }, Task::Regression].map(Metric::of_task).concat();
    let names: Vec<&str> = all.iter().map(|metric| metric.name()).collect();
    if text == "pinball" {
        return Err(
            "half of mae is the pinball loss of the median; no method predicts other quantiles"
                .to_owned(),
        );
    }
    // The mean recall has a name of its own.
    let text = if text == "recall" { Metric::BalancedAccuracy.name() } else { text };
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
        _ => Err("it must be one ASCII character that is no letter, digit or quote".to_owned()),
    }
}

fn separator(text: &str) -> Result<u8, String> {
    match text {
        "blanks" | " " => Ok(b' '),
        "tab" | "\\t" => Ok(b'\t'),
        "semicolon" => Ok(b';'),
        other => character(other).map_err(|error| format!("{error}, or tab, semicolon or blanks")),
    }
}

/// How the columns of a file are to be understood.
#[derive(Debug, Args)]
pub(crate) struct ColumnArgs {
    #[command(flatten)]
    pub file: FileArgs,
    /// Predict this column: its name, or its number from 1 without a header [default: the last].
    #[arg(long, value_name = "COL")]
    pub target: Option<String>,
    /// Predict classes or numbers; auto takes text and few whole numbers as classes.
    #[arg(long, value_enum, default_value = "auto")]
    pub task: TaskName,
    /// Take this class of two as the positive one: average precision, curves and thresholds are of it [default: the last of
    /// the sorted classes].
    #[arg(long, value_name = "CLASS")]
    pub positive: Option<String>,
    /// Read the first row as column names or as data.
    #[arg(long, value_enum, default_value = "auto")]
    pub header: HeaderName,
    /// Leave out these columns (repeatable, or separated by commas).
    #[arg(long, value_name = "COL")]
    pub drop: Vec<String>,
    /// Read these columns of numbers as categories (repeatable, or separated by commas).
    #[arg(long, value_name = "COL")]
    pub categorical: Vec<String>,
    /// Encode categories as numbers this way.
    #[arg(long, value_enum, default_value = "one-hot")]
    pub categories: CategoriesName,
    /// Read NA, null, ? and empty fields as categories in these columns (repeatable, or separated by commas).
    #[arg(long, value_name = "COL")]
    pub keep_na: Vec<String>,
    /// Read these texts as missing, in place of NA, null, ? and the like (separated by commas). An empty field is always
    /// missing.
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_hyphen_values = true)]
    pub missing: Option<Vec<String>>,
}

/// What is done to the numbers, and how a method is fitted.
#[derive(Debug, Args)]
pub(crate) struct FitChoices {
    /// Set a setting of the method (repeatable); see `mercer list methods NAME`. In `compare`, METHOD.NAME=VALUE sets it
    /// for one method.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub settings: Vec<String>,
    /// Weight rows by this column; 0 drops a row, 2 counts it twice. It is not used as a feature. Scores, folds and tuning
    /// count each row once. Works with methods that weigh rows: see `mercer list methods`.
    #[arg(long, value_name = "COL")]
    pub weights: Option<String>,
    /// Multiply row weights by the weight of the class. balanced gives every class the same total.
    /// CLASS=NUMBER,CLASS=NUMBER sets the weights; a class without a number keeps 1.
    #[arg(long, value_name = "WEIGHTS")]
    pub class_weight: Option<String>,
    /// Scale inputs to mean 0 and standard deviation 1, to 0..1, to -1..1, by 1/255, or not at all. A kernel matrix
    /// (--set kernel=precomputed) is not scaled.
    #[arg(long, default_value = "standard", value_parser = ["standard", "unit-interval", "symmetric", "bytes", "none"])]
    pub scale: String,
    /// Fill missing numbers with the mean or median of the training rows, and missing categories with the most frequent
    /// one. With category, a missing category is a category of its own, and numbers take the mean [default: refuse
    /// missing values].
    #[arg(long, value_enum)]
    pub impute: Option<ImputeName>,
    /// Tune the settings first, on the training rows.
    #[arg(long)]
    pub tune: bool,
    /// Tune settings and rank methods by METRIC. Classes: accuracy, balanced-accuracy (or recall), f1, precision, log-loss,
    /// brier, auc, average-precision; f1, precision and recall are means over the classes. Numbers: rmse, mae, r2, mape.
    /// With --calibrate, log-loss and brier are for ranking; accuracy tunes [default: accuracy or rmse].
    #[arg(long, value_name = "METRIC", value_parser = metric)]
    pub metric: Option<Metric>,
    /// Learn probabilities from the scores of training rows held out in five folds. Two classes use Platt's sigmoid, more
    /// classes a temperature.
    #[arg(long)]
    pub calibrate: bool,
    /// Choose the threshold of two classes on held-out training rows, by accuracy, balanced-accuracy, f1 or precision.
    #[arg(long, value_name = "METRIC", value_parser = metric)]
    pub threshold: Option<Metric>,
    /// Stop fitting N seconds after the start. A model is not written then; in `compare`, methods that are not done have
    /// failed.
    #[arg(long, value_name = "N", value_parser = seconds)]
    pub max_seconds: Option<f64>,
    /// Limit tuning to a number of settings (27) or a time (60s, 5m); implies --tune. The final fit is not counted.
    #[arg(long, value_name = "N|TIME")]
    pub budget: Option<String>,
    /// Read the file in passes, ROWS rows at a time, for files larger than memory. Works with methods that train by
    /// mini-batches (sk to askl, rf-sgd, rftk), rf-ridge, majority and mean. Tuning sees the rows of the first buffer.
    /// Excludes --weights, --class-weight, --calibrate, --threshold, --coverage, --importance, --learning-curve and
    /// --impute median.
    #[arg(long, value_name = "ROWS", value_parser = count)]
    pub buffer: Option<usize>,
    /// Start all random numbers from this seed.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Use N threads, at most one a core [default: all cores]. Another number may round sums differently.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
}

/// The column by which rows are held out.
#[derive(Debug, Args)]
pub(crate) struct ByArgs {
    /// Keep rows with the same value in this column together wherever rows are held out. It is not used as a feature.
    #[arg(long, value_name = "COL", conflicts_with = "time")]
    pub groups: Option<String>,
    /// Hold out rows that come after their training rows by this column, numbers or dates such as 2026-11-27. It is not
    /// used as a feature.
    #[arg(long, value_name = "COL")]
    pub time: Option<String>,
}

impl ByArgs {
    pub fn divided(&self) -> Option<DivideBy> {
        let groups = self.groups.clone().map(DivideBy::Groups);
        groups.or_else(|| self.time.clone().map(DivideBy::Time))
    }
}

/// How rows are divided.
#[derive(Debug, Args)]
pub(crate) struct SplitArgs {
    /// Divide the rows into K parts; each is the test part once [default: 5].
    #[arg(long, value_name = "K", conflicts_with = "holdout")]
    pub folds: Option<usize>,
    /// Hold out this share of the rows instead, such as 0.3.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub holdout: Option<f64>,
    /// Divide the rows N times, shuffled anew [default: 2, or 1 with --holdout, --time and --split-column].
    #[arg(long, value_name = "N")]
    pub repeats: Option<usize>,
    #[command(flatten)]
    pub by: ByArgs,
    /// Divide the rows by this column, which holds train or test. It is not used as a feature.
    #[arg(long, value_name = "COL", conflicts_with_all = ["folds", "holdout", "repeats", "groups", "time"])]
    pub split_column: Option<String>,
    /// Test on the rows of FILE, which has the same columns; all rows of the data train.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["folds", "holdout", "repeats", "groups", "time", "split_column", "buffer"])]
    pub test: Option<PathBuf>,
    /// Handle a category that the fit did not see, in the rows of --test or beside a MODEL: error stops, zeros reads it as
    /// none of the known ones, skip leaves its row out.
    #[arg(long, value_enum, default_value = "error")]
    pub unknown: UnknownName,
    /// Measure the importance of each column: the loss when its entries are permuted among the test rows. Also show how the
    /// prediction depends on the most important columns (for --report and --json).
    #[arg(long)]
    pub importance: bool,
    /// Fit also to an eighth, a quarter and a half of the training rows (for --report and --json).
    #[arg(long)]
    pub learning_curve: bool,
}

impl SplitArgs {
    /// The column that divides the rows, if one does.
    pub fn divided(&self) -> Option<DivideBy> {
        self.by.divided().or_else(|| self.split_column.clone().map(DivideBy::Part))
    }
}

/// A share of the rows.
fn share(text: &str) -> Result<f64, String> {
    let share: Option<f64> = text.parse().ok().filter(|share| *share > 0.0 && *share < 1.0);
    share.ok_or_else(|| "write a share of the rows above 0 and below 1, such as 0.3".to_owned())
}

#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    /// Fit this method; see `mercer list methods`.
    #[arg(long, value_name = "M")]
    pub method: String,
    #[command(flatten)]
    pub table: TableArgs,
    #[command(flatten)]
    pub choices: FitChoices,
    #[command(flatten)]
    pub by: ByArgs,
    /// Write the model to this file.
    #[arg(long, value_name = "MODEL", default_value = "model.safetensors")]
    pub out: PathBuf,
    /// Overwrite the model file.
    #[arg(long)]
    pub force: bool,
    /// Print the model's header as JSON.
    #[arg(long)]
    pub json: bool,
}

/// What stands beside each prediction.
#[expect(clippy::struct_excessive_bools, reason = "flags, each typed by itself")]
#[derive(Debug, Args)]
pub(crate) struct BesideArgs {
    /// Add class probabilities beside the labels, for methods that have them: see `mercer list methods NAME`.
    #[arg(long)]
    pub proba: bool,
    /// Add decision values beside the labels, one for each class; the largest is predicted.
    #[arg(long)]
    pub scores: bool,
    /// Add how unsure each label is, for methods with probabilities: their entropy in nats. It runs from 0 (one class has
    /// all) to the logarithm of the number of classes. The mce methods add an estimate of their own.
    #[arg(long)]
    pub entropy: bool,
    /// Add the standard deviation of each predicted number, for Gaussian processes.
    #[arg(long)]
    pub deviation: bool,
    #[command(flatten)]
    pub within: WithinArgs,
}

#[derive(Debug, Args)]
pub(crate) struct WithinArgs {
    /// Add a set of classes or an interval to each prediction. With 0.9, nine of ten contain the truth. Their size is learned
    /// from the rows of --calibration (split conformal prediction). A model of kernel-ridge for numbers needs no such rows: it
    /// leaves out each row of its fit (jackknife+). A set may be empty.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub coverage: Option<f64>,
    /// Reach the coverage in each class, not only over all rows. A class with too few calibration rows is in every set.
    #[arg(long, requires = "coverage")]
    pub each_class: bool,
    /// Learn the sizes from the rows of FILE, which have a target. They must resemble the rows to predict, and the model
    /// must not have been fitted to them.
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

impl From<UnknownName> for Unknown {
    fn from(name: UnknownName) -> Self {
        match name {
            UnknownName::Error => Self::Error,
            UnknownName::Zeros => Self::Zeros,
            UnknownName::Skip => Self::Skip,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct PredictArgs {
    /// Predict with this model file.
    #[arg(value_name = "MODEL", required_unless_present = "model_flag")]
    pub model: Option<PathBuf>,
    /// Predict with this model file, in place of MODEL.
    #[arg(long = "model", value_name = "MODEL", conflicts_with = "model")]
    pub model_flag: Option<PathBuf>,
    /// Predict the rows of FILE, which has the columns of the training file, with or without the target.
    #[arg(long, value_name = "FILE")]
    pub data: PathBuf,
    #[command(flatten)]
    pub file: FileArgs,
    #[command(flatten)]
    pub beside: BesideArgs,
    /// Write these columns before the predictions, by name, such as an identifier.
    #[arg(long, value_name = "COLUMNS")]
    pub keep: Vec<String>,
    /// Leave out these columns that the model does not know, by name.
    #[arg(long, value_name = "COLUMNS")]
    pub drop: Vec<String>,
    /// Handle a category that the fit did not see: error stops, zeros reads it as none of the known ones, skip leaves its
    /// row out.
    #[arg(long, value_enum, default_value = "error")]
    pub unknown: UnknownName,
    /// Write predictions to FILE; - is standard output [default: standard output].
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Overwrite the output file.
    #[arg(long)]
    pub force: bool,
    /// Print JSON instead of CSV.
    #[arg(long)]
    pub json: bool,
    /// Use N threads, at most one a core [default: all cores]. The predictions do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
}

/// What is decided when a method is fitted, and not when a model is scored.
const OF_A_FIT: [&str; 30] = [
    "method",
    "target",
    "task",
    "header",
    "positive",
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
    "test",
];

#[expect(clippy::struct_excessive_bools, reason = "flags, each typed by itself")]
#[derive(Debug, Args)]
pub(crate) struct EvaluateArgs {
    /// Score this model file on all rows of the data; or name a --method to fit. With a model, options of columns, splits
    /// and settings are refused, but for --drop and --unknown.
    #[arg(value_name = "MODEL", conflicts_with_all = OF_A_FIT)]
    pub model: Option<PathBuf>,
    /// Score this model file, in place of MODEL.
    #[arg(long = "model", value_name = "MODEL", conflicts_with = "model", conflicts_with_all = OF_A_FIT)]
    pub model_flag: Option<PathBuf>,
    /// Fit this method on a part of the rows and score it on the rest; see `mercer list methods`.
    #[arg(long, value_name = "M")]
    pub method: Option<String>,
    #[command(flatten)]
    pub table: TableArgs,
    #[command(flatten)]
    pub choices: FitChoices,
    #[command(flatten)]
    pub split: SplitArgs,
    /// Measure how often conformal sets or intervals contain the truth; scores are not printed then. With 0.9, nine of ten
    /// should. A quarter of the training rows calibrates them.
    #[arg(long, value_name = "SHARE", value_parser = share, requires = "method")]
    pub coverage: Option<f64>,
    /// Reach the coverage in each class, not only over all rows. A class with too few calibration rows is in every set.
    #[arg(long, requires = "coverage")]
    pub each_class: bool,
    /// Leave out each training row by itself in place of the quarter (jackknife+, of numbers by kernel-ridge or gaussian-process).
    #[arg(long, requires = "coverage", conflicts_with = "each_class")]
    pub jackknife: bool,
    /// Write the prediction of each test row to FILE, by fits to other rows, with its line and its target; of several
    /// repeats the first.
    #[arg(long, value_name = "FILE.csv", conflicts_with = "coverage")]
    pub predictions: Option<PathBuf>,
    /// Write a page with scores, curves and calibration, or residuals.
    #[arg(long, value_name = "FILE.html", alias = "out")]
    pub report: Option<PathBuf>,
    /// Overwrite the page, and the predictions.
    #[arg(long)]
    pub force: bool,
    /// Print JSON instead of a table.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Compare these methods, separated by commas; see `mercer list methods`.
    #[arg(long, value_name = "M,M,...", value_delimiter = ',', required = true, alias = "method")]
    pub methods: Vec<String>,
    /// Read the table from FILE, as for `fit`. Several files (separated by commas, or the flag repeated) are compared one by
    /// one and together.
    #[arg(long, value_name = "FILE", required = true)]
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
    /// Overwrite the page.
    #[arg(long)]
    pub force: bool,
    /// Print JSON instead of a table.
    #[arg(long)]
    pub json: bool,
}

impl CompareArgs {
    /// The files; the name of one that is there may hold a comma.
    pub fn files(&self) -> Vec<PathBuf> {
        let of = |path: &PathBuf| match path.to_str() {
            Some(text) if !path.exists() => text.split(',').map(PathBuf::from).collect(),
            _ => vec![path.clone()],
        };
        self.data.iter().flat_map(of).collect()
    }
}

#[derive(Debug, Args)]
pub(crate) struct TuneArgs {
    /// Tune this method; see `mercer list methods`.
    #[arg(long, value_name = "M")]
    pub method: String,
    #[command(flatten)]
    pub table: TableArgs,
    #[command(flatten)]
    pub choices: FitChoices,
    #[command(flatten)]
    pub by: ByArgs,
    /// Write a page with every candidate.
    #[arg(long, value_name = "FILE.html", alias = "out")]
    pub report: Option<PathBuf>,
    /// Overwrite the page.
    #[arg(long)]
    pub force: bool,
    /// Print all candidates as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    /// Describe this model file.
    pub model: PathBuf,
    /// Check the arrays too, however large; up to 64 MiB they are always checked.
    #[arg(long)]
    pub check: bool,
    /// Print the header as JSON.
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
    /// Decide by the target.
    Auto,
    /// Classes.
    Classification,
    /// Numbers.
    Regression,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum HeaderName {
    /// Decide by the first rows; prints a note when it guesses.
    Auto,
    /// Column names.
    Yes,
    /// Data.
    No,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum CategoriesName {
    /// One column for each category.
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
    /// A missing category is a category of its own; numbers take the mean.
    Category,
}
