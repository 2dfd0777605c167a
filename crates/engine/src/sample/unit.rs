//! One unit: a control group that may appear, vanish and appear again.

use std::collections::BTreeMap;
use std::io;

use super::counters::{Counters, Source, VERSION_1, VERSION_2};
use super::disks::{self, Disks};
use super::kept::Kept;
use crate::cgroups::Hierarchies;

/// The files of one control group.
pub struct Unit {
    group: String,
    files: Vec<(&'static Source, Option<Kept>)>,
    /// In version 1, where no file of the group tells it.
    disks: Option<Disks>,
    /// Counter → why the last reading did not tell it.
    missing: BTreeMap<&'static str, String>,
    /// Whether the last reading told anything.
    exists: bool,
    text: String,
}

impl Unit {
    /// A unit that lives in `group` below every hierarchy.
    pub fn new(hierarchies: &Hierarchies, group: &str) -> Self {
        let sources = if hierarchies.version == 1 {
            VERSION_1
        } else {
            VERSION_2
        };
        let files = sources
            .iter()
            .map(|source| {
                let directory = hierarchies.directory(source.controller, group);
                (
                    source,
                    directory.map(|path| Kept::new(&path.join(source.file))),
                )
            })
            .collect();
        let processes = hierarchies.directory("cpuacct", group);
        let disks = processes.filter(|_| hierarchies.version == 1);
        Self {
            group: group.to_owned(),
            files,
            disks: disks.map(Disks::new),
            missing: BTreeMap::new(),
            exists: false,
            text: String::new(),
        }
    }

    /// All counters that can be read now; none when the group does not exist.
    pub fn read(&mut self) -> Counters {
        let mut counters = Counters::new();
        self.missing.clear();
        for (source, file) in &mut self.files {
            let read = file.as_mut().map(|file| file.read(&mut self.text));
            if let Some(Ok(())) = read {
                (source.parse)(&self.text, &mut counters);
            }
            for counter in source.counters {
                if !counters.contains_key(*counter) {
                    self.missing.insert(counter, why(source, read.as_ref()));
                }
            }
        }
        if let Some(disks) = &mut self.disks
            && let Err(error) = disks.read(&mut counters)
        {
            let missing = disks::COUNTERS.map(|counter| (counter, error.to_string()));
            self.missing.extend(missing);
        }
        self.exists = !counters.is_empty();
        counters
    }

    /// What the last reading could not tell, and why.
    pub fn absent(&self, name: &str) -> BTreeMap<String, String> {
        let prefix = if name.is_empty() { "host" } else { name };
        if !self.exists {
            let group = &self.group;
            let why = format!("its control group `{group}` did not exist at the start");
            return BTreeMap::from([(prefix.to_owned(), why)]);
        }
        self.missing
            .iter()
            .map(|(counter, why)| (format!("{prefix}.{counter}"), why.clone()))
            .collect()
    }
}

/// Why a file did not tell a counter.
fn why(source: &Source, read: Option<&io::Result<()>>) -> String {
    match read {
        None => format!("the controller `{}` is not mounted", source.controller),
        Some(Err(error)) => error.to_string(),
        Some(Ok(())) => format!("`{}` does not tell it", source.file),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A version 2 tree in a directory that is removed at the end.
    struct Tree(std::path::PathBuf);

    impl Tree {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn hierarchies(&self) -> Hierarchies {
            Hierarchies::parse(&format!(
                "1 0 0:1 / {} rw - cgroup2 cgroup2 rw",
                self.0.display()
            ))
        }

        fn version_1(&self) -> Hierarchies {
            Hierarchies::parse(&format!(
                "1 0 0:1 / {} rw - cgroup cgroup rw,cpuacct",
                self.0.display()
            ))
        }
    }

    impl Drop for Tree {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_missing_group_is_absent_with_the_reason_and_is_read_once_it_exists() {
        let tree = Tree::new("unit-appears");
        let mut unit = Unit::new(&tree.hierarchies(), "lab/redis-1");
        assert!(unit.read().is_empty());
        assert_eq!(
            unit.absent("redis-1")["redis-1"],
            "its control group `lab/redis-1` did not exist at the start"
        );
        fs::create_dir_all(tree.0.join("lab/redis-1")).unwrap();
        fs::write(tree.0.join("lab/redis-1/cpu.stat"), "usage_usec 1000000\n").unwrap();
        assert!((unit.read()["cpu"] - 1.0).abs() < 1e-9);
        let absent = unit.absent("redis-1");
        assert!(absent["redis-1.memory_cache"].contains("No such file"));
        assert_eq!(absent["redis-1.throttled"], "`cpu.stat` does not tell it");
        assert!(!absent.contains_key("redis-1.cpu"));
    }

    #[test]
    fn counters_are_read_anew_each_time() {
        let tree = Tree::new("unit-again");
        let file = tree.0.join("cpu.stat");
        fs::write(&file, "usage_usec 1000000\n").unwrap();
        let mut unit = Unit::new(&tree.hierarchies(), "");
        assert!((unit.read()["cpu"] - 1.0).abs() < 1e-9);
        fs::write(&file, "usage_usec 2000000\n").unwrap();
        assert!((unit.read()["cpu"] - 2.0).abs() < 1e-9);
    }

    #[test]
    fn version_1_tells_disk_traffic_by_processes_or_why_it_cannot() {
        let tree = Tree::new("unit-disks");
        fs::write(tree.0.join("cpuacct.usage"), "1\n").unwrap();
        let mut unit = Unit::new(&tree.version_1(), "");
        assert!(!unit.read().contains_key("disk_written"));
        let absent = unit.absent("redis-1");
        assert!(absent.contains_key("redis-1.disk_read"));
        assert!(absent.contains_key("redis-1.disk_written"));
        assert!(absent["redis-1.swap"].contains("`memory` is not mounted"));
        let own = format!("{}\n", std::process::id());
        fs::write(tree.0.join("cgroup.procs"), own).unwrap();
        let found = unit.read();
        assert!(found.contains_key("disk_read") && found.contains_key("disk_written"));
        assert!(!unit.absent("redis-1").contains_key("redis-1.disk_read"));
    }
}
