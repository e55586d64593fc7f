//! Starts programs, waits within the limits of a fit, and ends them. It also ends all that they started.

use crate::declaration::{Declared, Mode};
use mercer_learning::{LearningError, Limits};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Drives estimators with the interface of scikit-learn.
const ADAPTER: &str = include_str!("worker.py");
/// How often the limits are asked.
const PAUSE: Duration = Duration::from_millis(20);
/// Letters of standard error that a message quotes.
const QUOTED: usize = 600;

/// How a method's program is run.
pub(crate) struct Programs {
    command: Vec<String>,
    /// Where it is run: the folder of the file that describes it.
    place: PathBuf,
    mode: Mode,
    /// `module:Class` for each task, where the program is the adapter.
    estimators: [Option<String>; 2],
    idle: Mutex<Vec<Worker>>,
}

/// What ends a program that still runs.
pub(crate) enum Until<'a> {
    /// The limits of a fit.
    Limits(&'a dyn Limits),
    /// Seconds.
    Seconds(f64),
}

impl Programs {
    pub(crate) fn new(declared: &Declared, place: &Path) -> Self {
        let adapter = declared.command.is_empty();
        Self {
            command: declared.command.clone(),
            place: place.to_owned(),
            mode: if adapter { Mode::Worker } else { declared.mode },
            estimators: [declared.classifier.clone(), declared.regressor.clone()],
            idle: Mutex::default(),
        }
    }

    pub(crate) fn estimator(&self, classes: bool) -> Option<&str> {
        self.estimators[usize::from(!classes)].as_deref()
    }

    /// Has the program answer the request in a folder.
    pub(crate) fn run(
        &self,
        folder: &Path,
        threads: usize,
        until: &Until<'_>,
    ) -> Result<(), LearningError> {
        match self.mode {
            Mode::Once => self.once(folder, threads, until),
            Mode::Worker => self.ask(folder, threads, until),
        }
    }

    fn command(&self, threads: usize) -> Result<Command, LearningError> {
        let mut parts = self.command.iter();
        let mut command = if let Some(program) = parts.next() {
            // One in the folder of the file is meant before one of the system. Links stay: a Python knows its packages
            // by where it was called.
            let own = std::path::absolute(self.place.join(program));
            let own = own.ok().filter(|own| own.is_file());
            Command::new(own.unwrap_or_else(|| PathBuf::from(program)))
        } else {
            let python = std::env::var_os("MERCER_PYTHON").unwrap_or_else(|| "python3".into());
            let mut command = Command::new(python);
            command.arg(adapter()?);
            command
        };
        command.args(parts).current_dir(&self.place).process_group(0);
        for name in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"] {
            command.env(name, threads.to_string());
        }
        Ok(command)
    }

    fn start(&self, command: &mut Command) -> Result<Running, LearningError> {
        if !self.place.is_dir() {
            return Err(failed(format!(
                "the folder of its file is gone: {}",
                self.place.display()
            )));
        }
        let child = command.stderr(Stdio::piped()).spawn().map_err(|error| {
            let program = command.get_program().to_string_lossy().into_owned();
            failed(if error.kind() == std::io::ErrorKind::NotFound {
                format!("there is no program `{program}`{}", self.remedy())
            } else {
                format!("`{program}` cannot be started: {error}")
            })
        })?;
        Ok(Running::of(child))
    }

    fn remedy(&self) -> &'static str {
        if self.command.is_empty() {
            "; install Python, or name one by MERCER_PYTHON"
        } else {
            "; install it, or change `command`"
        }
    }

    fn once(&self, folder: &Path, threads: usize, until: &Until<'_>) -> Result<(), LearningError> {
        let mut command = self.command(threads)?;
        command.arg(folder).stdin(Stdio::null()).stdout(Stdio::null());
        let mut running = self.start(&mut command)?;
        let watch = Watch::of(until);
        loop {
            match running.child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => {
                    return Err(failed(format!("{status}{}", running.said())));
                }
                Ok(None) => watch.check(running.child.id())?,
                Err(error) => return Err(failed(error.to_string())),
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Asks a program that stays.
    fn ask(&self, folder: &Path, threads: usize, until: &Until<'_>) -> Result<(), LearningError> {
        let idle = held(&self.idle).extract_if(.., |worker| worker.threads == threads).next();
        let mut worker = match idle {
            Some(worker) => worker,
            None => self.worker(threads)?,
        };
        let answer = worker.ask(folder, &Watch::of(until))?;
        held(&self.idle).push(worker);
        match answer.get("error").and_then(Value::as_str) {
            Some(error) => Err(failed(error.to_owned())),
            None => Ok(()),
        }
    }

    fn worker(&self, threads: usize) -> Result<Worker, LearningError> {
        let mut command = self.command(threads)?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut running = self.start(&mut command)?;
        let (Some(input), Some(output)) = (running.child.stdin.take(), running.child.stdout.take())
        else {
            return Err(failed("its standard input and output are not to be had".to_owned()));
        };
        let (tell, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if tell.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Worker { running, input, lines, threads })
    }
}

/// A program that stays.
struct Worker {
    running: Running,
    input: ChildStdin,
    lines: Receiver<String>,
    threads: usize,
}

impl Worker {
    fn ask(&mut self, folder: &Path, watch: &Watch<'_>) -> Result<Value, LearningError> {
        let request = json!({ "folder": folder });
        if writeln!(self.input, "{request}").and_then(|()| self.input.flush()).is_err() {
            return Err(failed(format!("it has ended{}", self.running.said())));
        }
        loop {
            match self.lines.recv_timeout(PAUSE) {
                Ok(line) => {
                    return serde_json::from_str(&line).map_err(|_| {
                        failed(format!(
                            "it wrote to standard output what is no answer: `{}`; print to standard error instead",
                            line.chars().take(80).collect::<String>()
                        ))
                    });
                }
                Err(RecvTimeoutError::Timeout) => watch.check(self.running.child.id())?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(failed(format!("it has ended{}", self.running.said())));
                }
            }
        }
    }
}

