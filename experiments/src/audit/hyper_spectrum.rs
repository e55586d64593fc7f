//! What is done about negative eigenvalues of a learned kernel, and what it is worth.

use crate::hyper::exact_or_nystrom::not_converged;
use crate::hyper::spectrum_audit::{KERNELS, OPTIONS};
use mercer_records::OPEN;
use mercer_render::{Cell, Column, Row, Table, probability};
use mercer_report::{Artefact, ExperimentError, RenderContext, Rendered};
use mercer_statistics::summarise;

const STUDY: &str = "audit/hyper-spectrum";

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let study = context.cells(STUDY)?;
    let mut table = Table::new(&artefact.id, &artefact.title)
        .caption("Spectrum of a kernel on the training points: its smallest eigenvalue over the largest in absolute value, and the share of the negative ones in the sum of absolute values; accuracy in percent on test points of a machine with the kernel as it is (a stationary point of the solver), with negative eigenvalues clipped to 0, flipped, and shifted away, and the two-sided p of the differences to the first by the corrected test, each by itself: one in twenty of so many is below 0.05 where nothing differs. Each option has its own cost of 2^-5 .. 2^5 by 5 folds. Ideal: learned by hyper-KRR over all pairs from +1 for equal classes and -1 otherwise; log: learned from -log(1 + ‖x - x'‖); log itself: that kernel. A machine with a bias sees a kernel only after centring, HKH with H = I - 11'/n: constant is the share of the kernel's squared norm that centring takes away, target constant the same of the kernel that was learned from, centred negative mass the share of negative eigenvalues of what is left. Means over repeats.")
        .columns(["Dataset", "Kernel"].map(Column::left))
        .columns(["smallest", "negative mass", "constant", "target constant", "centred negative mass", "as is", "clip", "p", "flip", "p ", "shift", "p  ", "Repeats"].map(Column::right));
    for cell in &study.1 {
        for kernel in KERNELS {
            let mean = |name: &str| {
                let values: Vec<f64> =
                    cell.at_end(name).into_iter().map(|(_, value)| value).collect();
                summarise(&values)
            };
            let Some(first) = mean(&format!("accuracy {} {kernel}", OPTIONS[0].0)) else {
                continue;
            };
            let shown = |what: &str| {
                Cell::number(mean(&format!("{what} {kernel}")).map_or(f64::NAN, |s| s.mean), 3)
            };
            let open = |option: &str| {
                let found = cell.at_end(&format!("{OPEN} {option} {kernel}"));
                found.iter().filter(|(_, open)| *open > 0.0).count()
            };
            let mut cells = vec![
                Cell::text(&cell.key().dataset),
                Cell::text(kernel),
                shown("smallest"),
                shown("negative mass"),
                shown("constant"),
                shown("target constant"),
                shown("centred negative mass"),
                not_converged(Cell::number(first.mean, 2), open(OPTIONS[0].0)),
            ];
            for (option, _) in &OPTIONS[1..] {
                let name = |option: &str| format!("accuracy {option} {kernel}");
                let own = mean(&name(option)).map_or(f64::NAN, |summary| summary.mean);
                let test = cell.compare_at_end(&name(option), &name(OPTIONS[0].0))?;
                cells.push(not_converged(Cell::number(own, 2), open(option)));
                cells.push(test.map_or_else(
                    || Cell::text("-"),
                    |test| Cell::text(probability(test.p_two_sided)).sort(test.p_two_sided),
                ));
            }
            cells.push(Cell::text(format!("{}/{}", first.count, cell.repeats_of_paper())));
            table = table.row(Row::new(cells));
        }
    }
    Ok(Rendered { tables: vec![table], ..Rendered::default() })
}
