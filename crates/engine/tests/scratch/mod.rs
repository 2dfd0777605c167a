//! A place for what a test writes.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory that vanishes with its owner.
pub struct Scratch(pub PathBuf);

impl Scratch {
    /// An empty one.
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("dunnage-engine-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
