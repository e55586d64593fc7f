//! `mercer`: words in, words out; no algorithm.

/// In place of the standard one, which panics where standard error is closed.
macro_rules! eprintln {
    ($($told:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($told)*);
    }};
}

mod args;
mod baseline;
mod bound;
mod columns;
mod data;
mod examples;
mod list;
mod notes;
mod own;
#[cfg(feature = "papers")]
mod papers;
mod rank;
mod settings;

use args::{BaselineCommand, Cli, Command, welcome};
use clap::Parser;
use clap::error::{ContextKind, ContextValue};
use mercer_datasets::DataError;
use mercer_harness::{HarnessError, MeteredAllocator};
use mercer_learning::{LearningError, one_line};
use mercer_workbench::WorkbenchError;
use notes::Notes;
use std::process::ExitCode;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::fmt::format;

/// Counts bytes by thread, so that a trial's memory is known and can be limited.
#[global_allocator]
static ALLOCATOR: MeteredAllocator = MeteredAllocator;

/// How a command ended, when it was no error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// All that was asked was done.
    Done,
    /// Some trials failed, or two directories differ.
    Failed,
    /// Data is missing.
    NoData,
    /// Ctrl-C.
    #[cfg(feature = "papers")]
    Interrupted,
}

impl From<Ended> for ExitCode {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Done => Self::SUCCESS,
            Ended::Failed => Self::from(3),
            Ended::NoData => Self::from(4),
            #[cfg(feature = "papers")]
            Ended::Interrupted => Self::from(130),
        }
    }
}

/// The program as it was called, for commands to copy.
pub(crate) fn program() -> String {
    let called = std::env::args_os().next().unwrap_or_default();
    let called = called.to_string_lossy();
    if called.contains('/') { called.into_owned() } else { "mercer".to_owned() }
}

fn main() -> ExitCode {
    let cli = parsed();
    speak(if cli.quiet { "error" } else { "info" });
    let Some(command) = cli.command else {
        print!("{}", welcome(&program()));
        return ExitCode::SUCCESS;
    };
    for file in &cli.methods_from {
        if let Err(error) = mercer_methods::name(file) {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    }
    if matches!(
        command,
        Command::Fit(_)
            | Command::Predict(_)
            | Command::Evaluate(_)
            | Command::Compare(_)
            | Command::Tune(_)
    ) {
        Notes::hold();
    }
    let code = match carry_out(command, cli.quiet) {
        Ok(ended) => ended.into(),
        Err(error) if broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", told(&error));
            ExitCode::from(status(&error))
        }
    };
    Notes::release();
    code
}

/// The command line; the program ends where it is none, or asks for help.
fn parsed() -> Cli {
    let words = bound::without_flags(std::env::args_os());
    Cli::try_parse_from(words).unwrap_or_else(|error| {
        if let Some(method) = method_for_command(&error) {
            let program = program();
            eprintln!(
                "error: `{method}` is a method, not a command: {program} fit --method {method} --data FILE"
            );
            std::process::exit(2);
        }
        error.exit()
    })
}

/// Has what is said from here on written to standard error, from this level on.
fn speak(level: &str) {
    // What is said cites names of files, columns and classes, which may hold ends of lines.
    let in_a_line = format::debug_fn(|writer, field, value| {
        let text = format!("{value:?}");
        let text = one_line(&text);
        match field.name() {
            "message" => write!(writer, "{text}"),
            name => write!(writer, "{name}={text}"),
        }
    });
    tracing_subscriber::fmt()
        .fmt_fields(in_a_line.delimited(" "))
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_env("MERCER_LOG")
                .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new(level)),
        )
        .with_writer(|| Notes)
        // It would say on standard error that standard error is closed.
        .log_internal_errors(false)
        .without_time()
        .with_target(false)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .init();
}

/// Does what was asked.
fn carry_out(command: Command, quiet: bool) -> anyhow::Result<Ended> {
    match command {
        #[cfg(feature = "papers")]
        Command::Papers(command) => papers::run(&command, quiet),
        Command::List(args) => list::run(&args),
        Command::Data(args) => data::run(&args, quiet),
        Command::Bound(args) => bound::run(&args),
        Command::Fit(args) => own::fit(&args, quiet),
        Command::Predict(args) => own::predict(args),
        Command::Evaluate(args) => own::evaluate(&args, quiet),
        Command::Compare(args) => own::compare(&args, quiet),
        Command::Tune(args) => own::tune(&args, quiet),
        Command::Rank(args) => rank::run(&args),
        Command::Info(args) => own::info(&args),
        Command::Baseline(BaselineCommand::Check { file }) => baseline::check(&file),
    }
}

/// The method whose name was typed in place of a command.
fn method_for_command(error: &clap::Error) -> Option<String> {
    let ContextValue::String(word) = error.get(ContextKind::InvalidSubcommand)? else {
        return None;
    };
    let name = own::full_name(word);
    mercer_methods::all().iter().any(|method| method.name == name).then_some(name)
}

/// The error and its causes, each once: many tell their cause themselves.
fn told(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    // Files are named where they are opened; what is left is written to one place.
    let bare = error.downcast_ref::<std::io::Error>().is_some() && error.chain().count() == 1;
    if bare || error.downcast_ref::<serde_json::Error>().is_some_and(serde_json::Error::is_io) {
        text = format!("standard output: {text}");
    }
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    // A question ends a sentence.
    text.replace("`?; ", "`? ").replace("`? there are", "`? There are")
}

/// Whoever read our output has seen enough.
fn broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let kind = match cause.downcast_ref::<serde_json::Error>() {
            Some(error) => error.io_error_kind(),
            None => cause.downcast_ref::<std::io::Error>().map(std::io::Error::kind),
        };
        kind == Some(std::io::ErrorKind::BrokenPipe)
    })
}

/// The exit status of an error, see the help of [`Cli`].
fn status(error: &anyhow::Error) -> u8 {
    let gone = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
    let no_file = |error: &DataError| matches!(error, DataError::Io { source, .. } if gone(source));
    match error.downcast_ref::<WorkbenchError>() {
        Some(error) if error.is_usage() => return 2,
        Some(
            WorkbenchError::Learning(LearningError::Interrupted)
            | WorkbenchError::Harness(HarnessError::Learning(LearningError::Interrupted)),
        ) => return 130,
        Some(WorkbenchError::Io { source, .. }) if gone(source) => return 4,
        Some(WorkbenchError::Data(error)) if no_file(error) => return 4,
        _ => {}
    }
    if error.downcast_ref::<DataError>().is_some_and(no_file) {
        return 4;
    }
    if wrong_usage(error) { 2 } else { 1 }
}

/// A name that does not exist is the user's slip, not a fault.
fn wrong_usage(error: &anyhow::Error) -> bool {
    #[cfg(feature = "papers")]
    if papers::wrong_usage(error) {
        return true;
    }
    error.chain().any(|cause| {
        matches!(cause.downcast_ref(), Some(DataError::Unknown { .. } | DataError::Argument { .. }))
            || cause.downcast_ref::<HarnessError>().is_some_and(unknown_name)
            || cause.is::<mercer_theory::TheoryError>()
            || cause.is::<std::num::ParseFloatError>()
    })
}

/// Whether the harness was asked for something by a name that does not exist.
fn unknown_name(error: &HarnessError) -> bool {
    match error {
        HarnessError::Unknown { .. } => true,
        HarnessError::Learning(error) => matches!(error, LearningError::UnknownMethod { .. }),
        HarnessError::Data(error) => {
            matches!(**error, DataError::Unknown { .. } | DataError::Argument { .. })
        }
        _ => false,
    }
}
