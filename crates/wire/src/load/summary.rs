//! What came of a load, as whoever typed it is told.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::level::Level;
use super::plan::{Part, Phase};

/// Version of [`Summary`]. 1: first.
pub const SUMMARY_VERSION: u32 = 1;

/// `summary.json` of `dunnage-engine drive`, and what it prints with `--format json`. Of a search it
/// is the load that is the answer, or the last one tried if there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Always [`SUMMARY_VERSION`].
    pub version: u32,
    /// The driver, such as `redis`.
    pub driver: String,
    /// Which phase of the workload was made.
    pub phase: Phase,
    /// How hard the load was.
    pub level: Level,
    /// Which part of the load this engine made.
    pub part: Part,
    /// Seed of all random choices.
    pub seed: u64,
    /// Unix time at which the measured window began.
    pub began: f64,
    /// Length of the measured window.
    pub seconds: f64,
    /// Whether a signal ended it.
    pub ended_early: bool,
    /// Unix time at which this engine began, warm-up included.
    pub started: Option<f64>,
    /// Seconds from the start of the process to the start of its first operation, to 10 ms; null
    /// where it waited for a start that was told, and in a search.
    pub first_operation: Option<f64>,
    /// Operations answered without error in the measured window, per second.
    pub throughput: f64,
    /// Operations intended inside the window, per second; null in a closed loop.
    pub offered: Option<f64>,
    /// Operations intended inside the window, neither answered nor dropped when it ended.
    pub backlog: u64,
    /// Operations over inside the window, those that the warm-up left over too, as a share of those
    /// intended inside it; null in a closed loop.
    #[serde(default)]
    pub achieved: Option<f64>,
    /// Seconds that the backlog grew by in each second, over the second half of the window; null
    /// where the rate was not the same all the time, and where operations are left out.
    #[serde(default)]
    pub slope: Option<f64>,
    /// Whether a rate was more than could be answered, by the database or by so many operations at
    /// once, so that response times depend on the length of the load. False where the engine may have
    /// limited it, and where operations are left out.
    #[serde(default)]
    pub over_capacity: bool,
    /// Seconds from the end of a burst until nothing waited any more, up to the end of an interval of
    /// the time line, so at most so many; null where that never was, where operations were left out, and where there was no burst.
    #[serde(default)]
    pub recovered_after: Option<f64>,
    /// Seconds from the beginning of the window to the last answer, where the database did not answer
    /// any more; see the result. Null where it answered until the end.
    #[serde(default)]
    pub silent_from: Option<f64>,
    /// By operation type, and `all`.
    pub operations: BTreeMap<String, OperationSummary>,
    /// Up to five messages of errors, as the server gave them.
    pub messages: Vec<String>,
    /// Connections open when the load began.
    pub connections: u64,
    /// User and system CPU seconds of the engine in the window.
    pub cpu: f64,
    /// CPU time of its busiest thread, as a share of the window.
    pub busy: f64,
    /// Share of the window for which the engine was at its limit.
    pub limited: f64,
    /// Whether the engine, and not the database, may have limited the load.
    pub saturated: bool,
    /// What was tried, in a search for a rate; else null.
    pub search: Option<SearchSummary>,
    /// What was tried, in a search for the highest throughput; else null.
    #[serde(default)]
    pub saturation: Option<SaturationSummary>,
}

/// Operations of one type in the measured window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OperationSummary {
    /// Answered without error.
    pub count: u64,
    /// Errors by kind, as in `result.json`.
    pub errors: BTreeMap<String, u64>,
    /// Those that started more than a millisecond after their intended start.
    pub late: u64,
    /// Those that were never started.
    pub unsent: u64,
    /// Those that were left out.
    pub dropped: u64,
    /// Those of a closed loop that were answered after the window had ended.
    #[serde(default)]
    pub unfinished: u64,
    /// From start to answer; null if nothing was answered.
    pub service: Option<LatencySummary>,
    /// From intended start to answer; null in a closed loop, too.
    pub response: Option<LatencySummary>,
    /// From intended start (start in a closed loop) until it went wrong; null if nothing did.
    pub failed: Option<LatencySummary>,
}

/// Times in seconds, of a histogram of three significant digits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LatencySummary {
    /// How many.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    /// The shortest.
    pub minimum: f64,
    /// The longest.
    pub maximum: f64,
    /// `p50`, `p90`, `p95`, `p99`, `p99.9` and `p99.99`.
    pub quantiles: BTreeMap<String, f64>,
}

/// A search for the highest rate that meets an objective.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchSummary {
    /// Upper limits of latencies in seconds, such as of `response.p99`. A rate must also be kept up
    /// with, and without errors.
    pub objective: BTreeMap<String, f64>,
    /// Highest rate that was sustained, in operations per second; null if none was.
    pub rate: Option<f64>,
    /// How it ended: `found`, `engine` (a rate was found, and the engine itself may have been what
    /// refused those above it), `connections` (a rate was found; above it all connections were in use
    /// although answers took no longer, so more connections may carry more), `used up` (no more probes), `never sustained` (not even one operation
    /// per second), `failed` (the next load could not be made) or `told to end`.
    pub ended: String,
    /// All loads that were tried, in order.
    pub probes: Vec<ProbeSummary>,
}

/// One load of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProbeSummary {
    /// Operations per second that were asked for.
    pub rate: f64,
    /// Operations over when the window ended, as a share of those intended.
    pub achieved: f64,
    /// Seconds that the backlog grew by in each second, over the second half of the window.
    pub slope: f64,
    /// Response time that 99 % did not exceed, in seconds; null if nothing was answered.
    pub p99: Option<f64>,
    /// Mean service time, in seconds; null if nothing was answered.
    #[serde(default)]
    pub service: Option<f64>,
    /// Share of the connections that were in use, by Little's law: operations over in each second ×
    /// mean service time / connections.
    #[serde(default)]
    pub in_use: Option<f64>,
    /// Whether the engine may have been the limit.
    pub saturated: bool,
    /// Why the rate was not sustained, each reason in words; empty if it was.
    pub refusals: Vec<String>,
}

/// A search for the highest throughput of a closed loop, by doubling its threads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SaturationSummary {
    /// The fewest threads, among those tried, whose throughput is the highest but for the precision
    /// (`--search-precision`); null if no load was without errors.
    pub threads: Option<u32>,
    /// Their throughput, in operations per second.
    pub throughput: Option<f64>,
    /// The highest throughput, in operations per second.
    pub highest: Option<f64>,
    /// How it ended: `found` (two loads in a row brought no more), `engine` (so it is, and the engine
    /// itself may have been the limit), `errors` (with more threads there were errors), `used up` (no
    /// more probes), `failed` (the next load could not be made), `never without errors` or `told to
    /// end`.
    pub ended: String,
    /// All loads that were tried, in order.
    pub probes: Vec<ThreadsProbeSummary>,
}

/// One load of a search for the highest throughput.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThreadsProbeSummary {
    /// Threads of the closed loop.
    pub threads: u32,
    /// Operations answered without error, per second.
    pub throughput: f64,
    /// Service time that 99 % did not exceed, in seconds; null if nothing was answered.
    pub p99: Option<f64>,
    /// Operations that went wrong. With any, the load does not count.
    pub errors: u64,
    /// Whether the engine may have been the limit.
    pub saturated: bool,
}
