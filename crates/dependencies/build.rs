//! Unites the features of what runs at compile time.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
