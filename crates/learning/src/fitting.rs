use crate::{Checkpoints, Fold, LearningError, Predictor, State, Streams, counted};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How a fit ended. It is a field of the result, never a silent success.
///
/// ```
/// use mercer_learning::Convergence;
/// let ended = Convergence::NotConverged { iterations: 200, residual: 0.25 };
/// let text = serde_json::to_string(&ended)?;
/// assert_eq!(text, r#"{"status":"not-converged","iterations":200,"residual":0.25}"#); // in a record
/// assert_eq!(serde_json::from_str::<Convergence>(&text)?, ended);
/// assert!(ended.warning().is_some());
/// assert!(Convergence::Converged { iterations: 7 }.warning().is_none());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Convergence {
    /// A closed form, solved to working precision.
    Exact,
    /// An iteration that met its tolerance.
    Converged {
        /// Iterations used.
        iterations: usize,
    },
    /// A fixed number of steps was run; no statement about optimality.
    FixedSteps {
        /// Steps that were run.
        steps: usize,
    },
    /// An iteration that ended above its tolerance.
    NotConverged {
        /// Iterations used.
        iterations: usize,
        /// The remainder of the quantity that the tolerance bounds; NaN where that is not known.
        #[serde(deserialize_with = "or_nan")]
        residual: f64,
    },
    /// An approximation by columns that ended above its tolerance.
    FewColumns {
        /// Columns used.
        columns: usize,
        /// The remainder of the quantity that the tolerance bounds.
        residual: f64,
        /// The tolerance.
        goal: f64,
    },
    /// Factors that are as near as was asked, with a solution that is not near.
    FarSolution {
        /// Its relative error.
        residual: f64,
        /// What would do.
        goal: f64,
    },
}

/// A number, or the null as which JSON writes a NaN.
fn or_nan<'de, D: serde::Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
}

impl Convergence {
    /// Returns a warning about a fit that ended above its tolerance. It says nothing of any other. The remedy hangs on
    /// the settings that the method accepts: [`crate::Method::unconverged`].
    ///
    /// ```
    /// use mercer_learning::Convergence;
    /// assert_eq!(Convergence::Exact.warning(), None);
    /// let unknown = Convergence::NotConverged { iterations: 1, residual: f64::NAN };
    /// assert_eq!(unknown.warning().as_deref(), Some("not converged after 1 iteration"));
    /// // A kept model is read again.
    /// let text = serde_json::to_string(&unknown)?;
    /// assert_eq!(serde_json::from_str::<Convergence>(&text)?.warning(), unknown.warning());
    /// let ended = Convergence::NotConverged { iterations: 200, residual: 0.25 };
    /// assert!(ended.warning().is_some_and(|said| said.contains("2.5e-1 after 200 iterations")));
    /// // Of columns no iterations can be allowed.
    /// let ended = Convergence::FewColumns { columns: 300, residual: 0.5, goal: 1e-3 };
    /// assert!(ended.warning().is_some_and(|said| said.contains("allow more of them (`rank`")));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn warning(&self) -> Option<String> {
        match self {
            Self::NotConverged { iterations, residual } => {
                let after = counted(*iterations, "iteration", "iterations");
                Some(if residual.is_nan() {
                    format!("not converged after {after}")
                } else {
                    format!("not converged: residual {residual:.1e} after {after}")
                })
            }
            Self::FewColumns { columns, residual, goal } => Some(format!(
                "not converged: {columns} columns leave {residual:.1e} where {goal:.1e} was asked for; allow more of them (`rank`, `factor_bytes`), or take a wider kernel (`width`) or a larger ridge"
            )),
            Self::FarSolution { residual, goal } => Some(format!(
                "not converged: the factors are as near as was asked, and the solution is {residual:.1e} of itself away from the exact one, where {goal:.0e} would do; ask for the solution (--set solution_tolerance={goal}), or take a larger ridge"
            )),
            _ => None,
        }
    }

    /// Returns whether a fit ended above its tolerance.
    ///
    /// ```
    /// use mercer_learning::Convergence;
    /// assert!(Convergence::NotConverged { iterations: 200, residual: 0.25 }.is_open());
    /// assert!(Convergence::FewColumns { columns: 300, residual: 0.5, goal: 1e-3 }.is_open());
    /// assert!(Convergence::FarSolution { residual: 0.5, goal: 0.01 }.is_open());
    /// assert!(!Convergence::FixedSteps { steps: 35 }.is_open()); // nothing was asked of it
    /// ```
    pub const fn is_open(&self) -> bool {
        matches!(
            self,
            Self::NotConverged { .. } | Self::FewColumns { .. } | Self::FarSolution { .. }
        )
    }
}

