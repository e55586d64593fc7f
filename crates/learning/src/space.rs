use crate::Settings;
use rand::Rng;
use serde_json::Value;

/// How the values of one setting are drawn.
///
/// In words, where it is resolved ([`Space::given`]):
///
/// ```
/// use mercer_learning::Range;
/// assert_eq!(Range::Log2(-1.0, 3.0).to_string(), "0.5 to 8, logarithmic");
/// assert_eq!(Range::Choice(vec![1.into(), 3.into()]).to_string(), "1, 3");
/// assert_eq!(Range::Choice(vec![vec![0.5, 2.0].into()]).to_string(), "[0.5, 2.0]");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Range {
    /// `10^u`, `u` uniform on `[low, high]`.
    Log10(f64, f64),
    /// `2^u`, `u` uniform on `[low, high]`.
    Log2(f64, f64),
    /// One of these, each equally likely.
    Choice(Vec<Value>),
    /// Another range for each value of a setting that is not tuned. Rates of plain gradient steps and of Adam have
    /// little in common. [`Space::given`] decides.
    Given {
        /// Name of the setting.
        setting: &'static str,
        /// Its values, each with its range.
        cases: Vec<(Value, Range)>,
        /// For every other value.
        otherwise: Box<Range>,
    },
}

/// One tunable setting.
///
/// ```
/// use mercer_learning::{Axis, Range, Space};
/// use rand::SeedableRng;
/// let axes = vec![Axis { name: "lambda", range: Range::Log10(-6.0, -1.0) }];
/// let space = Space { axes, anchors: vec![] };
/// let draws = space.candidates(3, &mut rand_chacha::ChaCha8Rng::seed_from_u64(1));
/// assert!(draws.iter().all(|draw| draw.get("lambda").is_some()));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Name of the setting.
    pub name: &'static str,
    /// Its values.
    pub range: Range,
}

/// The settings that a tuner may try: seeded draws along the axes, after the anchors.
///
/// ```
/// use mercer_learning::{Axis, Range, Settings, Space, Streams};
/// let space = Space {
///     axes: vec![Axis { name: "lambda", range: Range::Log10(-6.0, -1.0) }],
///     anchors: vec![Settings::new().with("lambda", 1e-3)],
/// };
/// let tried = space.candidates(20, &mut Streams::root(1).rng("tune"));
/// assert_eq!((tried.len(), &tried[0]), (20, &space.anchors[0])); // the paper's value first
/// let value = |tried: &Settings| tried.get("lambda").and_then(serde_json::Value::as_f64).unwrap();
/// assert!(tried.iter().all(|tried| (1e-6..=1e-1).contains(&value(tried))));
/// assert_eq!(Space::default().candidates(20, &mut Streams::root(1).rng("tune")).len(), 1);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Space {
    /// The tunable settings; empty when the method has none.
    pub axes: Vec<Axis>,
    /// Settings always tried first: the paper's or the authors' values.
    pub anchors: Vec<Settings>,
}

impl Space {
    /// The space where these settings are fixed: every [`Range::Given`] becomes the range of its
    /// case.
    ///
    /// ```
    /// use mercer_learning::{Axis, Range, Settings, Space};
    /// let adam = ("adam".into(), Range::Log10(-4.0, -2.0));
    /// let otherwise = Box::new(Range::Log10(-1.0, 1.0));
    /// let range = Range::Given { setting: "optimiser", cases: vec![adam], otherwise };
    /// let space = Space { axes: vec![Axis { name: "rate", range }], anchors: vec![] };
    /// let space = space.given(&Settings::new().with("optimiser", "adam"));
    /// assert_eq!(space.axes[0].range, Range::Log10(-4.0, -2.0));
    /// ```
    #[must_use]
    pub fn given(mut self, settings: &Settings) -> Self {
        for axis in &mut self.axes {
            axis.range = axis.range.resolved(settings).clone();
        }
        self
    }

