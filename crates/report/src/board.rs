//! Methods ranked over the datasets of a study: who wins, by how much, and what it costs.

use crate::cell::{common_repeats, paired};
use crate::rendered::Head;
use crate::results_table::{missing_by_variant, not_run};
use crate::{CellReport, Drawing, ExperimentError, RenderContext, Rendered, StudyCell};
use mercer_harness::{Trial, TuningSource};
use mercer_render::{
    Axis, Cell, Column, Diagram, Figure, Legend, Mark, Panel, Raster, Row, Series, Table,
    critical_difference, probability, shade,
};
use mercer_statistics::{
    Posterior, Standing, Standings, corrected_t, gain_over_data_sets, standings, summarise,
    without_rounding,
};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// A difference of one point of accuracy is none in practice.
const ROPE: f64 = 1.0;

/// The group of methods that joined.
const JOINED: &str = "joined";

/// What is ranked.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Board {
    /// The study, all of whose datasets are of classes.
    study: String,
    /// The variants; each method is in one of them.
    variants: Vec<String>,
    /// The method that every other is held against.
    against: String,
    /// Groups of methods by a word that is shown: `["learned kernel", ["askl", "rfm"]]`.
    groups: Vec<(String, Vec<String>)>,
    /// Lines below the ranking.
    notes: Vec<String>,
}

/// A method's cells: one a dataset, in the order of the rows.
struct Ranked<'a> {
    cells: Vec<&'a StudyCell>,
    /// Mean accuracy in percent over the repeats that all with a score have; none where it has no score.
    scores: Vec<Option<f64>>,
    /// Seconds of the search of each repeat: a trial that found it on record took none.
    searches: Vec<BTreeMap<u32, f64>>,
}

impl Board {
    pub(crate) fn render(
        &self,
        context: &RenderContext<'_>,
        artefact: Head<'_>,
    ) -> Result<Rendered, ExperimentError> {
        let study = context.cells(&self.study)?;
        let cells: Vec<&StudyCell> =
            study.1.iter().filter(|cell| self.variants.contains(&cell.key().variant)).collect();
        let (datasets, missing) = covered(context, &cells);
        let ranked = ranked(context, &cells, &datasets);
        let reports = cells.iter().map(|cell| CellReport::of(artefact.id, cell, None)).collect();
        let mut rendered = Rendered { cells: reports, ..Rendered::default() };
        let against = ranked.iter().find(|one| one.name() == self.against);
        let (Some(against), true) = (against, datasets.len() > 1 && ranked.len() > 1) else {
            let table = Table::new(artefact.id, artefact.title).caption(artefact.caption);
            rendered.tables.push(table.note("No two datasets have a score of every method yet."));
            return Ok(rendered);
        };
        // What has no score is worse than any score, and as bad as another without one.
        let row = |at: usize| ranked.iter().map(|one| one.scores[at].unwrap_or(-1.0)).collect();
        let rows: Vec<Vec<f64>> = (0..datasets.len()).map(row).collect();
        let found = standings(&rows, true)?;
        let repeats = cells.iter().filter_map(|cell| Some(cell.score()?.repeats)).max();
        let table = self.table(artefact, &ranked, against, &found)?;
        let mut table = self.notes.iter().fold(table, Table::note);
        if let Some(repeats) = repeats {
            table = table.note(format!(
                "{} datasets, {repeats} repeats. Two methods differ significantly if their mean ranks are at least {:.1} apart (Nemenyi, 5 %). With fewer than ten datasets the intervals of mean ranks are too narrow.",
                datasets.len(),
                found.critical_difference
            ));
        }
        table = lacking(missing, ranked.len()).into_iter().fold(table, Table::note);
        let order: Vec<&Ranked<'_>> = found.methods.iter().map(|one| &ranked[one.method]).collect();
        rendered.tables = vec![table, scores(artefact, &order, &datasets)];
        rendered.tables.extend(probabilities(artefact, &ranked)?);
        rendered.drawings = vec![
            Drawing::Diagram(mean_ranks(artefact, &ranked, &found)?),
            Drawing::Figure(self.costs(artefact, &ranked, &found)),
            Drawing::Figure(map(artefact, &order, &datasets)),
        ];
        Ok(rendered)
    }

