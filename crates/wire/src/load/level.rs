//! How hard a load is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// Open load at `rate` for the first `length` of the measured window, then at `rest`, which is
    /// also the rate of the warm-up: how a backlog grows and is worked off.
    Burst {
        /// Operations per second of the burst.
        rate: f64,
        /// Seconds that it lasts.
        length: f64,
        /// Operations per second before and after it; may be 0.
        rest: f64,
        /// Most operations in flight.
        connections: u32,
        /// Spacing of intended starts.
        arrivals: Arrivals,
    },
    /// Open load whose rate changes evenly over the measured window; the warm-up is at `from`.
    Ramp {
        /// Operations per second at the beginning.
        from: f64,
        /// Operations per second at the end.
        to: f64,
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

/// What becomes of an operation of an open load that finds every connection busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// It waits for one, which is part of its response time. No operation is left out.
    Queue,
    /// It is left out, and counted as dropped.
    Drop,
}