    /// Adapts the anchors of the space to the fixed settings. Where an axis has another range in this case
    /// ([`Range::Given`]) and an anchor's number lies outside it, the middle of the range stands there.
    ///
    /// ```
    /// use mercer_learning::{Axis, Range, Settings, Space};
    /// let adam = ("adam".into(), Range::Log10(-4.0, -2.0));
    /// let otherwise = Box::new(Range::Log10(-1.0, 1.0));
    /// let range = Range::Given { setting: "optimiser", cases: vec![adam], otherwise };
    /// let anchors = vec![Settings::new().with("rate", 0.5)];
    /// let space = Space { axes: vec![Axis { name: "rate", range }], anchors };
    /// let rate = |optimiser: &str| {
    ///     let space = space.clone().anchored(&Settings::new().with("optimiser", optimiser));
    ///     space.anchors[0].get("rate").and_then(|rate| rate.as_f64())
    /// };
    /// assert_eq!((rate("sgd"), rate("adam")), (Some(0.5), Some(1e-3)));
    /// ```
    #[must_use]
    pub fn anchored(mut self, settings: &Settings) -> Self {
        for axis in &self.axes {
            let Range::Given { .. } = axis.range else { continue };
            let Some((low, middle, high)) = axis.range.resolved(settings).ends() else { continue };
            for anchor in &mut self.anchors {
                let number = anchor.get(axis.name).and_then(Value::as_f64);
                if number.is_some_and(|number| !(low..=high).contains(&number)) {
                    *anchor = std::mem::take(anchor).with(axis.name, rounded(middle));
                }
            }
        }
        self
    }

    /// Returns the first `count` candidates: the anchors, then draws.
    ///
    /// Without axes there is one candidate, the defaults. Values are rounded to three
    /// significant digits, so that a setting can be quoted exactly.
    ///
    /// ```
    /// use mercer_learning::{Axis, Range, Settings, Space, Streams};
    /// let axes = vec![Axis { name: "lambda", range: Range::Log10(-4.0, 0.0) }];
    /// let space = Space { anchors: vec![Settings::new().with("lambda", 0.01)], axes };
    /// let drawn = space.candidates(3, &mut Streams::root(1).rng("candidates"));
    /// assert_eq!((drawn.len(), &drawn[0]), (3, &space.anchors[0])); // the anchor, then two draws
    /// assert!(drawn[1].get("lambda").and_then(|value| value.as_f64()).is_some_and(|l| l <= 1.0));
    /// ```
    pub fn candidates(&self, count: usize, rng: &mut impl Rng) -> Vec<Settings> {
        if self.axes.is_empty() {
            return vec![self.anchors.first().cloned().unwrap_or_default()];
        }
        let mut candidates: Vec<Settings> = self.anchors.iter().take(count).cloned().collect();
        while candidates.len() < count {
            let draw = self.axes.iter().fold(Settings::new(), |settings, axis| {
                settings.with(axis.name, axis.range.draw(rng))
            });
            candidates.push(draw);
        }
        candidates
    }
}

impl Range {
    /// The range of the case that these settings are.
    fn resolved(&self, settings: &Settings) -> &Self {
        let Self::Given { setting, cases, otherwise } = self else { return self };
        let case = settings
            .get(setting)
            .and_then(|value| cases.iter().find(|(known, _)| known == value))
            .map_or(&**otherwise, |(_, range)| range);
        case.resolved(settings)
    }

    /// Lowest, middle and highest number of a logarithmic range.
    fn ends(&self) -> Option<(f64, f64, f64)> {
        let of = |low: f64, high: f64, raised: fn(f64) -> f64| {
            Some((raised(low), raised(f64::midpoint(low, high)), raised(high)))
        };
        match self {
            Self::Log10(low, high) => of(*low, *high, |power| 10f64.powf(power)),
            Self::Log2(low, high) => of(*low, *high, f64::exp2),
            Self::Choice(_) | Self::Given { .. } => None,
        }
    }

