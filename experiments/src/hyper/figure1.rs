//! Figure 1: the two stages, drawn from the structure of the method. Schematic.

use mercer_render::Diagram;
use mercer_report::{Artefact, Drawing, ExperimentError, RenderContext, Rendered};

#[expect(clippy::unnecessary_wraps, reason = "every artefact renders by the same signature")]
pub(crate) fn render(
    _: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    Ok(Rendered {
        drawings: vec![Drawing::Diagram(diagram(&artefact.id, &artefact.title))],
        ..Rendered::default()
    })
}

fn diagram(id: &str, title: &str) -> Diagram {
    Diagram::new(id, title, (760.0, 330.0))
        .caption("Stage 1 regresses a target on pairs of labelled points in a hyper-kernel's space; stage 2 is a support vector machine with the learned kernel, which need not be positive definite. Y(x, x') is made of the labels of both points. The spectrum of the learned kernel is kept as it is, clipped, flipped or shifted. It shows structure, no numbers.")
        .block((90.0, 70.0), (140.0, 60.0), "labelled points\nx, y", None)
        .block((276.0, 70.0), (140.0, 60.0), "unordered pairs\np = (x, x')", Some(0))
        .block((462.0, 70.0), (140.0, 60.0), "hyper-kernel\nh(p, q)", Some(1))
        .block((276.0, 170.0), (140.0, 50.0), "targets Y(x, x')", Some(0))
        .block((462.0, 170.0), (140.0, 60.0), "regression\nKRR or SVR over h", Some(1))
        .block((665.0, 170.0), (150.0, 60.0), "learned kernel\nk(x, x')", Some(2))
        .block((462.0, 260.0), (140.0, 50.0), "machine f(x)", None)
        .block((665.0, 260.0), (150.0, 50.0), "spectrum\nkept or mended", Some(2))
        .arrow([(160.0, 70.0), (206.0, 70.0)], "", false)
        .arrow([(346.0, 70.0), (392.0, 70.0)], "", false)
        .arrow([(462.0, 100.0), (462.0, 140.0)], "", false)
        .arrow([(346.0, 170.0), (392.0, 170.0)], "", false)
        .arrow([(532.0, 170.0), (590.0, 170.0)], "", false)
        .arrow([(665.0, 200.0), (665.0, 235.0)], "", false)
        .arrow([(590.0, 260.0), (532.0, 260.0)], "", false)
        .arrow([(110.0, 100.0), (110.0, 170.0), (206.0, 170.0)], "labels", true)
        .arrow([(70.0, 100.0), (70.0, 260.0), (392.0, 260.0)], "labels", true)
        .schematic()
}

#[cfg(test)]
mod tests {
    use super::diagram;
    use mercer_render::Shape;
    use std::collections::BTreeMap;

    type Point = (f64, f64);

    /// The first line of each box, with two opposite corners.
    fn blocks() -> BTreeMap<String, (Point, Point)> {
        let mut found = BTreeMap::new();
        for shape in diagram("", "").shapes {
            if let Shape::Block { at: (x, y), size: (width, height), text, .. } = shape {
                let from = (x - width / 2.0, y - height / 2.0);
                let name = text.lines().next().unwrap_or_default().to_owned();
                found.insert(name, (from, (from.0 + width, from.1 + height)));
            }
        }
        found
    }

    #[test]
    fn the_note_in_the_corner_stands_below_all_boxes() {
        // Its letters reach to 20 above the lower edge.
        let free = diagram("", "").size.1 - 20.0;
        assert!(blocks().values().all(|(_, to)| to.1 < free));
    }

    #[test]
    fn the_regression_takes_the_hyper_kernel_and_targets_of_the_labels_and_gives_the_kernel() {
        let blocks = blocks();
        let at = |(x, y): Point| {
            let holds = |(from, to): &(Point, Point)| {
                (from.0..=to.0).contains(&x) && (from.1..=to.1).contains(&y)
            };
            let (name, _) = blocks.iter().find(|(_, corners)| holds(corners)).unwrap();
            name.as_str()
        };
        let mut arrows = Vec::new();
        for shape in diagram("", "").shapes {
            if let Shape::Arrow { path, .. } = shape {
                arrows.push((at(path[0]).to_owned(), at(path[path.len() - 1]).to_owned()));
            }
        }
        let drawn = |from: &str, to: &str| arrows.contains(&(from.to_owned(), to.to_owned()));
        assert!(drawn("hyper-kernel", "regression") && drawn("targets Y(x, x')", "regression"));
        assert!(
            drawn("labelled points", "targets Y(x, x')") && drawn("regression", "learned kernel")
        );
        assert!(!drawn("regression", "hyper-kernel") && !drawn("hyper-kernel", "learned kernel"));
    }
}
