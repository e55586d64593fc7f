//! Writes one figure of each kind, and a report of them all, into a folder, to be looked at:
//! `cargo run --release -p mercer-render --example gallery -- FOLDER`.

mod sample;

use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "target/gallery".to_owned());
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let write = |id: &str, svg: String| {
        std::fs::write(folder.join(format!("{}.svg", id.replace('/', "-"))), svg)
    };
    for figure in [sample::curves(), sample::panels(), sample::bars()] {
        write(&figure.id, figure.svg()?)?;
    }
    for diagram in [sample::network(), sample::ranks()?] {
        write(&diagram.id, diagram.svg()?)?;
    }
    std::fs::write(folder.join("index.html"), sample::report()?.to_html()?)?;
    Ok(())
}
