//! What came of a load.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::plan::Part;

/// `result.json`, written last. The histograms are beside it in `latency.hlog` (`HdrHistogram` log,
/// nanoseconds), one line per interval, operation and kind, tagged `read.service`,
/// `read.response`, `update.service`, …; those of the warm-up have the tag prefix `warmup.`.
/// `service`: from start to answer, `response`: from intended start to answer, `slip`: from intended
/// start to start, `failed`: from intended start (start in a closed loop) until it went wrong,
/// `dropped`: from the intended start of one that was left out until a connection was free,
/// `unfinished`: from the start of one of a closed loop to its answer, which came after the window.
/// Each operation that was intended is in one of `response`, `failed` and `dropped`; each of a closed
/// loop that was not over before the window is in one of `service`, `failed` and `unfinished`. Where
/// the disk is slow an interval is longer than the plan says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadResult {
    /// Always [`LOAD_VERSION`](super::LOAD_VERSION).
    pub version: u32,
    /// Which part this is.
    pub part: Part,
    /// Unix time at which the measured window began.
    pub began: f64,
    /// Length of the measured window.
    pub seconds: f64,
    /// Per operation type (`read`, `update`, `insert`, `scan`, `read-modify-write` of YCSB; `read`,
    /// `write`, `counter_read`, `counter_write` of cassandra-stress): answered in the measured
    /// window without error.
    pub operations: BTreeMap<String, u64>,
    /// Per operation type: errors by kind (`timeout`, `connection`, `server`, `not_found`,
    /// `protocol`, `unavailable`, `mismatch`) in the measured window; those that began in it and went
    /// wrong after it, too. `timeout`: no answer in time,
    /// from the server or, as the server says, from the members it asked. `unavailable`: fewer
    /// members are alive than the consistency asks for. `mismatch`: a record is not what was
    /// written. `server`: any other error that the server tells.
    pub errors: BTreeMap<String, BTreeMap<String, u64>>,
    /// Per operation type: those of the measured window that started more than a millisecond after
    /// their intended start, because every connection was busy or the engine was.
    pub late: BTreeMap<String, u64>,
    /// Per operation type: those of the measured window that were never started, because every
    /// connection was busy until all was given up. In `errors` they are of the kind `timeout`.
    pub unsent: BTreeMap<String, u64>,
    /// Per operation type: those of the measured window that were left out, by the policy `drop`.
    pub dropped: BTreeMap<String, u64>,
    /// Per operation type: those of a closed loop that were under way when the measured window ended,
    /// and were answered after it. Not known of engines that did not tell.
    #[serde(default)]
    pub unfinished: BTreeMap<String, u64>,
    /// Records of the measured window that were compared with what was written and are the same;
    /// null where the workload compares none.
    pub verified: Option<u64>,
    /// Up to five messages of errors, as the server gave them.
    pub messages: Vec<String>,
    /// The time line, warm-up first (negative starts). Windows are as long as the plan's interval;
    /// twice as long, or four times, …, in a load of more than 65 536 of them.
    pub windows: Vec<Window>,
    /// Every `address:port` connected to, sorted, as the kernel tells them.
    pub remotes: Vec<String>,
    /// How the driver keeps a record: `row` of a table (Cassandra), `hash` with an index beside it
    /// or plain `string` (Redis), `document` of a collection (MongoDB), `none` (fake).
    pub shape: String,
    /// How many members must answer, by `read` and `write`, in the words of the database; empty
    /// where it has none. For Redis: `primary` or `replica`, and `primary` or `WAIT` with the
    /// number of replicas. For MongoDB: `readPreference=primary` and `w=1`, as it writes them.
    pub consistency: BTreeMap<String, String>,
    /// How connections were encrypted, as it was negotiated, each way once: protocol, cipher suite,
    /// and whether the server's certificate was checked. Empty where they were not.
    #[serde(default)]
    pub encryption: Vec<String>,
    /// Connections open when the load began, those to find members and map included.
    pub connections: u64,
    /// User CPU seconds of this process in the measured window.
    pub cpu_user: f64,
    /// System CPU seconds likewise.
    pub cpu_system: f64,
    /// CPU seconds of the busiest thread in the measured window.
    pub cpu_busiest_thread: f64,
    /// Seconds of the measured window for which the thread that makes load was at its limit: looked
    /// at every 10 ms, it had worked for more than 95 % of the time since the last look, or was more
    /// than a millisecond late for this one.
    pub limited: f64,
    /// Whether the engine, and not the database, may have limited the load: its busiest thread
    /// worked for more than 95 % of the measured window, or, in an open load, `limited` is more than
    /// 5 % of it.
    pub saturated: bool,
    /// Operations intended inside the window; None in a closed loop.
    pub intended: Option<u64>,
    /// Of those, neither answered nor dropped when the window ended.
    pub backlog: u64,
    /// Unix time at which this engine began, warm-up included: by what waking took after the plan's
    /// `start`, if it has one. Null in results of engines that did not tell.
    #[serde(default)]
    pub started: Option<f64>,
    /// Seconds from the start of this process, which the kernel tells to 10 ms, to the start of its
    /// first operation; null if there was none.
    #[serde(default)]
    pub first_operation: Option<f64>,
    /// Whether a signal ended the measured window.
    #[serde(default)]
    pub ended_early: bool,
    /// Seconds from the beginning of the measured window to the last answer, or 0 if it was before,
    /// where the database did not answer any more: nothing that was asked a second or more after it
    /// was answered, nor, for a second or more, as many operations as could be in flight. An error
    /// that the server tells is an answer. Null where it answered until the end.
    #[serde(default)]
    pub silent_from: Option<f64>,
}

/// One interval of the time line.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Start relative to the measured window.
    pub start: f64,
    /// Length.
    pub length: f64,
    /// Operations answered without error.
    pub operations: u64,
    /// Errors.
    pub errors: u64,
}

impl Window {
    /// Operations that were over, answered or failed.
    #[must_use]
    pub fn over(&self) -> u64 {
        self.operations + self.errors
    }
}

/// One line on standard output, about once a second, while load is made.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// Seconds since the start, warm-up included.
    pub elapsed: f64,
    /// Operations answered so far, warm-up included.
    pub operations: u64,
}
