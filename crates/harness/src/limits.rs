use crate::memory::Meter;
use mercer_learning::{LearningError, Limits};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// A flag that asks every running trial to stop. Ctrl-C sets it, and a budget of time that is spent.
///
/// ```
/// use mercer_harness::Stop;
/// let stop = Stop::default();
/// let seen_by_a_trial = stop.clone();
/// assert!(!seen_by_a_trial.asked());
/// stop.ask(); // Ctrl-C
/// assert!(seen_by_a_trial.asked()); // one flag, however often it is cloned
///
/// let timed = Stop::default();
/// timed.at(std::time::Instant::now());
/// assert!(timed.asked() && !timed.interrupted()); // nobody pressed Ctrl-C
/// ```
#[derive(Debug, Clone, Default)]
pub struct Stop {
    flag: Arc<AtomicBool>,
    at: Arc<OnceLock<Instant>>,
}

impl Stop {
    /// Asks for a stop.
    pub fn ask(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Asks for a stop at an instant; the first call counts.
    pub fn at(&self, instant: Instant) {
        let _ = self.at.set(instant);
    }

    /// Returns whether it is time to stop, for whatever reason.
    pub fn asked(&self) -> bool {
        self.interrupted() || self.at.get().is_some_and(|at| Instant::now() >= *at)
    }

    /// Returns whether somebody asked for a stop.
    pub fn interrupted(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }
}

/// Time, memory and the user's wish to stop, for one trial.
///
/// ```
/// use mercer_harness::{Stop, TrialLimits};
/// use mercer_learning::{LearningError, Limits};
/// let small = TrialLimits::start(None, Some(1_000), Stop::default());
/// assert!(matches!(small.reserve(1 << 40), Err(LearningError::OutOfMemory { limit: 1_000, .. })));
/// let short = TrialLimits::start(Some(0.0), None, Stop::default());
/// assert!(matches!(short.check(), Err(LearningError::OutOfTime { .. })));
/// let stop = Stop::default();
/// let stopped = TrialLimits::start(None, None, stop.clone());
/// assert_eq!(stopped.check(), Ok(()));
/// stop.ask();
/// assert_eq!(stopped.check(), Err(LearningError::Interrupted));
/// ```
pub struct TrialLimits {
    started: Instant,
    seconds: Option<f64>,
    bytes: Option<u64>,
    stop: Stop,
    meter: Meter,
}

impl TrialLimits {
    /// Starts limits that count from now, on this thread.
    pub fn start(seconds: Option<f64>, bytes: Option<u64>, stop: Stop) -> Self {
        Self { started: Instant::now(), seconds, bytes, stop, meter: Meter::start() }
    }

    /// Returns the most bytes that this thread has held at once since the start.
    pub fn peak_bytes(&self) -> u64 {
        self.meter.peak()
    }
}

impl Limits for TrialLimits {
    fn check(&self) -> Result<(), LearningError> {
        if self.stop.asked() {
            return Err(LearningError::Interrupted);
        }
        if let Some(limit) = self.seconds {
            let seconds = self.started.elapsed().as_secs_f64();
            if seconds > limit {
                return Err(LearningError::OutOfTime { seconds });
            }
        }
        self.reserve(0)
    }

    fn reserve(&self, bytes: u64) -> Result<(), LearningError> {
        match self.bytes {
            Some(limit) => {
                let needed = self.meter.held().saturating_add(bytes);
                if needed > limit {
                    Err(LearningError::OutOfMemory { needed, limit })
                } else {
                    Ok(())
                }
            }
            None => Ok(()),
        }
    }
}
