//! Where the searches of Table 2 ended on their grids, and over which pairs the final fits sum.

use mercer_learning::fact;
use mercer_models::hyper_rkhs::{PairSvr, SEARCH_GRIDS};
use mercer_render::{Cell, Column, Row, Table};
use mercer_report::StudyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

type Facts = BTreeMap<String, f64>;

/// A grid of the paper's search (`search = "folds"`).
struct Grid {
    name: &'static str,
    /// What was chosen of it.
    fact: &'static str,
    /// Its least and its largest value.
    ends: [f64; 2],
    /// The same as a table says them.
    shown: [String; 2],
}

impl Grid {
    fn of_powers(
        name: &'static str,
        fact: &'static str,
        base: f64,
        powers: &RangeInclusive<i32>,
    ) -> Self {
        let ends = [*powers.start(), *powers.end()];
        let say = |power: i32| if base > 2.0 { format!("1e{power}") } else { format!("2^{power}") };
        Self { name, fact, ends: ends.map(|power| base.powi(power)), shown: ends.map(say) }
    }
}

fn ridge() -> Grid {
    Grid::of_powers("λ", "chosen-lambda", 10.0, &SEARCH_GRIDS.lambda_powers)
}

/// The printed one goes on to 1e5.
fn tube_cost() -> Grid {
    let powers = &SEARCH_GRIDS.pair_cost_powers;
    Grid::of_powers("the regression's C", "chosen-pair-cost", 10.0, powers)
}

fn cost() -> Grid {
    Grid::of_powers("the SVM's C", "chosen-cost", 2.0, &SEARCH_GRIDS.cost_powers)
}

fn spreads() -> Grid {
    let [least, .., largest] = SEARCH_GRIDS.spreads;
    let shown = [least, largest].map(|spread| format!("{spread} σ²"));
    Grid { name: "σ_h²", fact: "chosen-spread", ends: [least, largest], shown }
}

/// The methods that search, and whether theirs is the regression with a tube, and has a spread.
const METHODS: [(&str, bool, bool); 4] = [
    ("hyper-krr", false, true),
    ("hyper-svr", true, true),
    ("hyper-krr-wishart", false, false),
    ("hyper-svr-wishart", true, false),
];

/// Penalty, spread and cost.
fn grids(tube: bool, spread: bool) -> [Option<Grid>; 3] {
    [Some(if tube { tube_cost() } else { ridge() }), spread.then(spreads), Some(cost())]
}

/// The facts of the fits of a cell behind which there is a search.
fn searched(cell: &StudyCell) -> Vec<&Facts> {
    let all = cell.records().map(|record| &record.result.facts);
    all.filter(|facts| facts.contains_key("search-points")).collect()
}

/// How many of the searches chose the least value of a grid, and how many the largest.
fn at_ends(fits: &[&Facts], grid: &Grid) -> [usize; 2] {
    grid.ends.map(|end| {
        let there = |value: &f64| (value / end - 1.0).abs() < 1e-9;
        fits.iter().filter(|facts| facts.get(grid.fact).is_some_and(there)).count()
    })
}

/// The ordered pairs that a fit sums over, and how many there are.
fn ordered(facts: &Facts) -> Option<(f64, f64)> {
    let (&pairs, &points) = (facts.get("pairs")?, facts.get("stage-1-rows")?);
    // In older records the exact solvers over unordered pairs count each once; a sample is drawn of ordered ones.
    let (unordered, all) = (points * (points + 1.0) / 2.0, points * points);
    Some((if pairs.total_cmp(&unordered).is_eq() { all } else { pairs }, all))
}

/// The same, where these are not all.
fn drawn(facts: &Facts) -> Option<(f64, f64)> {
    ordered(facts).filter(|(pairs, all)| pairs < all)
}

fn span(grid: &Grid) -> String {
    format!("{}, {} to {}", grid.name, grid.shown[0], grid.shown[1])
}

/// A line a cell: how often each grid ended the search, and what the final fit was.
pub(crate) fn table(id: &str, cells: &[StudyCell]) -> Table {
    let mut table = Table::new(id, "Searches at the edges of their grids")
        .caption("How many of the searches by folds chose the least and the largest value of a grid. Beyond an edge of its grid a method could be better.")
        .columns(["Dataset", "Variant", "Method"].map(Column::left))
        .columns([Column::right("Searches")]);
    for group in ["penalty", "spread", "SVM's C"] {
        table = table.columns(["least", "largest"].map(|head| Column::right(head).under(group)));
    }
    table = table
        .columns(["search", "fit"].map(|head| Column::right(head).under("points")))
        .columns(["Pairs of the fit", "cut short"].map(Column::right));
    table = grids_in_words().into_iter().fold(table, Table::note);
    for (cell, tube, spread) in cells.iter().filter_map(of_method) {
        let fits = searched(cell);
        if fits.is_empty() {
            continue;
        }
        let mean = |name: &str| {
            let sum: f64 = fits.iter().filter_map(|facts| facts.get(name)).sum();
            sum / fits.len() as f64
        };
        let mut line = vec![
            Cell::text(&cell.key().dataset),
            Cell::text(&cell.key().variant),
            Cell::text(cell.label()),
            Cell::count(fits.len()),
        ];
        for grid in grids(tube, spread) {
            line.extend(grid.map_or_else(
                || [Cell::text("-"), Cell::text("-")],
                |grid| at_ends(&fits, &grid).map(Cell::count),
            ));
        }
        line.push(Cell::number(mean("search-points"), 0));
        line.push(Cell::number(mean("stage-1-rows"), 0));
        let all = fits.iter().all(|facts| drawn(facts).is_none());
        let pairs = fits.iter().filter_map(|facts| ordered(facts)).map(|(pairs, _)| pairs);
        let shown = Cell::number(pairs.sum::<f64>() / fits.len() as f64, 0);
        let landmarks = fits.iter().find_map(|facts| facts.get("landmark-pairs"));
        line.push(match (all, landmarks) {
            (true, None) => shown.detail("all"),
            (true, Some(span)) => shown.detail(format!("all, in the span of {span:.0}")),
            (false, _) => shown.detail("drawn at random"),
        });
        line.push(Cell::number(mean(fact::SEARCH_NOT_CONVERGED), 1));
        table = table.row(Row::new(line));
    }
    table
}

