use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Polls of a barrier before a member starts to yield its core: some 20 µs.
const SPINS: u32 = 4_000;

/// One member of a team, as its own code sees it.
///
/// ```
/// use mercer_linalg::{TeamMember, team};
/// use std::sync::Mutex;
/// let shares = Mutex::new(vec![0..0; 3]);
/// let work = |member: &TeamMember<'_>| {
///     shares.lock().unwrap()[member.index()] = member.share(10);
///     member.barrier(); // now all have written
///     assert_eq!(shares.lock().unwrap().iter().map(|share| share.len()).sum::<usize>(), 10);
///     assert_eq!((member.leads(), member.size()), (member.index() == 0, 3));
/// };
/// team(3, work, work);
/// assert_eq!(*shares.lock().unwrap(), [0..3, 3..6, 6..10]);
/// ```
pub struct TeamMember<'a> {
    index: usize,
    team: &'a Shared,
}

struct Shared {
    size: usize,
    arrived: AtomicUsize,
    generation: AtomicUsize,
    broken: AtomicBool,
}

/// The panic of a member that was waiting for one that had panicked.
struct Abandoned;

impl TeamMember<'_> {
    /// Returns which member this is, from 0; member 0 runs on the calling thread.
    pub const fn index(&self) -> usize {
        self.index
    }

    /// Returns the number of members.
    pub const fn size(&self) -> usize {
        self.team.size
    }

    /// Returns whether this is member 0.
    pub const fn leads(&self) -> bool {
        self.index == 0
    }

    /// The part of `0..length` that is this member's: contiguous, sizes differing by at most 1.
    pub const fn share(&self, length: usize) -> std::ops::Range<usize> {
        let (i, t) = (self.index, self.team.size);
        length * i / t..length * (i + 1) / t
    }

    /// Waits until every member has come here; what they wrote before is visible after.
    ///
    /// It spins first and then yields, so that a team larger than the free cores still moves.
    ///
    /// # Panics
    /// If another member has panicked; [`team`] then passes on that member's panic.
    pub fn barrier(&self) {
        let Shared { size, arrived, generation, broken } = self.team;
        if *size == 1 {
            return;
        }
        let before = generation.load(Ordering::Acquire);
        if arrived.fetch_add(1, Ordering::AcqRel) + 1 == *size {
            arrived.store(0, Ordering::Relaxed);
            generation.store(before.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut polls = 0;
        while generation.load(Ordering::Acquire) == before {
            if broken.load(Ordering::Relaxed) {
                std::panic::resume_unwind(Box::new(Abandoned));
            }
            if polls < SPINS {
                polls += 1;
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
    }
}

/// Marks the team broken when its member unwinds.
struct Guard<'a>(&'a Shared);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.store(true, Ordering::Relaxed);
        }
    }
}

/// Runs a team of `size` threads that work in lockstep. `leader` runs on the calling thread, `follower` on the others.
/// Returns the leader's result when all have ended.
///
/// Every member must pass the same number of barriers. A team of one starts no thread.
///
/// ```
/// use mercer_linalg::{TeamMember, team};
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// let total = AtomicUsize::new(0);
/// let add = |member: &TeamMember<'_>| {
///     total.fetch_add(member.share(10).len(), Ordering::Relaxed);
///     member.barrier();
///     total.load(Ordering::Relaxed)
/// };
/// assert_eq!(team(2, add, |member| assert!(add(member) == 10)), 10);
/// ```
///
/// # Panics
/// With the panic of the first member that panicked; the others do not wait for it for ever.
pub fn team<R>(
    size: usize,
    leader: impl FnOnce(&TeamMember<'_>) -> R,
    follower: impl Fn(&TeamMember<'_>) + Sync,
) -> R {
    let size = size.max(1);
    let shared = Shared {
        size,
        arrived: AtomicUsize::new(0),
        generation: AtomicUsize::new(0),
        broken: AtomicBool::new(false),
    };
    let shared = &shared;
    if size == 1 {
        return leader(&TeamMember { index: 0, team: shared });
    }
    let follower = &follower;
    std::thread::scope(|scope| {
        let followers: Vec<_> = (1..size)
            .map(|index| {
                scope.spawn(move || {
                    let _guard = Guard(shared);
                    follower(&TeamMember { index, team: shared });
                })
            })
            .collect();
        let led = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _guard = Guard(shared);
            leader(&TeamMember { index: 0, team: shared })
        }));
        let mut panics: Vec<_> =
            followers.into_iter().filter_map(|handle| handle.join().err()).collect();
        match led {
            Ok(result) if panics.is_empty() => result,
            Ok(_) => std::panic::resume_unwind(cause(panics)),
            Err(panic) => {
                panics.insert(0, panic);
                std::panic::resume_unwind(cause(panics))
            }
        }
    })
}

/// The panic that was not itself caused by another one.
fn cause(panics: Vec<Box<dyn std::any::Any + Send>>) -> Box<dyn std::any::Any + Send> {
    let mut last: Box<dyn std::any::Any + Send> = Box::new("a member of the team panicked");
    for panic in panics {
        if !panic.is::<Abandoned>() {
            return panic;
        }
        last = panic;
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn barriers_keep_members_in_step_even_when_oversubscribed() {
        for size in [1, 2, 5] {
            let counters: Vec<AtomicUsize> = (0..size).map(|_| AtomicUsize::new(0)).collect();
            let work = |member: &TeamMember<'_>| {
                for round in 1..=300 {
                    counters[member.index()].store(round, Ordering::Relaxed);
                    member.barrier();
                    for counter in &counters {
                        assert_eq!(counter.load(Ordering::Relaxed), round);
                    }
                    member.barrier();
                }
                member.size()
            };
            assert_eq!(team(size, work, |member| assert!(work(member) == size)), size);
        }
    }

    #[test]
    fn shares_cover_the_range_once() {
        for size in 1..6 {
            let covered = std::sync::Mutex::new(vec![0; 13]);
            let work = |member: &TeamMember<'_>| {
                for i in member.share(13) {
                    covered.lock().unwrap()[i] += 1;
                }
            };
            team(size, work, work);
            assert_eq!(covered.into_inner().unwrap(), vec![1; 13]);
        }
    }

    #[test]
    fn a_panic_in_any_member_ends_the_team_and_is_passed_on() {
        for culprit in 0..3 {
            let work = |member: &TeamMember<'_>| {
                member.barrier();
                assert!(member.index() != culprit, "culprit {culprit}");
                member.barrier();
            };
            let outcome = std::panic::catch_unwind(|| team(3, work, work));
            let panic = outcome.unwrap_err();
            let message = panic.downcast_ref::<String>().expect("the culprit's own message");
            assert!(message.contains(&format!("culprit {culprit}")), "{message}");
        }
    }
}
