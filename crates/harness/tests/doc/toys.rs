// A method and a study for the examples of the documentation, which include this file.

use mercer_learning::{
    Allowed, Axis, Convergence, Cost, Fitted, Fitting, Learner, LearningError, Method, Outcome,
    Parameters, Predictor, Range, Sample, Settings, Space, State, Task, Tasks, declared, parameters,
};
use ndarray::{Array2, ArrayView2};

parameters! {
    struct MajorityParams {
        /// Rows that are looked at.
        cap: usize = 100, Allowed::COUNT;
    }
}

/// The largest class of the first rows, whatever the inputs.
struct Majority(usize);

struct Always {
    class: usize,
    classes: usize,
    columns: usize,
}

impl Learner for Majority {
    fn fit(&self, sample: &Sample, _: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
        let rows: Vec<usize> = (0..sample.rows().min(self.0)).collect();
        let counts = sample.select(&rows)?.class_counts();
        let class = (0..counts.len()).max_by_key(|&class| counts[class]).unwrap_or(0);
        let predictor = Always { class, classes: counts.len(), columns: sample.features() };
        Ok(Outcome { predictor, convergence: Convergence::Exact, facts: [].into() }.boxed())
    }
}

impl Predictor for Always {
    fn task(&self) -> Task {
        Task::Classification { classes: self.classes }
    }
    fn features(&self) -> usize {
        self.columns
    }
    fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        Array2::from_shape_fn((inputs.nrows(), self.classes), |(_, class)| {
            f64::from(class == self.class)
        })
    }
    fn state(&self) -> State {
        State::new().with("class", self.class)
    }
}

/// One method, `majority`, with a setting to tune.
pub const METHODS: &[Method] = &[Method {
    name: "majority",
    title: "majority",
    summary: "the largest class",
    formula: "f(x) = the largest class",
    when: "as a floor",
    cites: "folklore",
    revision: 1,
    tasks: Tasks::Classification,
    cost: Cost { fit: "n", predict: "1", memory: "n d" },
    resource: None,
    warnings: &[],
    settings: &declared::<MajorityParams>,
    defaults: &|_| Settings::new().with("cap", 100),
    user_defaults: &mercer_learning::same_as_study,
    space: &|_| {
        let range = Range::Choice(vec![10.into(), 50.into()]);
        Space { axes: vec![Axis { name: "cap", range }], anchors: vec![] }
    },
    build: &|settings| {
        let params: MajorityParams = settings.read("majority")?;
        params.in_range()?;
        Ok(Box::new(Majority(params.cap)))
    },
    restore: &mercer_learning::never_kept,
}];

/// The method on iris, as it is and tuned, three times each.
pub const STUDY: &str = r#"
artefact = "toy/table"
question = "How often is the largest class right?"
seed = 1
repeats = 3
datasets = ["iris"]

[protocol]
split = { kind = "random", train = 0.8 }

[[variants]]
name = "given"
summary = "as given"
methods = [{ name = "majority" }]

[[variants]]
name = "tuned"
summary = "tuned inside the training part"
tuner = { candidates = 2, rungs = [1.0], train = 0.8 }
methods = [{ name = "majority" }]

[profiles.smoke]
repeats = 1
cut = { rows = 20 }
"#;

/// Returns tasks of an hour.
pub fn grouping() -> mercer_harness::Grouping {
    mercer_harness::Grouping {
        seconds: 3600.0,
        least: 1,
        most: 1000,
        cores: 1,
        program_mib: 256.0,
    }
}

/// Returns how Slurm calls us.
pub fn launch() -> mercer_harness::Launch {
    mercer_harness::Launch {
        program: "/opt/mercer".into(),
        directory: "/shared/study".into(),
        campaign: "/shared/study/cluster".into(),
        logs: "/shared/study/cluster/logs/1".into(),
        max_parallel: Some(3),
        directives: vec![],
    }
}

/// Returns two small tasks and a large one.
pub fn three() -> Vec<mercer_harness::Task> {
    let task = |index, mib, minutes| mercer_harness::Task {
        index,
        trials: vec![format!("{index:064}")],
        seconds: 60.0,
        cores: 2,
        mib,
        minutes,
    };
    vec![task(1, 512, 18), task(2, 512, 18), task(3, 2048, 48)]
}
