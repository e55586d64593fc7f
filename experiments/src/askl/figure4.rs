//! Figure 4: the objective on MNIST against iterations: each method's own, as the paper draws it,
//! and one common objective for all, since the paper compares incommensurable ones.

use super::figure3::{drawing, panels};
use mercer_learning::fact;
use mercer_records::CurvePoint;
use mercer_render::Axis;
use mercer_report::{Artefact, ExperimentError, RenderContext, Rendered, StudyCell};

/// Weights of the common objective: the code's for MNIST.
const LAMBDA: f64 = 1e-4;

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let axis = Axis::log10("objective");
    let own = panels(context, &axis, &|_, point| point.values.get(fact::OBJECTIVE).copied())?;
    let common = panels(context, &axis, &common)?;
    let mut drawings = drawing(
        &artefact.id,
        &artefact.title,
        "Each method's own objective, as in the paper: the penalties differ from method to method, so levels cannot be compared between methods. One panel a variant: the mean over the repeats that have it, and from the least to the largest of them.",
        own,
    );
    drawings.extend(drawing(
        "askl/figure4-common",
        "One objective for all on MNIST along training",
        "One objective for all: mean loss + 1e-4 ‖W‖∗ + 1e-4 (1/n)‖φ(X)‖², evaluated along each method's training. One panel a variant: mean, least and largest over the repeats.",
        common,
    ));
    Ok(Rendered { drawings, ..Rendered::default() })
}

/// Mean loss plus both penalties of ASKL, with equal weights for every method.
fn common(_: &StudyCell, point: &CurvePoint) -> Option<f64> {
    let number = |name: &str| point.values.get(name).copied();
    Some(
        number(fact::LOSS)?
            + LAMBDA * number(fact::TRACE_NORM)?
            + LAMBDA * number(fact::FEATURE_NORM_SQUARED)?,
    )
}
