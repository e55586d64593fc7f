//! Mean ranks of several methods over several datasets, and which of them cannot be told apart.

use crate::{Align, Diagram, RenderError};

const WIDTH: f64 = 700.0;
const NARROW: f64 = 340.0;
const HEAD: f64 = 18.0; // the name of a line of ranks
const AXIS: f64 = 62.0; // from the top, or from the name
const LINE: f64 = 20.0; // between names of methods

/// Mean ranks of methods, and how far two must lie apart to differ significantly.
///
/// ```
/// use mercer_render::{MeanRanks, critical_differences};
/// let ranks = vec![("SK".to_owned(), 1.8), ("ASKL".to_owned(), 1.2)];
/// let tuned = MeanRanks { name: "tuned".into(), ranks, critical_difference: 0.9 };
/// assert!(critical_differences("demo/lines", "Mean ranks", &[tuned])?.svg()?.contains("tuned"));
/// # Ok::<(), mercer_render::RenderError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MeanRanks {
    /// Stands above the line; may be empty where there is one alone.
    pub name: String,
    /// Each method with its mean rank.
    pub ranks: Vec<(String, f64)>,
    /// The critical difference.
    pub critical_difference: f64,
}

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
    let line = MeanRanks { ranks: ranks.to_vec(), critical_difference: cd, ..MeanRanks::default() };
    critical_differences(id, title, &[line])
}

/// Several lines of mean ranks below each other on one scale, each drawn as by [`critical_difference`].
///
/// ```
/// use mercer_render::{MeanRanks, critical_differences};
/// let line = |name: &str, rank| MeanRanks {
///     name: name.into(),
///     ranks: vec![("SK".into(), 3.0 - rank), ("ASKL".into(), rank)],
///     critical_difference: 0.8,
/// };
/// let diagram = critical_differences("demo/two", "Mean ranks", &[line("printed", 1.2), line("tuned", 1.7)])?;
/// assert!(diagram.svg()?.contains("ASKL (1.70)"));
/// # Ok::<(), mercer_render::RenderError>(())
/// ```
///
/// # Errors
/// [`RenderError::Rank`] if a rank or a critical difference is not finite and positive.
pub fn critical_differences(
    id: impl Into<String>,
    title: impl Into<String>,
    lines: &[MeanRanks],
) -> Result<Diagram, RenderError> {
    lines.iter().try_for_each(MeanRanks::check)?;
    let lines: Vec<MeanRanks> = lines.iter().map(MeanRanks::sorted).collect();
    let (id, title) = (id.into(), title.into());
    let narrow = drawn(&id, &title, &lines, true);
    Ok(drawn(&id, &title, &lines, false).narrow(narrow))
}

fn drawn(id: &str, title: &str, lines: &[MeanRanks], narrow: bool) -> Diagram {
    let all = || lines.iter().flat_map(|line| &line.ranks);
    let longest = all().map(|(name, _)| name.chars().count() + 7).max().unwrap_or(7);
    let margin = 7.5 * longest as f64 + 16.0;
    let place = if narrow {
        Place { left: margin.min(220.0), right: 12.0, width: NARROW, one_side: true }
    } else {
        Place { left: margin.min(280.0), right: margin.min(280.0), width: WIDTH, one_side: false }
    };
    // To the last rank that there is.
    let end = |line: &MeanRanks| (line.critical_difference + 1.0).max(line.ranks.len() as f64);
    let top = lines.iter().map(end).fold(2.0, f64::max).ceil();
    let height: f64 = lines.iter().map(|line| line.height(&place)).sum();
    let mut diagram = Diagram::new(id, title, (place.width, height));
    let mut y = 0.0;
    for line in lines {
        diagram = line.draw(diagram, y, &place, top);
        y += line.height(&place);
    }
    diagram
}

/// The room that the lines have.
struct Place {
    /// Margins, in which the names stand.
    left: f64,
    right: f64,
    width: f64,
    /// Whether all names stand on the left.
    one_side: bool,
}

impl Place {
    /// How many of the methods are named on the left.
    fn left_names(&self, methods: usize) -> usize {
        if self.one_side { methods } else { methods.div_ceil(2) }
    }
}

