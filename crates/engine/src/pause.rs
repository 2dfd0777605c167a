//! `pause`: hold processes still for a declared share of the time, and tell what really happened.
//!
//! A known effect to test the instrument with. Every period begins with a stop. How long it lasts
//! is whatever brings the time stopped so far to the declared share of the time at the period's
//! end, so what one sleep ends too late is made up for by the next stop. Nothing is waited for
//! actively: that would take processor time from those that are held still.
//!
//! With a rest, processes are held for so long and then left alone for as long, over and over: what
//! the stops cost can then be told from one piece of time to the next.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::sys::prctl::set_timerslack;
use nix::sys::signal::{Signal, kill};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::Pid;
use wire::samples::PauseLine;

use crate::moment::{instant_of, unix_time};
use crate::stop::Stop;

/// Time between lines of the file.
const LINE: Duration = Duration::from_millis(200);

/// Arguments of `pause`.
#[derive(clap::Args)]
pub struct Arguments {
    /// A process to hold; may be given several times.
    #[arg(long = "pid", required = true)]
    pids: Vec<i32>,
    /// Share of the time, from 0 to 0.9.
    #[arg(long)]
    share: f64,
    /// Seconds from one stop to the next.
    #[arg(long)]
    period: f64,
    /// Unix time of the first period, which must not have passed; now unless given.
    #[arg(long)]
    begin: Option<f64>,
    /// Seconds that the processes are held for, and then left alone for: whole periods.
    #[arg(long)]
    rest: Option<f64>,
    /// File to write a line into, five times a second.
    #[arg(long)]
    out: PathBuf,
}

/// Pause until TERM, INT or the parent's end. However this ends, all processes go on.
pub fn pause(arguments: &Arguments) -> io::Result<()> {
    if !(0.0..=0.9).contains(&arguments.share) || !(0.001..=1.0).contains(&arguments.period) {
        let what = "the share must be from 0 to 0.9 and the period from 0.001 to 1 s";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    let stop = Stop::heed()?;
    set_timerslack(1)?;
    let schedule = Schedule {
        share: arguments.share,
        period: arguments.period,
        rest: arguments
            .rest
            .map(|seconds| (seconds / arguments.period).round().max(1.0) as u32),
    };
    let held = Held(
        arguments
            .pids
            .iter()
            .map(|pid| Pid::from_raw(*pid))
            .collect(),
    );
    let mut out = File::create(&arguments.out)?;
    let start = match arguments.begin {
        Some(time) => instant_of(time)?,
        None => Instant::now(),
    };
    let mut paused = Duration::ZERO;
    let mut written = Instant::now();
    let mut number = 0;
    tell(&mut out, paused)?;
    loop {
        let ending = stop.by(start + schedule.begin(number))?;
        if ending || written.elapsed() >= LINE {
            tell(&mut out, paused)?;
            written = Instant::now();
        }
        if ending {
            return Ok(());
        }
        let length = schedule.length(number, paused);
        if length > Duration::ZERO {
            paused += held.hold(&stop, length)?;
        }
        number = schedule.next(number, start.elapsed());
    }
}

fn tell(out: &mut File, paused: Duration) -> io::Result<()> {
    let cpu = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)?;
    let line = PauseLine {
        time: unix_time(),
        paused: paused.as_secs_f64(),
        cpu: Duration::from(cpu).as_secs_f64(),
    };
    let mut text = serde_json::to_string(&line)?;
    text.push('\n');
    out.write_all(text.as_bytes())
}

/// When to stop, and for how long.
struct Schedule {
    share: f64,
    period: f64,
    /// Periods that processes are held for, and then left alone for.
    rest: Option<u32>,
}

impl Schedule {
    /// Begin of a period, from the start.
    fn begin(&self, number: u32) -> Duration {
        Duration::from_secs_f64(self.period * f64::from(number))
    }

    /// The period after this one; those that passed meanwhile are left out.
    fn next(&self, number: u32, elapsed: Duration) -> u32 {
        (number + 1).max((elapsed.as_secs_f64() / self.period) as u32)
    }

