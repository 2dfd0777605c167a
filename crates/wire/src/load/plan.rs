//! The plan of a load.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::level::{Level, Policy};
use super::target::Target;
use super::workload::Workload;

/// `dunnage-engine load --plan FILE --out DIRECTORY` reads this.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadPlan {
    /// Always [`LOAD_VERSION`](super::LOAD_VERSION).
    pub version: u32,
    /// Which phase of the workload to make.
    pub phase: Phase,
    /// What the operations are.
    pub workload: Workload,
    /// What they go to.
    pub target: Target,
    /// How hard.
    pub level: Level,
    /// What becomes of an operation of an open load that finds every connection busy.
    pub policy: Policy,
    /// Which share of the load this engine makes.
    pub part: Part,
    /// Unix time at which the load begins, warm-up included, so that several engines begin as one;
    /// null: as soon as all is connected. One that has passed by then is an error.
    pub start: Option<f64>,
    /// Time before the measured window; its operations are counted apart.
    pub warmup: f64,
    /// Length of the measured window. With neither this nor `operations`, a load phase ends when
    /// all records of the part are in, and a run phase is refused. With both, whichever is reached
    /// first ends the window.
    pub duration: Option<f64>,
    /// Whether TERM ends the measured window, at the latest after `duration`; else it ends the load
    /// without a result. A second signal always does.
    #[serde(default)]
    pub until_told: bool,
    /// Number of operations (of all parts together) after which to end.
    pub operations: Option<u64>,
    /// Length of one interval of the histogram log and of the time line.
    pub interval: f64,
    /// Whether latencies are recorded. The log is empty where they are not.
    #[serde(default = "yes")]
    pub latencies: bool,
    /// An operation without answer for so long is an error of kind `timeout`.
    pub timeout: f64,
    /// Seed of all random choices. The same seed gives each virtual client of a closed loop, and
    /// each slot of an open load, the same operations: their types, fields, lengths and values. Which
    /// records they ask for is the same, too, where nothing is inserted and requests are not
    /// `sequential`; else it follows the order in which operations start and inserts are answered.
    pub seed: u64,
}

fn yes() -> bool {
    true
}

/// Phase of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Insert all records.
    Load,
    /// Perform the workload's mix.
    Run,
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
