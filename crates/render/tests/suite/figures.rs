use crate::sample;
use mercer_render::{Axis, Figure, Legend, Mark, Panel, RenderError, Series, Style};
use proptest::prelude::*;

fn figure(panel: Panel) -> Figure {
    Figure::new("demo/figure", "A <figure> & its \"name\"").panel(panel)
}

fn panel(points: Vec<(f64, f64)>) -> Panel {
    Panel::new(Axis::linear("x"), Axis::linear("y")).series(Series::line("curve", points))
}

/// Coordinates of all lines: paths have several, each a point and the steps from there.
fn polylines(svg: &str) -> Vec<Vec<(f64, f64)>> {
    svg.split("<path fill=\"none\"")
        .skip(1)
        .flat_map(|rest| {
            let outline = rest.split_once(" d=\"M").unwrap().1.split_once('"').unwrap().0;
            outline.split('M').map(|line| {
                let spaced = line.replace(['l', ','], " ").replace('-', " -");
                let mut numbers =
                    spaced.split_whitespace().map(|number| number.parse::<f64>().unwrap());
                let (mut at, mut points) = ((0.0, 0.0), Vec::new());
                while let (Some(x), Some(y)) = (numbers.next(), numbers.next()) {
                    at = (at.0 + x, at.1 + y);
                    points.push(at);
                }
                points
            })
        })
        .collect()
}

#[test]
fn text_stays_text_and_is_escaped() {
    let svg = figure(panel(vec![(0.0, 0.0), (1.0, 1.0)]).title("α < β")).svg().unwrap();
    assert!(svg.contains("aria-label=\"A &lt;figure&gt; &amp; its &quot;name&quot;. α &lt; β: "));
    assert!(svg.contains("α &lt; β"));
    assert!(svg.contains("font-family=\"sans-serif\""));
    assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"700\""));
}

#[test]
fn a_line_runs_through_its_points_in_proportion() {
    let axes = Panel::new(Axis::linear("x").range(0.0, 4.0), Axis::log10("y").range(1.0, 100.0));
    let series = Series::line("curve", [(0.0, 1.0), (1.0, 10.0), (4.0, 100.0)]);
    let svg = figure(axes.series(series)).svg().unwrap();
    // Of the polylines with three points the first one is the left and lower axis.
    let axes = polylines(&svg).into_iter().find(|line| line.len() == 3).unwrap();
    let curve = polylines(&svg).into_iter().rfind(|line| line.len() == 3).unwrap();
    let ((left, bottom), right, top) = (axes[1], axes[2].0, axes[0].1);
    assert_eq!(curve[0], (left, bottom));
    assert_eq!(curve[2], (right, top));
    assert!((curve[1].0 - (left + (right - left) / 4.0)).abs() <= 1.0);
    assert!((curve[1].1 - f64::midpoint(bottom, top)).abs() <= 1.0);
}

#[test]
fn what_is_not_finite_is_a_gap() {
    let gap = vec![(0.0, 0.0), (1.0, 1.0), (2.0, f64::NAN), (3.0, 1.0), (4.0, 0.0)];
    let whole = vec![(0.0, 0.0), (1.0, 1.0), (2.0, 1.0), (3.0, 1.0), (4.0, 0.0)];
    let count = |points| polylines(&figure(panel(points)).svg().unwrap()).len();
    assert_eq!(count(gap), count(whole) + 1);
}

#[test]
fn points_that_a_logarithmic_axis_cannot_show_are_counted_in_the_legend() {
    let axes = Panel::new(Axis::linear("x"), Axis::log10("y"));
    let series = Series::line("loss", [(0.0, 1.0), (1.0, 0.0), (2.0, -1.0), (3.0, 0.1)]);
    let svg = figure(axes.series(series)).svg().unwrap();
    assert!(svg.contains("loss (2 points ≤ 0 not shown)"));
}

#[test]
fn a_figure_that_cannot_be_drawn_says_why() {
    let band = panel(vec![(0.0, 0.0)]);
    let series = Series::line("short", [(0.0, 0.0), (1.0, 1.0)]).band([(0.0, 1.0)]);
    let error = figure(band.series(series)).svg().unwrap_err();
    assert!(matches!(error, RenderError::Band { points: 2, band: 1, .. }), "{error}");
    let error = Figure::new("none", "No panels").svg().unwrap_err();
    assert!(error.to_string().contains("\"none\" has 0 panels"), "{error}");
}

#[test]
fn the_numbers_behind_a_figure_read_back_the_same() {
    let points = [(0.1 + 0.2, 1e-300), (f64::MAX, -0.0)];
    let series = Series::points("a,b", points).band([(0.0, 1.0), (f64::NAN, 2.0)]);
    let mark = Mark::Horizontal { y: 0.5, label: "published".to_owned() };
    let csv = figure(panel(vec![]).title("left").series(series).mark(mark)).csv();
    let lines: Vec<_> = csv.lines().collect();
    assert_eq!(lines[0], "panel,series,x,y,low,high");
    let fields: Vec<_> = lines[1].rsplitn(5, ',').collect();
    assert_eq!(fields[4], "left,\"a,b\"");
    assert_eq!(fields[3].parse::<f64>().unwrap().to_bits(), points[0].0.to_bits());
    assert_eq!(fields[2].parse::<f64>().unwrap().to_bits(), points[0].1.to_bits());
    let fields: Vec<_> = lines[2].rsplitn(5, ',').collect();
    assert_eq!((fields[1], fields[0]), ("", "2"));
    assert_eq!(lines[3], "left,published,,0.5,,");
}

#[test]
fn every_kind_of_figure_and_diagram_draws_ink() {
    let figures = [sample::curves(), sample::panels(), sample::bars()];
    let drawn = figures.iter().map(|figure| figure.svg().unwrap());
    let diagrams = [sample::network(), sample::ranks().unwrap()];
    let drawn = drawn.chain(diagrams.iter().map(|diagram| diagram.svg().unwrap()));
    for svg in drawn {
        assert!(svg.ends_with("</svg>\n") && svg.matches("<text").count() > 3);
        assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
        assert!(!svg.contains("NaN"));
    }
}

#[test]
fn a_schematic_diagram_says_that_it_is_one() {
    assert!(sample::network().svg().unwrap().contains("schematic"));
    assert!(!sample::ranks().unwrap().svg().unwrap().contains("schematic"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_data_draw_outside_the_picture_or_print_nan(
        points in proptest::collection::vec((proptest::num::f64::ANY, -1e3..1e3f64), 0..12),
        style in prop_oneof![Just(Style::Line), Just(Style::Points), Just(Style::LinePoints), Just(Style::Bars)],
        log in any::<bool>(),
    ) {
        let y = if log { Axis::log10("y") } else { Axis::linear("y") };
        let band = points.iter().map(|&(_, y)| (y - 1.0, y + 1.0)).collect::<Vec<_>>();
        let series = Series::line("data", points).style(style).band(band);
        let drawn = figure(Panel::new(Axis::linear("x").range(-10.0, 10.0), y).series(series))
            .legend(Legend::Right)
            .svg()
            .unwrap();
        prop_assert!(!drawn.contains("NaN") && !drawn.contains("inf"));
        for (x, y) in polylines(&drawn).into_iter().flatten() {
            prop_assert!((0.0..=7000.0).contains(&x) && (0.0..=5000.0).contains(&y), "({x}, {y})");
        }
    }
}