/// In words, as of a model that is looked at.
///
/// ```
/// use mercer_learning::Convergence;
/// assert_eq!(Convergence::Exact.to_string(), "solved in closed form");
/// assert_eq!(Convergence::Converged { iterations: 7 }.to_string(), "converged after 7 iterations");
/// assert_eq!(Convergence::FixedSteps { steps: 35 }.to_string(), "35 steps, as asked");
/// let ended = Convergence::NotConverged { iterations: 200, residual: 0.25 };
/// assert!(ended.to_string().starts_with("not converged: residual 2.5e-1"));
/// ```
impl std::fmt::Display for Convergence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exact => f.write_str("solved in closed form"),
            Self::Converged { iterations } => write!(f, "converged after {iterations} iterations"),
            Self::FixedSteps { steps } => write!(f, "{steps} steps, as asked"),
            Self::NotConverged { .. } | Self::FewColumns { .. } | Self::FarSolution { .. } => {
                f.write_str(&self.warning().unwrap_or_default())
            }
        }
    }
}

/// What a fit leaves.
///
/// ```
/// use mercer_learning::{Convergence, Outcome, Predictor, State, Task};
/// use ndarray::{Array2, ArrayView2, array};
/// /// Predicts 2, whatever it is asked.
/// struct Two;
/// impl Predictor for Two {
///     fn task(&self) -> Task { Task::Regression }
///     fn features(&self) -> usize { 1 }
///     fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
///         Array2::from_elem((inputs.nrows(), 1), 2.0)
///     }
///     fn state(&self) -> State { State::new() }
/// }
/// let facts = [("norm".to_owned(), 2.0)].into();
/// let outcome = Outcome { predictor: Two, convergence: Convergence::Exact, facts };
/// let fitted = outcome.boxed(); // how it ended and its facts go with it
/// assert_eq!((fitted.convergence, fitted.facts["norm"]), (Convergence::Exact, 2.0));
/// assert_eq!(fitted.predictor.decision(array![[9.0]].view()), array![[2.0]]);
/// ```
pub struct Outcome<P> {
    /// The fitted predictor.
    pub predictor: P,
    /// How the fit ended.
    pub convergence: Convergence,
    /// Named numbers worth a place in the record: norms, objective, support vectors.
    pub facts: BTreeMap<String, f64>,
}

/// What a learner behind the [`crate::Learner`] interface leaves.
///
/// ```
/// use mercer_learning::{Convergence, Fitted, Outcome, Predictor, State, Task};
/// use ndarray::{Array2, ArrayView2};
/// # struct Zero;
/// # impl Predictor for Zero {
/// #     fn task(&self) -> Task { Task::Regression }
/// #     fn features(&self) -> usize { 1 }
/// #     fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
/// #         Array2::zeros((inputs.nrows(), 1))
/// #     }
/// #     fn state(&self) -> State { State::new() }
/// # }
/// /// What a user is told of a fit.
/// fn report(fitted: &Fitted) -> String {
///     fitted.convergence.warning().unwrap_or_else(|| "fitted".to_owned())
/// }
/// let convergence = Convergence::NotConverged { iterations: 9, residual: 0.5 };
/// let fitted = Outcome { predictor: Zero, convergence, facts: [].into() }.boxed();
/// assert!(report(&fitted).starts_with("not converged: residual 5.0e-1 after 9 iterations"));
/// ```
pub type Fitted = Outcome<Box<dyn Predictor>>;

