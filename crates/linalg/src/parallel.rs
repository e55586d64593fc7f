use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The results of `task(0), task(1), …` in that order, the tasks dealt out to `threads` threads.
///
/// What a task computes cannot depend on the thread it runs on, so neither do the results: the same
/// numbers come out for any number of threads, if the caller combines them in the order given.
/// One thread, or one task, runs on the calling thread.
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
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_unstable_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Runs `task` on each of `items`, dealt out to `threads` threads: for tasks that write where
/// their item points to.
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
    #[should_panic(expected = "the third")]
    fn a_panic_is_passed_on() {
        for_each(2, 0..10, |i| assert!(i != 3, "the third"));
    }
}
