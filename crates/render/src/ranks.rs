//! Mean ranks of several methods over several datasets, and which of them cannot be told apart.

use crate::{Align, Diagram, RenderError};

const AXIS: f64 = 62.0; // from the top
const LINE: f64 = 20.0; // between names

/// Draws mean ranks on a line (1, the best, on the left) and joins by a bar every largest group of
/// methods whose ranks differ by at most the critical difference `cd` (Demšar 2006, Figure 1).
///
/// ```
/// let ranks = [("SK".to_owned(), 3.6), ("NSK".to_owned(), 2.9), ("ASKL".to_owned(), 1.2)];
/// let diagram = mercer_render::critical_difference("demo/ranks", "Mean ranks", &ranks, 1.1)?;
/// assert!(diagram.svg()?.contains("ASKL (1.20)"));
/// # Ok::<(), mercer_render::RenderError>(())
/// ```
///
/// # Errors
/// [`RenderError::Rank`] if a rank or `cd` is not finite and positive.
pub fn critical_difference(
    id: impl Into<String>,
    title: impl Into<String>,
    ranks: &[(String, f64)],
    cd: f64,
) -> Result<Diagram, RenderError> {
    let sound = |value: f64| value > 0.0 && value.is_finite();
    if !sound(cd) {
        return Err(RenderError::Rank { what: "the critical difference".to_owned(), value: cd });
    }
    if let Some((name, value)) = ranks.iter().find(|(_, rank)| !sound(*rank)) {
        return Err(RenderError::Rank { what: format!("the rank of {name:?}"), value: *value });
    }
    let mut ranks = ranks.to_vec();
    ranks.sort_by(|a, b| a.1.total_cmp(&b.1));
    let values: Vec<f64> = ranks.iter().map(|(_, rank)| *rank).collect();
    let groups = groups(&values, cd);

    let longest = ranks.iter().map(|(name, _)| name.chars().count() + 7).max().unwrap_or(7);
    let margin = (7.5 * longest as f64 + 16.0).min(280.0);
    let top = values.last().map_or(2.0, |last| last.max(cd + 1.0).ceil().max(2.0));
    let half = ranks.len().div_ceil(2);
    let names = AXIS + 22.0 + 7.0 * groups.len() as f64;
    let height = names + LINE * half as f64 + 6.0;
    let mut diagram = Diagram::new(id, title, (700.0, height));
    let width = diagram.size.0;
    let at = |rank: f64| margin + (rank - 1.0) / (top - 1.0) * (width - 2.0 * margin);

    diagram = diagram.line([(at(1.0), AXIS), (at(top), AXIS)], 1.4);
    // Numbers of two digits stand too close on a line of many ranks.
    let step = if top > 10.0 { 2 } else { 1 };
    for tick in (1..=top as u32).step_by(step) {
        let x = at(f64::from(tick));
        diagram = diagram.line([(x, AXIS - 5.0), (x, AXIS)], 1.4).text(
            (x, AXIS - 14.0),
            tick.to_string(),
            Align::Center,
        );
    }
    let (left, right) = (at(1.0), at(1.0 + cd));
    diagram = diagram.line([(left, 26.0), (right, 26.0)], 1.8);
    for x in [left, right] {
        diagram = diagram.line([(x, 22.0), (x, 30.0)], 1.8);
    }
    let middle = f64::midpoint(left, right);
    diagram = diagram.text((middle, 12.0), format!("critical difference {cd:.2}"), Align::Center);

    for (i, (name, rank)) in ranks.iter().enumerate() {
        let text = format!("{name} ({rank:.2})");
        // The better half is named on the left, best first; the other on the right, worst first.
        let (row, end, place, align) = if i < half {
            (i, margin - 8.0, margin - 13.0, Align::Right)
        } else {
            (ranks.len() - 1 - i, width - margin + 8.0, width - margin + 13.0, Align::Left)
        };
        let y = names + LINE * (row as f64 + 0.5);
        diagram = diagram.line([(at(*rank), AXIS), (at(*rank), y), (end, y)], 1.2).text(
            (place, y),
            text,
            align,
        );
    }
    for (level, &(first, last)) in groups.iter().enumerate() {
        let y = AXIS + 10.0 + 7.0 * level as f64;
        diagram = diagram.line([(at(values[first]) - 4.0, y), (at(values[last]) + 4.0, y)], 4.0);
    }
    Ok(diagram)
}

/// First and last place of every largest group of at least two sorted ranks within `cd`.
fn groups(ranks: &[f64], cd: f64) -> Vec<(usize, usize)> {
    let mut groups: Vec<(usize, usize)> = Vec::new();
    for first in 0..ranks.len() {
        // Ranks are means of halves over datasets: a hair of rounding must not part a tie.
        let last = ranks.partition_point(|&rank| rank - ranks[first] <= cd + 1e-12) - 1;
        let covered = groups.last().is_some_and(|&(_, end)| end >= last);
        if last > first && !covered {
            groups.push((first, last));
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_the_largest_runs_within_the_critical_difference() {
        assert_eq!(groups(&[1.0, 1.5, 2.2, 4.0], 1.0), [(0, 1), (1, 2)]);
        assert_eq!(groups(&[1.0, 1.5, 2.0], 1.0), [(0, 2)]);
        assert_eq!(groups(&[1.0, 3.0, 5.0], 1.0), []);
        assert_eq!(groups(&[], 1.0), []);
    }

    #[test]
    fn a_rank_that_is_none_is_named() {
        let ranks = [("SK".to_owned(), f64::NAN)];
        let error = critical_difference("a", "b", &ranks, 1.0).unwrap_err().to_string();
        assert!(error.contains("\"SK\"") && error.contains("NaN"), "{error}");
        assert!(critical_difference("a", "b", &[], 0.0).is_err());
    }
}