    fn group(&self, method: &str) -> &str {
        let of = |(_, names): &&(String, Vec<String>)| names.iter().any(|name| name == method);
        self.groups.iter().find(of).map_or(JOINED, |(group, _)| group.as_str())
    }

    fn table(
        &self,
        artefact: Head<'_>,
        ranked: &[Ranked<'_>],
        against: &Ranked<'_>,
        found: &Standings,
    ) -> Result<Table, ExperimentError> {
        let other = against.label();
        let mut table = Table::new(artefact.id, artefact.title)
            .caption(format!("{} {}", self.first_of_groups(ranked, found), artefact.caption))
            .columns(["Place"].map(Column::right))
            .columns(["Method", "Kernel"].map(Column::left))
            .columns(["Mean rank", "95 % interval", "Best on"].map(Column::right))
            .columns(["Tune and fit (s)", "Predict (ms)"].map(Column::right))
            .columns(
                ["Won : lost", "Gain (points)", "P(loses a point)", "P(gains a point)"]
                    .map(|head| Column::right(head).under(format!("against {other}"))),
            );
        let failed = ranked.iter().any(|one| one.scores.contains(&None));
        if failed {
            table = table.columns(["No score on"].map(Column::right));
        }
        for one in &found.methods {
            let own = &ranked[one.method];
            let (low, high) = one.interval;
            let mut row = vec![
                Cell::text(&one.place).sort(one.mean_rank),
                Cell::text(own.label()),
                Cell::text(self.group(own.name())),
                Cell::number(one.mean_rank, 2),
                Cell::text(format!("{low:.1} to {high:.1}")),
                Cell::count(one.best_on),
            ];
            for (phases, unit) in [(&["tune", "fit"][..], 1.0), (&["predict"][..], 1e3)] {
                let time = own.seconds(phases).map(|seconds| unit * seconds);
                row.push(
                    time.map_or_else(|| Cell::text("-"), |time| Cell::number(time, digits(time))),
                );
            }
            match gain(own, against)? {
                Some((mean, part)) => row.extend([
                    Cell::text(wins(own, against)),
                    Cell::number(mean, 1),
                    Cell::number(part.worse, 2),
                    Cell::number(part.better, 2),
                ]),
                None => row.extend(["-"; 4].map(Cell::text)),
            }
            if failed {
                row.push(Cell::count(own.scores.iter().filter(|score| score.is_none()).count()));
            }
            table = table.row(Row::new(row));
        }
        Ok(table)
    }

    /// The first method of each group with its mean rank: what a reader came for.
    fn first_of_groups(&self, ranked: &[Ranked<'_>], found: &Standings) -> String {
        let of = |group: &str| {
            let own = |one: &&Standing| self.group(ranked[one.method].name()) == group;
            let first = found.methods.iter().find(own)?;
            let label = ranked[first.method].label();
            Some(format!("{label} ({group}) {:.1}", first.mean_rank))
        };
        let firsts: Vec<String> = self.groups.iter().filter_map(|(group, _)| of(group)).collect();
        let test = &found.friedman;
        let p =
            probability(if test.degenerate { test.p_chi_squared } else { test.p_iman_davenport });
        let result = if found.apart {
            format!("The methods differ (Friedman's test, p = {p})")
        } else {
            format!("No two methods differ significantly (Friedman's test, p = {p})")
        };
        format!("{result}. Mean rank of the best of each kind: {}.", firsts.join(", "))
    }

    /// Mean rank against what a fit costs.
    fn costs(&self, artefact: Head<'_>, ranked: &[Ranked<'_>], found: &Standings) -> Figure {
        let mut panel = Panel::new(
            Axis::log10("seconds to tune and fit, median over the datasets"),
            Axis::linear("mean rank (1 is best)"),
        );
        for group in self.groups.iter().map(|(group, _)| group.as_str()).chain([JOINED]) {
            let own =
                found.methods.iter().filter(|one| self.group(ranked[one.method].name()) == group);
            let points: Vec<(f64, f64, String)> = own
                .filter_map(|one| {
                    let seconds = ranked[one.method].seconds(&["tune", "fit"])?;
                    Some((seconds, one.mean_rank, ranked[one.method].label()))
                })
                .collect();
            if points.is_empty() {
                continue;
            }
            panel = panel.series(Series::points(
                format!("kernel: {group}"),
                points.iter().map(|&(x, y, _)| (x, y)),
            ));
            for (x, y, label) in points {
                panel = panel.mark(Mark::Name { x, y, label });
            }
        }
        Figure::new(format!("{}-costs", artefact.id), "What a rank costs")
            .caption("Lower is better, further left is cheaper. Times by the clock, beside other work; scikit-learn's include starting Python. Read them as orders of magnitude.")
            .panel(panel)
    }
}

impl Ranked<'_> {
    fn name(&self) -> &str {
        &self.cells[0].key().method
    }

