//! A negative control: what no deployment can change.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `dunnage-engine control` prints one as a line; `turns` writes one after each turn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Control {
    /// Fixed pieces of arithmetic in a second.
    pub arithmetic: f64,
    /// Messages of 1 kB that went over loopback and back, in a second.
    pub loopback: f64,
}
