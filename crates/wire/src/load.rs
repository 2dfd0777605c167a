//! What load to make, and what came of it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of [`LoadPlan`] and [`LoadResult`]. 1: first.
pub const LOAD_VERSION: u32 = 1;

/// `dunnage-engine load --plan FILE --out DIRECTORY` reads this.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadPlan {
    /// Always [`LOAD_VERSION`].
    pub version: u32,
    /// Which phase of the workload to make.
    pub phase: Phase,
    /// What the operations are.
    pub workload: Workload,
    /// What they go to.
    pub target: Target,
    /// How hard.
    pub level: Level,
    /// Which share of the load this engine makes.
    pub part: Part,
    /// Time before the measured window; its operations are counted apart.
    pub warmup: f64,
    /// Length of the measured window. With neither this nor `operations`, a load phase ends when
    /// all records of the part are in, and a run phase is refused.
    pub duration: Option<f64>,
    /// Whether TERM ends the measured window, at the latest after `duration`; else it ends the load
    /// without a result.
    #[serde(default)]
    pub until_told: bool,
    /// Number of operations (of all parts together) after which to end instead.
    pub operations: Option<u64>,
    /// Length of one interval of the histogram log and of the time line.
    pub interval: f64,
    /// Whether latencies are recorded. The log is empty where they are not.
    #[serde(default = "yes")]
    pub latencies: bool,
    /// An operation without answer for so long is an error of kind `timeout`.
    pub timeout: f64,
    /// Seed of all random choices; the same seed gives the same sequence of operations.
    pub seed: u64,
}

fn yes() -> bool {
    true
}

/// Phase of a YCSB workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Insert all records.
    Load,
    /// Perform the workload's mix.
    Run,
}

/// A YCSB core workload. The defaults of YCSB stand in the workload files of the orchestration;
/// here everything is explicit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// `recordcount`.
    pub records: u64,
    /// Shares of the operations; they add up to one.
    pub mix: Mix,
    /// Which keys are asked for.
    pub request_distribution: Distribution,
    /// `fieldcount`, 10 in the core workloads.
    pub fields: u32,
    /// `fieldlength` in bytes, 100 in the core workloads.
    pub field_length: u32,
    /// `readallfields`.
    pub read_all_fields: bool,
    /// `writeallfields`.
    pub write_all_fields: bool,
    /// `maxscanlength`; lengths are uniform from one to this.
    pub max_scan_length: u32,
    /// `insertorder=hashed` when true (the default of YCSB), else `ordered`.
    pub hashed_keys: bool,
    /// `zeropadding`, 1 in the core workloads.
    pub zero_padding: u32,
}

/// Shares of operation types.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mix {
    /// `readproportion`.
    pub read: f64,
    /// `updateproportion`.
    pub update: f64,
    /// `insertproportion`.
    pub insert: f64,
    /// `scanproportion`.
    pub scan: f64,
    /// `readmodifywriteproportion`.
    pub read_modify_write: f64,
}

/// YCSB's `requestdistribution`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// All keys alike.
    Uniform,
    /// Scrambled Zipfian with YCSB's constant 0.99.
    Zipfian,
    /// Skewed to the latest inserted.
    Latest,
}

/// What the operations go to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// `cassandra`, `redis`, or `fake` for a server inside the engine that answers by itself.
    pub driver: String,
    /// How the members belong together; for `cassandra`: `ring`; for `redis`: `single`, `replicas`
    /// or `cluster`.
    pub topology: String,
    /// `host:port` of each member as clients are told, the first being the one to begin with.
    pub addresses: Vec<String>,
    /// Driver options. For `cassandra`: `keyspace` (default `ycsb`), `table` (`usertable`),
    /// `read_consistency`, `write_consistency` (`QUORUM`; `ONE`, `LOCAL_QUORUM`, …), `connections`
    /// (to each member, 1). For `redis`: `wait` (replicas that acknowledge each write).
    pub options: BTreeMap<String, serde_json::Value>,
}

/// One load setting.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum Level {
    /// Closed loop: each of `threads` logical threads waits for its answer. Over all parts.
    Threads {
        /// Operations in flight.
        threads: u32,
    },
    /// Open load: intended starts do not wait for answers. Over all parts.
    Rate {
        /// Operations per second.
        rate: f64,
        /// Most operations in flight.
        connections: u32,
        /// Spacing of intended starts.
        arrivals: Arrivals,
    },
}

/// Spacing of intended starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// Equal gaps.
    Constant,
    /// Exponential gaps, from the plan's seed.
    Poisson,
}

/// Part `index` (from 0) of `of`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// From 0.
    pub index: u32,
    /// Number of parts.
    pub of: u32,
}

/// `result.json`, written last. The histograms are beside it in `latency.hlog` (`HdrHistogram` log,
/// nanoseconds), one line per interval, operation and kind, tagged `read.service`,
/// `read.response`, `update.service`, …; warm-up intervals have the tag prefix `warmup.`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadResult {
    /// Always [`LOAD_VERSION`].
    pub version: u32,
    /// Which part this is.
    pub part: Part,
    /// Unix time at which the measured window began.
    pub began: f64,
    /// Length of the measured window.
    pub seconds: f64,
    /// Per operation type (`read`, `update`, `insert`, `scan`, `read-modify-write`): answered in
    /// the measured window without error.
    pub operations: BTreeMap<String, u64>,
    /// Per operation type: errors by kind (`timeout`, `connection`, `server`, `not_found`,
    /// `protocol`, `unavailable`) in the measured window. `timeout`: no answer in time, from the
    /// server or, as the server says, from the members it asked. `unavailable`: fewer members are
    /// alive than the consistency asks for. `server`: any other error that the server tells.
    pub errors: BTreeMap<String, BTreeMap<String, u64>>,
    /// Up to five messages of errors, as the server gave them.
    pub messages: Vec<String>,
    /// The time line, warm-up first (negative starts).
    pub windows: Vec<Window>,
    /// Every `address:port` connected to, sorted, as the kernel tells them.
    pub remotes: Vec<String>,
    /// Connections open when the load began, those to find members and map included.
    pub connections: u64,
    /// User CPU seconds of this process in the measured window.
    pub cpu_user: f64,
    /// System CPU seconds likewise.
    pub cpu_system: f64,
    /// CPU seconds of the busiest thread in the measured window.
    pub cpu_busiest_thread: f64,
    /// Operations intended inside the window; None in a closed loop.
    pub intended: Option<u64>,
    /// Of those, not answered when the window ended.
    pub backlog: u64,
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

/// One line on standard output, about once a second, while load is made.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// Seconds since the start, warm-up included.
    pub elapsed: f64,
    /// Operations answered so far, warm-up included.
    pub operations: u64,
}