    fn label(&self) -> String {
        self.cells[0].label().replace(" (scikit-learn)", "")
    }

    /// Median over the datasets of the mean time of these phases.
    fn seconds(&self, phases: &[&str]) -> Option<f64> {
        let of_cell = |(cell, searches): (&&StudyCell, &BTreeMap<u32, f64>)| {
            let scored = cell.of(cell.metric().name());
            let of = |record: &mercer_records::Record| -> f64 {
                let search =
                    |phase: &&str| searches.get(&record.key.repeat).filter(|_| *phase == "tune");
                // By the clock: what a program from outside takes is seen on no other.
                let of_phase = |phase| search(phase).or_else(|| record.run.seconds.get(*phase));
                phases.iter().filter_map(of_phase).sum()
            };
            let all: Vec<f64> = cell
                .records()
                .filter(|record| scored.iter().any(|(repeat, _)| *repeat == record.key.repeat))
                .map(of)
                .collect();
            summarise(&all).map(|times| times.mean)
        };
        let all: Vec<f64> = self.cells.iter().zip(&self.searches).filter_map(of_cell).collect();
        summarise(&all).map(|times| times.median)
    }
}

/// Seconds of the recorded search of each repeat.
fn searches(context: &RenderContext<'_>, cell: &StudyCell) -> BTreeMap<u32, f64> {
    let of = |trial: &Trial| {
        let TuningSource::Tuner { key, .. } = &trial.tuning else { return None };
        let seconds = context.records.get(key)?.run.seconds.get("tune").copied()?;
        Some((trial.key.repeat, seconds))
    };
    cell.trials().filter_map(of).collect()
}

/// The datasets on which all was run, and by dataset the methods that were not run on it.
fn covered<'a>(
    context: &RenderContext<'_>,
    cells: &[&'a StudyCell],
) -> (Vec<&'a str>, BTreeMap<&'a str, Vec<&'a str>>) {
    let mut missing: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for cell in cells.iter().filter(|cell| not_run(context, cell)) {
        missing.entry(&cell.key().dataset).or_default().push(&cell.key().method);
    }
    let mut datasets: Vec<&str> = Vec::new();
    for cell in cells {
        let name = cell.key().dataset.as_str();
        let there = !missing.contains_key(name) && !context.missing.contains_key(name);
        if there && !datasets.contains(&name) {
            datasets.push(name);
        }
    }
    (datasets, missing)
}

/// Notes on the datasets that are left out: those that no method was run on, and those that some were.
fn lacking(missing: BTreeMap<&str, Vec<&str>>, methods: usize) -> Vec<String> {
    // Of a dataset that nobody was run on, its name is enough.
    let (none, some): (BTreeMap<_, _>, BTreeMap<_, _>) =
        missing.into_iter().partition(|(_, lacking)| lacking.len() >= methods);
    let mut notes = Vec::new();
    if !none.is_empty() {
        let names: Vec<&str> = none.into_keys().collect();
        notes.push(format!("Not run yet: {}.", names.join(", ")));
    }
    if !some.is_empty() {
        let words = missing_by_variant(&some);
        notes.push(format!("Left out, since not every method was run: {words}."));
    }
    notes
}

