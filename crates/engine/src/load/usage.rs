//! CPU time of this process.

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// Share of the time at which a thread that works more is taken for the limit.
const SATURATED: f64 = 0.95;

/// Whether a thread that worked for so many seconds of a window may have limited the load.
pub fn saturated(busiest_thread: f64, seconds: f64) -> bool {
    busiest_thread > SATURATED * seconds
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

    /// What was used since `before`.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            user: self.user - before.user,
            system: self.system - before.system,
            own: self.own - before.own,
        }
    }

    /// This thread, which makes the load, or all others together, whichever used more.
    pub fn busiest_thread(&self) -> f64 {
        self.own.max(self.user + self.system - self.own)
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

    #[test]
    fn a_thread_that_works_all_the_time_may_be_the_limit() {
        assert!(saturated(1.92, 2.0));
        assert!(!saturated(1.88, 2.0));
    }
}
