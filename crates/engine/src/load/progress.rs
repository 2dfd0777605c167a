//! Telling how a load goes while it is made.

use std::io::{self, Write};

use wire::load::Progress;

use super::log::Interval;

/// Learns of each interval of a load, on the thread that writes the log.
pub trait Listener: Send {
    /// An interval is over. They come in the order of time, and none is left out.
    fn hear(&mut self, interval: &Interval);
}

/// For programs: a line of JSON on standard output, about once a second.
#[derive(Default)]
pub struct Lines {
    /// Nanoseconds since the load began.
    told: u64,
}

impl Listener for Lines {
    fn hear(&mut self, interval: &Interval) {
        let elapsed = interval.end();
        if elapsed < self.told + 1_000_000_000 {
            return;
        }
        self.told = elapsed;
        let progress = Progress {
            elapsed: elapsed as f64 / 1e9,
            operations: interval.operations,
        };
        if let Ok(line) = serde_json::to_string(&progress) {
            // A reader that has gone away is no reason to stop.
            let _ = writeln!(io::stdout(), "{line}");
        }
    }
}
