//! Draws one figure of each kind into a folder, to be looked at.

use mercer_render::{Axis, Figure, Legend, Mark, Panel, Series, Style};
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "target/gallery".to_owned());
    std::fs::create_dir_all(&folder)?;
    for figure in [curves(), panels(), bars()] {
        let name = figure.id.replace('/', "-");
        std::fs::write(Path::new(&folder).join(format!("{name}.svg")), figure.svg()?)?;
        std::fs::write(Path::new(&folder).join(format!("{name}.png")), figure.png(2.0)?)?;
    }
    Ok(())
}

fn curves() -> Figure {
    let methods = ["SK", "NSK", "SKL", "NSKL", "ASKL"];
    let mut panel = Panel::new(Axis::linear("iteration"), Axis::linear("test accuracy (%)"));
    for (i, name) in methods.iter().enumerate() {
        let k = i as f64;
        let curve: Vec<_> = (0..=120)
            .map(|t| {
                let t = f64::from(t);
                (
                    200.0 * t,
                    98.0 - 0.8 * (4.0 - k) - 30.0 * (-t / (12.0 + 6.0 * k)).exp()
                        + 0.3 * (t * (k + 1.0)).sin(),
                )
            })
            .collect();
        let band: Vec<_> = curve.iter().map(|&(_, y)| (y - 1.0, y + 1.0)).collect();
        panel = panel.series(Series::line(*name, curve).band(band));
    }
    let panel = panel
        .mark(Mark::Horizontal { y: 96.4, label: "published ASKL".into() })
        .mark(Mark::Vertical { x: 9400.0, label: "5 epochs".into() })
        .mark(Mark::Point {
            x: 20000.0,
            y: 93.0,
            label: "read off the paper's figure".into(),
            color: None,
        });
    Figure::new("demo/curves", "Accuracy along training").panel(panel)
}

fn panels() -> Figure {
    let mut figure = Figure::new("demo/panels", "Double descent").columns(2).legend(Legend::Below);
    for (title, ridge) in [("ridgeless, λ = 10⁻⁷", 0.0), ("ridge", 0.3)] {
        let curve = |shift: f64| {
            (0..40).map(move |i| {
                let ratio = 10f64.powf(-2.0 + f64::from(i) / 10.0);
                (ratio, 0.05 + shift + 0.4 / (0.05 + ridge + 10.0 * ratio.log10().powi(2)))
            })
        };
        let points: Vec<_> = curve(0.03).step_by(4).collect();
        let band: Vec<_> = points.iter().map(|&(_, y)| (0.8 * y, 1.25 * y)).collect();
        let panel = Panel::new(Axis::log10("M / n"), Axis::log10("test error"))
            .title(title)
            .series(Series::line("test", curve(0.0)))
            .series(Series::line("training", curve(-0.06)))
            .series(Series::line("kernel ridge", curve(0.1)).style(Style::Dashed))
            .series(Series::points("5 repeats", points).band(band))
            .mark(Mark::Vertical { x: 1.0, label: "M = n".into() });
        figure = figure.panel(panel);
    }
    for scale in [Axis::log2("D"), Axis::linear("bytes")] {
        let points = (4..15).map(|k| (f64::from(k).exp2(), 3e-7 * f64::from(k)));
        let panel = Panel::new(scale, Axis::linear("seconds a step"))
            .series(Series::line("team of threads", points.clone()).style(Style::LinePoints))
            .series(
                Series::line("test", points.map(|(x, y)| (x, 1.6 * y))).style(Style::LinePoints),
            );
        figure = figure.panel(panel);
    }
    figure
}

fn bars() -> Figure {
    let names = [
        "segment",
        "satimage",
        "usps",
        "pendigits",
        "letter",
        "protein",
        "mnist",
        "covtype-subset",
        "sensorless",
        "poker",
        "dna",
        "vowel",
    ];
    let mut panel = Panel::new(Axis::names("", names), Axis::linear("gain over SK (points)"));
    for (k, name) in ["NSK", "ASKL", "Gaussian SVM"].iter().enumerate() {
        let points: Vec<_> = (0..12)
            .map(|i| (f64::from(i), (f64::from(i) * (k as f64 + 0.7)).sin() * 3.0))
            .collect();
        let band: Vec<_> = points.iter().map(|&(_, y)| (y - 0.5, y + 0.5)).collect();
        panel = panel.series(Series::bars(*name, points).band(band));
    }
    Figure::new("demo/bars", "Gains").panel(panel).legend(Legend::Right)
}
