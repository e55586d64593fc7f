//! `mercer reproduce`: plan, carry out, render.

use crate::Ended;
use crate::papers::again;
use crate::papers::args::ReproduceArgs;
use crate::papers::forecast::{self, costs};
use crate::papers::planned::{
    PAPER, Planned, cell_of, jobs, missing, planned, runner, stood_in_for,
};
use crate::papers::printed::{ended, render, show};
use crate::papers::progress::{Bar, minutes};
use mercer_harness::{CostModel, Options, Trial, run as carry_out};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Minutes of a reproduction that names none.
const MINUTES: f64 = 15.0;

impl ReproduceArgs {
    /// The time that it may take, if that is limited: a profile that is cut anyway runs whole, and so does
    /// whatever extends the reference.
    fn budget(&self) -> Option<Duration> {
        let whole = self.all || self.extends() || self.narrow.profile != PAPER;
        let minutes = self.minutes.or((!whole).then_some(MINUTES));
        minutes.map(|minutes| Duration::from_secs_f64(60.0 * minutes))
    }

    /// Whether the committed records count as done: a method that joins the leaderboard is held against them.
    pub(crate) const fn extends(&self) -> bool {
        self.extend || !self.add.is_empty()
    }

    /// Whether the committed records are shown and run again: at least a tenth of the trials must be there.
    fn again(&self, planned: &Planned) -> bool {
        if self.fresh || self.extends() || self.narrow.profile != PAPER {
            return false;
        }
        let Planned { work, archive, .. } = planned;
        let trials = work.trials.iter().filter(|trial| archive.of(trial).is_some()).count();
        let computed =
            work.simulations.iter().filter(|own| archive.get(&own.key()).is_some()).count();
        let (recorded, all) = (trials + computed, work.trials.len() + work.simulations.len());
        let enough = 10 * recorded >= all;
        if !enough {
            tracing::info!(
                "{recorded} of {all} trials are on record in {}: every table is built from what is run here, as by --fresh",
                self.places.reports.display()
            );
        }
        enough
    }
}

pub(crate) fn run(args: &ReproduceArgs, quiet: bool) -> anyhow::Result<Ended> {
    let mut planned = planned(args, None)?;
    let budget = args.budget();
    if !args.dry_run && args.again(&planned) {
        return again::run(args, planned, budget, quiet);
    }
    let nothing = planned.archive.records().next().is_none() && !args.places.results.is_dir();
    if nothing && budget.is_some_and(|time| time.is_zero()) && !args.dry_run && !args.fresh {
        anyhow::bail!(
            "no records in {}, and --minutes 0 computes none: run it in a checkout, name one's reports by --reports DIR, or leave --minutes 0 out",
            args.places.reports.display()
        );
    }
    let costs = costs(&args.places, &planned.archive, &planned.methods)?;
    if args.dry_run {
        return forecast::run(args, &planned, &costs);
    }
    if planned.committed > 0 {
        let (committed, place) = (planned.committed, args.places.reports.display());
        tracing::info!("{committed} trials are recorded in {place}");
    }
    costs.model.predict_costs(&mut planned.work.trials);
    let store = args.places.store()?;
    let runner = runner(args, &planned.methods, &store)?;
    let until = budget.map(|time| Instant::now() + time);
    if let Some(until) = until {
        cheapest_first(&mut planned.work.trials, costs.model.records >= CostModel::FEWEST);
        runner.stop.at(until);
    }
    let options =
        Options { jobs: jobs(args), shard: args.shard, retry_failed: args.retry_failed, until };
    let bar = Bar::new(quiet, budget, jobs(args));
    let lacking = missing(&planned.work.trials, &args.places)?;
    let named = |dataset: &String| args.narrow.datasets.contains(dataset);
    planned.work.trials.retain(|trial| {
        let dataset = &trial.key.dataset;
        named(dataset) || !stood_in_for(dataset, &lacking)
    });
    let page = || render(args, &planned, &store, &lacking);
    tracing::info!("every table from what is run here: open {}", page()?.page.display());
    let work = || carry_out(&planned.work.trials, &runner, &options, &bar);
    let summary = bar.beside(work, page)?;
    let recorded = summary.recorded + summary.carried_out;
    if summary.interrupted {
        eprintln!("interrupted; {recorded} trials are recorded. To go on: {}", super::typed());
        return Ok(Ended::Interrupted);
    }
    if let Some(time) = budget {
        say_of_the_rest(summary.trials - recorded, summary.trials, time);
    }
    drop(runner);
    show(args, &planned, &store, &summary.missing, until)?;
    Ok(ended(&summary))
}

/// Says how many trials did not fit into the time.
fn say_of_the_rest(left: usize, all: usize, time: Duration) {
    if left > 0 {
        tracing::info!(
            "{left} of {all} trials did not fit into {}; the same command goes on, and --all runs all of them",
            minutes(time)
        );
    }
}

/// The cheapest trial of each cell, then the second cheapest, and so on. Costs that no record tells are good for an
/// order, and for nothing else.
fn cheapest_first(trials: &mut Vec<Trial>, known: bool) {
    let mut cells: HashMap<[String; 4], usize> = HashMap::new();
    trials.sort_by(|a, b| a.weight.total_cmp(&b.weight));
    let mut ranked: Vec<(usize, Trial)> = std::mem::take(trials)
        .into_iter()
        .map(|trial| {
            let rank = cells.entry(cell_of(&trial)).or_default();
            *rank += 1;
            (*rank, trial)
        })
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    trials.extend(
        ranked
            .into_iter()
            .map(|(_, trial)| Trial { weight: if known { trial.weight } else { 0.0 }, ..trial }),
    );
}