    fn words(&self) -> String {
        let ends = |low: f64, high: f64| {
            format!("{} to {}, logarithmic", short(rounded(low)), short(rounded(high)))
        };
        match self {
            Self::Log10(low, high) => ends(10f64.powf(*low), 10f64.powf(*high)),
            Self::Log2(low, high) => ends(low.exp2(), high.exp2()),
            Self::Choice(values) => {
                // A list in words that can be broken over lines.
                let one = |value: &Value| match value {
                    Value::Array(all) => {
                        let words: Vec<String> = all.iter().map(Value::to_string).collect();
                        format!("[{}]", words.join(", "))
                    }
                    value => value.to_string(),
                };
                values.iter().map(one).collect::<Vec<_>>().join(", ")
            }
            Self::Given { otherwise, .. } => otherwise.words(),
        }
    }

    fn draw(&self, rng: &mut impl Rng) -> Value {
        match self {
            Self::Log10(low, high) => rounded(10f64.powf(rng.gen_range(*low..=*high))).into(),
            Self::Log2(low, high) => rounded(2f64.powf(rng.gen_range(*low..=*high))).into(),
            Self::Choice(values) => values[rng.gen_range(0..values.len())].clone(),
            Self::Given { otherwise, .. } => otherwise.draw(rng),
        }
    }
}

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.words())
    }
}

/// With an exponent where that is shorter.
fn short(value: f64) -> String {
    let (plain, exponent) = (value.to_string(), format!("{value:e}"));
    if exponent.len() < plain.len() { exponent } else { plain }
}

/// Three significant digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn the_range_is_that_of_the_fixed_setting_case_within_case() {
        let by_loss = Range::Given {
            setting: "loss",
            cases: vec![("squared".into(), Range::Log10(0.0, 1.0))],
            otherwise: Box::new(Range::Log10(2.0, 3.0)),
        };
        let range = Range::Given {
            setting: "optimiser",
            cases: vec![("adam".into(), Range::Log10(-4.0, -3.0))],
            otherwise: Box::new(by_loss),
        };
        let space = Space { axes: vec![Axis { name: "rate", range }], anchors: Vec::new() };
        let at = |settings: Settings| space.clone().given(&settings).axes[0].range.clone();
        assert_eq!(at(Settings::new().with("optimiser", "adam")), Range::Log10(-4.0, -3.0));
        assert_eq!(at(Settings::new().with("loss", "squared")), Range::Log10(0.0, 1.0));
        assert_eq!(at(Settings::new()), Range::Log10(2.0, 3.0));
        // Nobody has said which case it is: the last resort.
        let draw = space.candidates(1, &mut ChaCha8Rng::seed_from_u64(1)).remove(0);
        assert!((99.0..=1001.0).contains(&draw.get("rate").and_then(Value::as_f64).unwrap()));
    }

    #[test]
    fn anchors_come_first_and_draws_stay_in_range() {
        let space = Space {
            axes: vec![
                Axis { name: "lambda", range: Range::Log10(-6.0, -1.0) },
                Axis { name: "loss", range: Range::Choice(vec!["hinge".into(), "squared".into()]) },
            ],
            anchors: vec![Settings::new().with("lambda", 1e-3)],
        };
        let draws = space.candidates(27, &mut ChaCha8Rng::seed_from_u64(1));
        assert_eq!(draws.len(), 27);
        assert_eq!(draws[0], space.anchors[0]);
        for draw in &draws[1..] {
            let lambda = draw.get("lambda").and_then(Value::as_f64).unwrap();
            assert!((0.995e-6..=1.005e-1).contains(&lambda), "{lambda}");
        }
        assert_eq!(draws, space.candidates(27, &mut ChaCha8Rng::seed_from_u64(1)));
    }
}
