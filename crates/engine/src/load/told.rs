//! Being told to end by a signal: the first one may end a load with its result, the second one ends
//! it without.

use std::fmt;
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::run::Run;
use crate::message::tell;

/// Why a load did not go on to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// By INT; there is no result.
    Interrupted,
    /// By TERM; there is no result.
    Terminated,
    /// By HUP; there is no result.
    HungUp,
    /// By any, before its warm-up was over; there is no result.
    TooEarly,
    /// By any, and there is a result of what came before.
    Early,
}

impl Told {
    /// The exit code, without a result as shells have it.
    pub fn code(self) -> u8 {
        match self {
            Self::HungUp => 129,
            Self::Interrupted => 130,
            Self::Terminated => 143,
            Self::TooEarly => 1,
            Self::Early => 3,
        }
    }
}

impl fmt::Display for Told {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Interrupted | Self::Terminated | Self::HungUp => {
                "stopped by a signal; there is no result"
            }
            Self::TooEarly => {
                "the load was told to end before its warm-up was over; there is no result"
            }
            Self::Early => "ended early by a signal; the results are of what came before",
        })
    }
}

impl std::error::Error for Told {}

/// The signal that an error is of, if it is.
pub fn told(error: &io::Error) -> Option<Told> {
    error.get_ref()?.downcast_ref().copied()
}

/// Which signals end the measured window, when they come first; all others end the load without a
/// result, as each does before the load has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closing {
    /// None.
    Never,
    /// TERM.
    ByTerm,
    /// TERM, INT and HUP.
    ByAny,
}

impl Closing {
    fn by(self, told: Told) -> bool {
        match self {
            Self::Never => false,
            Self::ByTerm => told == Told::Terminated,
            Self::ByAny => true,
        }
    }
}

/// INT, TERM and HUP, which no longer kill this process.
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
    /// None where this process is to outlive its terminal.
    hang_up: Option<Signal>,
}

impl Signals {
    /// Begin to heed them. Needs a runtime.
    pub fn heed() -> io::Result<Self> {
        let hang_up = if outlives_its_terminal()? {
            None
        } else {
            Some(signal(SignalKind::hangup())?)
        };
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up,
        })
    }

    /// The next one that comes.
    async fn next(&mut self) -> Told {
        std::future::poll_fn(|context| {
            if self.interrupt.poll_recv(context).is_ready() {
                Poll::Ready(Told::Interrupted)
            } else if self.terminate.poll_recv(context).is_ready() {
                Poll::Ready(Told::Terminated)
            } else if let Some(hang_up) = &mut self.hang_up
                && hang_up.poll_recv(context).is_ready()
            {
                Poll::Ready(Told::HungUp)
            } else {
                Poll::Pending
            }
        })
        .await
    }

    /// What `work` comes to, or an error as soon as a signal comes.
    pub async fn unless<T>(&mut self, work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
        let mut work = pin!(work);
        let mut told = pin!(self.next());
        std::future::poll_fn(|context| match work.as_mut().poll(context) {
            Poll::Pending => told
                .as_mut()
                .poll(context)
                .map(|told| Err(io::Error::other(told))),
            ready @ Poll::Ready(_) => ready,
        })
        .await
    }

    /// End the measured window of `run` at the first signal, if that is one of `closing`, and the
    /// process at any other one.
    pub async fn end(mut self, run: Rc<Run>, closing: Closing) {
        let first = self.next().await;
        if closing.by(first) {
            run.end_early();
            if closing == Closing::ByAny {
                tell(&"the load ends; another signal ends it at once, without a result");
            }
            leave(self.next().await);
        }
        leave(first);
    }
}

/// Whether whoever began this process had it ignore HUP, as `nohup` does.
fn outlives_its_terminal() -> io::Result<bool> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let ignored = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // Signal 1 is the lowest bit.
    Ok(ignored.is_some_and(|mask| mask & 1 != 0))
}

/// End this process.
fn leave(told: Told) -> ! {
    tell(&told);
    std::process::exit(told.code().into());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::{pending, ready};

    #[test]
    fn only_the_signals_that_are_meant_to_end_a_window() {
        let kinds = [Told::Interrupted, Told::Terminated, Told::HungUp];
        let by = |closing: Closing| kinds.map(|told| closing.by(told));
        assert_eq!(by(Closing::Never), [false, false, false]);
        assert_eq!(by(Closing::ByTerm), [false, true, false]);
        assert_eq!(by(Closing::ByAny), [true, true, true]);
    }

    #[test]
    fn work_goes_on_until_a_signal_comes() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            // Signals that this process itself is sent once they no longer kill it.
            let mut signals = Signals::heed().unwrap();
            assert_eq!(signals.unless(ready(Ok(7))).await.unwrap(), 7);
            nix::sys::signal::raise(nix::sys::signal::Signal::SIGTERM).unwrap();
            let error = signals.unless(pending::<io::Result<()>>()).await;
            let error = error.unwrap_err();
            assert!(error.to_string().contains("there is no result"), "{error}");
        });
    }
}
