//! What the control groups of a process hold it to: its own group and all above it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::cgroups::{Hierarchies, memberships};

/// What version 1 tells for "no limit of memory": the largest number of whole pages.
const NO_LIMIT: f64 = (1_u64 << 60) as f64;

/// What a machine has: a limit that is not below it can never bind, and is none.
#[derive(Clone, Copy)]
pub struct Machine {
    /// Bytes of memory.
    pub memory: f64,
    /// Processes and threads.
    pub pids: f64,
}

impl Machine {
    /// What this one has, as its kernel tells; boundless where it does not.
    pub fn here() -> Self {
        let told = |path: &str| fs::read_to_string(path).unwrap_or_default();
        Self::told(
            &told("/proc/meminfo"),
            &told("/proc/sys/kernel/pid_max"),
            &told("/proc/sys/kernel/threads-max"),
        )
    }

    fn told(meminfo: &str, pids: &str, threads: &str) -> Self {
        let kilobytes = meminfo
            .lines()
            .find_map(|line| line.strip_prefix("MemTotal:"))
            .and_then(|rest| rest.trim().strip_suffix(" kB")?.parse::<f64>().ok());
        let numbers = [pids, threads].map(|text| text.trim().parse().unwrap_or(f64::INFINITY));
        Self {
            memory: kilobytes.map_or(f64::INFINITY, |kilobytes| kilobytes * 1024.0),
            pids: f64::min(numbers[0], numbers[1]),
        }
    }
}

