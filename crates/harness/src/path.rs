use crate::Parts;
use mercer_learning::{Cost, Fitting, Learner, LearningError, Method, Settings, Space, Tasks};
use mercer_records::CurvePoint;

/// A trial that is a whole curve: all sizes and all penalties on one split.
///
/// Unlike a learner it sees both parts, since its points are test errors; it is therefore never
/// tuned and never offered on a user's own data.
///
/// ```
/// use mercer_harness::{Path, Protocol, prepare};
/// use mercer_learning::{Fitting, Method, Settings, Streams, Task};
/// use mercer_records::CurvePoint;
/// /// The share of the first class among more and more test rows.
/// const PATH: Path = Path {
///     method: Method { name: "toy-path", ..Path::METHOD },
///     run: |parts, _, _| {
///         let labels = parts.test.labels().unwrap_or_default();
///         let point = |rows: usize| {
///             let first = labels[..rows].iter().filter(|&&label| label == 0).count();
///             let values = [("share".to_owned(), first as f64 / rows as f64)].into();
///             CurvePoint { step: rows as u64, epoch: 0.0, values }
///         };
///         Ok((10..=labels.len()).step_by(10).map(point).collect())
///     },
/// };
/// let iris = mercer_datasets::Library::of_folders([])?.load("iris")?;
/// let parts = prepare(&iris, &Protocol::default(), &Streams::root(1))?;
/// let curve = (PATH.run)(&parts, &Settings::new(), &mut Fitting::seeded(1))?;
/// assert_eq!(curve.len(), 3); // 30 test rows
/// // It sees the test rows: it is no learner, and never offered as one.
/// assert!(PATH.method.learner(&Settings::new(), Task::Regression).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Path {
    /// Name, revision, tasks and default settings, as a spec and a key want them.
    pub method: Method,
    /// The points of the curve. A point says in values named `open`, or `open …`, how many of its fits
    /// ended above their tolerance: see [`CurvePoint::open_fits`].
    pub run: fn(&Parts, &Settings, &mut Fitting<'_>) -> Result<Vec<CurvePoint>, LearningError>,
}

impl Path {
    /// The common part of the [`Method`] of every path. Paths are never tuned, built, kept or given settings on a
    /// command line. A path names the rest: `Method { name: "…", …, ..Path::METHOD }`.
    pub const METHOD: Method = Method {
        name: "",
        title: "",
        summary: "",
        formula: "",
        when: "",
        cites: "",
        revision: 1,
        tasks: Tasks::Both,
        cost: Cost { fit: "-", predict: "-", memory: "-" },
        resource: None,
        warnings: &[],
        settings: &mercer_learning::undeclared,
        defaults: &|_| Settings::new(),
        user_defaults: &mercer_learning::same_as_study,
        space: &|_| Space::default(),
        build: &no_learner,
        restore: &mercer_learning::never_kept,
    };
}

fn no_learner(_: &Settings) -> Result<Box<dyn Learner>, LearningError> {
    Err(LearningError::Numerical {
        operation: "building a learner",
        reason: "this method is a whole curve; it runs in its own study only".to_owned(),
    })
}
