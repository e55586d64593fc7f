//! Tells the binary which revision of the source it was built from, for the records of its trials.

use std::process::Command;

fn main() {
    // Every source that can change a result: an edit after the last commit shows as `-dirty`.
    for path in ["crates", "experiments", "Cargo.lock", ".git/HEAD", ".git/logs/HEAD"] {
        println!("cargo::rerun-if-changed=../../{path}");
    }
    let described = Command::new("git")
        .args(["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"])
        .output();
    let code = match described {
        Ok(output) if output.status.success() => {
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        }
        // A source archive has no history.
        _ => "unknown".to_owned(),
    };
    println!("cargo::rustc-env=MERCER_CODE={code}");
}
