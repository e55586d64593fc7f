//! Bytes held by each thread, counted where they are allocated.
//!
//! A trial runs on one thread, so what the thread holds is what the trial holds. Memory that one
//! thread allocates and another frees is booked where it happens; the trial's large arrays are
//! never handed over. Threads of a two-thread fit are not counted: their share is small buffers.

use mercer_linalg::LargePages;
use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;

thread_local! {
    // Constant initialisers: reading them allocates nothing, which an allocator relies on.
    static HELD: Cell<i64> = const { Cell::new(0) };
    static PEAK: Cell<i64> = const { Cell::new(0) };
}

/// The system's allocator with large pages ([`LargePages`]), counting bytes by thread. A program that
/// wants memory limits names it as its `#[global_allocator]`; without it every meter reads 0.
///
/// ```standalone_crate
/// use mercer_harness::{MeteredAllocator, metered};
/// #[global_allocator]
/// static ALLOCATOR: MeteredAllocator = MeteredAllocator;
/// fn main() {
///     let (length, peak) = metered(|| vec![1u8; 1 << 20].len());
///     assert_eq!(length, 1 << 20); // freed by now, and counted
///     assert!((1 << 20..(1 << 20) + 4096).contains(&peak));
/// }
/// ```
#[derive(Debug, Default, Clone, Copy)]
pub struct MeteredAllocator;

// SAFETY: every call goes to the other allocator unchanged; the counters touch no memory that
// it manages, and thread-locals with constant initialisers neither allocate nor run destructors.
unsafe impl GlobalAlloc for MeteredAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        book(layout.size() as i64);
        // SAFETY: the caller's contract is the other allocator's.
        unsafe { LargePages.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        book(layout.size() as i64);
        // SAFETY: the caller's contract is the other allocator's.
        unsafe { LargePages.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        book(-(layout.size() as i64));
        // SAFETY: the caller's contract is the other allocator's.
        unsafe { LargePages.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        book(size as i64 - layout.size() as i64);
        // SAFETY: the caller's contract is the other allocator's.
        unsafe { LargePages.realloc(pointer, layout, size) }
    }
}

fn book(bytes: i64) {
    // During thread shutdown the counters may be gone; nobody reads them then.
    let _ = HELD.try_with(|held| {
        let now = held.get() + bytes;
        held.set(now);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(now)));
    });
}

/// What this thread allocates from a moment on.
#[derive(Debug)]
pub(crate) struct Meter {
    start: i64,
}

impl Meter {
    /// Starts counting on this thread; an earlier meter's peak is forgotten.
    pub(crate) fn start() -> Self {
        let start = HELD.get();
        PEAK.set(start);
        Self { start }
    }

    /// Bytes held now beyond those at the start.
    pub(crate) fn held(&self) -> u64 {
        (HELD.get() - self.start).max(0) as u64
    }

    /// Most bytes held at once beyond those at the start.
    pub(crate) fn peak(&self) -> u64 {
        (PEAK.get() - self.start).max(0) as u64
    }
}

/// Runs `work` and returns its result with its peak memory. This is the most bytes that it held at once on this thread.
///
/// ```
/// // A program without `MeteredAllocator` counts nothing.
/// let (length, peak) = mercer_harness::metered(|| vec![0u8; 1 << 20].len());
/// assert_eq!((length, peak), (1 << 20, 0));
/// ```
pub fn metered<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let meter = Meter::start();
    let result = work();
    (result, meter.peak())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[global_allocator]
    static ALLOCATOR: MeteredAllocator = MeteredAllocator;

    #[test]
    fn the_peak_outlives_what_was_freed() {
        let ((), peak) = metered(|| drop(vec![1u8; 1 << 20]));
        assert!((1 << 20..(1 << 20) + 4096).contains(&peak), "{peak}");
        let (kept, peak) = metered(|| vec![0u64; 1 << 10]);
        assert_eq!(kept.len(), 1 << 10);
        assert!((8 << 10..(8 << 10) + 4096).contains(&peak), "{peak}");
    }

    #[test]
    fn threads_are_counted_apart() {
        let (inner, outer) = metered(|| {
            std::thread::scope(|scope| {
                scope.spawn(|| metered(|| drop(vec![1u8; 1 << 22])).1).join().unwrap()
            })
        });
        assert!(inner >= 1 << 22 && outer < 1 << 20, "{inner} {outer}");
    }
}
