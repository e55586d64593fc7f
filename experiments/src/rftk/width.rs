//! One repeat of the widths that the text searched on its synthetic problem: least squares on random features,
//! width by width of the paper's grid.
//!
//! The kernel is `exp(−‖x − x'‖²/(2σ²))`, so that frequencies have the deviation `k = 1/σ`; every width has the same
//! draw, scaled. Kept are the error on the test part, which has no noise, and on a fifth of the training rows that
//! the others predict: what a search inside the training part sees.

use super::sgd_factors::{Problem, mean_square};
use mercer_harness::{Parts, Path};
use mercer_learning::{Cost, Fitting, LearningError, Method, Settings, Shape, Tasks};
use mercer_models::rftk::Width;
use mercer_records::CurvePoint;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The path as the harness runs it.
pub(crate) const PATH: Path = Path {
    method: Method {
        name: "synthetic-width",
        title: "RF by width",
        summary: "error of ridgeless random features for each width of a grid",
        cites: "Li, Liu & Zhang (2022)",
        revision: 1,
        tasks: Tasks::Regression,
        cost: Cost { fit: "tried n M^2, tried = 12", predict: "-", memory: "n M" },
        defaults: &defaults,
        ..Path::METHOD
    },
    run,
};

/// Settings of the path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Params {
    /// Features `M`.
    features: usize,
    /// Powers of ten of `σ²`.
    exponents: Vec<i32>,
}

impl Default for Params {
    fn default() -> Self {
        Self { features: 200, exponents: (-2..=3).collect() }
    }
}

fn defaults(_: &Shape) -> Settings {
    Settings::of(&Params::default())
}

fn run(
    parts: &Parts,
    settings: &Settings,
    fitting: &mut Fitting<'_>,
) -> Result<Vec<CurvePoint>, LearningError> {
    let params: Params = settings.parse(PATH.method.name)?;
    let kept = parts.train.rows() - parts.train.rows() / 5;
    let rows: Vec<usize> = (0..parts.train.rows()).collect();
    let inside = Parts {
        train: parts.train.select(&rows[..kept])?,
        test: parts.train.select(&rows[kept..])?,
    };
    let mut curve = Vec::new();
    for (step, &exponent) in (0..).zip(&params.exponents) {
        fitting.limits.check()?;
        let variance = 10f64.powi(exponent);
        let std = Width::Bandwidth(variance.sqrt()).std();
        let error = |parts: &Parts| {
            let problem = Problem::new(parts, params.features, std, &fitting.streams)?;
            Ok::<_, LearningError>((mean_square(&problem.test_errors(&problem.best)), problem.rank))
        };
        let ((test, rank), (seen, _)) = (error(parts)?, error(&inside)?);
        let values =
            [("variance", variance), ("mse", test), ("held-out", seen), ("rank", rank as f64)];
        let values: BTreeMap<_, _> = values.map(|(name, value)| (name.to_owned(), value)).into();
        curve.push(CurvePoint { step, epoch: step as f64, values });
    }
    Ok(curve)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_datasets::Library;
    use mercer_harness::{Protocol, SplitRule, prepare};
    use mercer_learning::Streams;

    #[test]
    fn of_two_widths_the_sensible_one_errs_less() {
        let split = Some(SplitRule::Official { train: Some(500) });
        let slope = Library::of_folders([]).unwrap().load("rftk-slope").unwrap();
        let protocol = Protocol { split, ..Protocol::default() };
        let parts = prepare(&slope, &protocol, &Streams::root(1)).unwrap();
        let settings = Settings::new().with("features", 50).with("exponents", vec![-2, 2]);
        let curve = run(&parts, &settings, &mut Fitting::seeded(1)).unwrap();
        // A kernel of width 0.1 sees nothing between points ten inputs apart: it predicts near 0.
        let [narrow, wide] = [&curve[0].values, &curve[1].values];
        assert!(wide["mse"] < 0.2 * narrow["mse"], "{} {}", wide["mse"], narrow["mse"]);
        assert!(wide["held-out"] < 0.2 * narrow["held-out"]);
        assert!((wide["variance"] - 100.0).abs() < 1e-12 && (wide["rank"] - 50.0).abs() < 0.5);
    }
}