    /// Periods until and with this one in which processes are held; None where it is one of rest.
    fn held(&self, number: u32) -> Option<u32> {
        let Some(rest) = self.rest else {
            return Some(number + 1);
        };
        let (round, place) = (number / (2 * rest), number % (2 * rest));
        (place < rest).then_some(round * rest + place + 1)
    }

    /// How long to stop in this period, after `paused` in those before. What a late period left
    /// behind is made up for at no more than twice the declared share.
    fn length(&self, number: u32, paused: Duration) -> Duration {
        let Some(held) = self.held(number) else {
            return Duration::ZERO;
        };
        let due = self.share * self.period * f64::from(held);
        let most = (2.0 * self.share).min(0.95) * self.period;
        Duration::from_secs_f64((due - paused.as_secs_f64()).clamp(0.0, most))
    }
}

/// Processes that run again as soon as this is dropped.
struct Held(Vec<Pid>);

impl Held {
    /// Stop all for about `length`; return how long it really was.
    fn hold(&self, stop: &Stop, length: Duration) -> io::Result<Duration> {
        for pid in &self.0 {
            kill(*pid, Signal::SIGSTOP).map_err(|error| {
                io::Error::other(format!("process {pid} cannot be stopped: {error}"))
            })?;
        }
        let began = Instant::now();
        stop.by(began + length)?;
        self.release();
        Ok(began.elapsed())
    }

    fn release(&self) {
        for pid in &self.0 {
            // One that has ended needs nothing, and the others must go on whatever happens.
            let _ = kill(*pid, Signal::SIGCONT);
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEDULE: Schedule = Schedule {
        share: 0.05,
        period: 0.01,
        rest: None,
    };

    #[test]
    fn an_exact_past_asks_for_the_declared_share() {
        let length = SCHEDULE.length(7, Duration::from_micros(3500));
        assert!((length.as_secs_f64() - 0.0005).abs() < 1e-9);
    }

    #[test]
    fn a_stop_that_was_too_long_shortens_the_next() {
        let length = SCHEDULE.length(1, Duration::from_micros(700));
        assert!((length.as_secs_f64() - 0.0003).abs() < 1e-9);
        assert_eq!(SCHEDULE.length(1, Duration::from_millis(5)), Duration::ZERO);
    }

    #[test]
    fn what_was_missed_is_made_up_for_slowly() {
        let length = SCHEDULE.length(100, Duration::ZERO);
        assert!((length.as_secs_f64() - 0.001).abs() < 1e-9);
    }

    #[test]
    fn periods_that_passed_are_left_out() {
        assert_eq!(SCHEDULE.next(3, Duration::from_millis(38)), 4);
        assert_eq!(SCHEDULE.next(3, Duration::from_millis(95)), 9);
    }

    #[test]
    fn with_a_rest_processes_are_held_and_left_alone_for_as_long() {
        let schedule = Schedule {
            rest: Some(3),
            ..SCHEDULE
        };
        let held: Vec<_> = (0..9).map(|number| schedule.held(number)).collect();
        let (first, second) = ([Some(1), Some(2), Some(3)], [Some(4), Some(5), Some(6)]);
        assert_eq!(held, [&first[..], &[None; 3], &second].concat());
        assert_eq!(schedule.length(4, Duration::ZERO), Duration::ZERO);
        let length = schedule.length(6, Duration::from_micros(1500));
        assert!((length.as_secs_f64() - 0.0005).abs() < 1e-9);
    }

    #[test]
    fn sleeps_that_end_late_do_not_add_up() {
        let schedule = Schedule {
            share: 0.005,
            period: 0.01,
            rest: None,
        };
        let mut paused = Duration::ZERO;
        for number in 0..100 {
            let length = schedule.length(number, paused);
            if length > Duration::ZERO {
                paused += length + Duration::from_micros(60 + u64::from(number * 37 % 91));
            }
        }
        assert!((paused.as_secs_f64() - 0.005).abs() < 151e-6);
    }
}
