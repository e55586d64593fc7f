//! What records and printed numbers answer.

use super::{
    At, Count, Formula, Given, Inputs, OfCell, OfPrint, OfSimulation, Outcome, Part, Place, Query,
    Reduce, form,
};
use crate::cell::{StudyCell, common_repeats, snapped};
use crate::pairs::Side;
use crate::{Comparison, ExperimentError, PublishedCell, RenderContext, compare};
use mercer_harness::Spec;
use mercer_records::{CurvePoint, Record, Status};
use mercer_render::probability;
use mercer_statistics::{corrected_t, summarise};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One number, and what stands behind it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    /// The number.
    pub value: f64,
    /// `mean`, `deviation` (divided by J − 1), `population` (divided by J), `half` of the 95 % interval, `least`,
    /// `most`, `median`, `count` and `planned` of values over repeats; `low` and `high` of a tested difference.
    pub numbers: BTreeMap<&'static str, f64>,
    /// `p` of a tested difference, or why there is no test; `all` different values.
    pub words: BTreeMap<&'static str, String>,
    /// A value a repeat.
    pub values: Vec<f64>,
}

impl From<f64> for Answer {
    fn from(value: f64) -> Self {
        Self { value, numbers: BTreeMap::new(), words: BTreeMap::new(), values: Vec::new() }
    }
}

impl Answer {
    /// Of values over repeats; nothing of none.
    fn of(reduce: Reduce, values: &[f64]) -> Option<Self> {
        let (value, summary) = (reduce.of(values)?, summarise(values)?);
        let mut all: Vec<String> = values.iter().map(f64::to_string).collect();
        all.dedup();
        let one = summary.count < 2;
        let numbers = [
            ("mean", summary.mean),
            ("deviation", if one { f64::NAN } else { summary.sample_std }),
            ("population", summary.population_std),
            ("half", summary.half_width(0.95).unwrap_or(f64::NAN)),
            ("least", summary.min),
            ("most", summary.max),
            ("median", summary.median),
            ("count", summary.count as f64),
        ];
        let words = [("all", all.join(", "))].into();
        Some(Self { value, numbers: numbers.into(), words, values: values.to_vec() })
    }

    /// The same of differences that were tested.
    fn tested(mut self, test: &Comparison, cell: &StudyCell) -> Self {
        let (low, high) = test.interval;
        let planned = f64::from(cell.repeats_of_paper());
        self.numbers.extend([
            ("low", low),
            ("high", high),
            ("half", high - test.difference),
            ("p", test.p_corrected),
            ("planned", planned),
        ]);
        let p = test.untested().map_or_else(|| probability(test.p_corrected), str::to_owned);
        self.words.insert("p", p);
        Self { value: test.difference, ..self }
    }
}

impl Query {
    /// The number, or `None` where the records for it are not there.
    ///
    /// # Errors
    /// If it names a study, paper, dataset, bound or formula that does not exist.
    pub fn answer(&self, context: &RenderContext<'_>) -> Result<Option<f64>, ExperimentError> {
        Ok(self.found(context)?.map(|answer| answer.value))
    }

    /// The cell of that name, `STUDY:VARIANT:METHOD:DATASET`.
    ///
    /// # Errors
    /// If it is no such name, or there is no such study.
    pub fn cell(
        context: &RenderContext<'_>,
        place: &str,
    ) -> Result<Option<Found>, ExperimentError> {
        Place::try_from(place.to_owned()).map_err(|error| form(&error))?.find(context)
    }

    /// The cell that it is asked of, if it is one.
    ///
    /// # Errors
    /// If there is no such study.
    pub fn first_cell(
        &self,
        context: &RenderContext<'_>,
    ) -> Result<Option<Found>, ExperimentError> {
        match self {
            Self::Cell(own) => own.cell.find(context),
            _ => Ok(None),
        }
    }

    /// The sides of comparisons on which its cells are.
    pub fn sides(&self, all: &mut Vec<Side>) {
        match self {
            Self::Cell(own) => {
                for Place([study, variant, method, _]) in
                    [Some(&own.cell), own.minus.as_ref()].into_iter().flatten()
                {
                    let side = Side::new(study, variant, method);
                    if variant != "*" && method != "*" && !all.contains(&side) {
                        all.push(side);
                    }
                }
            }
            Self::Bound(own) | Self::Formula(own) => {
                for given in own.inputs.values() {
                    if let Given::Asked(query) = given {
                        query.sides(all);
                    }
                }
            }
            _ => {}
        }
    }