/// `memory_limit` and `memory_soft_limit` (bytes), `cpu_quota` (processors) and `pids_limit`, or
/// `unlimited`: the tightest of a group and those above it counts, if it is below what the machine
/// has. `cpu_period` (seconds) is the
/// period of that quota. `cpu_weight` has every weight that somebody set, from the inside out, as
/// the kernel's version counts it, up to and with the group of its `host`: weights above the host's
/// group are not told, where the process is in it. `cpuset_cpus` and `cpuset_mems` are what is in
/// force in the nearest group that tells it.
pub fn limits(
    hierarchies: &Hierarchies,
    membership: &str,
    host: Option<&str>,
    machine: Machine,
) -> BTreeMap<String, String> {
    let groups = Groups {
        hierarchies,
        own: memberships(membership),
    };
    let tightest = |controller, files, most: f64| {
        let told = groups.texts(controller, files).into_iter();
        let numbers = told.filter_map(|text| text.parse::<f64>().ok());
        let limits = numbers.filter(|limit| *limit < most.min(NO_LIMIT));
        or(limits.reduce(f64::min), "unlimited")
    };
    let nearest = |files| or(groups.texts("cpuset", files).first(), "unlimited");
    let memory = tightest(
        "memory",
        ["memory.limit_in_bytes", "memory.max"],
        machine.memory,
    );
    let soft = tightest(
        "memory",
        ["memory.soft_limit_in_bytes", "memory.high"],
        machine.memory,
    );
    let quota = groups.told("cpu", quota).into_iter().reduce(tighter);
    let processors = quota.as_ref().map(|quota| quota.processors);
    let period = quota.as_ref().map(|quota| quota.period);
    // Among groups that nobody weighed a level more or less between the root and the process
    // changes nothing, so the kernel's own weight is not told.
    let file = groups.file(["cpu.shares", "cpu.weight"]);
    let mut weights = groups.told_below("cpu", host, |directory, _| text(directory, file));
    weights.retain(|weight| weight != groups.file(["1024", "100"]));
    let cpus = nearest(["cpuset.effective_cpus", "cpuset.cpus.effective"]);
    let nodes = nearest(["cpuset.effective_mems", "cpuset.mems.effective"]);
    let weights = Some(weights.join(" in ")).filter(|text| !text.is_empty());
    [
        ("memory_limit", memory),
        ("memory_soft_limit", soft),
        ("cpu_quota", or(processors, "unlimited")),
        ("cpu_period", or(period, "no quota")),
        ("cpu_weight", or(weights, "default")),
        ("cpuset_cpus", cpus),
        ("cpuset_mems", nodes),
        (
            "pids_limit",
            tightest("pids", ["pids.max", "pids.max"], machine.pids),
        ),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

/// The control groups of one process.
struct Groups<'a> {
    hierarchies: &'a Hierarchies,
    /// Controller → group.
    own: BTreeMap<String, String>,
}

impl Groups<'_> {
    /// Of the names in version 1 and in version 2 the one that counts here.
    fn file(&self, names: [&'static str; 2]) -> &'static str {
        names[usize::from(self.hierarchies.version != 1)]
    }

    /// What a file says in a controller's group and in all above it, from the inside out.
    fn texts(&self, controller: &str, files: [&'static str; 2]) -> Vec<String> {
        self.told(controller, |directory, _| text(directory, self.file(files)))
    }

    /// What is read in a controller's group and in all above it, from the inside out.
    fn told<T>(&self, controller: &str, read: impl Fn(&Path, u32) -> Option<T>) -> Vec<T> {
        self.told_below(controller, None, read)
    }

    /// The same up to and with a group `top`, where the controller's group is that or lies below.
    fn told_below<T>(
        &self,
        controller: &str,
        top: Option<&str>,
        read: impl Fn(&Path, u32) -> Option<T>,
    ) -> Vec<T> {
        let group = self.own.get(controller).or_else(|| self.own.get(""));
        let group = group.map_or("/", String::as_str);
        let top = top.filter(|top| Path::new(group).starts_with(top));
        above(group)
            .take_while(|each| top.is_none_or(|top| Path::new(each).starts_with(top)))
            .filter_map(|each| {
                let directory = self.hierarchies.directory(controller, each)?;
                read(&directory, self.hierarchies.version)
            })
            .collect()
    }
}

/// A quota of processor time.
struct Quota {
    /// How many processors' worth.
    processors: f64,
    /// Seconds in which it is dealt out.
    period: f64,
}

/// Of two that are as tight the first counts.
fn tighter(one: Quota, other: Quota) -> Quota {
    if other.processors < one.processors {
        other
    } else {
        one
    }
}

fn or<T: ToString>(found: Option<T>, absent: &str) -> String {
    found.map_or_else(|| absent.to_owned(), |found| found.to_string())
}

/// A group and all above it: `/a/b`, `/a`, and the root.
fn above(group: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(group), |each| {
        each.rsplit_once('/').map(|(parent, _)| parent)
    })
}

fn quota(directory: &Path, version: u32) -> Option<Quota> {
    let (quota, period) = if version == 1 {
        let quota = number(directory, "cpu.cfs_quota_us").filter(|quota| *quota > 0.0)?;
        (quota, number(directory, "cpu.cfs_period_us")?)
    } else {
        let told = text(directory, "cpu.max")?;
        let (quota, period) = told.split_once(' ')?;
        (quota.parse::<f64>().ok()?, period.parse::<f64>().ok()?)
    };
    Some(Quota {
        processors: quota / period,
        period: period / 1e6,
    })
}

/// The number in a file; None when there is no such file, or it says `max`.
fn number(directory: &Path, file: &str) -> Option<f64> {
    text(directory, file)?.parse().ok()
}

/// What a file says; None when there is no such file, or it is empty.
fn text(directory: &Path, file: &str) -> Option<String> {
    let text = fs::read_to_string(directory.join(file)).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn a_group_lies_below_all_above_it() {
        let found: Vec<&str> = above("/lab/db-1/redis-1").collect();
        assert_eq!(found, ["/lab/db-1/redis-1", "/lab/db-1", "/lab", ""]);
    }

    /// A directory of one test, which removes it.
    fn directory(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("groups-{name}-{}", std::process::id()))
    }

    fn write(directory: &Path, files: &[(&str, &str)]) {
        fs::create_dir_all(directory).unwrap();
        for (file, text) in files {
            fs::write(directory.join(file), format!("{text}\n")).unwrap();
        }
    }

    #[test]
    fn the_tightest_limit_counts_in_version_2() {
        let root = directory("v2");
        write(
            &root.join("lab"),
            &[
                ("memory.max", "1073741824"),
                ("memory.high", "536870912"),
                ("cpu.max", "150000 100000"),
                ("cpu.weight", "200"),
                ("cpuset.cpus.effective", "0-1"),
                ("cpuset.mems.effective", "0"),
            ],
        );
        write(
            &root.join("lab/redis-1"),
            &[
                ("memory.max", "max"),
                ("memory.high", "max"),
                ("cpu.max", "20000 10000"),
                ("cpu.weight", "50"),
            ],
        );
        let mounts = format!("1 0 0:1 / {} rw - cgroup2 cgroup2 rw", root.display());
        let hierarchies = Hierarchies::parse(&mounts);
        let told = |host| limits(&hierarchies, "0::/lab/redis-1\n", host, BOUNDLESS);
        let found = told(None);
        let weighed = ["/lab/redis-1", "/lab", "/la", "/other"]
            .map(|host| told(Some(host))["cpu_weight"].clone());
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(weighed, ["50", "50 in 200", "50 in 200", "50 in 200"]);
        assert_eq!(found["memory_limit"], "1073741824");
        assert_eq!(found["memory_soft_limit"], "536870912");
        assert_eq!(found["cpu_quota"], "1.5");
        assert_eq!(found["cpu_period"], "0.1");
        assert_eq!(found["cpu_weight"], "50 in 200");
        assert_eq!(found["cpuset_cpus"], "0-1");
        assert_eq!(found["cpuset_mems"], "0");
        assert_eq!(found["pids_limit"], "unlimited");
    }

    const BOUNDLESS: Machine = Machine {
        memory: f64::INFINITY,
        pids: f64::INFINITY,
    };

    /// What a process in the groups `/redis-1` of version 1 is held to.
    fn version_1(name: &str, files: &[(&str, &[(&str, &str)])]) -> BTreeMap<String, String> {
        version_1_on(BOUNDLESS, name, files)
    }

    fn version_1_on(
        machine: Machine,
        name: &str,
        files: &[(&str, &[(&str, &str)])],
    ) -> BTreeMap<String, String> {
        let root = directory(name);
        let mut mounts = String::new();
        for (controller, files) in files {
            let mount = root.join(controller);
            write(&mount.join("redis-1"), files);
            let line = format!(
                "1 0 0:1 / {} rw - cgroup cgroup rw,{controller}\n",
                mount.display()
            );
            mounts.push_str(&line);
        }
        let groups = "5:pids:/redis-1\n4:cpuset:/redis-1\n2:memory:/redis-1\n1:cpu:/redis-1\n";
        let found = limits(&Hierarchies::parse(&mounts), groups, None, machine);
        fs::remove_dir_all(&root).unwrap();
        found
    }

    #[test]
    fn a_limit_that_is_not_below_what_the_machine_has_is_none() {
        let machine = Machine::told(
            "MemFree: 1 kB\nMemTotal:       1048576 kB\n",
            "300\n",
            "200\n",
        );
        let held = |name: &str, memory: &str, pids: &str| {
            let files: &[(&str, &[(&str, &str)])] = &[
                ("memory", &[("memory.limit_in_bytes", memory)]),
                ("pids", &[("pids.max", pids)]),
                ("cpu", &[]),
                ("cpuacct", &[]),
            ];
            let found = version_1_on(machine, name, files);
            (found["memory_limit"].clone(), found["pids_limit"].clone())
        };
        let unlimited = ("unlimited".to_owned(), "unlimited".to_owned());
        assert_eq!(held("v1-all", "1073741824", "200"), unlimited);
        let limited = ("1073741823".to_owned(), "199".to_owned());
        assert_eq!(held("v1-less", "1073741823", "199"), limited);
        let unknown = Machine::told("", "", "max");
        assert!(unknown.memory.is_infinite() && unknown.pids.is_infinite());
        assert!(Machine::here().memory.is_finite());
    }

    #[test]
    fn version_1_says_no_limit_with_the_largest_number_or_a_negative_one() {
        let found = version_1(
            "v1-free",
            &[
                (
                    "memory",
                    &[
                        ("memory.limit_in_bytes", "9223372036854771712"),
                        ("memory.soft_limit_in_bytes", "9223372036854771712"),
                    ],
                ),
                (
                    "cpu",
                    &[
                        ("cpu.cfs_quota_us", "-1"),
                        ("cpu.cfs_period_us", "100000"),
                        ("cpu.shares", "1024"),
                    ],
                ),
                ("cpuacct", &[]),
            ],
        );
        assert_eq!(found["memory_limit"], "unlimited");
        assert_eq!(found["memory_soft_limit"], "unlimited");
        assert_eq!(found["cpu_quota"], "unlimited");
        assert_eq!(found["cpu_period"], "no quota");
        assert_eq!(found["cpu_weight"], "default");
        assert_eq!(found["cpuset_cpus"], "unlimited");
    }

    #[test]
    fn version_1_has_every_limit_under_a_name_of_its_own() {
        let found = version_1(
            "v1-held",
            &[
                ("memory", &[("memory.soft_limit_in_bytes", "1048576")]),
                (
                    "cpu",
                    &[
                        ("cpu.cfs_quota_us", "5000"),
                        ("cpu.cfs_period_us", "10000"),
                        ("cpu.shares", "512"),
                    ],
                ),
                ("cpuacct", &[]),
                (
                    "cpuset",
                    &[
                        ("cpuset.effective_cpus", "0,2"),
                        ("cpuset.effective_mems", "0"),
                    ],
                ),
            ],
        );
        assert_eq!(found["memory_soft_limit"], "1048576");
        assert_eq!(found["cpu_quota"], "0.5");
        assert_eq!(found["cpu_period"], "0.01");
        assert_eq!(found["cpu_weight"], "512");
        assert_eq!(found["cpuset_cpus"], "0,2");
        assert_eq!(found["cpuset_mems"], "0");
    }
}
