//! An even beat that never drifts: ticks are multiples of the interval from the start.

use std::time::{Duration, Instant};

/// Hands out the next tick; those that passed while nobody asked are counted, not made up for.
pub struct Ticks {
    start: Instant,
    interval: Duration,
    last: u64,
    missed: u64,
}

impl Ticks {
    /// The first tick is `start` itself, and taken.
    pub fn new(start: Instant, interval: Duration) -> Self {
        Self {
            start,
            interval,
            last: 0,
            missed: 0,
        }
    }

    /// The first tick that lies after `now`.
    pub fn next(&mut self, now: Instant) -> Instant {
        let passed = (now - self.start).as_nanos() / self.interval.as_nanos();
        let next = u64::try_from(passed).unwrap_or(u64::MAX).max(self.last) + 1;
        self.missed += next - self.last - 1;
        self.last = next;
        self.start + Duration::from_nanos((self.interval.as_nanos() as u64).saturating_mul(next))
    }

    /// How many ticks nobody asked for in time.
    pub fn missed(&self) -> u64 {
        self.missed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_multiples_of_the_interval() {
        let start = Instant::now();
        let mut ticks = Ticks::new(start, Duration::from_millis(200));
        for i in 0..5 {
            let asked = start + Duration::from_millis(200 * i + 20);
            assert_eq!(
                ticks.next(asked),
                start + Duration::from_millis(200 * (i + 1))
            );
        }
        assert_eq!(ticks.missed(), 0);
    }

    #[test]
    fn ticks_that_passed_are_counted_and_left_out() {
        let start = Instant::now();
        let mut ticks = Ticks::new(start, Duration::from_millis(100));
        assert_eq!(
            ticks.next(start + Duration::from_millis(350)),
            start + Duration::from_millis(400)
        );
        assert_eq!(ticks.missed(), 3);
    }

    #[test]
    fn asking_twice_in_one_interval_gives_the_tick_after() {
        let start = Instant::now();
        let mut ticks = Ticks::new(start, Duration::from_millis(100));
        ticks.next(start);
        assert_eq!(ticks.next(start), start + Duration::from_millis(200));
        assert_eq!(ticks.missed(), 0);
    }
}
