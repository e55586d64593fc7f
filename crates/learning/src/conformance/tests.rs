use super::*;
use crate::{Convergence, Cost, Fitted, Learner, Outcome, Parameters, Space, Tasks, declared};
use ndarray::{ArrayView1, Ix2};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// Nearest class mean, and faults that it can be given.
#[derive(Debug, Clone, Copy, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
enum Fault {
    None,
    Blind,
    Company,
    Order,
    Forgetful,
    Shape,
    Unchecked,
    OneClass,
    Amnesic,
    Divides,
    Unweighted,
}

crate::parameters! {
    struct Params {
        /// What it does wrong.
        fault: Fault = Fault::None;
        /// Nothing that it looks at.
        ignored: f64 = 1.0, Allowed::POSITIVE;
    }
}

struct Nearest(Fault);

struct Means {
    fault: Fault,
    centres: Array2<f64>,
    offset: f64,
}

const METHOD: Method = Method {
    name: "nearest-mean",
    title: "nearest mean",
    summary: "the class whose mean is nearest",
    formula: "f(x) = the mean of y",
    when: "as a floor",
    cites: "folklore",
    revision: 1,
    tasks: Tasks::Classification,
    cost: Cost { fit: "n d", predict: "K d", memory: "K d" },
    resource: None,
    warnings: &[],
    defaults: &|_| Settings::new().with("fault", "none"),
    user_defaults: &crate::same_as_study,
    space: &|_| Space::default(),
    settings: &declared::<Params>,
    build: &|settings| {
        let params: Params = settings.read("nearest-mean")?;
        params.in_range()?;
        Ok(Box::new(Nearest(params.fault)))
    },
    restore: &|state| {
        let shape: (usize, usize) = state.value("shape")?;
        let centres = state.array_of::<f64, Ix2>("centres", shape)?;
        let fault = state.value("fault")?;
        let offset = state.value("offset")?;
        Ok(Box::new(Means { fault, centres, offset }))
    },
};

impl Learner for Nearest {
    fn fit(&self, sample: &Sample, _: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
        static FITS: AtomicU64 = AtomicU64::new(0);
        if self.0 == Fault::OneClass {
            sample.require_two_classes().map_err(|_| LearningError::NoRows)?;
        }
        sample.require_two_classes()?;
        let (counts, labels) = (sample.class_counts(), sample.labels().unwrap());
        let mut means = Array2::zeros((counts.len(), sample.features()));
        let sums = sample.class_weights();
        for (at, (row, &label)) in sample.inputs().rows().into_iter().zip(labels).enumerate() {
            let share = match (self.0, sample.weights()) {
                (Fault::Unweighted, _) | (_, None) => 1.0 / counts[label as usize] as f64,
                (_, Some(weights)) => weights[at] / sums[label as usize],
            };
            means.row_mut(label as usize).scaled_add(share, &row);
        }
        let offset = match self.0 {
            Fault::Forgetful => FITS.fetch_add(1, Ordering::Relaxed) as f64,
            _ => 0.0,
        };
        let predictor = Means { fault: self.0, centres: means, offset };
        let (convergence, facts) = (Convergence::Exact, BTreeMap::new());
        Ok(Outcome { predictor, convergence, facts }.boxed())
    }

    fn weighs_rows(&self) -> bool {
        true
    }
}

