//! Every driver against servers that do what no server should: what becomes of operations is known,
//! and each of them is counted once.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use self::scripted::{Protocol, every};

mod away;
mod harm;
#[allow(dead_code)] // What the tests of scale need.
#[path = "../scripted/mod.rs"]
mod scripted;
mod slow;
mod stalls;

/// Check something of every driver, side by side.
fn each(check: impl Fn(&Arc<dyn Protocol>) + Sync) {
    let check = &check;
    std::thread::scope(|scope| {
        let threads: Vec<_> = every()
            .into_iter()
            .map(|protocol| (protocol.driver(), scope.spawn(move || check(&protocol))))
            .collect();
        for (driver, thread) in threads {
            assert!(thread.join().is_ok(), "the driver `{driver}`");
        }
    });
}

fn milliseconds(number: u64) -> Duration {
    Duration::from_millis(number)
}

/// An open load with so many connections.
fn open(rate: f64, connections: u64) -> Value {
    json!({"kind": "rate", "rate": rate, "connections": connections, "arrivals": "constant"})
}