/// The mean ranks on a line, with the critical difference.
fn mean_ranks(
    artefact: Head<'_>,
    ranked: &[Ranked<'_>],
    found: &Standings,
) -> Result<Diagram, ExperimentError> {
    let named: Vec<(String, f64)> =
        found.methods.iter().map(|one| (ranked[one.method].label(), one.mean_rank)).collect();
    let mut diagram = critical_difference(
        format!("{}-ranks", artefact.id),
        "Mean ranks, the best on the left",
        &named,
        found.critical_difference,
    )?;
    diagram.caption = if found.apart {
        "A bar joins methods that do not differ significantly (Nemenyi, 5 %).".to_owned()
    } else {
        "No two methods differ significantly, by Friedman's test or Nemenyi's critical difference."
            .to_owned()
    };
    Ok(diagram)
}

/// Every method with its score on each dataset.
fn ranked<'a>(
    context: &RenderContext<'_>,
    cells: &[&'a StudyCell],
    datasets: &[&str],
) -> Vec<Ranked<'a>> {
    let mut methods: Vec<&str> = Vec::new();
    for cell in cells {
        if !methods.contains(&cell.key().method.as_str()) {
            methods.push(&cell.key().method);
        }
    }
    let of_dataset = |name: &str| -> (Vec<&'a StudyCell>, BTreeSet<u32>) {
        let own: Vec<&StudyCell> =
            cells.iter().copied().filter(|cell| cell.key().dataset == name).collect();
        let scored: Vec<&StudyCell> =
            own.iter().copied().filter(|cell| cell.score().is_some()).collect();
        (own, common_repeats(&scored))
    };
    let rows: Vec<(Vec<&StudyCell>, BTreeSet<u32>)> =
        datasets.iter().map(|name| of_dataset(name)).collect();
    let of_method = |name: &&str| -> Option<Ranked<'a>> {
        let own = rows.iter().map(|(own, common)| {
            let cell = own.iter().copied().find(|cell| cell.key().method == *name)?;
            // Repeats add up in any order: what differs by rounding is a tie.
            let mean = cell.mean_over(common).map(without_rounding);
            Some((cell, mean))
        });
        let (cells, scores): (Vec<&StudyCell>, _) =
            own.collect::<Option<Vec<_>>>()?.into_iter().unzip();
        let searches = cells.iter().map(|cell| searches(context, cell)).collect();
        Some(Ranked { cells, scores, searches })
    };
    methods.iter().filter_map(of_method).filter(|one| !one.cells.is_empty()).collect()
}

/// Of a time, so that two figures stand there.
fn digits(time: f64) -> usize {
    match time {
        10.0.. => 0,
        1.0.. => 1,
        _ => 2,
    }
}

/// Datasets on which its score is above the other's, and below it.
fn wins(own: &Ranked<'_>, other: &Ranked<'_>) -> String {
    let pairs = || own.scores.iter().zip(&other.scores);
    let above = pairs().filter(|(a, b)| a > b).count();
    format!("{above}:{}", pairs().filter(|(a, b)| a < b).count())
}

/// Mean gain over the datasets where both have a score, and what the hierarchical model says of one more.
fn gain(own: &Ranked<'_>, other: &Ranked<'_>) -> Result<Option<(f64, Posterior)>, ExperimentError> {
    let mut gains = Vec::new();
    for (cell, rival) in own.cells.iter().zip(&other.cells) {
        let differences = paired(cell, rival);
        if differences.len() > 1 {
            let test = corrected_t(&differences, cell.test_over_train())?;
            gains.push((test.mean_difference, test.standard_error));
        }
    }
    // A few repeats say little of the error on one dataset: three equal differences would make it 0.
    let squares: f64 = gains.iter().map(|(_, error)| error * error).sum();
    let pooled = (squares / gains.len().max(1) as f64).sqrt();
    for (_, error) in &mut gains {
        *error = pooled;
    }
    if own.name() == other.name() || gains.len() < 2 {
        return Ok(None);
    }
    let mean = gains.iter().map(|(mean, _)| mean).sum::<f64>() / gains.len() as f64;
    Ok(Some((mean, gain_over_data_sets(&gains, ROPE)?)))
}

/// The accuracies, the best of each dataset in bold.
fn scores(artefact: Head<'_>, order: &[&Ranked<'_>], datasets: &[&str]) -> Table {
    let mut table = Table::new(format!("{}-scores", artefact.id), "Accuracy on each dataset (%)")
        .caption("Mean over the repeats; bold: no method is better. A dash: no score.")
        .columns([Column::left("Method")])
        .columns(datasets.iter().map(|name| Column::right(*name)));
    for one in order {
        let mut row = vec![Cell::text(one.label())];
        for (at, score) in one.scores.iter().enumerate() {
            let best =
                order.iter().filter_map(|other| other.scores[at]).fold(f64::NEG_INFINITY, f64::max);
            row.push(match score {
                Some(score) if *score >= best - 1e-9 => Cell::number(*score, 1).bold(),
                Some(score) => Cell::number(*score, 1),
                None => Cell::text("-"),
            });
        }
        table = table.row(Row::new(row));
    }
    table
}

