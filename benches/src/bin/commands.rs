//! Times whole commands on files, as a user meets them, and prints one JSON line each: median and
//! extremes of wall-clock seconds, and the most memory that the process held.
//!
//! `commands MERCER FOLDER [--data MIRROR] [--rows 100000,1000000,10000000] [--rounds 3]`: made-up files are
//! written into FOLDER (10,000,000 rows of 28 columns are 2.1 GB) and kept for the next time; `--data`
//! adds `letter` of a mirror.

use mercer_benches::median;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| {
        let at = words.iter().position(|word| word == name)?;
        words.get(at + 1).map(String::as_str)
    };
    let (Some(program), Some(folder)) = (words.first(), words.get(1)) else {
        eprintln!("usage: commands MERCER FOLDER [--data MIRROR] [--rows N,N,...] [--rounds N]");
        return ExitCode::from(2);
    };
    let rounds = option("--rounds").and_then(|rounds| rounds.parse().ok()).unwrap_or(3);
    let bench = Bench { program: program.into(), folder: folder.into(), rounds };
    let rows = option("--rows").unwrap_or("100000,1000000,10000000");
    let rows: Result<Vec<usize>, _> = rows.split(',').map(str::parse).collect();
    let done = match rows {
        Ok(rows) => bench.all(&rows, option("--data").map(Path::new)),
        Err(error) => Err(error.into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

struct Bench {
    program: PathBuf,
    folder: PathBuf,
    rounds: usize,
}

impl Bench {
    fn all(&self, rows: &[usize], mirror: Option<&Path>) -> Result<(), Failure> {
        std::fs::create_dir_all(&self.folder)?;
        self.time("start", 0, &["--version"])?;
        if let Some(mirror) = mirror {
            let letter = std::path::absolute(mirror)?.join("letter/letter.train.svm.xz");
            let letter = letter.display().to_string();
            for method in ["askl", "rf"] {
                self.time(
                    &format!("fit {method}, letter, 15,000 x 16, 26 classes"),
                    15_000,
                    &[
                        "fit",
                        "--method",
                        method,
                        "--data",
                        &letter,
                        "--out",
                        "letter.model",
                        "--force",
                    ],
                )?;
            }
        }
        let (train, many) = (self.classes(15_000)?, self.classes(400_000)?);
        for method in ["askl", "rf"] {
            self.run(&["fit", "--method", method, "--data", &train, "--out", "m", "--force"])?;
            let predict = ["predict", "m", "--data", &many, "--out", "p.csv", "--force"];
            self.time(&format!("predict {method}, 16 columns, 26 classes"), 400_000, &predict)?;
        }
        for &rows in rows {
            let data = self.signs(rows)?;
            let fit = [
                "fit",
                "--method",
                "rf-sgd",
                "--data",
                &data,
                "--buffer",
                "50000",
                "--set",
                "features=1000",
                "--set",
                "epochs=1",
                "--out",
                "s",
                "--force",
            ];
            self.time(
                "fit rf-sgd from a file in passes, D = 1000, one epoch, 28 columns",
                rows,
                &fit,
            )?;
        }
        Ok(())
    }

    /// Rows of 16 small integers and one of 26 letters.
    fn classes(&self, rows: usize) -> Result<String, Failure> {
        self.write(&format!("classes-{rows}.csv"), rows, 16, |rng, line| {
            for _ in 0..16 {
                write!(line, "{},", rng.gen_range(0..16))?;
            }
            line.write_all(&[b'A' + rng.gen_range(0..26)])
        })
    }

    /// Rows of 28 numbers and the sign of the first, noisy.
    fn signs(&self, rows: usize) -> Result<String, Failure> {
        self.write(&format!("signs-{rows}.csv"), rows, 28, |rng, line| {
            let first: f64 = rng.gen_range(-1.0..1.0);
            write!(line, "{first:.4},")?;
            for _ in 1..28 {
                write!(line, "{:.4},", rng.gen_range(-1.0..1.0))?;
            }
            line.write_all(if first + rng.gen_range(-0.5..0.5) > 0.0 { b"up" } else { b"down" })
        })
    }

    fn write(
        &self,
        name: &str,
        rows: usize,
        columns: usize,
        line_of: impl Fn(&mut ChaCha8Rng, &mut BufWriter<File>) -> std::io::Result<()>,
    ) -> Result<String, Failure> {
        let path = self.folder.join(name);
        if !path.exists() {
            let partial = path.with_extension("part");
            let mut file = BufWriter::new(File::create(&partial)?);
            let heads: Vec<String> = (1..=columns).map(|column| format!("x{column}")).collect();
            writeln!(file, "{},y", heads.join(","))?;
            let mut rng = ChaCha8Rng::seed_from_u64(rows as u64);
            for _ in 0..rows {
                line_of(&mut rng, &mut file)?;
                writeln!(file)?;
            }
            file.flush()?;
            std::fs::rename(partial, path)?;
        }
        Ok(name.to_owned())
    }

    /// Runs a command; its seconds and megabytes.
    fn run(&self, words: &[&str]) -> Result<(f64, f64), Failure> {
        let start = Instant::now();
        let mut child = Command::new(std::path::absolute(&self.program)?)
            .args(words)
            .current_dir(&self.folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let mut peak = 0.0f64;
        // The kernel keeps the peak as long as the process lives.
        while child.try_wait()?.is_none() {
            peak = peak.max(megabytes(child.id()).unwrap_or_default());
            std::thread::sleep(Duration::from_millis(1));
        }
        let seconds = start.elapsed().as_secs_f64();
        let status = child.wait()?;
        if !status.success() {
            return Err(format!("{} {}: {status}", self.program.display(), words.join(" ")).into());
        }
        Ok((seconds, peak))
    }

    fn time(&self, what: &str, rows: usize, words: &[&str]) -> Result<(), Failure> {
        let mut runs = Vec::new();
        for _ in 0..self.rounds.max(1) {
            runs.push(self.run(words)?);
        }
        let seconds: Vec<f64> = runs.iter().map(|run| run.0).collect();
        let peak = runs.iter().fold(0.0f64, |most, run| most.max(run.1));
        let (least, most) = seconds
            .iter()
            .fold((f64::INFINITY, 0.0f64), |(least, most), &s| (least.min(s), most.max(s)));
        let middle = median(&seconds);
        let line = serde_json::json!({
            "what": what,
            "rows": rows,
            "seconds": { "least": least, "median": middle, "most": most },
            "rows_a_second": (rows > 0).then(|| rows as f64 / middle),
            "peak_mb": peak,
        });
        println!("{line}");
        Ok(())
    }
}

/// The most memory that a process has held so far, where the system tells (Linux).
fn megabytes(process: u32) -> Option<f64> {
    let told = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = told.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? * 1024e-6)
}
