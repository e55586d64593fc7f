//! Bars and clocks on standard error, and the watch over work that does not look at the time.

use crate::notes::Notes;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mercer_harness::leave;
use mercer_workbench::Output;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A bar on standard error, where that is a terminal.
pub(super) fn bar(quiet: bool) -> ProgressBar {
    let shown = !quiet && std::io::stderr().is_terminal();
    let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(None, target);
    // The template is constant; a fault in it would show in the first test.
    if let Ok(style) = ProgressStyle::with_template(
        "{bar:30} {pos}/{len}  {elapsed} gone, about {eta} left  {msg}",
    ) {
        bar.set_style(style);
    }
    ticking(bar, shown)
}

/// Looks after work that may not look at the time itself: ends it a little after its limit, and says in a pipe that it
/// goes on.
pub(super) struct Watch(Arc<AtomicBool>);

impl Watch {
    /// Work is done, and no error follows.
    pub fn finish(self) {
        drop(self);
        Notes::release();
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Watches until it is dropped.
pub(super) fn watch(seconds: Option<f64>, quiet: bool) -> Watch {
    let done = Arc::new(AtomicBool::new(false));
    let seen = done.clone();
    // What heeds the limit ends by itself before.
    let limit =
        seconds.and_then(|own| Duration::try_from_secs_f64(own + (own / 10.0).max(1.0)).ok());
    let silent = quiet || std::io::stderr().is_terminal();
    std::thread::spawn(move || {
        let (start, mut next) = (Instant::now(), Duration::from_secs(20));
        while !seen.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(50));
            let gone = start.elapsed();
            // What is said of the file is of use now: no error of reading it follows.
            if gone > Duration::from_secs(1) {
                Notes::release();
            }
            if limit.is_some_and(|limit| gone > limit) && !seen.load(Ordering::Relaxed) {
                Output::abandon();
                let gone = gone.as_secs_f64();
                eprintln!(
                    "error: stopped after {gone:.1} s (--max-seconds), in the middle of a step; nothing is written"
                );
                leave(1);
            }
            if gone >= next && !silent {
                tracing::info!(
                    "still at work after {} s (--max-seconds N would end it)",
                    next.as_secs()
                );
                next *= 3;
            }
        }
    });
    Watch(done)
}

/// A clock on standard error beside work whose steps are not known, where that is a terminal.
pub(super) fn clock(quiet: bool, what: String) -> ProgressBar {
    let shown = !quiet && std::io::stderr().is_terminal();
    let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(None, target);
    if let Ok(style) =
        ProgressStyle::with_template("{spinner} {elapsed} gone  {msg}  (Ctrl-C stops)")
    {
        bar.set_style(style);
    }
    bar.set_message(what);
    ticking(bar, shown)
}

/// Drawn anew each second, also while a step takes minutes.
fn ticking(bar: ProgressBar, shown: bool) -> ProgressBar {
    if shown {
        bar.enable_steady_tick(Duration::from_secs(1));
    }
    bar
}
