//! Claims about the shape of curves, checked on the means over repeats.

use super::Holds;
use crate::cell::StudyCell;
use mercer_statistics::summarise;
use std::collections::BTreeMap;

/// Step and mean over the repeats that have the value there.
fn mean_curve(
    cells: &[&StudyCell],
    dataset: &str,
    method: &str,
    value: &str,
) -> BTreeMap<u64, f64> {
    let mut values: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    let of_cell = |cell: &&&StudyCell| cell.key().dataset == dataset && cell.key().method == method;
    for record in cells.iter().filter(of_cell).flat_map(|cell| cell.records()) {
        for point in &record.result.curve {
            if let Some(number) = point.values.get(value) {
                values.entry(point.step).or_default().push(*number);
            }
        }
    }
    let mean = |(step, values): (u64, Vec<f64>)| Some((step, summarise(&values)?.mean));
    values.into_iter().filter_map(mean).collect()
}

fn not_run() -> (Holds, String) {
    (Holds::NotRun, "no curves".to_owned())
}

/// Each value lies below the next one at every look after the start that both have.
pub(super) fn ordered(
    cells: &[&StudyCell],
    dataset: &str,
    method: &str,
    values: &[String],
) -> (Holds, String) {
    let curves: Vec<BTreeMap<u64, f64>> =
        values.iter().map(|value| mean_curve(cells, dataset, method, value)).collect();
    let (mut below, mut looks, mut pairs) = (0, 0, Vec::new());
    for (pair, names) in curves.windows(2).zip(values.windows(2)) {
        let common = pair[0].iter().filter(|(step, _)| **step > 0);
        let common: Vec<bool> =
            common.filter_map(|(step, a)| Some(*a < *pair[1].get(step)?)).collect();
        let ahead = common.iter().filter(|ahead| **ahead).count();
        below += ahead;
        looks += common.len();
        if !common.is_empty() {
            pairs.push(format!("{} below {}: {ahead} of {}", names[0], names[1], common.len()));
        }
    }
    if looks == 0 {
        return not_run();
    }
    let holds = if below == looks { Holds::Yes } else { Holds::No };
    (holds, format!("looks at which {}", pairs.join("; ")))
}

/// The value falls, and more of its fall lies in the second half of the looks than in the first.
pub(super) fn falls_late(
    cells: &[&StudyCell],
    dataset: &str,
    method: &str,
    value: &str,
) -> (Holds, String) {
    let curve: Vec<f64> = mean_curve(cells, dataset, method, value).into_values().collect();
    let [first, .., last] = curve[..] else { return not_run() };
    let middle = curve[(curve.len() - 1) / 2];
    let fall = first - last;
    let holds = if fall > 0.0 && middle - last > 0.5 * fall { Holds::Yes } else { Holds::No };
    let share = 100.0 * (middle - last) / fall;
    let numbers = format!(
        "from {first:.4} by way of {middle:.4} at half time to {last:.4}: {share:.0} % of the fall in the second half"
    );
    (holds, numbers)
}

/// The value rises and then falls: the mean of its last tenth of looks lies below the best mean of
/// a tenth by more than the deviation of single looks within that tenth.
pub(super) fn rises_then_falls(
    cells: &[&StudyCell],
    dataset: &str,
    method: &str,
    value: &str,
) -> (Holds, String) {
    let curve: Vec<f64> = mean_curve(cells, dataset, method, value).into_values().collect();
    let width = curve.len().div_ceil(10);
    if curve.len() < 2 {
        return not_run();
    }
    let windows: Vec<_> = curve.windows(width).filter_map(summarise).collect();
    let best = windows
        .iter()
        .enumerate()
        .reduce(|best, other| if other.1.mean > best.1.mean { other } else { best });
    let (Some((at, best)), Some(last)) = (best, windows.last()) else { return not_run() };
    let lost = best.mean - last.mean;
    let holds = if lost > best.sample_std && lost > 0.0 { Holds::Yes } else { Holds::No };
    let numbers = format!(
        "best mean over a tenth of the looks {:.4} (from look {}), over the last tenth {:.4}; deviation of single looks there {:.4}",
        best.mean,
        at + 1,
        last.mean,
        best.sample_std
    );
    (holds, numbers)
}

/// The value is largest next to a step, among the steps from half of it on.
pub(super) fn peaks_at(
    cells: &[&StudyCell],
    dataset: &str,
    method: &str,
    value: &str,
    at: u64,
) -> (Holds, String) {
    let curve = mean_curve(cells, dataset, method, value);
    let Some((step, top)) = peak(&curve, at) else { return not_run() };
    let nearest = |sought: u64| curve.keys().copied().min_by_key(|step| step.abs_diff(sought));
    // The step itself need not be among those looked at: its neighbours on either side count.
    let below = curve.range(..=at).next_back().map(|(step, _)| *step);
    let above = curve.range(at..).next().map(|(step, _)| *step);
    let holds =
        if [below, above, nearest(at)].contains(&Some(step)) { Holds::Yes } else { Holds::No };
    (holds, format!("largest, {top:.3}, at {step}, where {at} is claimed"))
}

/// Where a curve is largest from half of a step on.
fn peak(curve: &BTreeMap<u64, f64>, at: u64) -> Option<(u64, f64)> {
    let upper = curve.range(at / 2..).map(|(step, value)| (*step, *value));
    upper.reduce(|top, other| if other.1 > top.1 { other } else { top })
}

/// The values stand out above their end by less and less.
pub(super) fn sharper(
    cells: &[&StudyCell],
    dataset: &str,
    method: &str,
    values: &[String],
    at: u64,
) -> (Holds, String) {
    let height = |value: &String| {
        let curve = mean_curve(cells, dataset, method, value);
        Some(peak(&curve, at)?.1 - curve.last_key_value()?.1)
    };
    let heights: Vec<f64> = values.iter().filter_map(height).collect();
    if heights.len() < values.len() {
        return not_run();
    }
    let falling = heights.windows(2).all(|pair| pair[0] > pair[1]);
    let named: Vec<String> = values
        .iter()
        .zip(&heights)
        .map(|(value, height)| format!("{value}: {height:.3}"))
        .collect();
    let holds = if falling { Holds::Yes } else { Holds::No };
    (holds, format!("peak above the end, {}", named.join(", ")))
}
