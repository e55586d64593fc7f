use std::alloc::{GlobalAlloc, Layout, System};

/// From this size on an allocation asks for large pages: NumPy's threshold.
const LARGE: usize = 1 << 22;

/// The system's allocator, asking for large pages where a matrix is large.
///
/// A new matrix is touched page by page, and each first touch of 4 KiB costs about a microsecond: 0.2 s
/// for the Gram matrix of 8192 points. With pages of 2 MiB (Linux's transparent huge pages, where
/// they are given on request) most of that is saved. Elsewhere it is the system's allocator.
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: mercer_linalg::LargePages = mercer_linalg::LargePages;
///
/// assert_eq!(vec![0.0; 1 << 20].iter().sum::<f64>(), 0.0);
/// ```
#[derive(Debug, Default, Clone, Copy)]
pub struct LargePages;

// SAFETY: every call goes to the system's allocator unchanged; the advice that follows concerns how
// its pages are backed, never their contents.
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's contract is the system allocator's.
        advised(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's contract is the system allocator's.
        advised(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's contract is the system allocator's.
        advised(unsafe { System.realloc(pointer, layout, size) }, size)
    }
}

/// What the system can be asked about: whole pages.
#[cfg(any(target_os = "linux", test))]
const PAGE: usize = 4096;

/// How far into an allocation of `size` bytes at this address its first whole page begins, and how many
/// bytes its whole pages have.
#[cfg(any(target_os = "linux", test))]
fn whole_pages(address: usize, size: usize) -> (usize, usize) {
    let head = address.next_multiple_of(PAGE) - address;
    (head, size.saturating_sub(head) / PAGE * PAGE)
}

#[cfg(target_os = "linux")]
fn advised(pointer: *mut u8, size: usize) -> *mut u8 {
    if size >= LARGE && !pointer.is_null() {
        let (head, bytes) = whole_pages(pointer.addr(), size);
        // SAFETY: whole pages inside an allocation of `size` bytes. A refusal changes nothing, so the
        // answer is of no interest.
        unsafe {
            libc::madvise(pointer.wrapping_add(head).cast(), bytes, libc::MADV_HUGEPAGE);
        }
    }
    pointer
}

#[cfg(not(target_os = "linux"))]
fn advised(pointer: *mut u8, _: usize) -> *mut u8 {
    let _ = LARGE;
    pointer
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The flags of the mapping that holds an address, as the kernel tells them.
    fn flags(address: usize) -> Option<String> {
        let text = std::fs::read_to_string("/proc/self/smaps").ok()?;
        let mut inside = false;
        for line in text.lines() {
            let range = line.split_whitespace().next()?.split_once('-');
            let ends = range.and_then(|(start, end)| {
                let of = |text| usize::from_str_radix(text, 16).ok();
                Some((of(start)?, of(end)?))
            });
            if let Some((start, end)) = ends {
                inside = (start..end).contains(&address);
            }
            if let Some(flags) = line.strip_prefix("VmFlags:").filter(|_| inside) {
                return Some(flags.to_owned());
            }
        }
        None
    }

    #[test]
    fn pages_that_an_allocation_shares_with_another_are_not_advised() {
        for (address, size, expected) in [
            (3 * PAGE, 2 * PAGE, (0, 2 * PAGE)),
            (3 * PAGE, 2 * PAGE + 1, (0, 2 * PAGE)),
            (3 * PAGE - 16, 2 * PAGE, (16, PAGE)),
            (3 * PAGE + 16, 2 * PAGE - 17, (PAGE - 16, 0)),
            (16, 32, (PAGE - 16, 0)),
        ] {
            assert_eq!(whole_pages(address, size), expected, "{address} {size}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn large_allocations_are_zero_keep_their_contents_and_are_advised() {
        let small = Layout::from_size_align(LARGE, 64).unwrap();
        // SAFETY: layouts of more than no bytes, each pointer freed once with its last layout.
        unsafe {
            let pointer = LargePages.alloc_zeroed(small);
            assert!((0..LARGE).all(|at| *pointer.add(at) == 0));
            pointer.add(LARGE - 1).write(7);
            // A kernel without the option has no such flag to show.
            if std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
                let flags = flags(pointer as usize + LARGE / 2).unwrap();
                assert!(flags.split_whitespace().any(|flag| flag == "hg"), "{flags}");
            }
            let grown = LargePages.realloc(pointer, small, 3 * LARGE);
            assert_eq!((*grown.add(LARGE - 1), *grown.add(5)), (7, 0));
            LargePages.dealloc(grown, Layout::from_size_align(3 * LARGE, 64).unwrap());
        }
    }
}
