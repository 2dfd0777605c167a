//! Where control groups are to be found, in version 1 and 2.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The mounted hierarchies of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hierarchies {
    /// 1 when CPU time is accounted in a hierarchy of its own, else 2.
    pub version: u32,
    mounts: BTreeMap<String, PathBuf>,
}

impl Hierarchies {
    /// What is mounted here.
    pub fn find() -> std::io::Result<Self> {
        Ok(Self::parse(&std::fs::read_to_string(
            "/proc/self/mountinfo",
        )?))
    }

    /// Read `/proc/PID/mountinfo`: version 1 names a hierarchy's controllers among its options.
    pub fn parse(mountinfo: &str) -> Self {
        let mut mounts = BTreeMap::new();
        for line in mountinfo.lines() {
            let Some((mount, file_system)) = line.split_once(" - ") else {
                continue;
            };
            let Some(point) = mount.split(' ').nth(4) else {
                continue;
            };
            let mut words = file_system.split(' ');
            match (words.next(), words.nth(1)) {
                (Some("cgroup2"), _) => {
                    mounts.insert(String::new(), PathBuf::from(point));
                }
                (Some("cgroup"), Some(options)) => {
                    for controller in options.split(',') {
                        mounts
                            .entry(controller.to_owned())
                            .or_insert_with(|| point.into());
                    }
                }
                _ => {}
            }
        }
        let version = if mounts.contains_key("cpuacct") { 1 } else { 2 };
        Self { version, mounts }
    }

    /// Directory of a group below the hierarchy of `controller`; None when it is not mounted.
    pub fn directory(&self, controller: &str, group: &str) -> Option<PathBuf> {
        let name = if self.version == 1 { controller } else { "" };
        let mount: &Path = self.mounts.get(name)?;
        Some(mount.join(group.trim_start_matches('/')))
    }
}

/// The controllers of version 1 whose counters are read.
const COUNTED: [&str; 4] = ["cpuacct", "cpu", "memory", "blkio"];

impl Hierarchies {
    /// Directories of the groups in which a process with these memberships is counted.
    pub fn counted(&self, own: &BTreeMap<String, String>) -> BTreeSet<PathBuf> {
        let names: &[&str] = if self.version == 1 { &COUNTED } else { &[""] };
        let groups = names
            .iter()
            .filter_map(|name| Some((name, own.get(*name)?)));
        groups
            .filter_map(|(name, group)| self.directory(name, group))
            .collect()
    }
}

/// Read `/proc/PID/cgroup`: controller → group. Version 2 has the empty name.
pub fn memberships(text: &str) -> BTreeMap<String, String> {
    text.lines()
        .filter_map(|line| {
            let (_, rest) = line.split_once(':')?;
            rest.split_once(':')
        })
        .flat_map(|(controllers, group)| {
            controllers
                .split(',')
                .map(move |name| (name.to_owned(), group.to_owned()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const V1: &str = "\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
";
    const V2: &str = "\
41 31 0:38 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate
";

    #[test]
    fn version_1_has_a_directory_for_each_controller() {
        let found = Hierarchies::parse(V1);
        assert_eq!(found.version, 1);
        assert_eq!(
            found.directory("cpuacct", "/lab/db-1"),
            Some("/sys/fs/cgroup/cpu,cpuacct/lab/db-1".into())
        );
        assert_eq!(
            found.directory("memory", ""),
            Some("/sys/fs/cgroup/memory/".into())
        );
        assert_eq!(found.directory("blkio", "lab"), None);
    }

    #[test]
    fn version_2_has_one_directory_for_all() {
        let found = Hierarchies::parse(V2);
        assert_eq!(found.version, 2);
        assert_eq!(
            found.directory("memory", "lab/db-1"),
            Some("/sys/fs/cgroup/lab/db-1".into())
        );
    }

    #[test]
    fn a_process_is_counted_once_in_each_directory() {
        let own = memberships("2:cpu,cpuacct:/pods/p\n3:memory:/pods/p\n0::/user\n");
        let directories: Vec<_> = Hierarchies::parse(V1).counted(&own).into_iter().collect();
        let expected =
            ["cpu,cpuacct", "memory"].map(|name| format!("/sys/fs/cgroup/{name}/pods/p"));
        assert_eq!(directories, expected.map(PathBuf::from));
        let directories: Vec<_> = Hierarchies::parse(V2).counted(&own).into_iter().collect();
        assert_eq!(directories, [PathBuf::from("/sys/fs/cgroup/user")]);
    }

    #[test]
    fn a_process_belongs_to_a_group_of_each_controller() {
        let found = memberships("2:cpu,cpuacct:/lab/db-1\n1:name=systemd:/\n0::/user\n");
        assert_eq!(found["cpuacct"], "/lab/db-1");
        assert_eq!(found["cpu"], "/lab/db-1");
        assert_eq!(found[""], "/user");
    }
}
