//! One table, figure and diagram of each kind, with made-up numbers, and a report of them all.

use mercer_render::{
    Align, Axis, Badge, Block, Cell, Column, Diagram, Figure, Finding, Kind, Legend, Link, Mark,
    Panel, Report, Row, Section, Series, Style, Table, critical_difference,
};

pub fn network() -> Diagram {
    Diagram::new("demo/network", "Forward and backward", (700.0, 220.0))
        .caption("From an input to its scores, and gradients on their way back.")
        .block((80.0, 90.0), (110.0, 60.0), "x\ninput, d", None)
        .block((300.0, 90.0), (170.0, 60.0), "φ(x)\ncos(Ωᵀx + b), D", Some(0))
        .block((530.0, 90.0), (130.0, 60.0), "f(x) = Wᵀφ(x)\nscores, K", Some(2))
        .arrow([(135.0, 90.0), (215.0, 90.0)], "Ω, b", false)
        .arrow([(385.0, 90.0), (465.0, 90.0)], "W", false)
        .arrow([(530.0, 120.0), (530.0, 170.0), (300.0, 170.0), (300.0, 120.0)], "∂J/∂Ω", true)
        .text((80.0, 30.0), "data", Align::Center)
        .schematic()
}

pub fn ranks() -> Result<Diagram, mercer_render::RenderError> {
    let ranks = [
        ("SK", 5.2),
        ("NSK", 4.9),
        ("SKL", 3.6),
        ("NSKL", 2.4),
        ("ASKL", 1.9),
        ("Gaussian SVM", 3.0),
    ];
    let ranks = ranks.map(|(name, rank)| (name.to_owned(), rank));
    critical_difference("demo/ranks", "Mean ranks over 12 datasets", &ranks, 2.18)
}

pub fn accuracies() -> Table {
    let mut table = Table::new("demo/table2", "Test accuracy in percent")
        .caption("Mean ± deviation (J − 1) over repeats; bold: best; underlined: not worse at 5 % (corrected test).")
        .columns([Column::left("Dataset"), Column::right("rows")]);
    for variant in ["printed", "released", "tuned"] {
        for method in ["SK", "NSK", "SKL", "NSKL", "ASKL"] {
            table = table.columns([Column::right(method).under(variant)]);
        }
    }
    let names = ["segment", "satimage", "usps", "pendigits", "letter", "mnist"];
    for (i, name) in names.iter().enumerate() {
        let mut cells = vec![Cell::text(*name), Cell::count(2310 + 7000 * i)];
        for k in 0..15 {
            let value = 80.0 + 10.0 * ((i * 15 + k) as f64).sin();
            let mut cell = Cell::mean_std(value, 0.4 + 0.1 * k as f64, 2).repeats("10/30");
            cell = match k % 5 {
                4 => cell.bold().badge("agrees", Kind::Good),
                3 => cell.underline().badge("differs", Kind::Bad).link("finding/f1"),
                _ => cell.badge("short", Kind::Muted),
            };
            cells.push(cell.detail(format!("paper {:.2}±0.52", value + 0.3)));
        }
        table = table.row(Row::new(cells).under(if i < 3 { "small" } else { "large" }));
    }
    let mut missing = vec![Cell::text("sensorless"), Cell::count(58509)];
    missing.extend((0..15).map(|_| Cell::missing("data missing", "mercer data fetch sensorless")));
    table.row(Row::new(missing).under("large")).note("† training part capped at 10,000 rows.")
}

pub fn report() -> Result<Report, mercer_render::RenderError> {
    let claims = [
        ("ASKL beats NSKL on every dataset", "fails", Kind::Bad),
        ("NSK beats SK", "holds", Kind::Good),
        ("Learning the spectrum helps", "undecided", Kind::Neutral),
    ];
    let mut answers =
        Table::new("demo/answers", "Claims").columns(["Claim", "printed"].map(Column::left));
    for (statement, verdict, kind) in claims {
        let numbers =
            "7 of 12 datasets, mean difference 0.31 points, p = 0.04 (naive), 0.31 (corrected)";
        let verdict = Cell::text("").badge(verdict, kind).detail(numbers);
        answers = answers
            .row(Row::new([Cell::text(statement).link("demo/table2"), verdict]).id(statement));
    }
    let finding = Finding {
        id: "finding/f1".into(),
        title: "Independent phases halve the kernel".into(),
        badge: Some(Badge::new("explained", Kind::Neutral)),
        affects: vec!["demo/table2".into()],
        body: "With **independent** phases the cross products vanish:\n\n- `E cos(u+b) cos(v+b') = 0`\n- so the map stands for *half* a stationary kernel\n\n| map | diagonal |\n|---|---|\n| psi | 1 |\n| phi_i | 1/2 |\n".into(),
    };
    let link = Link {
        text: "The paper".into(),
        target: "https://example.org/paper".into(),
        note: "with its code".into(),
    };
    Ok(Report::new("Mercer: kernel learning, re-run")
        .subtitle("Every number beside the published one.")
        .provenance("revision", "0123abc")
        .provenance("data", "mirror, 30 datasets, fingerprints verified")
        .section(
            Section::new("summary", "What was found")
                .intro("Six answers in numbers. See [Table 2](demo/table2).")
                .block(Block::Table(answers))
                .block(Block::List(vec![link])),
        )
        .section(
            Section::new("askl", "Spectral kernels")
                .intro("Five methods on twelve datasets.")
                .block(Block::Table(accuracies()))
                .block(Block::Figure(curves()))
                .block(Block::Figure(panels()))
                .block(Block::Diagram(network())),
        )
        .section(
            Section::new("across", "Across datasets")
                .block(Block::Diagram(ranks()?))
                .block(Block::Figure(bars()))
                .block(Block::Findings(vec![finding])),
        ))
}

pub fn curves() -> Figure {
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

pub fn panels() -> Figure {
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

pub fn bars() -> Figure {
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