/// How good the calibrated probabilities are, over the datasets where every method has some.
fn probabilities(
    artefact: Head<'_>,
    ranked: &[Ranked<'_>],
) -> Result<Option<Table>, ExperimentError> {
    let mean = |cell: &StudyCell, name: &str| {
        let values: Vec<f64> = cell.of(name).into_iter().map(|(_, value)| value).collect();
        summarise(&values).map(|summary| without_rounding(summary.mean))
    };
    // A list of methods for each dataset that all have.
    let of = |name: &str| -> Vec<Vec<f64>> {
        let of_dataset =
            |at: usize| ranked.iter().map(|own| mean(own.cells[at], name)).collect::<Option<_>>();
        (0..ranked[0].cells.len()).filter_map(of_dataset).collect()
    };
    let (losses, errors) = (of("log-loss"), of("calibration-error"));
    if losses.len() < 2 {
        return Ok(None);
    }
    let average = |all: &[Vec<f64>], method: usize| {
        all.iter().map(|row| row[method]).sum::<f64>() / all.len() as f64
    };
    let found = standings(&losses, false)?;
    let mut table = Table::new(format!("{}-probabilities", artefact.id), "How good are the probabilities?")
        .caption(format!(
            "Test rows of {} datasets. A log loss is the mean of -ln of the true class's probability. The calibration error is the mean distance between the probability of the predicted class and how often it is right, in ten groups of rows; on so few rows perfect probabilities have some, too.",
            losses.len()
        ))
        .columns(["Place"].map(Column::right))
        .columns(["Method"].map(Column::left))
        .columns(["Mean rank", "95 % interval", "Log loss", "Calibration error (points)"].map(Column::right))
        .note("Ranks are by log loss. Scores become probabilities inside the training part, by three folds with the chosen settings: Platt's sigmoid for two classes, a temperature for more. All methods are calibrated so, those with probabilities of their own too.");
    for one in &found.methods {
        let (low, high) = one.interval;
        table = table.row(Row::new([
            Cell::text(&one.place).sort(one.mean_rank),
            Cell::text(ranked[one.method].label()),
            Cell::number(one.mean_rank, 2),
            Cell::text(format!("{low:.1} to {high:.1}")),
            Cell::number(average(&losses, one.method), 3),
            Cell::number(100.0 * average(&errors, one.method), 1),
        ]));
    }
    Ok(Some(table))
}

/// Where each score lies between the worst and the best of its dataset.
fn map(artefact: Head<'_>, order: &[&Ranked<'_>], datasets: &[&str]) -> Figure {
    let mut shares = Vec::new();
    for at in (0..datasets.len()).rev() {
        let scores = || order.iter().filter_map(|one| one.scores[at]);
        let (low, high) =
            (scores().fold(f64::INFINITY, f64::min), scores().fold(f64::NEG_INFINITY, f64::max));
        let share = |one: &&Ranked<'_>| match one.scores[at] {
            Some(score) if high > low => (score - low) / (high - low),
            Some(_) => 1.0,
            None => f64::NAN,
        };
        shares.extend(order.iter().map(share));
    }
    let (columns, rows) = (order.len() as f64, datasets.len() as f64);
    let colors: Vec<[u8; 3]> = shares.iter().map(|&share| shade(share)).collect();
    let raster = Raster::new(order.len(), (-0.5, -0.5), (columns - 0.5, rows - 0.5), colors)
        .channel("share", shares);
    let panel = Panel::new(
        Axis::names("", order.iter().map(|one| one.label())),
        Axis::names("", datasets.iter().rev().copied()),
    );
    Figure::new(format!("{}-map", artefact.id), "Where each method fails")
        .caption("Dark: the best score of the dataset; pale: the worst one; white: no score. Methods by mean rank, the best first.")
        .panel(panel.raster(raster))
        .legend(Legend::Hidden)
}