    /// The number with what stands behind it.
    ///
    /// # Errors
    /// As [`Query::answer`].
    pub fn found(&self, context: &RenderContext<'_>) -> Result<Option<Answer>, ExperimentError> {
        let number = match self {
            Self::Cell(own) => return own.answer(context),
            Self::Printed(own) => return own.answer(context),
            Self::Count(own) => own.answer(context)?,
            Self::Simulation(own) => {
                let simulation = context.catalogue.simulation(&own.simulation);
                let simulation = simulation
                    .ok_or_else(|| form(&format!("no simulation `{}`", own.simulation)))?;
                return Ok(context
                    .records
                    .get(&simulation.key())
                    .and_then(|record| own.of(record)));
            }
            Self::Bound(own) => {
                let Some(inputs) = own.inputs(context)? else { return Ok(None) };
                let calculator = mercer_theory::find_calculator(&own.name);
                let inputs = inputs.numbers.iter().map(|(name, value)| (name.as_str(), *value));
                let bound = calculator.and_then(|calculator| calculator.bound(&inputs.collect()));
                Some(bound.map_err(|error| form(&error))?.value)
            }
            Self::Formula(own) => {
                let Some(inputs) = own.inputs(context)? else { return Ok(None) };
                own.value(context, &inputs)?
            }
        };
        Ok(number.map(Answer::from))
    }
}

impl Formula {
    /// `None` where one is not answered.
    fn inputs(&self, context: &RenderContext<'_>) -> Result<Option<Inputs>, ExperimentError> {
        let mut inputs = Inputs::default();
        for (name, given) in &self.inputs {
            let value = match given {
                Given::Number(value) => Some(*value),
                Given::Asked(query) => query.answer(context)?,
                Given::Name(text) => {
                    inputs.names.insert(name.clone(), text.clone());
                    continue;
                }
            };
            let Some(value) = value else { return Ok(None) };
            inputs.numbers.insert(name.clone(), value);
        }
        Ok(Some(inputs))
    }

    /// `ratio`, `gap`, `excess` (a gap that is not below 0), `sum` and `product` of the inputs `of` and `to`, the `root` of `of`, the share of the
    /// `largest-class` of a dataset in percent, or a scalar of the catalogue.
    fn value(
        &self,
        context: &RenderContext<'_>,
        inputs: &Inputs,
    ) -> Result<Option<f64>, ExperimentError> {
        let (of, to) = (|| inputs.number("of"), || inputs.number("to"));
        Ok(Some(match self.name.as_str() {
            "ratio" => of()? / to()?,
            "gap" => of()? - to()?,
            "excess" => (of()? - to()?).max(0.0),
            "sum" => of()? + to()?,
            "product" => of()? * to()?,
            "root" => of()?.sqrt(),
            "largest-class" => largest_class(inputs.name("dataset")?)?,
            other => {
                let unknown = || form(&format!("there is no formula `{other}`"));
                return context.catalogue.scalar(other).ok_or_else(unknown)?(context, inputs);
            }
        }))
    }
}

fn largest_class(dataset: &str) -> Result<f64, ExperimentError> {
    let entry = mercer_datasets::Catalogue::builtin().find(dataset).map_err(|e| form(&e))?;
    let largest = entry.class_counts.values().max().copied();
    let largest = largest.ok_or_else(|| form(&format!("{dataset} has no class counts")))?;
    let rows: usize = entry.class_counts.values().sum();
    Ok(100.0 * largest as f64 / rows as f64)
}

