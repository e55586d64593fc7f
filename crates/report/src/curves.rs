//! A figure of lines: along the curves of records, or over a setting that varies.

use crate::cell::StudyCell;
use crate::query::{Answer, Query, form};
use crate::rendered::{Head, Own};
use crate::template::{self, Names, filled, filled_in, product, query};
use crate::{ExperimentError, RenderContext};
use mercer_render::{Axis, Figure, Mark, Panel, Scale, Series, Style};
use mercer_statistics::summarise;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use toml::Value;

/// One figure.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Curves {
    /// The end of its id, where the artefact shows more than this.
    pub name: Option<String>,
    /// In place of the artefact's.
    title: Option<String>,
    /// In place of the artefact's.
    caption: Option<String>,
    /// Lines below the figure.
    #[serde(default)]
    notes: Vec<String>,
    /// Whether the axes of all panels are alike: a linear one begins at 0.
    #[serde(default)]
    equal_axes: bool,
    /// Panels side by side.
    #[serde(default = "two")]
    columns: usize,
    /// What the panels are of.
    #[serde(default)]
    panels: Vec<template::Axis>,
    /// The title of a panel, with the `{repeats}` and those `{planned}` of its first cell.
    #[serde(default)]
    panel: String,
    /// What the lines of a panel are of.
    #[serde(default)]
    lines: Vec<template::Axis>,
    /// The name of a line; `{label}` is the title of its method.
    line: String,
    /// The cell of a line.
    cell: Option<String>,
    /// What the points of a line are of, where they are not those of curves.
    points: Option<Vec<template::Axis>>,
    /// Points that a line has at least.
    #[serde(default = "some")]
    at_least: usize,
    /// Of values that are positive and lie decades apart.
    #[serde(default)]
    geometric: bool,
    /// `range` or `deviation` of the repeats, or `interval` of 95 % of their mean; none where it is empty.
    #[serde(default)]
    band: String,
    /// The look of a line, a line where it is empty.
    #[serde(default)]
    style: String,
    x: Along,
    y: Along,
    /// Levels and places.
    #[serde(default)]
    marks: Vec<Reference>,
}

const fn two() -> usize {
    2
}

const fn some() -> usize {
    1
}

/// An axis.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Along {
    head: String,
    #[serde(default)]
    scale: Scale,
    range: Option<(f64, f64)>,
    /// Of `x`, `step` or `epoch` of a curve, or a setting. Of `y`, a value of the curves or a sum of several, each
    /// with its weight; of a setting, a query.
    value: Value,
    /// What values are multiplied by.
    #[serde(default = "one")]
    times: f64,
    /// And divided by.
    #[serde(default = "one")]
    over: f64,
    /// And what is added then.
    #[serde(default)]
    plus: f64,
    /// Numbers with a tick, instead of round ones.
    #[serde(default)]
    ticks: Vec<f64>,
    /// Where values end: a band beyond is cut.
    ends: Option<(f64, f64)>,
}

const fn one() -> f64 {
    1.0
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Band {
    Range,
    Interval,
    Deviation,
}

/// A line or a star, at numbers or at what queries answer; nothing where they answer nothing.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reference {
    label: String,
    x: Option<Value>,
    y: Option<Value>,
    /// The place of a line whose colour a star has.
    color: Option<usize>,
}

/// A point, its band, and how many repeats are behind it.
struct Point {
    x: f64,
    y: f64,
    band: (f64, f64),
    count: usize,
}

impl Along {
    fn axis(&self, names: &Names) -> Axis {
        let axis = Axis::linear(filled(&self.head, names)).ticks_at(self.ticks.iter().copied());
        Axis { scale: self.scale, range: self.range, ..axis }
    }

    fn of(&self, value: f64) -> f64 {
        self.times * value / self.over + self.plus
    }

    fn within(&self, (low, high): (f64, f64)) -> (f64, f64) {
        self.ends.map_or((low, high), |(least, most)| (low.max(least), high.min(most)))
    }
}

/// A word that may be left out.
fn word<T: DeserializeOwned>(text: &str, names: &Names) -> Result<Option<T>, ExperimentError> {
    match filled(text, names) {
        word if word.is_empty() => Ok(None),
        word => Value::String(word).try_into().map(Some).map_err(|error| form(&error)),
    }
}

/// What a number, or else a query of a figure, answers.
fn number(
    context: &RenderContext<'_>,
    given: &Value,
    names: &Names,
) -> Result<Option<Answer>, ExperimentError> {
    match filled_in(given, names) {
        Value::Table(table) => {
            query(&table, names, None).map_err(|reason| form(&reason))?.found(context)
        }
        number => number.try_into::<f64>().map(|x| Some(x.into())).map_err(|error| form(&error)),
    }
}