impl MeanRanks {
    fn check(&self) -> Result<(), RenderError> {
        let sound = |value: f64| value > 0.0 && value.is_finite();
        if !sound(self.critical_difference) {
            let what = "the critical difference".to_owned();
            return Err(RenderError::Rank { what, value: self.critical_difference });
        }
        let odd = self.ranks.iter().find(|(_, rank)| !sound(*rank));
        odd.map_or(Ok(()), |(name, value)| {
            Err(RenderError::Rank { what: format!("the rank of {name:?}"), value: *value })
        })
    }

    fn sorted(&self) -> Self {
        let mut own = self.clone();
        own.ranks.sort_by(|a, b| a.1.total_cmp(&b.1));
        own
    }

    fn values(&self) -> Vec<f64> {
        self.ranks.iter().map(|(_, rank)| *rank).collect()
    }

    fn groups(&self) -> Vec<(usize, usize)> {
        groups(&self.values(), self.critical_difference)
    }

    /// Of its head.
    fn head(&self) -> f64 {
        if self.name.is_empty() { 0.0 } else { HEAD }
    }

    /// From its top to its first name.
    fn to_names(&self) -> f64 {
        self.head() + AXIS + 22.0 + 7.0 * self.groups().len() as f64
    }

    fn height(&self, place: &Place) -> f64 {
        self.to_names() + LINE * place.left_names(self.ranks.len()) as f64 + 6.0
    }

    /// Draws sorted ranks below `y`, the names in the margins, on a line from 1 to `top`.
    fn draw(&self, mut diagram: Diagram, y: f64, room: &Place, top: f64) -> Diagram {
        let (start, end) = (room.left, room.width - room.right);
        let at = |rank: f64| start + (rank - 1.0) / (top - 1.0) * (end - start);
        if !self.name.is_empty() {
            diagram = diagram.bold((8.0, y + 12.0), &self.name);
        }
        let (first, axis) = (y + self.head(), y + self.head() + AXIS);
        diagram = diagram.line([(at(1.0), axis), (at(top), axis)], 1.4);
        // Numbers of two digits stand too close on a line of many ranks.
        let step = (18.0 / (at(2.0) - at(1.0))).ceil().max(1.0);
        for tick in (1..=top as u32).step_by(step as usize) {
            let x = at(f64::from(tick));
            diagram = diagram.line([(x, axis - 5.0), (x, axis)], 1.4).text(
                (x, axis - 14.0),
                tick.to_string(),
                Align::Center,
            );
        }
        let cd = self.critical_difference;
        let (left, right, bar) = (at(1.0), at(1.0 + cd), first + 26.0);
        diagram = diagram.line([(left, bar), (right, bar)], 1.8);
        for x in [left, right] {
            diagram = diagram.line([(x, bar - 4.0), (x, bar + 4.0)], 1.8);
        }
        let middle = (f64::midpoint(left, right), first + 12.0);
        diagram = diagram.text(middle, format!("critical difference {cd:.2}"), Align::Center);

        let (half, names) = (room.left_names(self.ranks.len()), y + self.to_names());
        for (i, (name, rank)) in self.ranks.iter().enumerate() {
            let text = format!("{name} ({rank:.2})");
            // The better half is named on the left, best first; the other on the right, worst first.
            let (row, side, place, align) = if i < half {
                (i, start - 8.0, start - 13.0, Align::Right)
            } else {
                let row = self.ranks.len() - 1 - i;
                (row, end + 8.0, end + 13.0, Align::Left)
            };
            let down = names + LINE * (row as f64 + 0.5);
            diagram = diagram.line([(at(*rank), axis), (at(*rank), down), (side, down)], 1.2).text(
                (place, down),
                text,
                align,
            );
        }
        let values = self.values();
        for (level, (first, last)) in self.groups().into_iter().enumerate() {
            let y = axis + 10.0 + 7.0 * level as f64;
            diagram =
                diagram.line([(at(values[first]) - 4.0, y), (at(values[last]) + 4.0, y)], 4.0);
        }
        diagram
    }
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
