//! CPU time of this process, and whether the thread that makes load was at its limit.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::rc::Rc;
use std::time::Duration;

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use nix::time::{ClockId, clock_gettime};
use tokio::task::{JoinHandle, spawn_local};

use super::clock::{Clock, Ticker};

/// Share of the time at which a thread that works more is taken for the limit.
const SATURATED: f64 = 0.95;

/// Share of a measured window for which the engine may be at its limit without being taken for what
/// limited the load.
const TOLERATED: f64 = 0.05;

/// Time from one look at the thread that makes load to the next one, in nanoseconds.
const TICK: u64 = 10_000_000;

/// A thread that is later than this for its look was held up, and so was every answer.
const BEHIND: u64 = 1_000_000;

/// Whether the engine may have limited the load of a window of so many seconds: a thread worked for
/// nearly all of it, or, in an open load, the thread that makes load was at its limit for more than a
/// small part. In a closed loop answers come in groups, and so it works for many a moment without a
/// pause although it is far from its limit.
pub fn saturated(busiest_thread: f64, limited: f64, seconds: f64, open: bool) -> bool {
    busiest_thread > SATURATED * seconds || (open && limited > TOLERATED * seconds)
}

/// CPU seconds so far.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cpu {
    /// In user mode, all threads.
    pub user: f64,
    /// In the kernel, all threads.
    pub system: f64,
    /// Both, of the calling thread.
    pub own: f64,
}

impl Cpu {
    /// As the kernel accounts it at this moment.
    pub fn now() -> nix::Result<Self> {
        let process = getrusage(UsageWho::RUSAGE_SELF)?;
        let thread = getrusage(UsageWho::RUSAGE_THREAD)?;
        Ok(Self {
            user: user(&process),
            system: system(&process),
            own: user(&thread) + system(&thread),
        })
    }

    /// What was used since `before`; nothing where that came after this, as in a window that is
    /// over before its beginning is noticed.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            user: (self.user - before.user).max(0.0),
            system: (self.system - before.system).max(0.0),
            own: (self.own - before.own).max(0.0),
        }
    }

    /// This thread, which makes the load, or all others together, whichever used more.
    pub fn busiest_thread(&self) -> f64 {
        self.own.max(self.user + self.system - self.own)
    }
}

/// Looks at the thread that makes load, from inside, a hundred times a second: whether it worked, or
/// waited for a processor, without a pause since the last look, and whether it came late to this one.
/// So also a short burst that is too much for the engine is seen, and a host that does not let it
/// run.
pub struct Watcher {
    seen: Rc<Cell<Seen>>,
    looking: JoinHandle<io::Result<()>>,
}

impl Watcher {
    /// Begin to look at the calling thread when `clock` reads `begin`. Needs a runtime.
    pub fn begin(clock: Clock, begin: u64) -> io::Result<Self> {
        let ticker = Ticker::new(clock)?;
        let seen = Rc::new(Cell::new(Seen::default()));
        Ok(Self {
            looking: spawn_local(look_on(ticker, begin, seen.clone())),
            seen,
        })
    }

    /// Nanoseconds for which the thread was at its limit so far.
    pub fn limited(&self) -> u64 {
        self.seen.get().limited
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.looking.abort();
    }
}

async fn look_on(ticker: Ticker, begin: u64, seen: Rc<Cell<Seen>>) -> io::Result<()> {
    let thread = OwnThread::open();
    let mut at = ticker.until(begin).await?;
    let mut looks = Seen {
        at,
        runnable: thread.runnable()?,
        limited: 0,
    };
    loop {
        let due = at + TICK;
        at = ticker.until(due).await?;
        looks.look(due, at, thread.runnable()?);
        seen.set(looks);
    }
}

/// What was seen so far; in nanoseconds.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    /// Time of the last look.
    at: u64,
    /// For how long the thread had worked, or waited for a processor, until then.
    runnable: u64,
    /// For how long it was at its limit.
    limited: u64,
}

impl Seen {
    /// A look that was due at `due` is made `at`, when the thread was `runnable` for so long.
    fn look(&mut self, due: u64, at: u64, runnable: u64) {
        let passed = at - self.at;
        let busy = (runnable - self.runnable) as f64 > SATURATED * passed as f64;
        if busy || at > due + BEHIND {
            self.limited += passed;
        }
        (self.at, self.runnable) = (at, runnable);
    }
}

/// The thread that opened it.
struct OwnThread {
    /// CPU time, time of waiting for a processor, and how often it had one. None where the kernel
    /// does not tell.
    schedule: Option<File>,
}

impl OwnThread {
    fn open() -> Self {
        Self {
            schedule: File::open("/proc/thread-self/schedstat").ok(),
        }
    }

