use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Returns the results of `task(0), task(1), …` in that order, the tasks dealt out to `threads` threads.
///
/// A task's result cannot depend on the thread it runs on, so neither do the results. The same numbers come out for any
/// number of threads, if the caller combines them in the order given. One thread, or one task, runs on the calling
/// thread.
///
/// ```
/// assert_eq!(mercer_linalg::in_order(2, 5, |i| i * i), [0, 1, 4, 9, 16]);
/// ```
///
/// # Panics
/// With the panic of a task.
pub fn in_order<R: Send>(threads: usize, tasks: usize, task: impl Fn(usize) -> R + Sync) -> Vec<R> {
    if threads <= 1 || tasks <= 1 {
        return (0..tasks).map(task).collect();
    }
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(tasks));
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= tasks {
                break;
            }
            let result = task(index);
            match done.lock() {
                Ok(mut done) => done.push((index, result)),
                Err(_) => break, // another thread panics; the scope passes that on
            }
        }
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(tasks)).map(|_| scope.spawn(work)).collect();
        work();
        for other in others {
            if let Err(panic) = other.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Runs `task` on each of `items`, dealt out to `threads` threads. It is for tasks that write where their item points
/// to.
///
/// ```
/// let mut numbers = [1, 2, 3, 4];
/// mercer_linalg::for_each(2, numbers.chunks_mut(2), |pair| pair.reverse());
/// assert_eq!(numbers, [2, 1, 4, 3]);
/// ```
///
/// # Panics
/// With the panic of a task.
pub fn for_each<T: Send>(
    threads: usize,
    items: impl IntoIterator<Item = T>,
    task: impl Fn(T) + Sync,
) {
    let slots: Vec<Mutex<Option<T>>> =
        items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    in_order(threads, slots.len(), |index| {
        let taken = slots[index].lock().ok().and_then(|mut slot| slot.take());
        if let Some(item) = taken {
            task(item);
        }
    });
}

/// Results that may wait for an earlier one, for each thread: enough that a thread whose core was
/// taken away for a moment does not stop the others.
const AHEAD: usize = 4;

/// Where the results of a [`pipeline`] wait for their turn.
struct Queue<R> {
    ready: BTreeMap<usize, R>,
    /// Results that were handed on.
    finished: usize,
    /// Items in all, once the last one was taken.
    items: Option<usize>,
    /// Nobody wants further results, or a thread panicked.
    stopped: bool,
}

struct Line<R> {
    queue: Mutex<Queue<R>>,
    changed: Condvar,
}

impl<R> Line<R> {
    fn new() -> Self {
        let queue = Queue { ready: BTreeMap::new(), finished: 0, items: None, stopped: false };
        Self { queue: Mutex::new(queue), changed: Condvar::new() }
    }

    /// The queue; it is never left half changed.
    fn lock(&self) -> MutexGuard<'_, Queue<R>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, queue: MutexGuard<'a, Queue<R>>) -> MutexGuard<'a, Queue<R>> {
        self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
    }

    /// Takes the next item, and its number; none where there are no more, or nobody wants one.
    fn take<T>(&self, source: &Mutex<(usize, impl FnMut() -> Option<T>)>) -> Option<(usize, T)> {
        // Poisoned by a panic of `next`, which stops the others.
        let mut source = source.lock().ok()?;
        let queue = self.lock();
        if queue.stopped || queue.items.is_some() {
            return None;
        }
        drop(queue);
        let (taken, next) = &mut *source;
        let Some(item) = next() else {
            self.lock().items = Some(*taken);
            self.changed.notify_all();
            return None;
        };
        *taken += 1;
        Some((*taken - 1, item))
    }

    /// Leaves a result for its turn, once it is fewer than `ahead` results off.
    fn leave(&self, index: usize, result: R, ahead: usize) {
        let mut queue = self.lock();
        while !queue.stopped && index >= queue.finished + ahead {
            queue = self.wait(queue);
        }
        queue.ready.insert(index, result);
        self.changed.notify_all();
    }

    /// Hands the results to `finish` in their order, until there are no more, it fails or the line stops.
    fn hand_on<E>(&self, mut finish: impl FnMut(R) -> Result<(), E>) -> Result<(), E> {
        let mut queue = self.lock();
        while !queue.stopped {
            let turn = queue.finished;
            if let Some(result) = queue.ready.remove(&turn) {
                drop(queue);
                finish(result)?;
                queue = self.lock();
                queue.finished += 1;
                self.changed.notify_all();
            } else if queue.items == Some(turn) {
                break;
            } else {
                queue = self.wait(queue);
            }
        }
        Ok(())
    }
}

