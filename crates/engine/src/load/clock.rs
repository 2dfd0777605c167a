//! Time in nanoseconds since the load began, and waiting for a point of it.
//!
//! Timers of the runtime tick once a millisecond, too coarse for intended starts; a kernel timer
//! is exact. One serves all who wait, because they come in the order of the times they wait for.

use std::cell::{Cell, RefCell};
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

    /// A clock that reads zero at `origin`, and before it.
    pub fn at(origin: Instant) -> Self {
        Self { origin }
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
    /// Nobody waits for this time or a later one.
    end: Cell<u64>,
}

impl Alarm {
    /// Needs a runtime; nobody is woken unless [`Alarm::ring`] is being polled.
    pub fn new(clock: Clock) -> io::Result<Self> {
        Ok(Self {
            clock,
            timer: timer()?,
            waiting: RefCell::default(),
            end: Cell::new(u64::MAX),
        })
    }

    /// Wait until the clock reads `time`; false as soon as nobody is to wait for so long. Callers
    /// come in ascending order of `time`.
    pub async fn until(&self, time: u64) -> bool {
        let mut queued = false;
        poll_fn(|context| {
            if time >= self.end.get() {
                return Poll::Ready(false);
            }
            if self.clock.now() >= time {
                return Poll::Ready(true);
            }
            if !queued {
                queued = true;
                self.enqueue(time, context.waker().clone());
            }
            Poll::Pending
        })
        .await
    }

    /// From now on nobody waits for `end` or a later time.
    pub fn end_at(&self, end: u64) {
        self.end.set(end);
        let mut waiting = self.waiting.borrow_mut();
        while waiting.back().is_some_and(|(time, _)| *time >= end) {
            if let Some((_, waker)) = waiting.pop_back() {
                waker.wake();
            }
        }
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
                arm(&self.timer, *time - now);
            }
        }
    }

    fn enqueue(&self, time: u64, waker: Waker) {
        let mut waiting = self.waiting.borrow_mut();
        debug_assert!(waiting.back().is_none_or(|(before, _)| *before <= time));
        if waiting.is_empty() {
            arm(&self.timer, time.saturating_sub(self.clock.now()).max(1));
        }
        waiting.push_back((time, waker));
    }
}

/// A timer for one who waits alone, for one time after another; as exact as an [`Alarm`].
pub struct Ticker {
    clock: Clock,
    timer: AsyncFd<Timer>,
}

impl Ticker {
    /// Needs a runtime.
    pub fn new(clock: Clock) -> io::Result<Self> {
        Ok(Self {
            clock,
            timer: timer()?,
        })
    }

    /// Wait until the clock reads `time`, and return what it reads then.
    pub async fn until(&self, time: u64) -> io::Result<u64> {
        loop {
            let now = self.clock.now();
            if now >= time {
                return Ok(now);
            }
            arm(&self.timer, time - now);
            self.timer.readable().await?.clear_ready();
        }
    }
}

fn timer() -> io::Result<AsyncFd<Timer>> {
    let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
    let timer = Timer(TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?);
    // SAFETY: the timer owns its descriptor, which nothing replaces or closes while it lives.
    unsafe { AsyncFd::register_with_interest(timer, Interest::READABLE) }
        .map_err(|error| io::Error::other(error.to_string()))
}

fn arm(timer: &AsyncFd<Timer>, nanoseconds: u64) {
    let expiration = Expiration::OneShot(TimeSpec::from(Duration::from_nanos(nanoseconds)));
    timer
        .get_ref()
        .0
        .set(expiration, TimerSetTimeFlags::empty())
        .expect("a kernel timer accepts every positive time");
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
                        assert!(alarm.until(time).await);
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
    fn nobody_waits_beyond_the_end() {
        run(async {
            let alarm = Rc::new(Alarm::new(Clock::start()).unwrap());
            let hour = 3_600_000_000_000;
            let tasks: Vec<_> = [1, hour, 2 * hour]
                .into_iter()
                .map(|time| {
                    let alarm = alarm.clone();
                    tokio::task::spawn_local(async move { alarm.until(time).await })
                })
                .collect();
            tokio::task::yield_now().await;
            alarm.end_at(hour);
            let mut waited = Vec::new();
            for task in tasks {
                waited.push(task.await.unwrap());
            }
            assert_eq!(waited, [true, false, false]);
            assert!(!alarm.until(3 * hour).await);
        });
    }

    #[test]
    fn one_who_waits_alone_is_woken_time_after_time_and_never_early() {
        run(async {
            let clock = Clock::start();
            let ticker = Ticker::new(clock).unwrap();
            for time in [0, 1_000_000, 1_000_001, 3_000_000] {
                let now = ticker.until(time).await.unwrap();
                assert!((time..=clock.now()).contains(&now));
            }
        });
    }

    #[test]
    fn a_clock_reads_zero_until_its_origin() {
        let clock = Clock::at(Instant::now() + Duration::from_secs(3600));
        assert_eq!(clock.now(), 0);
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
