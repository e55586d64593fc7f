use mercer_harness::program_seconds;
use mercer_learning::{Fitting, LearningError, Limits, Sample, Settings, Streams, find};
use mercer_methods::registry;
use std::sync::Mutex;
use std::time::Instant;

/// Processor seconds that the program used for the work, on all its threads: those in which another
/// program ran do not count. Where the system does not tell, wall-clock seconds.
pub(crate) fn processor_seconds<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Moment::now();
    let value = std::hint::black_box(work());
    (Moment::now().since(start), value)
}

/// A point of the program's time.
#[derive(Debug, Clone, Copy)]
struct Moment {
    wall: Instant,
    /// Seconds that all threads have run.
    ran: Option<f64>,
}

impl Moment {
    fn now() -> Self {
        Self { wall: Instant::now(), ran: program_seconds() }
    }

    fn since(self, start: Self) -> f64 {
        match (start.ran, self.ran) {
            (Some(start), Some(end)) => end - start,
            _ => (self.wall - start.wall).as_secs_f64(),
        }
    }
}

/// Processor seconds of the steps of a fit of a registered method, but one: what is done once does not
/// count. The settings stand over the method's own.
pub(crate) fn step_seconds(
    method: &str,
    settings: &Settings,
    sample: &Sample,
    streams: &Streams,
) -> Result<f64, LearningError> {
    let methods = registry();
    let method = find(&methods, method)?;
    let settings = (method.defaults)(&sample.shape()).overridden_by(settings);
    let clock = Steps::default();
    let mut fitting =
        Fitting { streams: streams.child("fit"), limits: &clock, ..Fitting::seeded(0) };
    method.learner(&settings, sample.task())?.fit(sample, &mut fitting)?;
    let seen = clock.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let between = match seen.looks[..] {
        [(_, first), .., (step, last)] => {
            Some(last.since(first) / step as f64 * (seen.steps - 1) as f64)
        }
        _ => None,
    };
    between.ok_or_else(|| LearningError::Numerical {
        operation: "a timed fit",
        reason: "it took fewer than two steps, give it more".to_owned(),
    })
}

/// Looks at the clock along the steps of a fit: at the first few, then at every so many, since a look
/// takes as long as a short step.
#[derive(Default)]
struct Steps(Mutex<Seen>);

#[derive(Default)]
struct Seen {
    steps: usize,
    /// Step and time of each look.
    looks: Vec<(usize, Moment)>,
}

/// Every step is looked at so long, and every such many from then on.
const STRIDE: usize = 16;

impl Limits for Steps {
    fn check(&self) -> Result<(), LearningError> {
        let mut seen = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if seen.steps < STRIDE || seen.steps.is_multiple_of(STRIDE) {
            let look = (seen.steps, Moment::now());
            seen.looks.push(look);
        }
        seen.steps += 1;
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
    fn long_fits_are_looked_at_now_and_then() {
        let clock = Steps::default();
        for _ in 0..100 {
            clock.check().unwrap();
        }
        let seen = clock.0.lock().unwrap();
        let steps: Vec<usize> = seen.looks.iter().map(|(step, _)| *step).collect();
        assert_eq!(steps, (0..16).chain((16..100).step_by(16)).collect::<Vec<_>>());
        assert_eq!(seen.steps, 100);
    }

    #[test]
    fn work_takes_processor_time_and_sleep_does_not() {
        // The least of a few: what a host takes from a guest counts as run by whoever ran then.
        let asleep = (0..5)
            .map(|_| processor_seconds(|| std::thread::sleep(Duration::from_millis(100))).0)
            .fold(f64::INFINITY, f64::min);
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