impl OfCell {
    fn answer(&self, context: &RenderContext<'_>) -> Result<Option<Answer>, ExperimentError> {
        if let Some(other) = &self.minus {
            let (Some(cell), Some(other)) = (self.cell.find(context)?, other.find(context)?) else {
                return Ok(None);
            };
            let itself = Arc::ptr_eq(&cell.study, &other.study) && cell.place == other.place;
            let test = if itself { None } else { compare(&cell, &other)? };
            let theirs: BTreeMap<u32, f64> = other.values().into_iter().collect();
            let paired = cell.values().into_iter();
            let differences: Vec<f64> =
                paired.filter_map(|(repeat, own)| Some(own - theirs.get(&repeat)?)).collect();
            let found = Answer::of(Reduce::Mean, &differences);
            let tested = |(answer, test): (Answer, Comparison)| answer.tested(&test, &cell);
            return Ok(found.zip(test).map(tested));
        }
        let cells = self.cell.all(context)?;
        let Some(first) = cells.first() else { return Ok(None) };
        let planned = f64::from(first.repeats_of_paper());
        // What is taken off itself is no difference.
        if self.minus_value.is_some() && self.minus_value == self.value {
            return Ok(None);
        }
        if self.reduce == Reduce::Count {
            return Ok(self.counted(&cells).map(Answer::from));
        }
        let values: Vec<f64> = cells.iter().flat_map(|cell| self.values(cell)).collect();
        let mut found = Answer::of(self.reduce, &values);
        if let Some(answer) = &mut found {
            answer.numbers.insert("planned", planned);
            if let (Some(value), Some(_), true) = (&self.value, &self.minus_value, values.len() > 1)
            {
                let test = corrected_t(&snapped(values), first.ratio_of(value))?;
                answer.numbers.insert("p", test.p_two_sided);
                answer.words.insert("p", probability(test.p_two_sided));
            }
        }
        Ok(found)
    }

    /// How many records there are, or how many of them have the fact that is asked for.
    fn counted(&self, cells: &[Found]) -> Option<f64> {
        let Some(among) = &self.among else {
            let count: usize = cells.iter().map(|cell| cell.records().count()).sum();
            return Some(count as f64).filter(|count| *count > 0.0);
        };
        let facts: Vec<f64> =
            cells.iter().flat_map(|cell| cell.of(&among.fact)).map(|(_, value)| value).collect();
        let inside = facts.iter().filter(|value| among.holds(**value)).count();
        (!facts.is_empty()).then_some(inside as f64)
    }

    /// A value a repeat.
    fn values(&self, cell: &StudyCell) -> Vec<f64> {
        let mut values = match (&self.value, self.at) {
            (None, _) => cell.values(),
            (Some(name), None) => of_records(cell, name, self.or.as_deref()),
            (Some(name), Some(at)) => on_curves(cell, name, at),
        };
        if let (Some(name), Some(at)) = (&self.minus_value, self.at) {
            let theirs: BTreeMap<u32, f64> = on_curves(cell, name, at).into_iter().collect();
            let paired = values.into_iter();
            let minus = |(repeat, value)| Some((repeat, value - theirs.get(&repeat)?));
            values = paired.filter_map(minus).collect();
        }
        if let Some(among) = &self.among {
            let facts = cell.of(&among.fact).into_iter();
            let chosen: BTreeSet<u32> =
                facts.filter(|(_, value)| among.holds(*value)).map(|(repeat, _)| repeat).collect();
            values.retain(|(repeat, _)| chosen.contains(repeat));
        }
        values.into_iter().map(|(_, value)| self.scale * value).collect()
    }
}

impl OfSimulation {
    fn of(&self, record: &Record) -> Option<Answer> {
        let named = |name: &String| match self.value.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => *name == self.value,
        };
        let all = record.result.facts.iter().chain(&record.run.seconds);
        let values: Vec<f64> =
            all.filter(|(name, _)| named(name)).map(|(_, value)| self.scale * value).collect();
        Answer::of(self.reduce, &values)
    }
}

/// A text with each number in braces filled in; one without records reads "(not run)".
///
/// # Errors
/// As [`Query::answer`].
pub(crate) fn spelled(
    text: &str,
    numbers: &BTreeMap<String, Query>,
    context: &RenderContext<'_>,
) -> Result<String, ExperimentError> {
    let mut spelled = text.to_owned();
    for (name, query) in numbers {
        let hole = format!("{{{name}}}");
        if spelled.contains(&hole) {
            let shown = query.answer(context)?.map_or_else(
                || "(not run)".to_owned(),
                |value| mercer_render::number(value, query.digits()),
            );
            spelled = spelled.replace(&hole, &shown);
        }
    }
    Ok(spelled)
}

/// Repeat and value of the records that have it, or else the other one.
fn of_records(cell: &StudyCell, name: &str, or: Option<&str>) -> Vec<(u32, f64)> {
    let done = cell.records().filter(|record| record.result.status == Status::Done);
    let value = |record: &Record| {
        value_of(record, name).or_else(|| or.and_then(|name| value_of(record, name)))
    };
    done.filter_map(|record| Some((record.key.repeat, value(record)?))).collect()
}

