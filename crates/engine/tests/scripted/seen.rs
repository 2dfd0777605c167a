//! What a server has seen so far.

use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers of connections and of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// Connections that it let in.
    pub connections: u64,
    /// Operations that it was asked for.
    pub asked: u64,
    /// Operations that it answered well.
    pub well: u64,
    /// Operations that came to harm.
    pub harmed: u64,
    /// Inserts of a record that was inserted before.
    pub repeated: u64,
    /// The most operations that waited for their answer at a time.
    pub most: u64,
}

/// Counts it, on the server's thread.
#[derive(Default)]
pub struct Counts {
    /// See [`Seen`].
    pub connections: AtomicU64,
    /// See [`Seen`].
    pub asked: AtomicU64,
    /// See [`Seen`].
    pub well: AtomicU64,
    /// See [`Seen`].
    pub harmed: AtomicU64,
    /// See [`Seen`].
    pub repeated: AtomicU64,
    /// See [`Seen`].
    pub most: AtomicU64,
}

impl Counts {
    /// The numbers as they are now.
    pub fn seen(&self) -> Seen {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Seen {
            connections: read(&self.connections),
            asked: read(&self.asked),
            well: read(&self.well),
            harmed: read(&self.harmed),
            repeated: read(&self.repeated),
            most: read(&self.most),
        }
    }
}
