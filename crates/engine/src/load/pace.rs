//! When operations are meant to start: a pure function of the plan.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use wire::load::{Arrivals, Level, LoadPlan, Part};

use super::run::nanoseconds;

/// Intended starts of one part of an open load, in nanoseconds since the start of the load.
///
/// Part `i` of `n` has the slots `i`, `i + n`, `i + 2n`, … of the whole schedule, so that all parts
/// together are exactly the whole one, whatever the spacing.
pub struct Pace {
    gaps: Gaps,
    rates: Rates,
    part: Part,
}

/// How the rate of all parts together goes, over warm-up and measured window; slots per second, and
/// seconds.
#[derive(Debug, Clone, Copy)]
pub struct Rates {
    warmup: f64,
    course: Course,
}

/// How the rate goes in the measured window.
#[derive(Debug, Clone, Copy)]
enum Course {
    Steady { rate: f64 },
    Burst { rate: f64, length: f64, rest: f64 },
    Ramp { from: f64, to: f64, length: f64 },
}

/// Share by which rounding may make a number of slots smaller than it is.
const ROUNDING: f64 = 1e-12;

enum Gaps {
    Constant,
    /// The sum of exponential gaps up to `slot`, kept so that asking in order costs one gap.
    Poisson {
        seed: u64,
        random: Xoshiro256PlusPlus,
        slot: u64,
        sum: f64,
    },
}

impl Pace {
    /// The pace of a plan; None in a closed loop. The error is one sentence.
    pub fn of(plan: &LoadPlan) -> Result<Option<Self>, String> {
        let arrivals = match plan.level {
            Level::Threads { .. } => return Ok(None),
            Level::Rate { arrivals, .. }
            | Level::Burst { arrivals, .. }
            | Level::Ramp { arrivals, .. } => arrivals,
        };
        check(plan)?;
        let rates = Rates::of(plan);
        Ok(rates.map(|rates| Self::new(rates, arrivals, plan.seed, plan.part)))
    }

    /// Nanoseconds from the start of the load to the end of a measured window of so many operations
    /// over all parts, where they are spaced evenly or by chance: the intended start of the one after
    /// them, or `latest` if that comes first. None in a closed loop.
    pub fn end(plan: &LoadPlan, operations: u64, latest: u64) -> Option<u64> {
        let whole = LoadPlan {
            part: Part { index: 0, of: 1 },
            ..plan.clone()
        };
        let mut pace = Self::of(&whole).ok()??;
        let begin = nanoseconds(plan.warmup);
        if matches!(pace.gaps, Gaps::Constant) {
            let seconds = pace.rates.window(operations as f64);
            return Some(begin.saturating_add(nanoseconds(seconds)).min(latest));
        }
        let first = (0..u64::MAX).find(|slot| pace.intended(*slot) >= begin)?;
        for slot in first..first.saturating_add(operations) {
            if pace.intended(slot) >= latest {
                return Some(latest);
            }
        }
        let end = pace.intended(first.saturating_add(operations));
        Some(end.min(latest))
    }

    fn new(rates: Rates, arrivals: Arrivals, seed: u64, part: Part) -> Self {
        let gaps = match arrivals {
            Arrivals::Constant => Gaps::Constant,
            Arrivals::Poisson => Gaps::poisson(seed),
        };
        Self { gaps, rates, part }
    }

    /// Intended start of the slot `n` of this part; the largest number if it never comes. The same
    /// `n` always gives the same answer.
    pub fn intended(&mut self, n: u64) -> u64 {
        let slot = n * u64::from(self.part.of) + u64::from(self.part.index);
        self.rates.intended(self.gaps.before(slot))
    }

    /// Slots of this part in the first `seconds` of the load. `known` is the answer for an earlier
    /// time, or zero; there the counting begins.
    pub fn before(&mut self, seconds: f64, known: u64) -> u64 {
        let time = nanoseconds(seconds);
        let mut slots = known;
        while self.intended(slots) < time {
            slots += 1;
        }
        slots
    }
}

