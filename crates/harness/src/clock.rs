use std::collections::BTreeMap;
use std::time::Instant;

/// Whose time a clock tells.
#[derive(Clone, Copy)]
enum Whose {
    Thread,
    Program,
}

/// Seconds for which the calling thread has run on a processor: seconds in which other threads ran do not count. `None`
/// where the system does not tell.
pub(crate) fn thread_seconds() -> Option<f64> {
    seconds(Whose::Thread)
}

/// Returns the processor seconds of all threads of the program together. Threads that have ended are included, and the
/// resolution is a microsecond. Seconds in which other programs ran do not count. `None` where the system does not
/// tell.
///
/// ```
/// let start = mercer_harness::program_seconds();
/// let sum: f64 = (0..1_000_000).map(f64::from).map(f64::sqrt).sum();
/// assert!(std::hint::black_box(sum) > 0.0);
/// if let (Some(start), Some(end)) = (start, mercer_harness::program_seconds()) {
///     assert!(end > start);
/// }
/// ```
pub fn program_seconds() -> Option<f64> {
    seconds(Whose::Program)
}

fn seconds(whose: Whose) -> Option<f64> {
    #[cfg(unix)]
    {
        let clock = match whose {
            Whose::Thread => libc::CLOCK_THREAD_CPUTIME_ID,
            Whose::Program => libc::CLOCK_PROCESS_CPUTIME_ID,
        };
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the call writes to the time that it is lent, and to nothing else.
        let ended = unsafe { libc::clock_gettime(clock, &raw mut time) };
        (ended == 0).then_some(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
    }
    #[cfg(not(unix))]
    {
        let _ = whose;
        None
    }
}

/// Seconds of each phase of a trial, by the clock on the wall and by the processor.
pub(crate) struct Clock {
    pub wall: BTreeMap<String, f64>,
    /// Of the thread that began it; threads that a fit starts have their own.
    pub processor: BTreeMap<String, f64>,
    last: Instant,
    ran: Option<f64>,
}

impl Clock {
    pub(crate) fn start() -> Self {
        let (wall, processor) = (BTreeMap::new(), BTreeMap::new());
        Self { wall, processor, last: Instant::now(), ran: thread_seconds() }
    }

    /// Ends a phase.
    pub(crate) fn lap(&mut self, phase: &str) {
        self.wall.insert(phase.to_owned(), self.last.elapsed().as_secs_f64());
        let ran = thread_seconds();
        if let (Some(before), Some(now)) = (self.ran, ran) {
            self.processor.insert(phase.to_owned(), (now - before).max(0.0));
        }
        (self.last, self.ran) = (Instant::now(), ran);
    }

    /// Seconds that an earlier run spent on a phase. What its processor spent is not known.
    pub(crate) fn add(&mut self, phase: &str, seconds: f64) {
        if seconds > 0.0 {
            *self.wall.entry(phase.to_owned()).or_default() += seconds;
            self.processor.remove(phase);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_program_has_the_seconds_of_all_its_threads_to_the_microsecond() {
        let Some(start) = program_seconds() else { return };
        let busy = || {
            let start = thread_seconds().unwrap();
            while thread_seconds().unwrap() - start < 0.02 {}
        };
        // Threads that have ended count, too.
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(busy);
            }
        });
        let ran = program_seconds().unwrap() - start;
        assert!(ran >= 0.04, "{ran}");
        // A clock that moved by the ticks of the scheduler would stand still for thousands of looks.
        let looks: Vec<f64> = (0..1000).map(|_| program_seconds().unwrap()).collect();
        let moved = looks.windows(2).filter(|pair| pair[1] > pair[0]).count();
        assert!(moved > 500, "{moved}");
    }

    #[test]
    fn sleep_takes_no_processor_time_and_work_does() {
        let mut clock = Clock::start();
        std::thread::sleep(Duration::from_millis(100));
        clock.lap("asleep");
        let start = Instant::now();
        let mut sum = 0.0;
        while start.elapsed() < Duration::from_millis(50) {
            sum = std::hint::black_box(sum + 1.0);
        }
        clock.lap("awake");
        assert!(clock.wall["asleep"] >= 0.1 && clock.wall["awake"] >= 0.05);
        if thread_seconds().is_some() {
            assert!(clock.processor["asleep"] < 0.05, "{:?}", clock.processor);
            assert!(clock.processor["awake"] > 0.0, "{:?}", clock.processor);
        }
        // A part whose processor time nobody knows leaves only that of the wall.
        clock.add("asleep", 0.0);
        assert!(clock.processor.contains_key("asleep") == thread_seconds().is_some());
        clock.add("awake", 1.0);
        assert!(clock.wall["awake"] >= 1.05 && !clock.processor.contains_key("awake"));
    }
}
