//! `pause`: hold processes still for a declared share of the time, and tell what really happened.
//!
//! A known effect to test the instrument with. Every period begins with a stop. What one sleep ends
//! too late is made up for by the next stop. Nothing is waited for actively: that would take
//! processor time from those that are held still.
//!
//! Whoever holds may be frozen together with the held, in others' turns. Periods that passed
//! meanwhile are left out, and a stop that was cut ends as soon as all go on.
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

/// A stop that lasts longer than it should by more than this was cut by a turn of others, or by the
/// control after a turn, which takes 10 ms.
const CUT: Duration = Duration::from_millis(8);

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
    /// File to write lines into: two for each stop, and one at least every fifth of a second.
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
    let pids = arguments.pids.iter().map(|pid| Pid::from_raw(*pid));
    let held = Held(pids.collect());
    let mut out = Record::new(File::create(&arguments.out)?);
    let start = match arguments.begin {
        Some(time) => instant_of(time)?,
        None => Instant::now(),
    };
    let mut excess = 0.0;
    let mut number = 0;
    out.tell()?;
    loop {
        if stop.by(start + schedule.begin(number))? {
            out.tell()?;
            return out.write();
        }
        if schedule.attended(number, start.elapsed()) && schedule.held(number) {
            let length = schedule.length(excess);
            let mut stopped = Duration::ZERO;
            if length > Duration::ZERO {
                out.tell()?;
                stopped = held.hold(&stop, length)?;
                out.stopped(stopped)?;
            }
            excess = schedule.excess(excess, length, stopped);
        }
        out.write_now_and_then()?;
        number = schedule.next(number, start.elapsed());
    }
}

/// What happened: written in pieces, so that a stop costs no call of the kernel beside its own.
struct Record {
    out: File,
    lines: Vec<u8>,
    paused: Duration,
    written: Instant,
}

impl Record {
    fn new(out: File) -> Self {
        Self {
            out,
            lines: Vec::new(),
            paused: Duration::ZERO,
            written: Instant::now(),
        }
    }

    /// Add a line of how much was stopped until now.
    fn tell(&mut self) -> io::Result<()> {
        let cpu = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)?;
        let line = PauseLine {
            time: unix_time(),
            paused: self.paused.as_secs_f64(),
            cpu: Duration::from(cpu).as_secs_f64(),
        };
        serde_json::to_writer(&mut self.lines, &line)?;
        self.lines.push(b'\n');
        Ok(())
    }

    /// A stop has just ended.
    fn stopped(&mut self, length: Duration) -> io::Result<()> {
        self.paused += length;
        self.tell()
    }

    fn write_now_and_then(&mut self) -> io::Result<()> {
        if self.written.elapsed() < LINE {
            return Ok(());
        }
        self.tell()?;
        self.write()
    }

    fn write(&mut self) -> io::Result<()> {
        self.written = Instant::now();
        self.out.write_all(&self.lines)?;
        self.lines.clear();
        Ok(())
    }
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

    /// The period after this one; those of which most has passed meanwhile are left out.
    fn next(&self, number: u32, elapsed: Duration) -> u32 {
        (number + 1).max((elapsed.as_secs_f64() / self.period - 0.5).ceil() as u32)
    }

    /// Whether a period has just begun: not where all stood still over its beginning.
    fn attended(&self, number: u32, elapsed: Duration) -> bool {
        elapsed.as_secs_f64() < (f64::from(number) + 0.5) * self.period
    }

    /// Whether processes are held in this period, or it is one of rest.
    fn held(&self, number: u32) -> bool {
        self.rest.is_none_or(|rest| number % (2 * rest) < rest)
    }

    /// How long to stop, after stops that were `excess` seconds too long in all. What is missing is
    /// made up for at no more than twice the declared share.
    fn length(&self, excess: f64) -> Duration {
        let most = (2.0 * self.share).min(0.95) * self.period;
        Duration::from_secs_f64((self.share * self.period - excess).clamp(0.0, most))
    }

    /// Seconds by which stops were too long in all, after one more. What was cut by the turns of
    /// others is not made up for.
    fn excess(&self, before: f64, wanted: Duration, stopped: Duration) -> f64 {
        if stopped > wanted + CUT {
            return 0.0;
        }
        before + stopped.as_secs_f64() - self.share * self.period
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
        assert!((SCHEDULE.length(0.0).as_secs_f64() - 0.0005).abs() < 1e-9);
    }

    #[test]
    fn a_stop_that_was_too_long_shortens_the_next() {
        let wanted = Duration::from_micros(500);
        let excess = SCHEDULE.excess(0.0, wanted, Duration::from_micros(700));
        assert!((SCHEDULE.length(excess).as_secs_f64() - 0.0003).abs() < 1e-9);
        let excess = SCHEDULE.excess(0.0, wanted, Duration::from_millis(5));
        assert_eq!(SCHEDULE.length(excess), Duration::ZERO);
        let excess = SCHEDULE.excess(excess, Duration::ZERO, Duration::ZERO);
        assert!(
            (excess - 0.004).abs() < 1e-9,
            "what is not made up for yet stays"
        );
    }

    #[test]
    fn what_is_missing_is_made_up_for_slowly() {
        assert!((SCHEDULE.length(-0.005).as_secs_f64() - 0.001).abs() < 1e-9);
    }

    #[test]
    fn a_stop_that_others_turns_cut_is_not_made_up_for() {
        let wanted = Duration::from_millis(5);
        for cut in [15, 500] {
            let excess = SCHEDULE.excess(0.0002, wanted, Duration::from_millis(cut));
            assert!(excess.abs() < 1e-12);
        }
    }

    #[test]
    fn periods_that_passed_are_left_out() {
        assert_eq!(SCHEDULE.next(3, Duration::from_millis(38)), 4);
        assert_eq!(SCHEDULE.next(3, Duration::from_millis(44)), 4);
        assert_eq!(SCHEDULE.next(3, Duration::from_millis(95)), 9);
        assert_eq!(SCHEDULE.next(3, Duration::from_millis(96)), 10);
        assert!(SCHEDULE.attended(4, Duration::from_millis(44)));
        assert!(!SCHEDULE.attended(4, Duration::from_millis(46)));
    }

    #[test]
    fn with_a_rest_processes_are_held_and_left_alone_for_as_long() {
        let schedule = Schedule {
            rest: Some(3),
            ..SCHEDULE
        };
        let held: Vec<_> = (0..9).map(|number| schedule.held(number)).collect();
        assert_eq!(held, [[true; 3], [false; 3], [true; 3]].concat());
    }

    #[test]
    fn sleeps_that_end_late_do_not_add_up() {
        let schedule = Schedule {
            share: 0.005,
            period: 0.01,
            rest: None,
        };
        let (mut paused, mut excess) = (Duration::ZERO, 0.0);
        for number in 0..100_u64 {
            let length = schedule.length(excess);
            let mut stopped = Duration::ZERO;
            if length > Duration::ZERO {
                stopped = length + Duration::from_micros(60 + number * 37 % 91);
            }
            paused += stopped;
            excess = schedule.excess(excess, length, stopped);
        }
        assert!((paused.as_secs_f64() - 0.005).abs() < 151e-6);
    }
}
