//! Control groups of what an agent starts, below its own, so that each unit is counted apart.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

use crate::cgroups::{Hierarchies, memberships};

/// The agent's own groups. None are divided where their directories are not the machine's.
#[derive(Default)]
pub struct Units {
    above: Vec<PathBuf>,
}

impl Units {
    /// Below the groups of this process, of which the mounted hierarchies show the machine's view.
    ///
    /// In version 2 controllers are not handed down, or no command could join the group above any
    /// more; CPU time is counted all the same.
    pub fn own() -> io::Result<Self> {
        let own = memberships(&fs::read_to_string("/proc/self/cgroup")?);
        let above = Hierarchies::find()?.counted(&own).into_iter().collect();
        Ok(Self { above })
    }

    /// Files that take a process into a unit, which is made if it is not there.
    pub fn doors(&self, unit: &str) -> io::Result<Doors> {
        if unit.is_empty() || unit.starts_with('.') || unit.contains('/') {
            let what = format!("`{unit}` is not the name of a unit");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let mut files = Vec::new();
        for above in &self.above {
            let directory = above.join(unit);
            fs::create_dir_all(&directory)?;
            let door = directory.join("cgroup.procs");
            files.push(OpenOptions::new().write(true).open(door)?);
        }
        Ok(Doors { files })
    }
}

/// The way into a unit, for a process that is about to become a program.
pub struct Doors {
    files: Vec<File>,
}

impl Doors {
    /// Take this process in. It allocates nothing, so that it can be called after a fork.
    pub fn enter(&self) -> io::Result<()> {
        self.files
            .iter()
            .try_for_each(|mut file| file.write_all(b"0"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_made_once_in_each_hierarchy_and_entered_by_its_files() {
        let top = std::env::temp_dir().join(format!("units-{}", std::process::id()));
        let above = vec![top.join("cpu"), top.join("memory")];
        for each in &above {
            fs::create_dir_all(each.join("load")).unwrap();
            fs::write(each.join("load/cgroup.procs"), "").unwrap();
        }
        let units = Units { above };
        units.doors("load").unwrap().enter().unwrap();
        for name in ["cpu", "memory"] {
            let door = top.join(name).join("load/cgroup.procs");
            assert_eq!(fs::read_to_string(door).unwrap(), "0");
        }
        assert!(units.doors("new").is_err()); // the kernel would have made the file
        assert!(top.join("cpu/new").is_dir());
        for bad in ["", "..", "a/b"] {
            assert!(units.doors(bad).is_err(), "{bad}");
        }
        assert!(Units::default().doors("any").is_ok());
        fs::remove_dir_all(&top).unwrap();
    }
}
