//! Limits of a process's control groups: of a group and those above it, the tightest counts.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::cgroups::{Hierarchies, memberships};

/// What version 1 tells for "no limit of memory": the largest number of whole pages.
const NO_LIMIT: f64 = (1_u64 << 60) as f64;

/// `memory_limit` (bytes), `cpu_quota` (processors) and `pids_limit`, or `unlimited`.
pub fn limits(hierarchies: &Hierarchies, membership: &str) -> BTreeMap<String, String> {
    let groups = memberships(membership);
    let tightest = |controller: &str, read: fn(&Path, u32) -> Option<f64>| -> String {
        let group = groups
            .get(controller)
            .or_else(|| groups.get(""))
            .map_or("/", String::as_str);
        above(group)
            .filter_map(|each| {
                read(
                    &hierarchies.directory(controller, each)?,
                    hierarchies.version,
                )
            })
            .reduce(f64::min)
            .map_or_else(|| "unlimited".to_owned(), |limit| limit.to_string())
    };
    BTreeMap::from([
        ("memory_limit".to_owned(), tightest("memory", memory)),
        ("cpu_quota".to_owned(), tightest("cpu", cpu)),
        ("pids_limit".to_owned(), tightest("pids", pids)),
    ])
}

/// A group and all above it: `/a/b`, `/a`, and the root.
fn above(group: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(group), |each| {
        each.rsplit_once('/').map(|(parent, _)| parent)
    })
}

fn memory(directory: &Path, version: u32) -> Option<f64> {
    let file = if version == 1 {
        "memory.limit_in_bytes"
    } else {
        "memory.max"
    };
    number(directory, file).filter(|limit| *limit < NO_LIMIT)
}

fn cpu(directory: &Path, version: u32) -> Option<f64> {
    if version == 1 {
        let quota = number(directory, "cpu.cfs_quota_us").filter(|quota| *quota > 0.0)?;
        return Some(quota / number(directory, "cpu.cfs_period_us")?);
    }
    let text = fs::read_to_string(directory.join("cpu.max")).ok()?;
    let (quota, period) = text.trim().split_once(' ')?;
    Some(quota.parse::<f64>().ok()? / period.parse::<f64>().ok()?)
}

fn pids(directory: &Path, _version: u32) -> Option<f64> {
    number(directory, "pids.max")
}

/// The number in a file; None when there is no such file, or it says `max`.
fn number(directory: &Path, file: &str) -> Option<f64> {
    fs::read_to_string(directory.join(file))
        .ok()?
        .trim()
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_lies_below_all_above_it() {
        let found: Vec<&str> = above("/lab/db-1/redis-1").collect();
        assert_eq!(found, ["/lab/db-1/redis-1", "/lab/db-1", "/lab", ""]);
    }

    #[test]
    fn the_tightest_limit_counts_in_version_2() {
        let root = std::env::temp_dir().join(format!("groups-{}", std::process::id()));
        let inner = root.join("lab/redis-1");
        fs::create_dir_all(&inner).unwrap();
        fs::write(root.join("lab/memory.max"), "1073741824\n").unwrap();
        fs::write(inner.join("memory.max"), "max\n").unwrap();
        fs::write(root.join("lab/cpu.max"), "150000 100000\n").unwrap();
        fs::write(inner.join("cpu.max"), "20000 10000\n").unwrap();
        let mounts = format!("1 0 0:1 / {} rw - cgroup2 cgroup2 rw", root.display());
        let found = limits(&Hierarchies::parse(&mounts), "0::/lab/redis-1\n");
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(found["memory_limit"], "1073741824");
        assert_eq!(found["cpu_quota"], "1.5");
        assert_eq!(found["pids_limit"], "unlimited");
    }

    #[test]
    fn version_1_says_no_limit_with_the_largest_number_or_a_negative_one() {
        let root = std::env::temp_dir().join(format!("groups-v1-{}", std::process::id()));
        let mut mounts = String::new();
        for (controller, files) in [
            (
                "memory",
                &[("memory.limit_in_bytes", "9223372036854771712\n")][..],
            ),
            (
                "cpu",
                &[
                    ("cpu.cfs_quota_us", "-1\n"),
                    ("cpu.cfs_period_us", "100000\n"),
                ][..],
            ),
            ("cpuacct", &[][..]),
        ] {
            let directory = root.join(controller);
            fs::create_dir_all(&directory).unwrap();
            for (file, text) in files {
                fs::write(directory.join(file), text).unwrap();
            }
            let line = format!(
                "1 0 0:1 / {} rw - cgroup cgroup rw,{controller}\n",
                directory.display()
            );
            mounts.push_str(&line);
        }
        let found = limits(&Hierarchies::parse(&mounts), "2:memory:/\n1:cpu:/\n");
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(found["memory_limit"], "unlimited");
        assert_eq!(found["cpu_quota"], "unlimited");
    }
}