impl Predictor for Means {
    fn task(&self) -> Task {
        Task::Classification { classes: self.centres.nrows() }
    }
    fn features(&self) -> usize {
        self.centres.ncols()
    }
    fn state(&self) -> State {
        let state = State::new()
            .with("fault", self.fault)
            .with("shape", self.centres.dim())
            .with("offset", self.offset);
        let forgotten = if self.fault == Fault::Amnesic { 0.0 } else { 1.0 };
        state.with_array("centres", &(&self.centres * forgotten))
    }
    fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        let (n, classes) = (inputs.nrows(), self.centres.nrows());
        let columns = classes + usize::from(self.fault == Fault::Shape);
        Array2::from_shape_fn((n, columns), |(i, class)| match self.fault {
            Fault::Blind => -(class as f64),
            Fault::Company => n as f64,
            Fault::Order => i as f64,
            _ => {
                let squared = |a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>| {
                    (&a - &b).mapv(|entry| entry * entry).sum()
                };
                let (x, mean) = (inputs.row(i), self.centres.row(class % classes));
                let apart = match self.fault {
                    Fault::Divides => squared(self.centres.row(0), self.centres.row(1)),
                    _ => 1.0,
                };
                self.offset - squared(x, mean) / apart
            }
        })
    }
    fn predict(&self, inputs: ArrayView2<'_, f64>) -> Result<Predictions, LearningError> {
        let (expected, found) = (self.features(), inputs.ncols());
        if expected != found {
            return Err(LearningError::Width { expected, found });
        }
        let bad = inputs.indexed_iter().find(|(_, value)| !value.is_finite());
        if let (Some(((row, column), &value)), true) = (bad, self.fault != Fault::Unchecked) {
            return Err(LearningError::InputNotFinite { row, column, value });
        }
        let scores = self.decision(inputs);
        Ok(Predictions::Classes(scores.rows().into_iter().map(crate::argmax).collect()))
    }
}

#[test]
fn a_sound_method_passes() {
    Conformance::of(&METHOD).check().unwrap();
}

#[test]
fn each_fault_is_found_by_its_law() {
    for (fault, law) in [
        ("blind", "it beats chance"),
        ("company", "rows are predicted one by one"),
        ("order", "the order of the rows does not matter"),
        ("forgetful", "same seed, same answer"),
        ("shape", "one row of scores a row of inputs"),
        ("unchecked", "NaN and infinity are refused"),
        ("one-class", "one class is fitted or refused as such"),
        ("amnesic", "a fitted model can be kept"),
        ("divides", "scores are numbers"),
        ("unweighted", "a weight is so many equal rows"),
    ] {
        let faulty = Conformance::of(&METHOD).with(Settings::new().with("fault", fault));
        assert_eq!(faulty.check().unwrap_err().law, law, "{fault}");
    }
    let constant = Method { cost: Cost { predict: "1", ..METHOD.cost }, ..METHOD };
    let blind = Conformance::of(&constant).with(Settings::new().with("fault", "blind"));
    blind.check().unwrap();
}

#[test]
fn settings_that_do_not_build_or_are_not_refused_are_found() {
    let strict = Method { defaults: &|_| Settings::new().with("fault", 1), ..METHOD };
    let violation = Conformance::of(&strict).check().unwrap_err();
    assert_eq!(violation.law, "its own settings build");
    let silent = Method { settings: &crate::undeclared, ..METHOD };
    let violation = Conformance::of(&silent).check().unwrap_err();
    assert_eq!(violation.law, "defaults and tuner set what is declared");
    let other = || {
        let mut settings = declared::<Params>();
        settings[1].default = Value::from("much");
        settings
    };
    let lying = Method { settings: Box::leak(Box::new(other)), ..METHOD };
    let violation = Conformance::of(&lying).check().unwrap_err();
    assert_eq!(violation.law, "declared defaults are what is used");
    let careless = Method {
        build: &|settings| Ok(Box::new(Nearest(settings.read::<Params>("careless")?.fault))),
        ..METHOD
    };
    let violation = Conformance::of(&careless).check().unwrap_err();
    assert_eq!(violation.law, "numbers out of range are refused by name");
    let forgotten = Method { restore: &crate::never_kept, ..METHOD };
    let violation = Conformance::of(&forgotten).check().unwrap_err();
    assert_eq!(violation.law, "a fitted model can be kept");
    let lax = Method { build: &|_| Ok(Box::new(Nearest(Fault::None))), ..METHOD };
    let violation = Conformance::of(&lax).check().unwrap_err();
    assert_eq!(violation.law, "an unknown setting is refused");
}

#[test]
fn names_are_told_apart() {
    distinct_names(&[METHOD, Method { name: "other", ..METHOD }]).unwrap();
    assert_eq!(distinct_names(&[METHOD, METHOD]).unwrap_err().law, "names are unique");
    let shouting = Method { name: "Nearest", ..METHOD };
    assert_eq!(distinct_names(&[shouting]).unwrap_err().law, "names are kebab-case");
    let silent = Method { cites: " ", ..METHOD };
    assert!(distinct_names(&[silent]).is_err());
}