fn value_of(record: &Record, name: &str) -> Option<f64> {
    let (result, run) = (&record.result, &record.run);
    match name.split_once(':') {
        Some(("setting", name)) => result.settings.get(name)?.as_f64(),
        Some(("seconds", phase)) => run.seconds.get(phase).copied(),
        Some(("processor-seconds", phase)) => run.processor_seconds.get(phase).copied(),
        Some(("rows", part)) => Some(result.rows[usize::from(part == "test")] as f64),
        Some(("fits", "open")) => Some(result.open_fits() as f64),
        Some(("bytes", "peak")) => Some(run.peak_bytes as f64),
        _ => result.metrics.get(name).or_else(|| result.facts.get(name)).copied(),
    }
}

impl Reduce {
    /// Nothing of no values.
    fn of(self, values: &[f64]) -> Option<f64> {
        let summary = summarise(values)?;
        match self {
            Self::Mean => Some(summary.mean),
            Self::GeometricMean => {
                let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
                summarise(&logarithms).map(|summary| summary.mean.exp())
            }
            Self::Deviation => (summary.count > 1).then_some(summary.sample_std),
            Self::Median => Some(summary.median),
            Self::Least => values.iter().copied().reduce(f64::min),
            Self::Most => values.iter().copied().reduce(f64::max),
            Self::Count => Some(summary.count as f64),
            Self::Above => Some(values.iter().filter(|value| **value > 0.0).count() as f64),
        }
    }
}

/// Repeat and value of each curve that has it there.
fn on_curves(cell: &StudyCell, name: &str, at: At) -> Vec<(u32, f64)> {
    let value = |record: &Record| {
        let curve = &record.result.curve;
        match at {
            At::Step(step) => {
                curve.iter().find(|point| point.step == step)?.values.get(name).copied()
            }
            At::Name(part) => of_part(curve, name, part),
        }
    };
    cell.records().filter_map(|record| Some((record.key.repeat, value(record)?))).collect()
}

fn of_part(curve: &[CurvePoint], name: &str, part: Part) -> Option<f64> {
    let of = |point: &CurvePoint| Some((point.step as f64, *point.values.get(name)?));
    let points: Vec<(f64, f64)> = curve.iter().filter_map(of).collect();
    let highest =
        || points.iter().copied().reduce(|best, next| if next.1 > best.1 { next } else { best });
    match part {
        Part::End => curve.last()?.values.get(name).copied(),
        Part::Tail => {
            let tail: Vec<f64> = points.iter().map(|(_, value)| *value).collect();
            summarise(&tail[tail.len() - tail.len().div_ceil(10)..]).map(|summary| summary.mean)
        }
        Part::Highest => highest().map(|(_, value)| value),
        Part::PlaceOfHighest => highest().map(|(step, _)| step),
        Part::Passes => curve.last().map(|point| point.epoch),
        Part::Points => (!points.is_empty()).then_some(points.len() as f64),
    }
}

impl Place {
    fn find(&self, context: &RenderContext<'_>) -> Result<Option<Found>, ExperimentError> {
        let Self([study, variant, method, dataset]) = self;
        find(context, &Side::new(study, variant, method), dataset)
    }

    /// One cell, or with `*` those of all variants or methods.
    fn all(&self, context: &RenderContext<'_>) -> Result<Vec<Found>, ExperimentError> {
        let Self([study, variant, method, dataset]) = self;
        let study = context.cells(study)?;
        let is = |wanted: &str, own: &str| wanted == "*" || wanted == own;
        let places = study.1.iter().enumerate().filter(|(_, cell)| {
            let key = cell.key();
            is(variant, &key.variant) && is(method, &key.method) && is(dataset, &key.dataset)
        });
        let found = places.map(|(place, _)| Found { study: Arc::clone(&study), place });
        Ok(found.collect())
    }
}

fn find(
    context: &RenderContext<'_>,
    side: &Side,
    dataset: &str,
) -> Result<Option<Found>, ExperimentError> {
    let study = context.cells(&side.study)?;
    let place = study.1.iter().position(|cell| {
        let key = cell.key();
        key.variant == side.variant && key.dataset == dataset && key.method == side.method
    });
    Ok(place.map(|place| Found { study, place }))
}

/// A cell of a study that others hold, too.
pub(crate) struct Found {
    study: Arc<(Spec, Vec<StudyCell>)>,
    place: usize,
}

