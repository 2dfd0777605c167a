//! Time in nanoseconds since the load began, and waiting for a point of it.
//!
//! Timers of the runtime tick once a millisecond, too coarse for intended starts; a kernel timer
//! is exact. One serves all who wait, because they come in the order of the times they wait for.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::Sleep;

/// Nanoseconds since an origin.
#[derive(Clone, Copy)]
pub struct Clock {
    origin: Instant,
}

impl Clock {
    /// A clock that reads zero now.
    pub fn start() -> Self {
        Self {
            origin: Instant::now(),
        }
    }

    /// Nanoseconds since the origin.
    pub fn now(&self) -> u64 {
        self.origin.elapsed().as_nanos() as u64
    }

    /// The instant at which this clock reads `nanoseconds`.
    pub fn instant(&self, nanoseconds: u64) -> Instant {
        self.origin + Duration::from_nanos(nanoseconds)
    }
}

struct Timer(TimerFd);

impl AsRawFd for Timer {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_fd().as_raw_fd()
    }
}

/// Wakes those who wait, each at its time, to a few microseconds.
pub struct Alarm {
    clock: Clock,
    timer: AsyncFd<Timer>,
    waiting: RefCell<VecDeque<(u64, Waker)>>,
}

impl Alarm {
    /// Needs a runtime; nobody is woken unless [`Alarm::ring`] is being polled.
    pub fn new(clock: Clock) -> io::Result<Self> {
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let timer = Timer(TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?);
        // SAFETY: the timer owns its descriptor, which nothing replaces or closes while it lives.
        let timer = unsafe { AsyncFd::register_with_interest(timer, Interest::READABLE) }
            .map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Self {
            clock,
            timer,
            waiting: RefCell::default(),
        })
    }

    /// Wait until the clock reads `time`. Callers come in ascending order of `time`.
    pub async fn until(&self, time: u64) {
        let mut queued = false;
        poll_fn(|context| {
            if self.clock.now() >= time {
                return Poll::Ready(());
            }
            if !queued {
                queued = true;
                self.enqueue(time, context.waker().clone());
            }
            Poll::Pending
        })
        .await;
    }

    /// Wake those whose time has come, for ever.
    pub async fn ring(&self) -> io::Result<()> {
        loop {
            self.timer.readable().await?.clear_ready();
            let now = self.clock.now();
            let mut waiting = self.waiting.borrow_mut();
            while waiting.front().is_some_and(|(time, _)| *time <= now) {
                if let Some((_, waker)) = waiting.pop_front() {
                    waker.wake();
                }
            }
            if let Some((time, _)) = waiting.front() {
                self.arm(*time - now);
            }
        }
    }

    fn enqueue(&self, time: u64, waker: Waker) {
        let mut waiting = self.waiting.borrow_mut();
        debug_assert!(waiting.back().is_none_or(|(before, _)| *before <= time));
        if waiting.is_empty() {
            self.arm(time.saturating_sub(self.clock.now()).max(1));
        }
        waiting.push_back((time, waker));
    }

    fn arm(&self, nanoseconds: u64) {
        let expiration = Expiration::OneShot(TimeSpec::from(Duration::from_nanos(nanoseconds)));
        self.timer
            .get_ref()
            .0
            .set(expiration, TimerSetTimeFlags::empty())
            .expect("a kernel timer accepts every positive time");
    }
}

/// Ends operations that take too long. Reused from operation to operation: the runtime's timer is
/// touched only when one really lasts.
pub struct Deadline {
    sleep: Pin<Box<Sleep>>,
}

impl Deadline {
    /// Needs a runtime.
    pub fn new() -> Self {
        Self {
            sleep: Box::pin(tokio::time::sleep(Duration::ZERO)),
        }
    }

    /// What `operation` comes to, or None at `due`. Calls come in ascending order of `due`.
    pub async fn limit<T>(
        &mut self,
        due: Instant,
        operation: impl Future<Output = T>,
    ) -> Option<T> {
        let mut operation = std::pin::pin!(operation);
        let due = tokio::time::Instant::from_std(due);
        poll_fn(|context| match operation.as_mut().poll(context) {
            Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
            Poll::Pending => self.expired(due, context).map(|()| None),
        })
        .await
    }

    fn expired(&mut self, due: tokio::time::Instant, context: &mut Context<'_>) -> Poll<()> {
        while self.sleep.as_mut().poll(context).is_ready() {
            if self.sleep.deadline() >= due {
                return Poll::Ready(());
            }
            self.sleep.as_mut().reset(due);
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::pending;
    use std::rc::Rc;

    fn run<T>(future: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        tokio::task::LocalSet::new().block_on(&runtime, future)
    }

    #[test]
    fn those_who_wait_are_woken_in_order_and_never_early() {
        run(async {
            let clock = Clock::start();
            let alarm = Rc::new(Alarm::new(clock).unwrap());
            let ringer = alarm.clone();
            let ring = tokio::task::spawn_local(async move { ringer.ring().await });
            let woken = Rc::new(RefCell::new(Vec::new()));
            let tasks: Vec<_> = [1_000_000_u64, 1_300_000, 1_300_000, 5_000_000]
                .into_iter()
                .map(|time| {
                    let (alarm, woken) = (alarm.clone(), woken.clone());
                    tokio::task::spawn_local(async move {
                        alarm.until(time).await;
                        assert!(clock.now() >= time);
                        woken.borrow_mut().push(time);
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
            ring.abort();
            assert_eq!(
                *woken.borrow(),
                [1_000_000, 1_300_000, 1_300_000, 5_000_000]
            );
        });
    }

    #[test]
    fn an_operation_that_never_ends_is_ended_and_the_next_one_gets_its_whole_time() {
        run(async {
            let mut deadline = Deadline::new();
            let soon = |milliseconds| Instant::now() + Duration::from_millis(milliseconds);
            assert_eq!(deadline.limit(soon(5), pending::<()>()).await, None);
            assert_eq!(
                deadline.limit(soon(1000), std::future::ready(3)).await,
                Some(3)
            );
            let due = soon(20);
            assert_eq!(deadline.limit(due, pending::<()>()).await, None);
            assert!(Instant::now() >= due);
        });
    }
}
