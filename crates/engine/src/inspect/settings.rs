//! Kernel settings that matter to a database, as they hold for one process.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use nix::sched::{CloneFlags, setns};

use super::process::Status;

/// Names below `/proc/sys`, with `.` for `/`. A namespace does not have all of them.
const NAMES: &[&str] = &[
    "fs.file-max",
    "kernel.numa_balancing",
    "kernel.sched_autogroup_enabled",
    "net.core.default_qdisc",
    "net.core.netdev_max_backlog",
    "net.core.rmem_default",
    "net.core.rmem_max",
    "net.core.somaxconn",
    "net.core.wmem_default",
    "net.core.wmem_max",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_sack",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_window_scaling",
    "net.ipv4.tcp_wmem",
    "vm.dirty_background_ratio",
    "vm.dirty_expire_centisecs",
    "vm.dirty_ratio",
    "vm.dirty_writeback_centisecs",
    "vm.max_map_count",
    "vm.overcommit_memory",
    "vm.overcommit_ratio",
    "vm.swappiness",
    "vm.vfs_cache_pressure",
    "vm.zone_reclaim_mode",
];

/// `release` and every setting that exists, as seen in the process's network namespace.
///
/// This process moves into that namespace and stays there.
pub fn kernel(process: &Path) -> io::Result<BTreeMap<String, String>> {
    let namespace = process.join("ns/net");
    if fs::read_link(&namespace)? != fs::read_link("/proc/self/ns/net")? {
        setns(fs::File::open(namespace)?, CloneFlags::CLONE_NEWNET)?;
    }
    let mut found: BTreeMap<String, String> = NAMES
        .iter()
        .filter_map(|name| {
            let path = Path::new("/proc/sys").join(name.replace('.', "/"));
            let text = fs::read_to_string(path).ok()?;
            let value = text.split_whitespace().collect::<Vec<_>>().join(" ");
            Some(((*name).to_owned(), value))
        })
        .collect();
    let release = fs::read_to_string("/proc/sys/kernel/osrelease")?;
    found.insert("release".to_owned(), release.trim().to_owned());
    Ok(found)
}

/// The machine's mode, and whether the process has switched them off for itself.
pub fn huge_pages(status: &Status) -> io::Result<String> {
    let mode = match fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled") {
        Ok(text) => chosen(&text).to_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => "not there".to_owned(),
        Err(error) => return Err(error),
    };
    let off = status.get("THP_enabled") == "0";
    Ok(if off {
        format!("{mode}, switched off by the process")
    } else {
        mode
    })
}

/// The word in brackets: `always [madvise] never`.
fn chosen(text: &str) -> &str {
    let inside = text
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    inside.map_or(text.trim(), |(word, _)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_in_brackets_is_in_force() {
        assert_eq!(chosen("always [madvise] never\n"), "madvise");
        assert_eq!(chosen("always\n"), "always");
    }
}
