//! Words in: what can be typed.

use crate::own::args::{CompareArgs, EvaluateArgs, FitArgs, InfoArgs, PredictArgs, TuneArgs};
#[cfg(feature = "papers")]
use crate::papers::args::PapersCommand;
use crate::rank::RankArgs;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Fits kernel methods to a table of your own, and re-runs four papers on learned kernels.
///
/// Tables go to standard output, messages and progress to standard error. Exit status: 0 all that
/// was asked was done; 1 another error; 2 wrong usage; 3 some trials failed; 4 data, or a file that is to
/// be read, is missing; 130 interrupted.
#[derive(Debug, Parser)]
#[command(
    name = "mercer",
    version,
    propagate_version = true,
    after_help = "Your own table: fit, predict, evaluate, compare, tune, info, bound, rank\n\
        The papers: reproduce, show, why, status, report, results, cluster\n\
        Both: list, data"
)]
pub(crate) struct Cli {
    /// No progress and no messages but errors.
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// A file that describes methods which are programs of any language (repeatable); see the book's chapter on them.
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "MERCER_METHODS_FROM",
        value_delimiter = ':'
    )]
    pub methods_from: Vec<PathBuf>,
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What `mercer` alone says, as the program was called.
pub(crate) fn welcome(program: &str) -> String {
    // Without the records a whole reproduction is hours, and wants data that are not in the binary.
    let first = if std::path::Path::new("reports/records").is_dir() {
        "reproduce --minutes 2           every table and figure, and whether its numbers come out again"
    } else {
        "reproduce mce/table1 --minutes 2           a table of a paper, built from what is run here"
    };
    let cell = "askl/table2:tuned:askl:segment";
    let second = if std::path::Path::new("reports/records").is_dir() {
        format!("show {cell}      one number: repeats, settings, verdict")
    } else {
        "list methods           the methods, and what each is for".to_owned()
    };
    format!(
        "mercer fits kernel methods to a table of numbers, and re-runs four papers on learned kernels.\n\n\
         Try first:\n  \
         {program} {first}\n  \
         {program} {second}\n  \
         {program} compare --methods gaussian-svm,kernel-ridge --data FILE.csv      methods on a table of your own, with tests\n\n\
         {program} --help lists every command.\n"
    )
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Fit a method to a file of your own, and keep the model.
    #[command(alias = "train")]
    Fit(FitArgs),
    /// Predict the rows of a file by a model.
    Predict(PredictArgs),
    /// Say how well a method does on rows that it has not seen, or a model on the rows of a file.
    ///
    /// Every metric has a 95 % interval, and the table says which. Over several splits: the corrected
    /// resampled t of the mean, which counts what the choice of training rows does. On one test part
    /// (--holdout, or a model): Wilson's for the accuracy, the same joined over the classes for the
    /// balanced accuracy, and Efron's bias-corrected and accelerated bootstrap of the test rows for every
    /// other one, with 2000 resamples up to 10,000 rows (200 from 100,000 on) that begin at --seed; the
    /// model is held fixed there, so that they say nothing of other training rows.
    #[command(alias = "cv")]
    Evaluate(EvaluateArgs),
    /// Compare several methods on identical splits of a file, or of several.
    ///
    /// Prints mean, deviation and 95 % interval of accuracy or rmse (--report and --json: of every metric),
    /// and the best mean against each other method: the corrected resampled t-test over the splits (Nadeau
    /// and Bengio 2003), with Holm over the pairs. One split (--holdout without --repeats) has no spread and
    /// so no test. Several files are compared one by one and together: one number a file, and rank tests
    /// over the files. Exit status 3 if a method failed on a file.
    Compare(CompareArgs),
    /// Choose settings for a method on a file.
    ///
    /// Successive halving on four fifths of the rows, scored on the rest; of fewer than 1000 rows every fifth
    /// scores in turn, in the mean. The method's defaults and draws from its ranges (`mercer list methods
    /// NAME`: "tuned over") are tried at a ninth of the effort, the better third at a third, the best ninth in
    /// full; few settings, or few rows, take fewer rungs. What it prints as
    /// chosen is what `fit` takes; `fit --tune` does both at once. The scores here are of what was chosen by
    /// them: `evaluate --tune` says how good a tuned method is.
    Tune(TuneArgs),
    /// Rank the methods of a table of scores, and say which of them the tests do not tell apart.
    ///
    /// The file has one score a row: dataset, method, score, and repeat where a score is one of several. Ranks
    /// count from 1, the best, on each dataset; ties share the mean of their places. The 95 % interval of a mean
    /// rank resamples the datasets: of fewer than ten it is too narrow. Friedman's test (Iman and Davenport 1980)
    /// says whether any method differs, and only then Nemenyi's critical difference parts groups (Demsar 2006),
    /// both at 5 %.
    Rank(RankArgs),
    /// Say what is in a model file.
    Info(InfoArgs),
    /// Evaluate a bound of the papers' theory.
    Bound(BoundArgs),
    /// Reproduce the papers.
    #[cfg(feature = "papers")]
    #[command(flatten)]
    Papers(PapersCommand),
    /// List artefacts, methods, or datasets.
    List(ListArgs),
    /// Check methods that are programs.
    #[command(subcommand)]
    Baseline(BaselineCommand),
    /// Find, fetch, import and verify data.
    Data(DataArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum BaselineCommand {
    /// Fit each method of a file to toy rows, and say whether it keeps what every method keeps: same seed, same
    /// answer; a row's prediction, whatever its company; one class, one column and equal rows end in a fit or a
    /// clear error; an interrupt ends it; a kept model predicts the same; it beats chance.
    Check {
        /// The file.
        file: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct BoundArgs {
    /// Which bound; lists them all without one, and its inputs without inputs.
    pub name: Option<String>,
    /// Inputs, such as rows=4000 or --rows 4000; they override those of --model and --from. Lists and
    /// tables as JSON (`gram=[[1,0],[0,1]]`) or from a CSV or JSON file of numbers (gram=@FILE).
    #[arg(value_name = "NAME=VALUE")]
    pub inputs: Vec<String>,
    /// Take what a model file knows: rows, outputs, trace-norm, trace, features, batch, step, steps,
    /// frequencies.
    #[arg(long, value_name = "MODEL")]
    pub model: Option<PathBuf>,
    /// Measure rows, trace, loss, kernel matrix, eigenvalues and points on these rows with the model, in
    /// place of what it knows: its
    /// training rows, or others. Any file that `fit` reads, with the columns of the model.
    #[arg(long, value_name = "FILE", requires = "model")]
    pub data: Option<PathBuf>,
    /// Take inputs from a JSON object of numbers, lists and tables; - is standard input.
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// JSON instead of text.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// What to list.
    #[cfg_attr(feature = "papers", arg(value_enum, default_value = "artefacts"))]
    #[cfg_attr(not(feature = "papers"), arg(value_enum, default_value = "methods"))]
    pub what: Listed,
    /// One method: its settings with defaults and meanings, whether it has probabilities, its cost.
    #[arg(value_name = "METHOD")]
    pub name: Option<String>,
    /// JSON instead of a table.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Listed {
    /// Tables and figures.
    #[cfg(feature = "papers")]
    Artefacts,
    /// Learners and baselines.
    Methods,
    /// The catalogue, and where each dataset is found.
    Datasets,
}

#[derive(Debug, Args)]
pub(crate) struct DataArgs {
    #[command(subcommand)]
    pub command: DataCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DataCommand {
    /// Where each dataset of the catalogue is found.
    List {
        /// Data directory.
        #[arg(long, value_name = "DIR")]
        data: Option<PathBuf>,
        /// JSON instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Download datasets from their official addresses into the user's data directory.
    Fetch {
        /// Datasets; all that are missing without one.
        names: Vec<String>,
        /// Keep files whose content is not the catalogue's version.
        #[arg(long)]
        accept_version: bool,
    },
    /// Copy the datasets of a directory into the user's data directory, verifying each.
    Import {
        /// A directory with a MANIFEST.toml.
        dir: PathBuf,
    },
    /// Load datasets and compare them with the catalogue.
    Verify {
        /// Datasets; all that are found without one.
        names: Vec<String>,
        /// Data directory.
        #[arg(long, value_name = "DIR")]
        data: Option<PathBuf>,
    },
}
