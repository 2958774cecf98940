//! An allocator that counts, so that a test can tell what a reader took at most.
//!
//! The bound on memory is part of what is tested: a file of some kilobytes must not make the program take gigabytes. What goes
//! far beyond it is not granted. The thread that asks for it is put to sleep for good, which leaves the rest of the process whole
//! and able to say which file it was.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// Bytes in use beyond those at the last [`start`] from which a thread is put to sleep.
const MOST: usize = 2 << 30;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static BASE: AtomicUsize = AtomicUsize::new(0);
static EXHAUSTED: AtomicBool = AtomicBool::new(false);

thread_local! {
    static IS_WATCHER: Cell<bool> = const { Cell::new(false) };
}

/// Counts what all threads allocate.
pub(crate) struct Counting;

/// Says that this thread waits for the others and is never put to sleep.
pub(crate) fn watch() {
    IS_WATCHER.with(|is_watcher| is_watcher.set(true));
}

/// Begins a measurement.
pub(crate) fn start() {
    let live = LIVE.load(Relaxed);
    BASE.store(live, Relaxed);
    PEAK.store(live, Relaxed);
    EXHAUSTED.store(false, Relaxed);
}

/// The most bytes that were in use since [`start`], beyond those in use then.
pub(crate) fn peak() -> usize {
    PEAK.load(Relaxed).saturating_sub(BASE.load(Relaxed))
}

/// True when a thread was put to sleep since [`start`].
pub(crate) fn is_exhausted() -> bool {
    EXHAUSTED.load(Relaxed)
}

fn take(bytes: usize) {
    let live = LIVE.fetch_add(bytes, Relaxed) + bytes;
    if live > PEAK.load(Relaxed) {
        PEAK.fetch_max(live, Relaxed);
        if live.saturating_sub(BASE.load(Relaxed)) > MOST && !IS_WATCHER.with(Cell::get) {
            EXHAUSTED.store(true, Relaxed);
            LIVE.fetch_sub(bytes, Relaxed);
            loop {
                std::thread::sleep(std::time::Duration::from_secs(3600));
            }
        }
    }
}

// SAFETY: every call goes to the system's allocator with the arguments that came in; only counters are added.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        match size.checked_sub(layout.size()) {
            Some(more) => take(more),
            None => drop(LIVE.fetch_sub(layout.size() - size, Relaxed)),
        }
        // SAFETY: as above.
        unsafe { System.realloc(memory, layout, size) }
    }
}
