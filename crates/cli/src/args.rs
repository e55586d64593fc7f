//! Words in: what can be typed.

use crate::examples::examples;
use crate::own::args::{CompareArgs, EvaluateArgs, FitArgs, InfoArgs, PredictArgs, TuneArgs};
#[cfg(feature = "papers")]
use crate::papers::args::PapersCommand;
use crate::rank::RankArgs;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Fit kernel methods to a table of your own, and re-run four papers on learned kernels.
///
/// Tables go to standard output, messages and progress to standard error.
#[derive(Debug, Parser)]
#[command(
    name = "mercer",
    version,
    propagate_version = true,
    after_help = "Your own table: fit, predict, evaluate, compare, tune, info, bound, rank\n\
        The papers: reproduce, show, why, status, report, results, cluster\n\
        Maintenance: list, data, baseline\n\n\
        Exit status:\n  \
        0    done\n  \
        1    another error\n  \
        2    wrong usage\n  \
        3    a trial, method or check failed, or results differ\n  \
        4    data, or a file to read, is missing\n  \
        130  interrupted"
)]
pub(crate) struct Cli {
    /// Hide progress and all messages but errors.
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Add the methods that FILE describes, programs in any language (repeatable); see the book's chapter on them.
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
    /// Fit a method to a file of your own, and write the model.
    #[command(alias = "train")]
    #[command(after_help = examples!(
        "fit --method kernel-ridge --data book/flowers.csv --impute mean --out garden.model",
        "fit --method svm --data book/flowers.csv --impute mean --budget 9 --out tuned.model",
    ))]
    Fit(FitArgs),
    /// Predict the rows of a file with a model.
    #[command(after_help = examples!(
        "predict garden.model --data book/flowers.csv",
        "predict garden.model --data book/flowers.csv --keep garden --out predicted.csv",
    ))]
    Predict(PredictArgs),
    /// Evaluate a method on held-out rows, or a model on a file.
    ///
    /// Every metric has a 95 % interval, and the table names its kind. Over several splits it is the corrected
    /// resampled t interval of the mean. The latter allows for the choice of training rows.
    ///
    /// With one test part (--holdout, or a model) the interval of the accuracy is Wilson's. The balanced accuracy
    /// joins Wilson's intervals of the classes. Other metrics use a bootstrap of the test rows (Efron's
    /// bias-corrected and accelerated), drawn from --seed. It has 2000 resamples up to 10,000 rows, and 200 from
    /// 100,000 rows on. The model is fixed, so the interval does not cover other training rows.
    #[command(alias = "cv")]
    #[command(after_help = examples!(
        "evaluate --method gaussian-svm --data book/flowers.csv --impute mean --folds 3",
        "evaluate garden.model --data book/flowers.csv",
    ))]
    Evaluate(EvaluateArgs),
    /// Compare several methods on identical splits of a file, or of several.
    ///
    /// Prints mean, standard deviation and 95 % interval of accuracy, rmse or --metric; --report and --json have every
    /// metric. Tests the best mean against each other method by the corrected resampled t-test (Nadeau and Bengio
    /// 2003; of folds drawn once the plain one), with Holm's correction.
    ///
    /// One split (--holdout without --repeats) has no spread, so there is no test. Several files are compared one by
    /// one, then together: rank tests, with one number per file. Exit status 3 if a method failed on a file.
    #[command(after_help = examples!(
        "compare --methods svm,krr,majority --data book/flowers.csv --impute mean",
        "compare --methods svm,krr --data book/flowers.csv --impute mean --report garden.html",
    ))]
    Compare(CompareArgs),
    /// Choose settings for a method on a file.
    ///
    /// Successive halving fits on four fifths of the rows and scores on the rest. Below 1000 rows, each fifth scores
    /// once and the mean counts. The candidates are the method's defaults and random draws from its ranges (`mercer
    /// list methods NAME`: "tuned over"). All are tried at a ninth of the effort, the better third at a third, the best
    /// ninth in full. Few settings or few rows take fewer rungs.
    ///
    /// Pass the printed settings to `fit`, or let `fit --tune` do both at once. These scores chose the settings, so they
    /// are too good. Use `evaluate --tune` for an honest score.
    #[command(after_help = examples!(
        "tune --method kernel-ridge --data book/flowers.csv --impute mean --budget 9",
        "tune --method svm --data book/flowers.csv --impute mean --budget 5s --metric f1",
    ))]
    Tune(TuneArgs),
    /// Rank the methods of a table of scores, and test which ones differ.
    ///
    /// The file has one score a row: dataset, method, score, and repeat if there are several. Rank 1 is the best on a
    /// dataset; ties share the mean of their ranks. The 95 % interval of a mean rank resamples the datasets. With fewer
    /// than ten datasets it is too narrow.
    ///
    /// Friedman's test (Iman and Davenport 1980) tells whether any method differs. Only then Nemenyi's critical
    /// difference forms groups (Demsar 2006). Both tests are at 5 %.
    #[command(after_help = examples!(
        "rank scores.csv",
        "rank scores.csv --diagram ranks.svg",
    ))]
    Rank(RankArgs),
    /// Show what is in a model file.
    #[command(after_help = examples!(
        "info garden.model",
        "info garden.model --json",
    ))]
    Info(InfoArgs),
    /// Evaluate a bound of the papers' theory.
    #[command(after_help = examples!(
        "bound askl-rate trace-norm=3 outputs=4 rows=100",
        "bound rftk-effective-ridge eigenvalues=[1,0.5] features=1",
    ))]
    Bound(BoundArgs),
    /// Reproduce the papers.
    #[cfg(feature = "papers")]
    #[command(flatten)]
    Papers(PapersCommand),
    /// List artefacts, methods, or datasets.
    #[command(after_help = examples!(
        "list methods",
        "list methods kernel-ridge",
    ))]
    List(ListArgs),
    /// Check methods that are programs.
    #[command(after_help = examples!(
        "baseline check methods.toml",
        "baseline check methods.toml --quiet",
    ))]
    #[command(subcommand)]
    Baseline(BaselineCommand),
    /// Find, fetch, import and verify data.
    #[command(after_help = examples!(
        "data list",
        "data verify segment",
    ))]
    Data(DataArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum BaselineCommand {
    /// Check that each method of a file behaves as every method must
    ///
    /// Fits each method to made-up rows and checks that:
    /// - the same seed gives the same answer
    /// - the prediction of a row does not depend on other rows
    /// - one class, one column and equal rows end in a fit or a clear error
    /// - an interrupt ends the fit
    /// - a saved model predicts the same
    /// - predictions beat chance
    ///
    /// Exit status 3 if a method fails a check.
    #[command(verbatim_doc_comment)]
    Check {
        /// Check the methods that this file describes.
        file: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct BoundArgs {
    /// Evaluate this bound. Without a name list all bounds; without inputs list the inputs of the bound.
    pub name: Option<String>,
    /// Set inputs, such as rows=4000 or --rows 4000; they override --model and --from. Lists and tables are
    /// JSON (`gram=[[1,0],[0,1]]`) or a CSV or JSON file of numbers (gram=@FILE).
    #[arg(value_name = "NAME=VALUE")]
    pub inputs: Vec<String>,
    /// Take the inputs that a model file knows: rows, outputs, trace-norm, trace, features, batch, step, steps,
    /// frequencies.
    #[arg(long, value_name = "MODEL")]
    pub model: Option<PathBuf>,
    /// Measure rows, trace, loss, kernel matrix, eigenvalues and points with the model on the rows of FILE. FILE is any
    /// file that `fit` reads, with the columns of the model: its training rows, or others. The measured values replace
    /// what the model knows.
    #[arg(long, value_name = "FILE", requires = "model")]
    pub data: Option<PathBuf>,
    /// Read inputs from a JSON object of numbers, lists and tables; - is standard input.
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// Print JSON instead of text.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Choose what to list.
    #[cfg_attr(feature = "papers", arg(value_enum, default_value = "artefacts"))]
    #[cfg_attr(not(feature = "papers"), arg(value_enum, default_value = "methods"))]
    pub what: Listed,
    /// Show one method: its settings with defaults and meanings, its cost, and whether it has probabilities.
    #[arg(value_name = "METHOD")]
    pub name: Option<String>,
    /// Add the costs of each method: of a fit, of a prediction, and of its memory.
    #[arg(long)]
    pub costs: bool,
    /// Print JSON instead of a table.
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
    /// List the datasets of the catalogue, and where each is found.
    List {
        /// Look in DIR first.
        #[arg(long, value_name = "DIR")]
        data: Option<PathBuf>,
        /// Print JSON instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Download datasets from their official addresses into the user's data directory.
    Fetch {
        /// Fetch these datasets [default: all that are missing].
        names: Vec<String>,
        /// Keep files whose content is not the catalogue's version.
        #[arg(long)]
        accept_version: bool,
    },
    /// Copy the datasets of a directory into the user's data directory, verifying each.
    Import {
        /// Import from this directory, which has a MANIFEST.toml.
        dir: PathBuf,
    },
    /// Load datasets and compare them with the catalogue.
    Verify {
        /// Verify these datasets [default: the whole catalogue].
        names: Vec<String>,
        /// Verify the files in DIR alone.
        #[arg(long, value_name = "DIR")]
        data: Option<PathBuf>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory, Parser};

    /// A help ends with two lines that can be typed; those of one's own table are run elsewhere.
    #[test]
    fn every_help_ends_with_two_examples() {
        let names: Vec<String> =
            Cli::command().get_subcommands().map(|own| own.get_name().to_owned()).collect();
        assert!(names.len() > 15, "{names:?}");
        for name in names.iter().filter(|name| *name != "help") {
            let mut cli = Cli::command();
            let command = cli.find_subcommand_mut(name).expect("it was listed");
            let help = command.render_long_help().to_string();
            let (_, examples) = help.split_once("Examples:\n").expect(name);
            let examples: Vec<&str> = examples.lines().map(str::trim).collect();
            assert_eq!(examples.len(), 2, "{name}: {examples:?}");
            for example in examples {
                let parsed = Cli::try_parse_from(example.split(' '));
                assert!(
                    parsed.is_ok() && example.starts_with(&format!("mercer {name}")),
                    "{example}"
                );
            }
        }
    }
}
