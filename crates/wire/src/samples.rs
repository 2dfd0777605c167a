//! What hosts did: cumulative counters, a line per sample.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of [`WatchPlan`] and [`Line`]. 1: first. 2: network counters are the uplink's, and inner
/// devices are apart. 3: disk counters under control groups version 1 are those of processes. 4: soft
/// interrupts by networks. 5: how these are counted.
pub const SAMPLES_VERSION: u32 = 5;

/// `dunnage-engine sample --plan FILE --out DIRECTORY` reads this and writes `samples.jsonl`
/// until it receives SIGTERM (or its parent ends).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WatchPlan {
    /// Always [`SAMPLES_VERSION`].
    pub version: u32,
    /// Name of the host, repeated in the header.
    pub host: String,
    /// Samples per second, at most 20.
    pub rate: f64,
    /// The host's own IPv4 address: the interface that has it is the uplink.
    pub address: String,
    /// Name of a unit → its control group below every hierarchy (version 1) or below the unified
    /// mount (version 2). The empty name is the whole host.
    pub units: BTreeMap<String, String>,
    /// Name of a host → numbers of the network namespaces that are its own, those of its containers
    /// too, as `/proc/PID/ns/net` has them. Soft interrupts of the whole machine are divided between
    /// these names; with none they are not counted.
    pub networks: BTreeMap<String, Vec<u32>>,
}

/// Seconds in soft interrupts so far, over all processors of a machine, by whom they were for.
///
/// This is elapsed time. It holds hard interrupts that came in between, time that a hypervisor took
/// from the machine, and what the counting itself takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SoftInterrupts {
    /// Name in the plan → soft interrupts of the network. Time counts from a packet that arrived in
    /// one of its network namespaces. It counts until a packet arrives in one of another name.
    pub networks: BTreeMap<String, f64>,
    /// The same in all other networks.
    pub elsewhere: f64,
    /// Those of the network in which no packet arrived.
    pub no_packet: f64,
    /// All that are not the network's.
    pub other_kinds: f64,
}

/// One line of `samples.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "line")]
pub enum Line {
    /// The first line.
    Header {
        /// Always [`SAMPLES_VERSION`].
        version: u32,
        /// Name of the host.
        host: String,
        /// Seconds between samples.
        interval: f64,
        /// Control group version found, 1 or 2.
        cgroups: u32,
        /// Counter → why it cannot be read or attributed here, such as `softirq` → "lab hosts
        /// share the machine's counters".
        absent: BTreeMap<String, String>,
        /// How soft interrupts are counted, where they are.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        soft_method: Option<String>,
    },
    /// One reading.
    Sample {
        /// Unix time.
        time: f64,
        /// Unit → counter → value. Counters: `cpu`, `cpu_user`, `cpu_system`, `throttled`
        /// (seconds); `memory_resident`, `memory_cache`, `swap` (bytes, as it stands);
        /// `disk_read`, `disk_written` (bytes: those that its processes had read and gave to be
        /// written under control groups version 1, those that disks moved under version 2); and
        /// for the whole host `received`, `sent` (bytes), `packets_received`, `packets_sent` of
        /// the uplink, and the same with `inner_` before it over all other interfaces but
        /// loopback: bridges and the ends of containers' cables, where a byte is counted at each.
        units: BTreeMap<String, BTreeMap<String, f64>>,
        /// Machine-wide counters, cumulative: `cpu_total`, `cpu_idle`, `softirq`, `iowait`, `steal`
        /// (seconds over all processors), `pressure_cpu`, `pressure_memory`, `pressure_io`
        /// (seconds in which some task waited); `swap_total` (bytes of swap space, as it stands);
        /// and how fast the processors of this host are: `speed_work`, pieces of a fixed piece of
        /// arithmetic that were done, and `speed_cpu`, the CPU seconds that they took.
        machine: BTreeMap<String, f64>,
        /// Where the plan names networks and this process may count.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        soft_interrupts: Option<SoftInterrupts>,
        /// CPU seconds used by the sampler itself so far.
        own_cpu: f64,
    },
    /// The last line, when it was told to end.
    Footer {
        /// Samples taken.
        samples: u64,
        /// Ticks at which no sample was taken because the one before was late.
        missed: u64,
    },
}

/// One line of the file that `dunnage-engine pause` writes, five a second: how a declared slowdown
/// was really carried out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PauseLine {
    /// Unix time.
    pub time: f64,
    /// Seconds so far in which the processes were stopped.
    pub paused: f64,
    /// CPU seconds that stopping them has taken so far.
    pub cpu: f64,
}
