use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Decoders under way, on any thread.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether this thread is in one.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// What a decoder of another library returns, or nothing where it panicked: it indexes into damaged files, and holds no
/// state of ours. Its panic, also on a thread of its own, prints nothing: the user sees the caller's error.
pub(crate) fn quietly<T>(decode: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let theirs = || info.location().is_some_and(|at| at.file().contains("polars"));
            let decoding = UNDER_WAY.load(Ordering::SeqCst) > 0 && theirs();
            if !INSIDE.get() && !decoding {
                usual(info);
            }
        }));
    });
    UNDER_WAY.fetch_add(1, Ordering::SeqCst);
    let outer = INSIDE.replace(true);
    let decoded = panic::catch_unwind(AssertUnwindSafe(decode)).ok();
    INSIDE.set(outer);
    UNDER_WAY.fetch_sub(1, Ordering::SeqCst);
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_nothing_and_the_next_call_goes_on() {
        assert_eq!(quietly(|| -> u8 { panic!("not to be seen") }), None);
        assert_eq!(quietly(|| quietly(|| 3)), Some(Some(3)));
        assert!(!INSIDE.get());
    }
}
