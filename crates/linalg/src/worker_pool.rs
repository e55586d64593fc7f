use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Polls of a waiting thread before it yields its core: some 20 µs.
const SPINS: u32 = 4_000;
/// Yields before it sleeps: some 100 µs on an idle machine, more where others use the core.
const YIELDS: u32 = 200;

/// Threads that stay for as long as the crew lives. They share out the items of one loop after another.
///
/// What a [`crate::team`] is to a whole training loop, a crew is to a step that is called from
/// outside: nothing is spawned a step, and waiting threads spin before they sleep. Each item is
/// handed to one thread, whichever is free; so a result that depends on the items alone does not
/// depend on the number of threads.
///
/// ```
/// let mut crew = mercer_linalg::WorkerPool::new(2);
/// let mut squares: Vec<u64> = (0..100).collect();
/// crew.for_each(&mut squares, |_, value| *value *= *value);
/// assert_eq!(squares[99], 9801);
/// ```
#[derive(Debug)]
pub struct WorkerPool {
    shared: Arc<Shared>,
    others: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    orders: Mutex<Orders>,
    posted: Condvar,
    /// The generation of the last order, readable without the lock.
    generation: AtomicUsize,
    /// Threads that work on the current order; it rises under the lock only.
    busy: AtomicUsize,
}

#[derive(Debug)]
struct Orders {
    generation: usize,
    job: Option<Job>,
    sleepers: usize,
    panic: Option<Box<dyn Any + Send>>,
    closed: bool,
}

/// A closure that lives for as long as [`WorkerPool::run`] has not returned, whatever its type says.
#[derive(Clone, Copy)]
struct Job(&'static (dyn Fn() + Sync));

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Job")
    }
}

/// A pointer to the first item of a slice whose items are handed out one by one.
struct Items<T>(*mut T);

// SAFETY: threads touch different items, each of which may be sent to another thread.
unsafe impl<T: Send> Sync for Items<T> {}

impl<T> Items<T> {
    /// # Safety
    /// `index` is inside the slice, and nobody else has it.
    #[expect(clippy::mut_from_ref, reason = "each item is handed out once")]
    unsafe fn item(&self, index: usize) -> &mut T {
        // SAFETY: as the caller promises.
        unsafe { &mut *self.0.add(index) }
    }
}

impl Shared {
    /// The orders; a panic of a job is kept apart and never leaves them half written.
    fn orders(&self) -> MutexGuard<'_, Orders> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Polls until `done`, first spinning and then yielding; whether it came true.
fn poll(yields: u32, done: impl Fn() -> bool) -> bool {
    for _ in 0..SPINS {
        if done() {
            return true;
        }
        std::hint::spin_loop();
    }
    for _ in 0..yields {
        if done() {
            return true;
        }
        std::thread::yield_now();
    }
    done()
}

impl WorkerPool {
    /// Returns a crew of `threads`, the calling thread among them; at least 1.
    ///
    /// # Panics
    /// If the system refuses a thread.
    pub fn new(threads: usize) -> Self {
        let orders = Orders { generation: 0, job: None, sleepers: 0, panic: None, closed: false };
        let shared = Arc::new(Shared {
            orders: Mutex::new(orders),
            posted: Condvar::new(),
            generation: AtomicUsize::new(0),
            busy: AtomicUsize::new(0),
        });
        let others = (1..threads.max(1))
            .map(|_| {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || serve(&shared))
            })
            .collect();
        Self { shared, others }
    }

    /// Returns the number of threads, the calling one among them.
    pub fn size(&self) -> usize {
        self.others.len() + 1
    }