/// Whether the rates of a plan can be kept; the error says what stands against it.
fn check(plan: &LoadPlan) -> Result<(), String> {
    let positive = |value: f64| value > 0.0 && value.is_finite();
    let none = |value: f64| value == 0.0;
    let what = match plan.level {
        Level::Rate { rate, .. } | Level::Burst { rate, .. } if !positive(rate) => {
            "`rate` must be positive"
        }
        Level::Burst { length, .. } if !positive(length) => "`length` must be positive",
        Level::Burst { rest, .. } if !positive(rest) && !none(rest) => {
            "`rest` must not be negative"
        }
        Level::Ramp { from, to, .. }
            if !(positive(from) && (positive(to) || none(to)) || none(from) && positive(to)) =>
        {
            "`from` and `to` must not be negative, and one must be positive"
        }
        Level::Burst { .. } | Level::Ramp { .. } if plan.duration.is_none() => {
            "a `burst` or `ramp` needs a `duration`"
        }
        _ => return Ok(()),
    };
    Err(what.to_owned())
}

impl Rates {
    /// Those of a plan; None in a closed loop.
    pub fn of(plan: &LoadPlan) -> Option<Self> {
        let course = match plan.level {
            Level::Threads { .. } => return None,
            Level::Rate { rate, .. } => Course::Steady { rate },
            Level::Burst {
                rate, length, rest, ..
            } => Course::Burst { rate, length, rest },
            Level::Ramp { from, to, .. } => Course::Ramp {
                from,
                to,
                length: plan.duration?,
            },
        };
        Some(Self {
            warmup: plan.warmup,
            course,
        })
    }

    /// Nanoseconds from the start of the load to the slot that comes after so many.
    fn intended(&self, slots: f64) -> u64 {
        let rate = match self.course {
            Course::Steady { rate } | Course::Burst { rest: rate, .. } => rate,
            Course::Ramp { from, .. } => from,
        };
        let warm = slots / rate;
        if warm < self.warmup {
            return nanoseconds(warm);
        }
        let since = self.window(slots - rate * self.warmup);
        nanoseconds(self.warmup).saturating_add(nanoseconds(since))
    }

    /// Seconds of the measured window before the slot that comes after so many of the window;
    /// infinite if that never comes.
    pub fn window(&self, slots: f64) -> f64 {
        if slots <= 0.0 {
            return 0.0;
        }
        match self.course {
            Course::Steady { rate } => slots / rate,
            Course::Burst { rate, length, rest } => {
                let time = slots / rate;
                if time < length {
                    time
                } else {
                    after(length, slots - rate * length, rest)
                }
            }
            // The rate at time t is from + (to − from) t / length; its integral is solved for t, in
            // the form that also holds where from = to.
            Course::Ramp { from, to, length } => {
                let whole = f64::midpoint(from, to) * length;
                if slots >= whole * (1.0 - ROUNDING) {
                    return after(length, slots - whole, to);
                }
                let slope = (to - from) / length;
                2.0 * slots / (from + (from * from + 2.0 * slope * slots).max(0.0).sqrt())
            }
        }
    }
}

/// `length`, and what so many slots last at a rate that may be zero.
fn after(length: f64, slots: f64, rate: f64) -> f64 {
    if rate > 0.0 {
        length + slots.max(0.0) / rate
    } else {
        f64::INFINITY
    }
}

impl Gaps {
    fn poisson(seed: u64) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self::Poisson {
            seed,
            random,
            slot: 0,
            sum: 0.0,
        }
    }

    /// Sum of the gaps before `slot` of the whole schedule, in mean gaps.
    fn before(&mut self, slot: u64) -> f64 {
        if let Self::Poisson { seed, slot: at, .. } = self
            && slot < *at
        {
            *self = Self::poisson(*seed);
        }
        match self {
            Self::Constant => slot as f64,
            Self::Poisson {
                random,
                slot: at,
                sum,
                ..
            } => {
                while *at < slot {
                    *sum -= (1.0 - evenly(random)).ln();
                    *at += 1;
                }
                *sum
            }
        }
    }
}

/// A number drawn evenly from zero up to, and not including, one.
pub fn evenly(random: &mut Xoshiro256PlusPlus) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests;
