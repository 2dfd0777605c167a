//! Turns: processes that run one after the other, over and over.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::control::Control;

/// Version of [`TurnsPlan`] and [`Turn`]. 1: first. 2: without a time at which they begin.
/// 3: a rest. 4: a control after each turn.
pub const TURNS_VERSION: u32 = 4;

/// `dunnage-engine turns --plan FILE --out FILE` reads this and writes a [`Turn`] for each turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnsPlan {
    /// Always [`TURNS_VERSION`].
    pub version: u32,
    /// Name of who takes turns → processes, which run in its turns and stand still in others'.
    pub pids: BTreeMap<String, Vec<i32>>,
    /// The same of control groups, below every hierarchy (version 1) or below the unified mount.
    pub groups: BTreeMap<String, Vec<String>>,
    /// Whose turn it is, one after the other.
    pub order: Vec<String>,
    /// Length of a turn.
    pub seconds: f64,
    /// Seconds before the first turn, and after the last, in which nobody runs: counters that are
    /// read now and then tell what was used in turns only where they stand still around them.
    pub rest: f64,
    /// Seconds for each part of the control after a turn, while nobody runs.
    pub control: f64,
}

/// One turn as it really was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// Whose it was.
    pub name: String,
    /// Unix time at which its processes were let go on.
    pub began: f64,
    /// Unix time at which they were told to stand still.
    pub ended: f64,
    /// What no deployment can change, measured after the turn; null where it was cut short.
    pub control: Option<Control>,
}