/// What the columns mean, and between which values each grid lies.
fn grids_in_words() -> [String; 5] {
    let [ridge, tube, spread, cost] =
        [ridge(), tube_cost(), spreads(), cost()].map(|grid| span(&grid));
    [
        format!("Penalty: of hyper-KRR {ridge}; of hyper-SVR {tube}."),
        format!("Spread: {spread}; the Wishart hyper-kernel has none. SVM's C: {cost}."),
        "Of equally good settings the search takes the first: the least spread, then the least penalty, then the least cost. So part of a count at a least value is ties.".to_owned(),
        "Points: rows that the folds divide, and rows of the final fit. Pairs of the fit: mean number of ordered pairs, m² of m rows however the solver counts them.".to_owned(),
        "Cut short: mean number of the search's regressions and SVMs that stopped at their limit of steps, before their tolerance.".to_owned(),
    ]
}

/// A cell of a method that searches.
fn of_method(cell: &StudyCell) -> Option<(&StudyCell, bool, bool)> {
    let (_, tube, spread) =
        METHODS.into_iter().find(|(method, ..)| *method == cell.key().method)?;
    Some((cell, tube, spread))
}

/// For the table of accuracies: which final fits are not over all pairs, or only in the span of some.
pub(crate) fn notes(cells: &[StudyCell]) -> Vec<String> {
    let (mut spanned, mut sampled) = (BTreeMap::new(), BTreeMap::new());
    for (cell, tube, _) in cells.iter().filter_map(of_method) {
        let fits: Vec<&Facts> = cell.records().map(|record| &record.result.facts).collect();
        let dataset = &cell.key().dataset;
        if tube {
            if let Some((pairs, all)) = fits.iter().find_map(|facts| drawn(facts)) {
                let fit = format!("{dataset} ({pairs:.0} of {all:.0})");
                sampled.entry(cell.label()).or_insert_with(BTreeSet::new).insert(fit);
            }
        } else if let Some(span) = fits.iter().find_map(|facts| facts.get("landmark-pairs")) {
            let fit = format!("{dataset} ({span:.0})");
            spanned.entry(cell.label()).or_insert_with(BTreeSet::new).insert(fit);
        }
    }
    let listed = |of: BTreeMap<&str, BTreeSet<String>>| {
        let lines = of.into_iter().map(|(label, fits)| {
            format!("{label} on {}", fits.into_iter().collect::<Vec<_>>().join(", "))
        });
        lines.collect::<Vec<_>>().join("; ")
    };
    let (spanned, sampled) = (listed(spanned), listed(sampled));
    let mut notes = Vec::new();
    if !spanned.is_empty() {
        notes.push(format!("Fits over all pairs, but in the span of some: {spanned}."));
    }
    if !sampled.is_empty() {
        notes.push(format!(
            "Fits over random ordered pairs, by Nyström's approximation with {} landmarks: {sampled}.",
            PairSvr::default().landmarks
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(all: &[(&str, f64)]) -> Facts {
        all.iter().map(|&(name, value)| (name.to_owned(), value)).collect()
    }

    #[test]
    fn both_ends_of_a_grid_are_counted() {
        let fits = [1e-5, 10f64.powi(-5), 1e-4, 1e5].map(|value| facts(&[(ridge().fact, value)]));
        let fits: Vec<&Facts> = fits.iter().collect();
        assert_eq!(at_ends(&fits, &ridge()), [2, 1]);
        // A grid that was not searched has no ends.
        assert_eq!(at_ends(&fits, &spreads()), [0, 0]);
    }

    #[test]
    fn all_pairs_are_told_from_a_sample_however_they_are_counted() {
        let fit = |pairs: f64| facts(&[("pairs", pairs), ("stage-1-rows", 276.0)]);
        let all = 76176.0;
        // Unordered, ordered, and a sample of ordered ones.
        for (pairs, summed) in [(38226.0, all), (all, all), (4000.0, 4000.0)] {
            assert_eq!(ordered(&fit(pairs)), Some((summed, all)));
            assert_eq!(drawn(&fit(pairs)), (summed < all).then_some((summed, all)));
        }
    }
}
