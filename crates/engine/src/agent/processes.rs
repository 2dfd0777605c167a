//! What was started, by numbers that no two have, and who is told of ends.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::Child;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use wire::agent::{Known, Said, Told};

use super::program;
use super::units::{Doors, Units};

/// Takes whole messages to one stream, each with its bytes. It never waits: whoever reads questions
/// must not stand still because an answer is long.
pub type Speaker = Sender<(Said, Vec<u8>)>;

/// All processes of an agent.
pub struct Processes {
    units: Units,
    table: Mutex<Table>,
    heard: Mutex<Instant>,
}

#[derive(Default)]
struct Table {
    started: BTreeMap<u64, Started>,
    speaker: Option<Speaker>,
}

struct Started {
    group: Pid,
    code: Option<i32>,
}

impl Processes {
    /// None so far; those that come are counted in these units.
    pub fn new(units: Units) -> Self {
        Self {
            units,
            table: Mutex::default(),
            heard: Mutex::new(Instant::now()),
        }
    }

    /// The way into a unit.
    pub fn doors(&self, unit: &str) -> io::Result<Doors> {
        self.units.doors(unit)
    }

    /// Somebody asked for something.
    pub fn hear(&self) {
        *locked(&self.heard) = Instant::now();
    }

    /// Since nobody did.
    pub fn silent_for(&self) -> Duration {
        locked(&self.heard).elapsed()
    }

    /// Tell a speaker of ends from now on; every process so far.
    pub fn tell(&self, speaker: &Speaker) -> Vec<Known> {
        let mut table = locked(&self.table);
        table.speaker = Some(speaker.clone());
        let known = table.started.iter();
        known
            .map(|(&process, started)| Known {
                process,
                code: started.code,
            })
            .collect()
    }

    /// Start a program; its number and its process id, 0 where it could not be started.
    pub fn start(
        self: &Arc<Self>,
        argv: &[String],
        unit: &str,
        variables: &BTreeMap<String, String>,
        log: &Path,
    ) -> io::Result<(u64, u32)> {
        let child = program::start(argv, self.doors(unit)?, variables, log)?;
        let group = child.as_ref().map_or(Pid::from_raw(0), program::group);
        let number = self.add(group);
        let pid = child.as_ref().map_or(0, Child::id);
        match child {
            Some(child) => self.await_end(number, child),
            None => self.end(number, program::CANNOT_START),
        }
        Ok((number, pid))
    }

    /// Send a signal to a process that was started and lives.
    pub fn signal(&self, process: u64, name: &str) -> io::Result<()> {
        let signal: Signal = format!("SIG{name}").parse()?;
        let table = locked(&self.table);
        let started = table.started.get(&process);
        let living = started.filter(|started| started.code.is_none());
        match living.map(|started| kill(started.group, signal)) {
            None | Some(Ok(()) | Err(Errno::ESRCH)) => Ok(()), // the last: it has just ended
            Some(Err(errno)) => Err(errno.into()),
        }
    }

    /// Kill all that lives, with what it has started itself.
    pub fn kill_all(&self) {
        for started in locked(&self.table).started.values() {
            if started.code.is_none() {
                killpg(started.group, Signal::SIGKILL).ok();
            }
        }
    }

    fn add(&self, group: Pid) -> u64 {
        let mut table = locked(&self.table);
        let number = table.started.keys().last().map_or(1, |last| last + 1);
        table.started.insert(number, Started { group, code: None });
        number
    }

    fn await_end(self: &Arc<Self>, number: u64, mut child: Child) {
        let processes = Arc::clone(self);
        thread::spawn(move || {
            let code = child.wait().map_or(program::CANNOT_START, program::code);
            processes.end(number, code);
        });
    }

    /// Note that a process has ended, and say so to who listens; who does not is told at the next
    /// greeting.
    fn end(&self, process: u64, code: i32) {
        let mut table = locked(&self.table);
        if let Some(started) = table.started.get_mut(&process) {
            started.code = Some(code);
        }
        let speaker = table.speaker.clone();
        drop(table);
        if let Some(speaker) = speaker {
            let what = Told::Ended { process, code };
            speaker.send((Said { id: 0, what }, Vec::new())).ok();
        }
    }
}

/// Whoever panicked while it held a lock left what is behind it whole.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use super::*;

    #[test]
    fn a_signal_to_what_has_just_ended_is_no_error() {
        let mut child = Command::new("true").process_group(0).spawn().unwrap();
        child.wait().unwrap();
        let processes = Processes::new(Units::default());
        let number = processes.add(program::group(&child));
        processes.signal(number, "TERM").unwrap();
        assert!(processes.signal(number, "NONE").is_err());
    }
}
