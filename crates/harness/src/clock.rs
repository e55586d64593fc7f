use std::collections::BTreeMap;
use std::time::Instant;

/// Seconds for which the calling thread has run on a processor: those in which others ran do not
/// count. `None` where the system does not tell.
pub(crate) fn thread_seconds() -> Option<f64> {
    #[cfg(unix)]
    {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the call writes to the time that it is lent, and to nothing else.
        let ended = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
        (ended == 0).then_some(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
    }
    #[cfg(not(unix))]
    {
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
