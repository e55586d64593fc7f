//! Notes on a file stand after the error that they may explain.

use std::io::{self, Write};
use std::sync::Mutex;

/// What is held back, while something is.
static HELD: Mutex<Option<Vec<u8>>> = Mutex::new(None);

/// Standard error, or what is held back of it.
#[derive(Debug)]
pub(crate) struct Notes;

impl Notes {
    /// Holds back what is said from now on.
    pub fn hold() {
        if let Ok(mut held) = HELD.lock() {
            held.get_or_insert_default();
        }
    }

    /// Says what was held back, and holds nothing from now on.
    pub fn release() {
        let held = HELD.lock().ok().and_then(|mut held| held.take());
        if let Some(held) = held {
            let _ = io::stderr().write_all(&held);
        }
    }
}

impl Write for Notes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match HELD.lock().as_deref_mut() {
            Ok(Some(held)) => held.write(bytes),
            _ => io::stderr().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