    /// Calls `work` with the index of each item and the item. It runs in any order, on the crew's threads.
    ///
    /// # Panics
    /// With the panic of `work`, after all threads have stopped.
    pub fn for_each<T: Send>(&mut self, items: &mut [T], work: impl Fn(usize, &mut T) + Sync) {
        if self.others.is_empty() || items.len() < 2 {
            items.iter_mut().enumerate().for_each(|(index, item)| work(index, item));
            return;
        }
        let (next, count) = (AtomicUsize::new(0), items.len());
        let first = Items(items.as_mut_ptr());
        let first = &first;
        self.run(&|| {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= count {
                    return;
                }
                // SAFETY: below the length, and the counter gives each index once.
                work(index, unsafe { first.item(index) });
            }
        });
    }

    /// Runs `job` on every thread of the crew, this one included, and waits for all.
    fn run(&mut self, job: &(dyn Fn() + Sync)) {
        let shared = &*self.shared;
        // SAFETY: only the lifetime is changed. A thread takes the job and counts itself busy under
        // one lock; this function withdraws the job under that lock and then waits until nobody is
        // busy, panics included, before it returns.
        let lasting = Job(unsafe {
            std::mem::transmute::<&(dyn Fn() + Sync), &'static (dyn Fn() + Sync)>(job)
        });
        {
            let mut orders = shared.orders();
            orders.job = Some(lasting);
            orders.generation = orders.generation.wrapping_add(1);
            shared.generation.store(orders.generation, Ordering::Release);
            if orders.sleepers > 0 {
                shared.posted.notify_all();
            }
        }
        let own = catch_unwind(AssertUnwindSafe(job));
        // Whoever has not begun need not: a thread without a core keeps nobody waiting.
        shared.orders().job = None;
        while !poll(YIELDS, || shared.busy.load(Ordering::Acquire) == 0) {}
        let theirs = shared.orders().panic.take();
        if let Some(panic) = own.err().or(theirs) {
            resume_unwind(panic);
        }
    }
}

impl Drop for WorkerPool {
    fn drop(&mut self) {
        {
            let mut orders = self.shared.orders();
            orders.closed = true;
            orders.generation = orders.generation.wrapping_add(1);
            self.shared.generation.store(orders.generation, Ordering::Release);
            self.shared.posted.notify_all();
        }
        for other in self.others.drain(..) {
            // `serve` catches the panics of jobs and has none of its own.
            let _ = other.join();
        }
    }
}

/// What a thread of the crew does until the crew is dropped.
fn serve(shared: &Shared) {
    let mut seen = 0;
    loop {
        let news = || shared.generation.load(Ordering::Acquire) != seen;
        poll(YIELDS, news);
        let mut orders = shared.orders();
        while orders.generation == seen {
            orders.sleepers += 1;
            orders = shared.posted.wait(orders).unwrap_or_else(PoisonError::into_inner);
            orders.sleepers -= 1;
        }
        seen = orders.generation;
        if orders.closed {
            return;
        }
        let Some(Job(job)) = orders.job else { continue };
        shared.busy.fetch_add(1, Ordering::Relaxed);
        drop(orders);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(job)) {
            shared.orders().panic.get_or_insert(panic);
        }
        shared.busy.fetch_sub(1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_job_is_named_where_a_crew_is_shown() {
        assert_eq!(format!("{:?}", Job(&|| {})), "Job");
    }

    #[test]
    fn every_item_is_worked_on_once_in_every_round() {
        for threads in [0, 1, 2, 3] {
            let mut crew = WorkerPool::new(threads);
            assert_eq!(crew.size(), threads.max(1));
            for count in [0, 1, 2, 7, 100] {
                let mut items = vec![0; count];
                for _ in 0..200 {
                    crew.for_each(&mut items, |index, item| *item += index + 1);
                }
                let expected: Vec<usize> = (0..count).map(|index| 200 * (index + 1)).collect();
                assert_eq!(items, expected);
            }
        }
    }

    /// Two items that wait for each other are worked on at once, by a thread that had gone to sleep.
    #[test]
    fn sleeping_threads_wake() {
        let mut crew = WorkerPool::new(2);
        for _ in 0..3 {
            while crew.shared.orders().sleepers == 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
            let (begun, start) = (AtomicUsize::new(0), std::time::Instant::now());
            let mut met = [false; 2];
            crew.for_each(&mut met, |_, met| {
                begun.fetch_add(1, Ordering::SeqCst);
                while !*met && start.elapsed() < Duration::from_mins(1) {
                    std::thread::sleep(Duration::from_millis(1));
                    *met = begun.load(Ordering::SeqCst) == 2;
                }
            });
            assert_eq!(met, [true; 2]);
        }
    }

    #[test]
    fn a_panic_is_passed_on_and_the_crew_goes_on() {
        let mut crew = WorkerPool::new(2);
        let mut items = [0; 8];
        let panic = catch_unwind(AssertUnwindSafe(|| {
            crew.for_each(&mut items, |index, _| assert_ne!(index, 5, "five"));
        }));
        let message = *panic.unwrap_err().downcast::<String>().unwrap();
        assert!(message.contains("five"), "{message}");
        crew.for_each(&mut items, |_, item| *item = 2);
        assert_eq!(items, [2; 8]);
    }
}
