//! `turns`: let processes run one after the other, over and over, and tell when each did.
//!
//! Turns begin on an even grid, so that one that begins late does not move those after it. Nothing
//! is waited for actively: that would take processor time from those whose turn it is.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nix::sys::prctl::set_timerslack;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use wire::turns::{TURNS_VERSION, Turn, TurnsPlan};

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
/// go on.
pub fn turns(arguments: &Arguments) -> io::Result<()> {
    let plan: TurnsPlan = serde_json::from_str(&std::fs::read_to_string(&arguments.plan)?)?;
    check(&plan).map_err(|what| io::Error::new(io::ErrorKind::InvalidData, what))?;
    let stop = Stop::heed()?;
    set_timerslack(1)?;
    let start = instant_of(plan.begin);
    let takers = Takers::new(&plan.pids);
    let mut out = BufWriter::new(File::create(&arguments.out)?);
    takers.hold_all()?;
    for (number, name) in plan.order.iter().enumerate() {
        let at = |turns: usize| start + Duration::from_secs_f64(plan.seconds * turns as f64);
        if stop.by(at(number))? {
            break;
        }
        let began = takers.send(name, Signal::SIGCONT)?;
        let over = stop.by(at(number + 1))?;
        let ended = takers.send(name, Signal::SIGSTOP)?;
        let turn = Turn {
            name: name.clone(),
            began,
            ended,
        };
        serde_json::to_writer(&mut out, &turn)?;
        out.write_all(b"\n")?;
        if over {
            break;
        }
    }
    out.flush()
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
    match plan
        .order
        .iter()
        .find(|name| !plan.pids.contains_key(*name))
    {
        Some(name) => Err(format!("nobody is called `{name}`")),
        None => Ok(()),
    }
}

fn instant_of(time: f64) -> Instant {
    let ahead = time - unix_time();
    Instant::now() + Duration::from_secs_f64(ahead.max(0.0))
}

fn unix_time() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs_f64()
}

/// Processes by whose turn they run in; all go on as soon as this is dropped.
struct Takers(BTreeMap<String, Vec<Pid>>);

impl Takers {
    fn new(pids: &BTreeMap<String, Vec<i32>>) -> Self {
        let of = |pids: &Vec<i32>| pids.iter().map(|pid| Pid::from_raw(*pid)).collect();
        Self(
            pids.iter()
                .map(|(name, pids)| (name.clone(), of(pids)))
                .collect(),
        )
    }

    fn hold_all(&self) -> io::Result<()> {
        for name in self.0.keys() {
            self.send(name, Signal::SIGSTOP)?;
        }
        Ok(())
    }

    /// Signal all processes of one; returns the Unix time at which that was done.
    fn send(&self, name: &str, signal: Signal) -> io::Result<f64> {
        for pid in self.0.get(name).into_iter().flatten() {
            kill(*pid, signal).map_err(|error| {
                io::Error::other(format!("process {pid} of `{name}` cannot be held: {error}"))
            })?;
        }
        Ok(unix_time())
    }
}

impl Drop for Takers {
    fn drop(&mut self) {
        for pid in self.0.values().flatten() {
            // One that has ended needs nothing, and the others must go on whatever happens.
            let _ = kill(*pid, Signal::SIGCONT);
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
            order: vec!["a".to_owned()],
            begin: 0.0,
            seconds: 0.5,
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
        assert!(refused(|plan| plan.order.push("b".to_owned())).contains("`b`"));
    }
}