impl Curves {
    /// The figure; none without a line.
    ///
    /// # Errors
    /// If it asks for what is not there.
    pub(crate) fn render(
        &self,
        context: &RenderContext<'_>,
        artefact: Head<'_>,
    ) -> Result<Option<Figure>, ExperimentError> {
        self.figure(context, artefact).map_err(|error| artefact.in_file(error))
    }

    fn figure(
        &self,
        context: &RenderContext<'_>,
        artefact: Head<'_>,
    ) -> Result<Option<Figure>, ExperimentError> {
        let mut panels = Vec::new();
        for names in product(context, &self.panels, &Names::new())? {
            panels.extend(self.one_panel(context, &names)?);
        }
        if self.equal_axes {
            alike(&mut panels);
        }
        let Own { id, title, caption } =
            artefact.with(self.name.as_deref(), self.title.as_deref(), self.caption.as_deref());
        let figure = Figure::new(id, title).caption(caption).columns(self.columns);
        let mut figure = self.notes.iter().fold(figure, Figure::note);
        let banded = |panel: &Panel| panel.series.iter().any(|series| series.band.is_some());
        let whiskers = |panel: &Panel| panel.series.iter().any(|own| own.style == Style::Whiskers);
        if panels.iter().any(whiskers) && self.band == "interval" {
            figure = figure.error_bars("95 % interval of the mean");
        } else if panels.iter().any(banded) {
            figure = match self.band.as_str() {
                "range" => figure.bands("smallest to largest"),
                "interval" => figure.bands("95 % interval of the mean"),
                "deviation" => figure.bands("mean ± standard deviation"),
                _ => figure,
            };
        }
        Ok((!panels.is_empty()).then(|| panels.into_iter().fold(figure, Figure::panel)))
    }

    /// None without a line.
    fn one_panel(
        &self,
        context: &RenderContext<'_>,
        names: &Names,
    ) -> Result<Option<Panel>, ExperimentError> {
        let mut panel = Panel::new(self.x.axis(names), self.y.axis(names));
        let mut title = filled(&self.panel, names);
        for mut names in product(context, &self.lines, names)? {
            let cell = self.cell.as_ref().map(|cell| Query::cell(context, &filled(cell, &names)));
            let cell = cell.transpose()?.flatten();
            let points = match (&self.points, &cell) {
                (Some(axes), _) => self.over_settings(context, axes, &names)?,
                (None, Some(cell)) => self.along_curves(cell, &names)?,
                (None, None) => continue,
            };
            if points.len() < self.at_least {
                continue;
            }
            if let Some(cell) = &cell {
                names.insert("label".to_owned(), cell.label().into());
                let curves = cell.records().filter(|record| !record.result.curve.is_empty());
                title = title
                    .replace("{repeats}", &curves.count().to_string())
                    .replace("{planned}", &cell.repeats_of_paper().to_string());
            }
            let line = points.iter().map(|point| (point.x, point.y));
            let series = Series::line(filled(&self.line, &names), line);
            let style: Style = word(&self.style, &names)?.unwrap_or_default();
            let series = series.style(style);
            let spread = points.iter().any(|point| point.count > 1)
                && !filled(&self.band, &names).is_empty();
            let band = points.iter().map(|point| self.y.within(point.band));
            panel = panel.series(if spread { series.band(band) } else { series });
        }
        if panel.series.is_empty() {
            return Ok(None);
        }
        for mark in &self.marks {
            panel = mark.on(context, names)?.into_iter().fold(panel, Panel::mark);
        }
        Ok(Some(panel.title(title)))
    }

