use crate::Parts;
use mercer_learning::{Fitting, Learner, LearningError, Method, Settings};
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
    /// For the `build` of a path's [`Method`]: a path is no learner.
    ///
    /// # Errors
    /// Always.
    pub fn no_learner(_: &Settings) -> Result<Box<dyn Learner>, LearningError> {
        Err(LearningError::Numerical {
            operation: "building a learner",
            reason: "this method is a whole curve; it runs in its own study only".to_owned(),
        })
    }
}
