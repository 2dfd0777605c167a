//! Disk traffic of a version 1 group: what the kernel counts for each of its processes.
//!
//! The group's own files do not tell it. What is written from the page cache is charged to the root
//! group there, and a kernel since Linux 6.10 counts nothing at all while no group limits a disk.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nix::errno::Errno;

use super::counters::{Counters, value};

/// What it tells.
pub const COUNTERS: [&str; 2] = ["disk_read", "disk_written"];

/// Bytes that the processes of a group, and of all groups below, had read and gave to be written.
///
/// A process that begins and ends between two readings is seen only if one that lives on waited for
/// it: the kernel then adds what it did to what its parent did.
pub struct Disks {
    group: PathBuf,
    proc: PathBuf,
    read: Rising,
    written: Rising,
}

impl Disks {
    /// The traffic of a group by its directory. Nothing is opened before it is read.
    pub fn new(group: PathBuf) -> Self {
        Self::of(group, "/proc".into())
    }

    fn of(group: PathBuf, proc: PathBuf) -> Self {
        Self {
            group,
            proc,
            read: Rising::default(),
            written: Rising::default(),
        }
    }

    /// Put [`COUNTERS`] into the counters.
    pub fn read(&mut self, counters: &mut Counters) -> io::Result<()> {
        if !self.proc.join("self/io").exists() {
            return Err(io::Error::other(
                "the kernel does not count the disk traffic of processes",
            ));
        }
        let mut processes = Vec::new();
        list(&self.group, &mut processes)?;
        let (mut read, mut written) = (0.0, 0.0);
        for process in processes {
            match fs::read_to_string(self.proc.join(process).join("io")) {
                Ok(text) => {
                    read += value(&text, "read_bytes:").unwrap_or_default();
                    written += value(&text, "write_bytes:").unwrap_or_default();
                }
                Err(error) if gone(&error) => {}
                Err(error) => return Err(error),
            }
        }
        let told = [self.read.now(read), self.written.now(written)];
        counters.extend(COUNTERS.map(str::to_owned).into_iter().zip(told));
        Ok(())
    }
}

/// A sum over living processes that never falls: what ended keeps its share.
#[derive(Default)]
struct Rising {
    last: f64,
    ended: f64,
}

impl Rising {
    fn now(&mut self, sum: f64) -> f64 {
        self.ended += (self.last - sum).max(0.0);
        self.last = sum;
        self.ended + sum
    }
}

/// Ids of the processes in a group and below, as this process sees them.
fn list(group: &Path, processes: &mut Vec<String>) -> io::Result<()> {
    let text = fs::read_to_string(group.join("cgroup.procs"))?;
    processes.extend(text.lines().map(str::to_owned));
    for entry in fs::read_dir(group)? {
        let entry = entry?;
        if !entry.file_type()?.is_dir() {
            continue;
        }
        match list(&entry.path(), processes) {
            Err(error) if !gone(&error) => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Whether a process or a group ended while it was read.
fn gone(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error().map(Errno::from_raw),
        Some(Errno::ENOENT | Errno::ESRCH | Errno::ENODEV)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Groups and processes in a directory that is removed at the end.
    struct Tree(PathBuf);

    impl Tree {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
            let tree = Self(path);
            tree.process("self", 0, 0);
            tree
        }

        fn group(&self, name: &str, processes: &str) {
            let directory = self.0.join("groups").join(name);
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join("cgroup.procs"), processes).unwrap();
        }

        fn process(&self, id: &str, read: u64, written: u64) {
            let directory = self.0.join("proc").join(id);
            fs::create_dir_all(&directory).unwrap();
            let text = format!(
                "rchar: 9\nwchar: 9\nsyscr: 9\nsyscw: 9\nread_bytes: {read}\n\
                 write_bytes: {written}\ncancelled_write_bytes: 9\n"
            );
            fs::write(directory.join("io"), text).unwrap();
        }

        fn disks(&self, group: &str) -> Disks {
            Disks::of(self.0.join("groups").join(group), self.0.join("proc"))
        }
    }

    impl Drop for Tree {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn told(disks: &mut Disks) -> (f64, f64) {
        let mut counters = Counters::new();
        disks.read(&mut counters).unwrap();
        (counters["disk_read"], counters["disk_written"])
    }

    #[track_caller]
    fn same(found: (f64, f64), expected: (f64, f64)) {
        assert!(
            (found.0 - expected.0).abs() + (found.1 - expected.1).abs() < 1e-9,
            "{found:?}"
        );
    }

    #[test]
    fn a_group_did_what_all_its_processes_did_and_those_below() {
        let tree = Tree::new("disks-below");
        tree.group("member", "7\n8\n");
        tree.group("member/container", "9\n");
        tree.group("other", "10\n");
        for (id, read, written) in [("7", 1, 10), ("8", 2, 20), ("9", 4, 40), ("10", 99, 99)] {
            tree.process(id, read, written);
        }
        same(told(&mut tree.disks("member")), (7.0, 70.0));
        same(told(&mut tree.disks("member/container")), (4.0, 40.0));
    }

    #[test]
    fn what_a_process_did_stays_when_it_has_ended() {
        let tree = Tree::new("disks-ended");
        tree.group("member", "7\n8\n");
        tree.process("7", 1, 10);
        tree.process("8", 2, 20);
        let mut disks = tree.disks("member");
        same(told(&mut disks), (3.0, 30.0));
        // It may end before or after the group is asked for its processes.
        fs::remove_dir_all(tree.0.join("proc/8")).unwrap();
        same(told(&mut disks), (3.0, 30.0));
        tree.group("member", "7\n");
        tree.process("7", 5, 10);
        same(told(&mut disks), (7.0, 30.0));
    }

    #[test]
    fn a_child_that_was_waited_for_counts_once() {
        let tree = Tree::new("disks-child");
        tree.group("member", "7\n8\n");
        tree.process("7", 0, 10);
        tree.process("8", 0, 20);
        let mut disks = tree.disks("member");
        same(told(&mut disks), (0.0, 30.0));
        tree.group("member", "7\n");
        tree.process("7", 0, 35);
        same(told(&mut disks), (0.0, 35.0));
    }

    #[test]
    fn what_cannot_be_read_is_no_traffic_of_nothing() {
        let tree = Tree::new("disks-unread");
        let mut counters = Counters::new();
        let error = tree.disks("none").read(&mut counters).unwrap_err();
        assert!(gone(&error));
        tree.group("member", "7\n");
        fs::create_dir_all(tree.0.join("proc/7/io")).unwrap(); // a file that cannot be read
        assert!(tree.disks("member").read(&mut counters).is_err());
        tree.group("above", "");
        fs::create_dir_all(tree.0.join("groups/above/below/cgroup.procs")).unwrap();
        assert!(tree.disks("above").read(&mut counters).is_err());
        fs::remove_dir_all(tree.0.join("proc/self")).unwrap();
        let error = tree.disks("member").read(&mut counters).unwrap_err();
        assert!(error.to_string().contains("does not count"));
        assert!(counters.is_empty());
    }
}
