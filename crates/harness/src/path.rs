use crate::Parts;
use mercer_learning::{Cost, Fitting, Learner, LearningError, Method, Settings, Space, Tasks};
use mercer_records::CurvePoint;

/// A trial that is a whole curve: all sizes and all penalties on one split.
///
/// Unlike a learner it sees both parts, since its points are test errors; it is therefore never
/// tuned and never offered on a user's own data.
pub struct Path {
    /// Name, revision, tasks and default settings, as a spec and a key want them.
    pub method: Method,
    /// The points of the curve.
    pub run: fn(&Parts, &Settings, &mut Fitting<'_>) -> Result<Vec<CurvePoint>, LearningError>,
}

impl Path {
    /// What is the same in the [`Method`] of every path: never tuned, built, kept or given settings on a
    /// command line. A path names the rest: `Method { name: "…", …, ..Path::METHOD }`.
    pub const METHOD: Method = Method {
        name: "",
        title: "",
        summary: "",
        cites: "",
        revision: 1,
        tasks: Tasks::Both,
        cost: Cost { fit: "-", predict: "-", memory: "-" },
        resource: None,
        settings: mercer_learning::undeclared,
        defaults: |_| Settings::new(),
        space: |_| Space::default(),
        build: no_learner,
        restore: mercer_learning::never_kept,
    };
}

fn no_learner(_: &Settings) -> Result<Box<dyn Learner>, LearningError> {
    Err(LearningError::Numerical {
        operation: "building a learner",
        reason: "this method is a whole curve; it runs in its own study only".to_owned(),
    })
}
