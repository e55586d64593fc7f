//! Tells the binary which revision of the source it was built from, for the records of its trials, and strips it.

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
    // A third of the program would be names for a profiler: MERCER_SYMBOLS=1 keeps them.
    println!("cargo::rerun-if-env-changed=MERCER_SYMBOLS");
    let linux = std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux");
    if linux && std::env::var_os("MERCER_SYMBOLS").is_none() {
        println!("cargo::rustc-link-arg-bins=-Wl,--strip-all");
    }
}