    /// For how long it worked or waited for a processor so far, in nanoseconds.
    fn runnable(&self) -> io::Result<u64> {
        let worked = Duration::from(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)?);
        Ok(worked.as_nanos() as u64 + self.waited()?)
    }

    /// For how long it waited, where the kernel tells. Its CPU time there is that of the last tick.
    fn waited(&self) -> io::Result<u64> {
        let Some(file) = &self.schedule else {
            return Ok(0);
        };
        let mut text = [0; 80];
        let length = file.read_at(&mut text, 0)?;
        let text = str::from_utf8(&text[..length]).unwrap_or_default();
        let waited = text
            .split_whitespace()
            .nth(1)
            .and_then(|one| one.parse().ok());
        Ok(waited.unwrap_or(0))
    }
}

fn user(usage: &Usage) -> f64 {
    usage.user_time().num_microseconds() as f64 / 1e6
}

fn system(usage: &Usage) -> f64 {
    usage.system_time().num_microseconds() as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
    use nix::unistd::Pid;
    use std::time::Instant;

    #[test]
    fn a_thread_that_works_all_the_time_may_be_the_limit() {
        for open in [true, false] {
            assert!(saturated(1.92, 0.0, 2.0, open));
            assert!(!saturated(1.88, 0.0, 2.0, open));
        }
    }

    #[test]
    fn an_engine_at_its_limit_for_a_part_of_the_window_may_be_the_limit_of_an_open_load() {
        assert!(saturated(0.2, 0.11, 2.0, true));
        assert!(!saturated(0.2, 0.09, 2.0, true));
        assert!(!saturated(0.2, 1.9, 2.0, false));
    }

    #[test]
    fn looks_tell_who_worked_without_a_pause_and_who_came_late() {
        const MS: u64 = 1_000_000;
        let mut seen = Seen::default();
        seen.look(10 * MS, 10 * MS, 5 * MS);
        assert_eq!(seen.limited, 0);
        seen.look(20 * MS, 20 * MS, 14 * MS + MS / 2);
        assert_eq!(seen.limited, 0, "95 % is not more than that");
        seen.look(30 * MS, 30 * MS, 24 * MS + MS / 10);
        assert_eq!(seen.limited, 10 * MS);
        seen.look(40 * MS, 41 * MS, 24 * MS + MS / 10);
        assert_eq!(seen.limited, 10 * MS);
        seen.look(51 * MS, 151 * MS, 25 * MS);
        assert_eq!(seen.limited, 120 * MS);
    }

    #[test]
    fn a_thread_that_shares_a_processor_has_no_pause_either() {
        let here = sched_getaffinity(Pid::from_raw(0)).unwrap();
        let first = (0..CpuSet::count()).find(|cpu| here.is_set(*cpu).unwrap());
        let mut one = CpuSet::new();
        one.set(first.unwrap()).unwrap();
        let spin = move || {
            sched_setaffinity(Pid::from_raw(0), &one).unwrap();
            let thread = OwnThread::open();
            let (begin, before) = (Instant::now(), thread.runnable().unwrap());
            let worked = Cpu::now().unwrap();
            while begin.elapsed() < Duration::from_millis(200) {
                std::hint::spin_loop();
            }
            let passed = begin.elapsed().as_secs_f64();
            let runnable = (thread.runnable().unwrap() - before) as f64 / 1e9;
            let worked = Cpu::now().unwrap().since(&worked).own;
            (worked / passed, runnable / passed)
        };
        let threads = [(); 2].map(|()| std::thread::spawn(spin));
        let found = threads.map(|thread| thread.join().unwrap());
        assert!(
            found.iter().map(|(worked, _)| worked).sum::<f64>() < 1.3,
            "{found:?}"
        );
        assert!(
            found.iter().all(|(_, runnable)| *runnable > 0.9),
            "{found:?}"
        );
    }

    #[test]
    fn a_thread_that_is_kept_from_its_runtime_is_seen() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let limited = tokio::task::LocalSet::new().block_on(&runtime, async {
            let watcher = Watcher::begin(Clock::start(), 0).unwrap();
            let later = Watcher::begin(Clock::start(), 3_600_000_000_000).unwrap();
            tokio::time::sleep(Duration::from_millis(1)).await;
            let until = Instant::now() + Duration::from_millis(100);
            while Instant::now() < until {
                std::hint::spin_loop();
            }
            for _ in 0..1000 {
                if watcher.limited() > 0 {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            assert_eq!(later.limited(), 0, "its window has not begun");
            watcher.limited()
        });
        assert!(limited >= 100_000_000, "{limited}");
    }
}
