//! A declared program as a method of the registry.

use crate::declaration::{Declared, DeclaredSetting, Scale, Tune};
use crate::outside::Outside;
use crate::predictor::{Model, restore};
use mercer_learning::{
    Axis, Convergence, Cost, Fitted, Fitting, Kind, Learner, LearningError, Method, Outcome, Range,
    Sample, Setting, Settings, Space,
};
use rand::Rng;
use serde_json::Value;

impl Outside {
    pub(crate) fn method(&'static self) -> Method {
        let title = self.declared.title.clone().unwrap_or_else(|| self.name.to_owned());
        let what = self.what();
        let summary = self.declared.summary.clone().unwrap_or_else(|| what.clone());
        Method {
            name: self.name,
            title: title.leak(),
            summary: summary.leak(),
            formula: what.leak(),
            when: "a rival from outside, on the same splits",
            cites: "a program from outside",
            revision: self.revision,
            tasks: self.declared.can().unwrap_or(mercer_learning::Tasks::Both),
            cost: Cost { fit: "n d", predict: "d", memory: "n d" },
            resource: None,
            warnings: &[],
            settings: Box::leak(Box::new(move || self.settings())),
            defaults: Box::leak(Box::new(move |_: &mercer_learning::Shape| self.defaults())),
            user_defaults: &mercer_learning::same_as_study,
            space: Box::leak(Box::new(move |_: &mercer_learning::Shape| self.space())),
            build: Box::leak(Box::new(move |settings: &Settings| self.build(settings))),
            restore: Box::leak(Box::new(move |state: &mercer_learning::State| {
                restore(self, state)
            })),
        }
    }

    /// `runs python3 my_forest.py`.
    fn what(&self) -> String {
        let Declared { command, classifier, regressor, .. } = &self.declared;
        let estimators: Vec<&str> =
            [classifier, regressor].into_iter().flatten().map(String::as_str).collect();
        if estimators.is_empty() {
            format!("runs {}", command.join(" "))
        } else {
            format!("{} of Python", estimators.join(", "))
        }
    }

    fn settings(&self) -> Vec<Setting> {
        let one = |(name, declared): (&String, &DeclaredSetting)| Setting {
            name: name.clone().leak(),
            meaning: declared.meaning.clone(),
            default: declared.default.clone(),
            kind: kind(declared),
            range: None,
            words: (kind(declared) == Kind::Json).then_some("a number or a text"),
            replaces: None,
            eases: None,
            heeded: Vec::new(),
        };
        self.declared.settings.iter().map(one).collect()
    }

    fn defaults(&self) -> Settings {
        let given = self.declared.settings.iter().filter(|(_, setting)| !setting.default.is_null());
        given.fold(Settings::new(), |all, (name, own)| all.with(name, own.default.clone()))
    }

    fn space(&self) -> Space {
        let axes: Vec<Axis> = self
            .declared
            .settings
            .iter()
            .filter_map(|(name, setting)| {
                Some(Axis { name: name.clone().leak(), range: range(setting.tune.as_ref()?) })
            })
            .collect();
        let anchors = if axes.is_empty() { Vec::new() } else { vec![self.defaults()] };
        Space { axes, anchors }
    }

    fn build(&'static self, settings: &Settings) -> Result<Box<dyn Learner>, LearningError> {
        if let Some((name, _)) =
            settings.iter().find(|(name, _)| !self.declared.settings.contains_key(*name))
        {
            let known: Vec<&str> = self.declared.settings.keys().map(String::as_str).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(LearningError::Settings {
                method: self.name.to_owned(),
                message: format!("unknown setting `{name}`; there are {known}"),
            });
        }
        Ok(Box::new(Program { outside: self, settings: settings.clone() }))
    }
}

/// What a default tells of the values; a word beside a range of numbers tells nothing.
fn kind(setting: &DeclaredSetting) -> Kind {
    match &setting.default {
        Value::String(_) if matches!(setting.tune, Some(Tune::Between { .. })) => Kind::Json,
        Value::Bool(_) => Kind::Flag,
        Value::Number(number) if number.is_f64() => Kind::Number,
        Value::Number(_) => Kind::Whole,
        Value::String(_) => Kind::Text,
        _ => Kind::Json,
    }
}

/// Points of a range that is no logarithmic one of real numbers.
const POINTS: usize = 17;

fn range(tune: &Tune) -> Range {
    match tune {
        Tune::Choices { choices } => Range::Choice(choices.clone()),
        Tune::Between { from, to, scale: Scale::Log, whole: false } => {
            Range::Log10(from.log10(), to.log10())
        }
        Tune::Between { from, to, scale, whole } => {
            let at = |point: usize| {
                let share = point as f64 / (POINTS - 1) as f64;
                match scale {
                    Scale::Linear => from + share * (to - from),
                    Scale::Log => from * (to / from).powf(share),
                }
            };
            let points = (0..POINTS).map(at);
            if *whole {
                let mut points: Vec<i64> = points.map(|point| point.round() as i64).collect();
                points.dedup();
                Range::Choice(points.into_iter().map(Value::from).collect())
            } else {
                Range::Choice(points.map(Value::from).collect())
            }
        }
    }
}

struct Program {
    outside: &'static Outside,
    settings: Settings,
}

impl Learner for Program {
    fn fit(&self, sample: &Sample, fitting: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
        // JSON numbers of other languages are exact up to 2^53.
        let seed = fitting.streams.rng("outside").r#gen::<u32>();
        let settings = self.outside.defaults().overridden_by(&self.settings);
        let fitted = Model::fit(self.outside, settings, sample, seed, fitting);
        if matches!(fitted, Err(LearningError::Numerical { .. })) {
            // Most programs refuse a single class, each in its own words.
            sample.require_two_classes()?;
        }
        let (predictor, facts) = fitted?;
        Ok(Outcome { predictor, convergence: Convergence::Exact, facts }.boxed())
    }
}