impl<P: Predictor + 'static> Outcome<P> {
    /// Forgets the predictor's type, and facts that are no numbers. Neither a record nor a model file can hold them.
    ///
    /// ```
    /// # use mercer_learning::{Convergence, Outcome, Predictor, State, Task};
    /// # use ndarray::{Array2, ArrayView2};
    /// # struct Zero;
    /// # impl Predictor for Zero {
    /// #     fn task(&self) -> Task { Task::Regression }
    /// #     fn features(&self) -> usize { 1 }
    /// #     fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
    /// #         Array2::zeros((inputs.nrows(), 1))
    /// #     }
    /// #     fn state(&self) -> State { State::new() }
    /// # }
    /// let facts = [("norm".to_owned(), 2.0), ("alignment".to_owned(), f64::NAN)].into();
    /// let fitted = Outcome { predictor: Zero, convergence: Convergence::Exact, facts }.boxed();
    /// assert!(fitted.facts.keys().eq(["norm"]));
    /// ```
    pub fn boxed(self) -> Fitted {
        let Self { predictor, convergence, mut facts } = self;
        facts.retain(|_, value| value.is_finite());
        Outcome { predictor: Box::new(predictor), convergence, facts }
    }
}

/// Where an iterative fit stands when a [`Probe`] looks at it.
///
/// ```
/// use mercer_learning::Moment;
/// // A hundred rows in batches of 32 are four steps a pass.
/// let at = Moment { step: 6, epoch: 6.0 / 4.0 };
/// assert_eq!(serde_json::to_string(&at)?, r#"{"step":6,"epoch":1.5}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// Steps that were run.
    pub step: usize,
    /// Passes over the training rows that were run.
    pub epoch: f64,
}

/// Looks at an iterative fit every so many steps. It may keep rows that the learner never sees.
///
/// ```
/// use mercer_learning::{LearningError, Moment, Predictor, Probe};
/// use std::collections::BTreeMap;
/// /// Keeps the loss of every tenth step.
/// struct Losses(Vec<(usize, f64)>);
/// impl Probe for Losses {
///     fn interval(&self) -> usize { 10 }
///     fn observe(
///         &mut self,
///         at: Moment,
///         _: &dyn Predictor,
///         numbers: &BTreeMap<String, f64>,
///     ) -> Result<(), LearningError> {
///         self.0.extend(numbers.get("loss").map(|&loss| (at.step, loss)));
///         Ok(())
///     }
/// }
/// let mut losses = Losses(Vec::new());
/// let mut fitting = mercer_learning::Fitting::seeded(1);
/// fitting.probe = Some(&mut losses); // and hand it to a learner's fit
/// ```
pub trait Probe {
    /// Returns the number of steps between two looks, at least 1.
    fn interval(&self) -> usize;

    /// One look: the current predictor, and the learner's own numbers (loss, penalties, norms).
    ///
    /// # Errors
    /// Whatever evaluating the predictor says; it ends the fit.
    fn observe(
        &mut self,
        at: Moment,
        predictor: &dyn Predictor,
        numbers: &BTreeMap<String, f64>,
    ) -> Result<(), LearningError>;
}

/// What may stop a fit from outside: time, memory, the user.
///
/// ```
/// use mercer_learning::{Fitting, LearningError, Limits};
/// use std::sync::atomic::{AtomicBool, Ordering};
/// /// Ends a fit when somebody says so.
/// struct Button(AtomicBool);
/// impl Limits for Button {
///     fn check(&self) -> Result<(), LearningError> {
///         if self.0.load(Ordering::Relaxed) { Err(LearningError::Interrupted) } else { Ok(()) }
///     }
///     fn reserve(&self, _bytes: u64) -> Result<(), LearningError> { Ok(()) }
/// }
/// let button = Button(AtomicBool::new(true));
/// let mut fitting = Fitting { limits: &button, ..Fitting::seeded(1) };
/// assert_eq!(fitting.between_steps(Default::default), Err(LearningError::Interrupted));
/// ```
pub trait Limits: Sync {
    /// Called about once a step; an error ends the fit.
    ///
    /// # Errors
    /// [`LearningError::OutOfTime`], [`LearningError::OutOfMemory`] or
    /// [`LearningError::Interrupted`].
    fn check(&self) -> Result<(), LearningError>;

