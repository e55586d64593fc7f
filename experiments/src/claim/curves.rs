//! Claims about the shape of curves, checked on the means over repeats.

use super::Holds;
use crate::cell::StudyCell;
use crate::peak::Repeats;
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

/// The value peaks next to a step: an interior maximum that it rises to from a dip.
pub(super) fn peaks_at(
    cells: &[&StudyCell],
    dataset: &str,
    method: &str,
    value: &str,
    at: u64,
) -> (Holds, String) {
    let Some(curves) = repeats(cells, dataset, method, value) else { return not_run() };
    let Some(peak) = curves.peak() else {
        return (Holds::No, format!("no peak, where {at} is claimed"));
    };
    let nearest = curves.sizes().iter().copied().min_by_key(|size| size.abs_diff(at));
    // The step itself need not be among those looked at: its neighbours on either side count.
    let below = curves.sizes().iter().copied().rfind(|&size| size <= at);
    let above = curves.sizes().iter().copied().find(|&size| size >= at);
    let holds =
        if [below, above, nearest].contains(&Some(peak.at)) { Holds::Yes } else { Holds::No };
    let (height, found) = (peak.height, peak.at);
    let interval = curves.intervals().map_or_else(String::new, |found| {
        let (place, height) = (found.at, found.height);
        format!(
            "; 95 % over repeats from {} to {}, height {:.3} to {:.3}",
            place.0, place.1, height.0, height.1
        )
    });
    (holds, format!("peak {height:.3} at {found}, where {at} is claimed{interval}"))
}

fn repeats(cells: &[&StudyCell], dataset: &str, method: &str, value: &str) -> Option<Repeats> {
    let own = |cell: &&StudyCell| cell.key().dataset == dataset && cell.key().method == method;
    Repeats::of(cells.iter().copied().filter(own), value)
}

/// The peaks of the values stand out of their curves by less and less, until there is none.
pub(super) fn sharper(
    cells: &[&StudyCell],
    dataset: &str,
    method: &str,
    values: &[String],
) -> (Holds, String) {
    let peaks: Vec<Option<f64>> = values
        .iter()
        .filter_map(|value| repeats(cells, dataset, method, value))
        .map(|curves| curves.peak().map(|peak| peak.prominence))
        .collect();
    if peaks.len() < values.len() {
        return not_run();
    }
    let falling = peaks.windows(2).all(|pair| match (pair[0], pair[1]) {
        (Some(first), Some(second)) => first > second,
        (_, second) => second.is_none(),
    });
    let shown = |peak: &Option<f64>| peak.map_or("no peak".to_owned(), |rise| format!("{rise:.3}"));
    let named: Vec<String> = values
        .iter()
        .zip(&peaks)
        .map(|(value, peak)| format!("{value}: {}", shown(peak)))
        .collect();
    let holds = if falling && peaks[0].is_some() { Holds::Yes } else { Holds::No };
    (holds, format!("peak above the higher of the dips beside it, {}", named.join(", ")))
}