impl std::ops::Deref for Found {
    type Target = StudyCell;

    fn deref(&self) -> &StudyCell {
        &self.study.1[self.place]
    }
}

impl OfPrint {
    fn answer(&self, context: &RenderContext<'_>) -> Result<Option<Answer>, ExperimentError> {
        let [paper, method, dataset] = self.printed.split(':').collect::<Vec<_>>()[..] else {
            return Err(form(&format!("`{}` is no PAPER:METHOD:DATASET", self.printed)));
        };
        let same = |cell: &PublishedCell| {
            (cell.dataset.as_str(), cell.method.as_str()) == (dataset, method)
                && self.table.as_ref().is_none_or(|table| *table == cell.table)
                && self.metric.as_ref().is_none_or(|metric| *metric == cell.metric)
                && self.setting.iter().all(|words| cell.setting.contains(words.as_str()))
        };
        let Some(cell) = context.catalogue.all_printed(paper)?.into_iter().find(same) else {
            let none = form(&format!("{paper} prints no {method} on {dataset}"));
            return if self.optional { Ok(None) } else { Err(none) };
        };
        let value = if self.reduce == Reduce::Deviation { cell.std } else { cell.mean };
        let numbers = [("mean", cell.mean), ("deviation", cell.std)].into();
        Ok(Some(Answer { numbers, ..Answer::from(value) }))
    }
}

impl Count {
    fn answer(&self, context: &RenderContext<'_>) -> Result<Option<f64>, ExperimentError> {
        // Gains of the first over the second, dataset by dataset.
        let gains = match &self.paper {
            Some(paper) => self.printed(context, paper)?,
            None => self.ours(context)?,
        };
        let counted = gains.iter().filter(|gain| match self.outcome {
            Outcome::Ahead => **gain > 0.0,
            Outcome::Behind => **gain < 0.0,
            Outcome::Compared => true,
        });
        Ok((!gains.is_empty()).then_some(counted.count() as f64))
    }

    fn ours(&self, context: &RenderContext<'_>) -> Result<Vec<f64>, ExperimentError> {
        let side = |text: &String| Side::try_from(text.clone()).map_err(|error| form(&error));
        let (first, second) = (side(&self.first)?, side(&self.second)?);
        let study = context.cells(&first.study)?;
        let mut gains = Vec::new();
        for dataset in &study.0.datasets {
            let (Some(a), Some(b)) =
                (find(context, &first, dataset)?, find(context, &second, dataset)?)
            else {
                continue;
            };
            let common = common_repeats(&[&a, &b]);
            if let (Some(ours), Some(theirs)) = (a.mean_over(&common), b.mean_over(&common)) {
                gains.push(if a.better(1.0, 0.0) { ours - theirs } else { theirs - ours });
            }
        }
        Ok(gains)
    }

    fn printed(
        &self,
        context: &RenderContext<'_>,
        paper: &str,
    ) -> Result<Vec<f64>, ExperimentError> {
        let cells = context.catalogue.published(paper)?.1;
        let gain = |ours: &crate::PublishedCell| {
            let same = |cell: &&crate::PublishedCell| {
                cell.dataset == ours.dataset && cell.method == self.second
            };
            let missing =
                || form(&format!("{paper} prints no {} on {}", self.second, ours.dataset));
            let gain = ours.mean - cells.iter().find(same).ok_or_else(missing)?.mean;
            Ok(if ours.metric == "accuracy_percent" { gain } else { -gain })
        };
        cells.iter().filter(|cell| cell.method == self.first).map(gain).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_reduced_to_one_number() {
        let of = |reduce: Reduce, values: &[f64]| reduce.of(values);
        assert_eq!(of(Reduce::Mean, &[1.0, 3.0]), Some(2.0));
        assert_eq!(of(Reduce::Deviation, &[1.0, 3.0]), Some(2f64.sqrt()));
        assert_eq!(of(Reduce::Deviation, &[1.0]), None);
        assert_eq!(of(Reduce::Least, &[2.0, -1.0]), Some(-1.0));
        assert_eq!(of(Reduce::Most, &[2.0, -1.0]), Some(2.0));
        assert!((of(Reduce::GeometricMean, &[1.0, 100.0]).unwrap() - 10.0).abs() < 1e-12);
        assert_eq!(of(Reduce::Mean, &[]), None);
    }
}
