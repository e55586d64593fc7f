//! What only the program reads: it runs as a process, as its user would run it.

use serde_json::{Map, Value};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

/// `MERCER`, or the release build of this tree.
static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    let built = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/release/mercer");
    std::env::var_os("MERCER").map_or_else(built, PathBuf::from)
});

/// A directory of this process; what is left of it in the end is small.
static PLACE: LazyLock<PathBuf> = LazyLock::new(|| {
    let place = std::env::temp_dir().join(format!("mercer-fuzz-{}", std::process::id()));
    fs::create_dir_all(&place).expect("a temporary directory can be made");
    place
});

fn mercer(words: &[&str]) -> Output {
    let mut command = Command::new(PROGRAM.as_path());
    // Nothing of the machine's own: an engine that is installed is not asked.
    let output = command.args(words).current_dir(PLACE.as_path()).env("PATH", "").output();
    output.unwrap_or_else(|error| panic!("{}: {error}", PROGRAM.display()))
}

fn json(words: &[&str]) -> Value {
    let output = mercer(words);
    assert!(output.status.success(), "{words:?}: {output:?}");
    serde_json::from_slice(&output.stdout).expect("--json prints JSON")
}

/// It ended as one of its own statuses, with JSON on success and else with one sentence that says why.
fn told(output: &Output) -> Result<String, String> {
    let said = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => match serde_json::from_slice::<Value>(&output.stdout) {
            Ok(_) => Ok("done".to_owned()),
            Err(error) => Err(format!("status 0 without JSON: {error}")),
        },
        Some(1 | 2 | 4) => {
            let mut errors = said.lines().filter(|line| line.starts_with("error: "));
            match (errors.next(), errors.next(), said.contains("panicked")) {
                (Some(error), None, false) => Ok(error.to_owned()),
                _ => Err(format!("not one error: {said}")),
            }
        }
        _ => Err(format!("ended by {}: {said}", output.status)),
    }
}

/// Campaigns as `mercer cluster submit` writes them, with names of trials in the place of real ones.
pub fn campaign_seeds() -> Vec<Vec<u8>> {
    let folder = PLACE.join("slurm");
    let sbatch = folder.join("sbatch");
    // It is there and refuses every job.
    let written = fs::create_dir_all(&folder)
        .and_then(|()| fs::write(&sbatch, "#!/bin/sh\nexit 1\n"))
        .and_then(|()| fs::set_permissions(&sbatch, fs::Permissions::from_mode(0o755)));
    written.expect("a stand-in for sbatch");
    let output = Command::new(PROGRAM.as_path())
        .args(["cluster", "submit", "askl/table2", "--profile", "smoke", "--method", "majority"])
        .args(["--into", "submitted"])
        .current_dir(PLACE.as_path())
        .env("PATH", &folder)
        .output()
        .expect("mercer runs");
    let text = fs::read_to_string(PLACE.join("submitted/campaign.json"));
    let text = text.unwrap_or_else(|error| panic!("submit writes a campaign: {error}; {output:?}"));
    let handed = text.replace("\"jobs\": []", "\"jobs\": [{ \"id\": \"7\", \"tasks\": [1] }]");
    vec![text.into_bytes(), handed.into_bytes()]
}

/// `mercer cluster status` tells how far a campaign is, or says what is wrong with its file.
pub fn run_campaign(bytes: &[u8]) -> Result<String, String> {
    let folder = PLACE.join("campaign");
    let kept =
        fs::create_dir_all(&folder).and_then(|()| fs::write(folder.join("campaign.json"), bytes));
    kept.map_err(|error| error.to_string())?;
    let told = told(&mercer(&["cluster", "status", "--json", "campaign"]))?;
    // The cause stands after the remedy, which is always the same.
    Ok(told.rsplit_once("what is left").map_or(told.clone(), |(_, cause)| cause.to_owned()))
}

/// The name of each bound, and the examples of its inputs as a JSON object.
pub fn bound_seeds() -> Vec<Vec<u8>> {
    let rows = |value: Value| value.as_array().cloned().unwrap_or_default();
    let seed = |bound: Value| {
        let name = bound["bound"].as_str()?.to_owned();
        let inputs = rows(json(&["bound", &name, "--json"]));
        let examples: Map<String, Value> = inputs
            .iter()
            .filter_map(|input| {
                Some((input["input"].as_str()?.to_owned(), input["example"].clone()))
            })
            .collect();
        Some(format!("{name}\n{}", Value::from(examples)).into_bytes())
    };
    rows(json(&["bound", "--json"])).into_iter().filter_map(seed).collect()
}

/// `mercer bound NAME --from FILE` gives a bound or names the input that is wrong; what JSON it reads, it
/// reads as a file of a single input, too.
pub fn run_bound(bytes: &[u8]) -> Result<String, String> {
    let at = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    let (name, inputs) = bytes.split_at(at);
    let Ok(name) = std::str::from_utf8(name) else { return Ok("no text".to_owned()) };
    if name.contains('\0') {
        return Ok("no word of a command line".to_owned());
    }
    fs::write(PLACE.join("inputs"), inputs).map_err(|error| error.to_string())?;
    let whole = told(&mercer(&["bound", "--json", "--from", "inputs", "--", name]))?;
    let one = told(&mercer(&["bound", "--json", "mce-entropy-factor", "truth=@inputs"]))?;
    Ok(format!("{whole}; {one}"))
}
