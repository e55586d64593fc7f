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
    let is = |key: &str, value: &str| std::env::var(key).is_ok_and(|own| own == value);
    let linux = is("CARGO_CFG_TARGET_OS", "linux");
    // A third of the program would be names for a profiler: MERCER_SYMBOLS=1 keeps them.
    println!("cargo::rerun-if-env-changed=MERCER_SYMBOLS");
    if linux && std::env::var_os("MERCER_SYMBOLS").is_none() {
        println!("cargo::rustc-link-arg-bins=-Wl,--strip-all");
    }
    // Addresses are settled at link time, and equal functions kept once. Rust links with LLD here.
    if linux && is("CARGO_CFG_TARGET_ARCH", "x86_64") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
    }
}