    /// The looks that as many repeats have as any: one that ended early would bend the mean where it leaves it.
    fn along_curves(&self, cell: &StudyCell, names: &Names) -> Result<Vec<Point>, ExperimentError> {
        let values = match filled_in(&self.y.value, names) {
            Value::String(name) => vec![(name, 1.0)],
            weights => weights.try_into().map_err(|error| form(&error))?,
        };
        let epochs = self.x.value.as_str() == Some("epoch");
        let mut looks: BTreeMap<u64, (f64, Vec<f64>)> = BTreeMap::new();
        for point in cell.records().flat_map(|record| &record.result.curve) {
            let part = |(name, weight): &(String, f64)| Some(weight * point.values.get(name)?);
            let parts: Option<Vec<f64>> = values.iter().map(part).collect();
            let Some(parts) = parts else { continue };
            let x = if epochs { point.epoch } else { point.step as f64 };
            let look = looks.entry(point.step).or_insert_with(|| (x, Vec::new()));
            look.1.push(self.y.of(parts.into_iter().reduce(|sum, part| sum + part).unwrap_or(0.0)));
        }
        let most = looks.values().map(|(_, values)| values.len()).max().unwrap_or(0);
        // A logarithmic axis has no place for the start.
        let has_place = |x: f64| self.x.scale == Scale::Linear || x > 0.0;
        looks.retain(|_, (x, values)| values.len() == most && has_place(*x));
        let band = word(&self.band, names)?;
        let of_look = |(x, values)| self.point(self.x.of(x), values, band);
        Ok(looks.into_values().filter_map(of_look).collect())
    }

    /// None of values that have no mean.
    fn point(&self, x: f64, mut values: Vec<f64>, band: Option<Band>) -> Option<Point> {
        if self.geometric {
            values = values.into_iter().map(f64::ln).collect();
        }
        let found = summarise(&values)?;
        let half = match band {
            Some(Band::Deviation) => found.sample_std,
            _ => found.half_width(0.95).unwrap_or(0.0),
        };
        let ends = match band {
            Some(Band::Range) => (found.min, found.max),
            _ => (found.mean - half, found.mean + half),
        };
        let back = |value: f64| if self.geometric { value.exp() } else { value };
        let band = (back(ends.0), back(ends.1));
        Some(Point { x, y: back(found.mean), band, count: found.count })
    }

    fn over_settings(
        &self,
        context: &RenderContext<'_>,
        axes: &[template::Axis],
        names: &Names,
    ) -> Result<Vec<Point>, ExperimentError> {
        let mut points = Vec::new();
        for names in product(context, axes, names)? {
            let x = number(context, &self.x.value, &names)?;
            let y = number(context, &self.y.value, &names)?;
            if let (Some(x), Some(y)) = (x, y) {
                let spread = match word(&self.band, &names)? {
                    Some(Band::Range) => {
                        y.numbers.get("least").copied().zip(y.numbers.get("most").copied())
                    }
                    Some(band) => {
                        let half = if band == Band::Interval { "half" } else { "deviation" };
                        y.numbers.get(half).map(|half| (y.value - half, y.value + half))
                    }
                    None => None,
                };
                let count = if spread.is_some() { 2 } else { 1 };
                let band = spread.unwrap_or((y.value, y.value));
                let band = (self.y.of(band.0), self.y.of(band.1));
                points.push(Point { x: self.x.of(x.value), y: self.y.of(y.value), band, count });
            }
        }
        Ok(points)
    }
}

/// Gives all panels the axes that hold all of them.
fn alike(panels: &mut [Panel]) {
    let (mut xs, mut ys) = (Vec::new(), Vec::new());
    for panel in panels.iter() {
        for (x, y) in panel.series.iter().flat_map(|series| &series.points) {
            xs.push(*x);
            ys.push(*y);
        }
        for mark in &panel.marks {
            if let Mark::Horizontal { y, .. } | Mark::Point { y, .. } = mark {
                ys.push(*y);
            }
        }
    }
    let ends = |scale: Scale, values: &[f64]| {
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let positive = values.iter().copied().filter(|value| *value > 0.0);
        match scale {
            Scale::Linear => (0.0, most),
            _ => (0.9 * positive.fold(f64::INFINITY, f64::min), 1.05 * most),
        }
    };
    for panel in panels.iter_mut() {
        panel.x.range = Some(ends(panel.x.scale, &xs));
        panel.y.range = Some(ends(panel.y.scale, &ys));
    }
}

impl Reference {
    fn on(
        &self,
        context: &RenderContext<'_>,
        names: &Names,
    ) -> Result<Option<Mark>, ExperimentError> {
        let at = |given: &Option<Value>| {
            let found = given.as_ref().map(|given| number(context, given, names)).transpose()?;
            Ok::<_, ExperimentError>(found.flatten().map(|answer| answer.value))
        };
        let label = filled(&self.label, names);
        Ok(match (at(&self.x)?, at(&self.y)?) {
            (Some(x), Some(y)) => Some(Mark::Point { x, y, label, color: self.color }),
            (Some(x), None) if self.y.is_none() => Some(Mark::Vertical { x, label }),
            (None, Some(y)) if self.x.is_none() => Some(Mark::Horizontal { y, label }),
            _ => None,
        })
    }
}
