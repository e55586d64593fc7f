use crate::registry;
use mercer_learning::{Fitting, LearningError, Limits, Sample, Settings, Streams, find};
use std::sync::Mutex;
use std::time::Instant;

/// Seconds that the work took on this thread's processor: those in which another program ran there
/// do not count. The system may tell it a few milliseconds late: time what takes tens of them. Where it
/// does not tell at all (it needs Linux), wall-clock seconds.
pub(crate) fn processor_seconds<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Moment::now();
    let value = std::hint::black_box(work());
    (Moment::now().since(start), value)
}

/// A point of this thread's time.
#[derive(Debug, Clone, Copy)]
struct Moment {
    wall: Instant,
    /// Nanoseconds that this thread has run.
    ran: Option<u64>,
}

impl Moment {
    fn now() -> Self {
        let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
        let ran = told.and_then(|told| told.split_whitespace().next()?.parse().ok());
        Self { wall: Instant::now(), ran }
    }

    fn since(self, start: Self) -> f64 {
        match (start.ran, self.ran) {
            (Some(start), Some(end)) => end.saturating_sub(start) as f64 * 1e-9,
            _ => (self.wall - start.wall).as_secs_f64(),
        }
    }
}

/// Processor seconds of a registered method between the first step of a fit and the last: what is
/// done once does not count. The settings stand over the method's own.
pub(crate) fn step_seconds(
    method: &str,
    settings: &Settings,
    sample: &Sample,
    streams: &Streams,
) -> Result<f64, LearningError> {
    let methods = registry();
    let method = find(&methods, method)?;
    let settings = (method.defaults)(&sample.shape()).overridden_by(settings);
    let clock = Steps(Mutex::new(None));
    let mut fitting =
        Fitting { streams: streams.child("fit"), limits: &clock, ..Fitting::seeded(0) };
    method.learner(&settings, sample.task())?.fit(sample, &mut fitting)?;
    let seen = clock.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let between = seen.filter(|(.., steps)| *steps > 1).map(|(first, last, _)| last.since(first));
    between.ok_or_else(|| LearningError::Numerical {
        operation: "a timed fit",
        reason: "it took fewer than two steps, give it more".to_owned(),
    })
}

/// Notes the first and the last step of a fit, and how many there were.
struct Steps(Mutex<Option<(Moment, Moment, usize)>>);

impl Limits for Steps {
    fn check(&self) -> Result<(), LearningError> {
        let now = Moment::now();
        let mut seen = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (first, steps) = seen.map_or((now, 0), |(first, _, steps)| (first, steps));
        *seen = Some((first, now, steps + 1));
        Ok(())
    }

    fn reserve(&self, _bytes: u64) -> Result<(), LearningError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_fit_of_one_step_has_no_time_between_steps() {
        let sample = mercer_datasets::stand_in(32, 3, 2, &mut Streams::root(1).rng("data"));
        let timed = |epochs: usize| {
            let settings = Settings::new().with("epochs", epochs);
            step_seconds("gmce", &settings, &sample, &Streams::root(1))
        };
        assert!(timed(1).unwrap_err().to_string().contains("fewer than two steps"));
        assert!((0.0..10.0).contains(&timed(2).unwrap()));
    }

    #[test]
    fn work_takes_processor_time_and_sleep_does_not() {
        let (asleep, ()) = processor_seconds(|| std::thread::sleep(Duration::from_millis(200)));
        let (awake, ()) = processor_seconds(|| {
            let start = Moment::now();
            while Moment::now().since(start) < 0.05 {}
        });
        assert!(awake >= 0.05, "{awake}");
        if Moment::now().ran.is_some() {
            assert!(asleep < 0.05, "{asleep}");
        }
    }
}
