use crate::Settings;
use rand::Rng;
use serde_json::Value;

/// How the values of one setting are drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum Range {
    /// `10^u`, `u` uniform on `[low, high]`.
    Log10(f64, f64),
    /// `2^u`, `u` uniform on `[low, high]`.
    Log2(f64, f64),
    /// One of these, each equally likely.
    Choice(Vec<Value>),
}

/// One tunable setting.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Name of the setting.
    pub name: &'static str,
    /// Its values.
    pub range: Range,
}

/// The settings that a tuner may try: seeded draws along the axes, after the anchors.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Space {
    /// The tunable settings; empty when the method has none.
    pub axes: Vec<Axis>,
    /// Settings always tried first: the paper's or the authors' values.
    pub anchors: Vec<Settings>,
}

impl Space {
    /// The first `count` candidates: the anchors, then draws.
    ///
    /// Without axes there is one candidate, the defaults. Values are rounded to three
    /// significant digits, so that a setting can be quoted exactly.
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
    fn draw(&self, rng: &mut impl Rng) -> Value {
        match self {
            Self::Log10(low, high) => rounded(10f64.powf(rng.gen_range(*low..=*high))).into(),
            Self::Log2(low, high) => rounded(2f64.powf(rng.gen_range(*low..=*high))).into(),
            Self::Choice(values) => values[rng.gen_range(0..values.len())].clone(),
        }
    }
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