/// A program that runs; dropped, it is ended with all that it started.
struct Running {
    child: Child,
    said: Arc<Mutex<String>>,
    listening: Option<std::thread::JoinHandle<()>>,
}

impl Running {
    fn of(mut child: Child) -> Self {
        let said = Arc::new(Mutex::new(String::new()));
        let kept = Arc::clone(&said);
        let listening = child.stderr.take().map(|mut errors| {
            std::thread::spawn(move || {
                let mut part = [0; 4096];
                while let Ok(length @ 1..) = errors.read(&mut part) {
                    let mut kept = held(&kept);
                    kept.push_str(&String::from_utf8_lossy(&part[..length]));
                    // The last words tell why.
                    let surplus = kept.chars().count().saturating_sub(QUOTED);
                    *kept = kept.chars().skip(surplus).collect();
                }
            })
        });
        Self { child, said, listening }
    }

    /// What it wrote to standard error, for a message.
    fn said(&mut self) -> String {
        self.end();
        if let Some(listening) = self.listening.take() {
            // Ends with the pipe, whose other side is closed.
            drop(listening.join());
        }
        let said = held(&self.said);
        if said.trim().is_empty() { String::new() } else { format!(": {}", said.trim()) }
    }

    fn end(&mut self) {
        let group = format!("kill -s KILL -- -{}", self.child.id());
        // Its children hold its group, also after it has ended itself; there may be none left.
        drop(Command::new("sh").args(["-c", &group]).stderr(Stdio::null()).status());
        drop(self.child.kill()); // where there is no shell
        drop(self.child.wait());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

/// What may end a program.
struct Watch<'a> {
    until: &'a Until<'a>,
    began: Instant,
}

impl<'a> Watch<'a> {
    fn of(until: &'a Until<'a>) -> Self {
        Self { until, began: Instant::now() }
    }

    fn check(&self, process: u32) -> Result<(), LearningError> {
        match self.until {
            Until::Limits(limits) => {
                limits.check()?;
                limits.reserve(resident(process).unwrap_or(0))
            }
            Until::Seconds(seconds) if self.began.elapsed().as_secs_f64() > *seconds => Err(
                failed(format!("no prediction within {seconds} seconds (`seconds` of the method)")),
            ),
            Until::Seconds(_) => Ok(()),
        }
    }
}

/// Bytes of a process in memory, where the system tells.
fn resident(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kilobytes| 1024 * kilobytes)
}

/// The adapter as a file, written once a process.
fn adapter() -> Result<&'static Path, LearningError> {
    static FILE: OnceLock<Result<(tempfile::TempDir, PathBuf), String>> = OnceLock::new();
    let written = FILE.get_or_init(|| {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let path = folder.path().join("worker.py");
        std::fs::write(&path, ADAPTER).map_err(|error| error.to_string())?;
        Ok((folder, path))
    });
    written.as_ref().map(|(_, path)| path.as_path()).map_err(|error| {
        failed(format!("the adapter cannot be written to the folder of temporary files: {error}"))
    })
}

pub(crate) fn failed(reason: String) -> LearningError {
    LearningError::Numerical { operation: "the program", reason }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
