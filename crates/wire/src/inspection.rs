//! What the kernel says of one running process: the material of parity.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `dunnage-engine inspect --pid PID --data PATH [--file PATH]…` prints this.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Inspection {
    /// Path of the executable as the process sees it.
    pub executable: String,
    /// SHA-256 of the executable.
    pub executable_sha256: String,
    /// Every file mapped executable → SHA-256, read through the process's own root; of a Java virtual
    /// machine also every class-data archive in use, its own classes, every jar on its class path
    /// and every file of arguments.
    pub mapped: BTreeMap<String, String>,
    /// Arguments.
    pub argv: Vec<String>,
    /// The environment variables that it was started with.
    pub environment: BTreeMap<String, String>,
    /// Text of every configuration file that was asked for, read through the process's own root.
    pub files: BTreeMap<String, String>,
    /// Effective limits: every row of `/proc/PID/limits` (soft:hard), `cpus_allowed`,
    /// `memory_limit`, `memory_soft_limit`, `cpu_quota`, `pids_limit` as the process's control groups
    /// (and their ancestors, the tightest counts) say, `cpu_period` (seconds) of that quota,
    /// `cpu_weight` (every one that is not the kernel's default, from the inside out), `cpuset_cpus`,
    /// `cpuset_mems`, `transparent_hugepages`, `oom_score_adj`, `nice`, `scheduler`, `capabilities`
    /// (effective set), `seccomp`, `no_new_privileges`, `locked_memory` (`none` or `some`).
    pub limits: BTreeMap<String, String>,
    /// The data directory as the process sees it: `file_system`, `mount_options`, `source`.
    pub data: BTreeMap<String, String>,
    /// Kernel release, `vm.*` and `net.*` settings that matter to databases (overcommit, swappiness,
    /// dirty ratios, somaxconn, tcp keepalive, …), as seen in the process's network namespace.
    pub kernel: BTreeMap<String, String>,
    /// What a Java virtual machine says of itself: flags in force (`flag.MaxHeapSize`), and what its
    /// collector saw when it started (`cpus`, `heap max capacity`). Empty for other programs.
    #[serde(default)]
    pub runtime: BTreeMap<String, String>,
    /// `uid:gid` it runs as.
    pub user: String,
    /// What could not be read → why: `virtual machine` (which does not answer), `environment`, or the
    /// path of a configuration file. It is then equal to nothing, not even to the like of it.
    pub absent: BTreeMap<String, String>,
}
