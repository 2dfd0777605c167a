//! `turns`: let processes run one after the other, over and over, and tell when each did.
//!
//! Turns begin on an even grid, so that one that begins late does not move those after it. Nothing
//! is waited for actively: that would take processor time from those whose turn it is.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::sys::prctl::set_timerslack;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use wire::turns::{TURNS_VERSION, Turn, TurnsPlan};

use crate::cgroups::Hierarchies;
use crate::control::Probe;
use crate::moment::unix_time;
use crate::stop::Stop;

/// Arguments of `turns`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The plan, a JSON file (`engine-turns.schema.json`).
    #[arg(long)]
    plan: PathBuf,
    /// File to write a line of JSON into for each turn.
    #[arg(long)]
    out: PathBuf,
}

/// Take all turns, or end early at TERM, INT or the parent's end. However this ends, all processes
/// go on; only after KILL somebody else must let them.
pub fn turns(arguments: &Arguments) -> io::Result<()> {
    let plan: TurnsPlan = serde_json::from_str(&std::fs::read_to_string(&arguments.plan)?)?;
    check(&plan).map_err(|what| io::Error::new(io::ErrorKind::InvalidData, what))?;
    let stop = Stop::heed()?;
    set_timerslack(1)?;
    let takers = Takers::find(&plan)?;
    let mut out = BufWriter::new(File::create(&arguments.out)?);
    takers.hold_all()?;
    let mut probe = Probe::open()?;
    let [length, control] = [plan.seconds, plan.control].map(Duration::from_secs_f64);
    let start = Instant::now() + Duration::from_secs_f64(plan.rest);
    for (number, name) in (0_u32..).zip(&plan.order) {
        let due = start + (length + 2 * control) * number;
        if stop.by(due)? {
            break;
        }
        takers.release(name)?;
        let began = unix_time();
        let over = stop.by(due + length)?;
        let ended = unix_time();
        takers.hold(name)?;
        let turn = Turn {
            name: name.clone(),
            began,
            ended,
            control: (!over).then(|| probe.measure(control)).transpose()?,
        };
        serde_json::to_writer(&mut out, &turn)?;
        out.write_all(b"\n")?;
        if over {
            break;
        }
    }
    out.flush()?;
    stop.by(Instant::now() + Duration::from_secs_f64(plan.rest))?;
    Ok(())
}

/// Whether a plan can be carried out; the error says what stands against it.
fn check(plan: &TurnsPlan) -> Result<(), String> {
    if plan.version != TURNS_VERSION {
        return Err(format!(
            "the plan has version {}, not {TURNS_VERSION}",
            plan.version
        ));
    }
    if !(0.01..=60.0).contains(&plan.seconds) {
        return Err("a turn must last from 0.01 to 60 s".to_owned());
    }
    if !(0.0..=60.0).contains(&plan.rest) {
        return Err("the rest must last from 0 to 60 s".to_owned());
    }
    if !(0.001..=1.0).contains(&plan.control) {
        return Err("the control must last from 0.001 to 1 s".to_owned());
    }
    let mut order = plan.order.iter();
    match order.find(|name| !plan.pids.contains_key(*name)) {
        Some(name) => Err(format!("`pids` has no `{name}`, which `order` names")),
        None => Ok(()),
    }
}

/// Who takes turns: processes, and control groups. All go on as soon as this is dropped.
struct Takers(BTreeMap<String, Taker>);

/// Processes that are signalled, and files that hold a group still or let it go on.
#[derive(Default)]
struct Taker {
    pids: Vec<Pid>,
    freezers: Vec<Freezer>,
}

/// The file by which the kernel freezes a control group, and its words.
struct Freezer {
    file: File,
    hold: &'static [u8],
    release: &'static [u8],
}

impl Freezer {
    fn open(hierarchies: &Hierarchies, group: &str) -> io::Result<Self> {
        let (name, hold, release): (_, &[u8], &[u8]) = if hierarchies.version == 1 {
            ("freezer.state", b"FROZEN", b"THAWED")
        } else {
            ("cgroup.freeze", b"1", b"0")
        };
        let directory = hierarchies
            .directory("freezer", group)
            .ok_or_else(|| io::Error::other("control groups cannot be frozen here"))?;
        let path = directory.join(name);
        let file = File::options().write(true).open(&path).map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        })?;
        Ok(Self {
            file,
            hold,
            release,
        })
    }
}

impl Takers {
    fn find(plan: &TurnsPlan) -> io::Result<Self> {
        let hierarchies = Hierarchies::find()?;
        let mut takers: BTreeMap<String, Taker> = BTreeMap::new();
        for (name, pids) in &plan.pids {
            let taker = takers.entry(name.clone()).or_default();
            taker.pids = pids.iter().map(|pid| Pid::from_raw(*pid)).collect();
        }
        for (name, groups) in &plan.groups {
            let taker = takers.entry(name.clone()).or_default();
            for group in groups {
                taker.freezers.push(Freezer::open(&hierarchies, group)?);
            }
        }
        Ok(Self(takers))
    }

    fn hold_all(&self) -> io::Result<()> {
        self.0.keys().try_for_each(|name| self.hold(name))
    }

    /// Whoever asks stands still before whoever answers.
    fn hold(&self, name: &str) -> io::Result<()> {
        self.send(name, Signal::SIGSTOP)?;
        for freezer in &self.0[name].freezers {
            freezer.file.write_all_at(freezer.hold, 0)?;
        }
        Ok(())
    }

    fn release(&self, name: &str) -> io::Result<()> {
        for freezer in &self.0[name].freezers {
            freezer.file.write_all_at(freezer.release, 0)?;
        }
        self.send(name, Signal::SIGCONT)
    }

    fn send(&self, name: &str, signal: Signal) -> io::Result<()> {
        for pid in &self.0[name].pids {
            kill(*pid, signal).map_err(|error| {
                io::Error::other(format!(
                    "process {pid} of `{name}` cannot be stopped: {error}"
                ))
            })?;
        }
        Ok(())
    }
}

impl Drop for Takers {
    fn drop(&mut self) {
        for taker in self.0.values() {
            // One that has ended needs nothing, and the others must go on whatever happens.
            for freezer in &taker.freezers {
                let _ = freezer.file.write_all_at(freezer.release, 0);
            }
            for pid in &taker.pids {
                let _ = kill(*pid, Signal::SIGCONT);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> TurnsPlan {
        TurnsPlan {
            version: TURNS_VERSION,
            pids: BTreeMap::from([("a".to_owned(), vec![1])]),
            groups: BTreeMap::new(),
            order: vec!["a".to_owned()],
            seconds: 0.5,
            rest: 0.1,
            control: 0.005,
        }
    }

    #[test]
    fn a_plan_that_makes_no_sense_is_refused_with_a_sentence() {
        assert_eq!(check(&plan()), Ok(()));
        let refused = |change: fn(&mut TurnsPlan)| {
            let mut plan = plan();
            change(&mut plan);
            check(&plan).unwrap_err()
        };
        assert!(refused(|plan| plan.version = 9).contains("version 9"));
        assert!(refused(|plan| plan.seconds = 0.0).contains("from 0.01 to 60 s"));
        assert!(refused(|plan| plan.rest = -1.0).contains("from 0 to 60 s"));
        assert!(refused(|plan| plan.control = 0.0).contains("from 0.001 to 1 s"));
        assert!(refused(|plan| plan.order.push("b".to_owned())).contains("`b`"));
    }
}