/// Stops the others when its thread unwinds.
struct StopOnPanic<'a, R>(&'a Line<R>);

impl<R> Drop for StopOnPanic<'_, R> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

/// Takes items from `next` until there are none, and `work`s on them. So many threads do the work. It hands the results
/// to `finish` on the calling thread, in the order of the items.
///
/// A thread that is free takes the next item itself, so `next` and `work` overlap. Only a few
/// results a thread are held, however many items there are. With one thread all runs on the calling
/// one.
///
/// ```
/// let mut lines = "one two three".split(' ');
/// let mut lengths = Vec::new();
/// let done: Result<(), ()> = mercer_linalg::pipeline(
///     2,
///     || lines.next(),
///     |word| word.len(),
///     |length| Ok(lengths.push(length)),
/// );
/// assert_eq!((done, lengths), (Ok(()), vec![3, 3, 5]));
/// ```
///
/// # Errors
/// The first error of `finish`, after which nothing more is taken.
///
/// # Panics
/// With the panic of `next`, `work` or `finish`.
pub fn pipeline<T, R: Send, E>(
    threads: usize,
    mut next: impl FnMut() -> Option<T> + Send,
    work: impl Fn(T) -> R + Sync,
    mut finish: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    if threads <= 1 {
        while let Some(item) = next() {
            finish(work(item))?;
        }
        return Ok(());
    }
    let line = Line::new();
    // The number of items taken, beside what gives them.
    let source = Mutex::new((0, next));
    let run = || {
        let _guard = StopOnPanic(&line);
        while let Some((index, item)) = line.take(&source) {
            line.leave(index, work(item), AHEAD * threads);
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        let guard = StopOnPanic(&line);
        let outcome = line.hand_on(finish);
        line.stop();
        drop(guard);
        for worker in workers {
            if let Err(panic) = worker.join() {
                std::panic::resume_unwind(panic);
            }
        }
        outcome
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_their_order_for_any_number_of_threads() {
        let expected: Vec<usize> = (0..100).map(|i| i * i).collect();
        for threads in [0, 1, 2, 3, 7] {
            assert_eq!(in_order(threads, 100, |i| i * i), expected);
        }
        assert!(in_order(4, 0, |i| i).is_empty());
    }

    #[test]
    fn every_item_is_worked_on_once() {
        let mut numbers = vec![0; 1000];
        for_each(3, numbers.iter_mut(), |number| *number += 1);
        assert!(numbers.iter().all(|&number| number == 1));
    }

    #[test]
    fn a_pipeline_finishes_in_order_and_holds_few() {
        for threads in [1, 2, 5] {
            let (taken, mut items) = (AtomicUsize::new(0), 0..1000usize);
            let mut found = Vec::new();
            let done: Result<(), ()> = pipeline(
                threads,
                || {
                    taken.fetch_add(1, Ordering::Relaxed);
                    items.next()
                },
                |item| {
                    if item % 7 == 0 {
                        std::thread::yield_now();
                    }
                    item * item
                },
                |square| {
                    // What is taken and not finished is bounded by the threads.
                    let open = taken.load(Ordering::Relaxed) - found.len();
                    assert!(open <= (AHEAD + 2) * threads, "{open} items at once");
                    found.push(square);
                    Ok(())
                },
            );
            assert_eq!(done, Ok(()));
            assert_eq!(found, (0..1000).map(|i| i * i).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_error_at_the_end_of_a_pipeline_stops_its_beginning() {
        for threads in [1, 3] {
            let mut items = 0..usize::MAX;
            let found = pipeline(
                threads,
                || items.next(),
                |item| item,
                |item| if item == 20 { Err(item) } else { Ok(()) },
            );
            assert_eq!(found, Err(20));
        }
    }

    #[test]
    fn a_panic_anywhere_ends_a_pipeline() {
        for (place, said) in [(0, "next"), (1, "work"), (2, "finish")] {
            let mut items = 0..100;
            let fault = |at: i32, item: i32| assert!(!(at == place && item == 30), "{said}");
            let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                pipeline(
                    3,
                    || {
                        let item = items.next()?;
                        fault(0, item);
                        Some(item)
                    },
                    |item| {
                        fault(1, item);
                        item
                    },
                    |item| {
                        fault(2, item);
                        Ok::<(), ()>(())
                    },
                )
            }));
            let panic = panic.unwrap_err();
            let text = panic.downcast_ref::<String>().map_or("", String::as_str);
            assert!(text.contains(said), "{text}");
        }
    }

    #[test]
    #[should_panic(expected = "the third")]
    fn a_panic_is_passed_on() {
        for_each(2, 0..10, |i| assert!(i != 3, "the third"));
    }
}