    /// Refuses at once an allocation of `bytes` that cannot fit.
    ///
    /// # Errors
    /// [`LearningError::OutOfMemory`].
    fn reserve(&self, bytes: u64) -> Result<(), LearningError>;
}

/// No limits.
///
/// ```
/// use mercer_learning::{Limits, Unlimited};
/// assert_eq!(Unlimited.check(), Ok(()));
/// assert_eq!(Unlimited.reserve(u64::MAX), Ok(())); // more than any machine has
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Unlimited;

impl Limits for Unlimited {
    fn check(&self) -> Result<(), LearningError> {
        Ok(())
    }
    fn reserve(&self, _bytes: u64) -> Result<(), LearningError> {
        Ok(())
    }
}

/// All that surrounds a fit: randomness, threads, limits, and who watches.
///
/// ```
/// use mercer_learning::{Fitting, Streams};
/// let fitting = Fitting { threads: 2, streams: Streams::root(7).child("fit"), ..Fitting::seeded(7) };
/// assert!(fitting.probe.is_none() && fitting.limits.check().is_ok());
/// ```
pub struct Fitting<'a> {
    /// The random streams of this fit.
    pub streams: Streams,
    /// Threads that the fit may use; results may depend on it in the last digits.
    pub threads: usize,
    /// What may stop it.
    pub limits: &'a dyn Limits,
    /// Who watches it.
    pub probe: Option<&'a mut dyn Probe>,
    /// Whether rows that are drawn are to have every class: a person's rows are, what records rest on stays as drawn.
    pub every_class: bool,
    /// Which fold of a released permutation the training rows are, if they are one.
    pub fold: Option<Fold>,
    /// Store of a long fit, so that it can go on after an interruption.
    pub checkpoints: Option<&'a mut dyn Checkpoints>,
}

impl Fitting<'_> {
    /// One thread, no limits, nobody watching.
    pub fn seeded(seed: u64) -> Self {
        Self {
            streams: Streams::root(seed),
            threads: 1,
            limits: &Unlimited,
            probe: None,
            every_class: false,
            fold: None,
            checkpoints: None,
        }
    }

    /// Handles the end or the keeping of a fit between two steps. It asks the limits, and keeps the `state` when it is
    /// time to, or when the user ends the fit.
    ///
    /// ```
    /// use mercer_learning::{Fitting, LearningError, Limits, State};
    /// struct Stopped;
    /// impl Limits for Stopped {
    ///     fn check(&self) -> Result<(), LearningError> { Err(LearningError::Interrupted) }
    ///     fn reserve(&self, _bytes: u64) -> Result<(), LearningError> { Ok(()) }
    /// }
    /// let mut fitting = Fitting { limits: &Stopped, ..Fitting::seeded(1) };
    /// assert_eq!(fitting.between_steps(State::new), Err(LearningError::Interrupted));
    /// ```
    ///
    /// # Errors
    /// As [`Limits::check`].
    pub fn between_steps(&mut self, state: impl FnOnce() -> State) -> Result<(), LearningError> {
        let checked = self.limits.check();
        if let Some(checkpoints) = self.checkpoints.as_deref_mut()
            && (checkpoints.due(false) || checked == Err(LearningError::Interrupted))
        {
            checkpoints.keep(state());
        }
        checked
    }

    /// Keeps the `state` in which a long fit ended. A longer one can go on from it.
    pub fn at_end(&mut self, state: impl FnOnce() -> State) {
        if let Some(checkpoints) = self.checkpoints.as_deref_mut()
            && checkpoints.due(true)
        {
            checkpoints.keep(state());
        }
    }

    /// What an earlier, shorter or cut-off run of this fit kept.
    pub fn kept(&mut self) -> Option<State> {
        self.checkpoints.as_deref_mut().and_then(Checkpoints::last)
    }
}
