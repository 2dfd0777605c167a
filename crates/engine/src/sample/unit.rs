//! One unit: a control group that may appear, vanish and appear again.

use std::collections::BTreeMap;

use super::counters::{Counters, Source, VERSION_1, VERSION_2};
use super::disks::{self, Disks};
use super::kept::Kept;
use crate::cgroups::Hierarchies;

/// The files of one control group.
pub struct Unit {
    group: String,
    files: Vec<(&'static Source, Option<Kept>, Option<String>)>,
    /// In version 1, where no file of the group tells it, and why it could not be read last.
    disks: Option<(Disks, Option<String>)>,
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
                let file = directory.map(|path| Kept::new(&path.join(source.file)));
                (source, file, None)
            })
            .collect();
        let processes = hierarchies.directory("cpuacct", group);
        let disks = processes.filter(|_| hierarchies.version == 1);
        Self {
            group: group.to_owned(),
            files,
            disks: disks.map(|directory| (Disks::new(directory), None)),
            text: String::new(),
        }
    }

    /// All counters that can be read now; none when the group does not exist.
    pub fn read(&mut self) -> Counters {
        let mut counters = Counters::new();
        for (source, file, failure) in &mut self.files {
            *failure = match file {
                None => {
                    let controller = source.controller;
                    Some(format!("the controller `{controller}` is not mounted"))
                }
                Some(file) => match file.read(&mut self.text) {
                    Ok(()) => {
                        (source.parse)(&self.text, &mut counters);
                        None
                    }
                    Err(error) => Some(error.to_string()),
                },
            };
        }
        if let Some((disks, failure)) = &mut self.disks {
            *failure = disks.read(&mut counters).err().map(|e| e.to_string());
        }
        counters
    }

    /// What the last reading could not tell, and why.
    pub fn absent(&self, name: &str) -> BTreeMap<String, String> {
        let prefix = if name.is_empty() { "host" } else { name };
        if self.files.iter().all(|(_, _, failure)| failure.is_some()) {
            let group = &self.group;
            let why = format!("its control group `{group}` did not exist at the start");
            return BTreeMap::from([(prefix.to_owned(), why)]);
        }
        let files = self.files.iter();
        let disks = self.disks.iter();
        let disks = disks.flat_map(|(_, failure)| disks::COUNTERS.map(|name| (name, failure)));
        files
            .map(|(source, _, failure)| (source.file, failure))
            .chain(disks)
            .filter_map(|(what, failure)| Some((format!("{prefix}.{what}"), failure.clone()?)))
            .collect()
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
        assert!(unit.absent("redis-1").contains_key("redis-1.memory.stat"));
        assert!(!unit.absent("redis-1").contains_key("redis-1.cpu.stat"));
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
        let own = format!("{}\n", std::process::id());
        fs::write(tree.0.join("cgroup.procs"), own).unwrap();
        let found = unit.read();
        assert!(found.contains_key("disk_read") && found.contains_key("disk_written"));
        assert!(!unit.absent("redis-1").contains_key("redis-1.disk_read"));
    }
}
