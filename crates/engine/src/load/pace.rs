//! When operations are meant to start: a pure function of the plan.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use wire::load::{Arrivals, Level, LoadPlan, Part};

/// Intended starts of one part of an open load, in nanoseconds since the start of the load.
///
/// Part `i` of `n` has the slots `i`, `i + n`, `i + 2n`, … of the whole schedule, so that all parts
/// together are exactly the whole one, whatever the spacing.
pub struct Pace {
    gaps: Gaps,
    rate: f64,
    part: Part,
}

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
        match plan.level {
            Level::Threads { .. } => Ok(None),
            Level::Rate { rate, arrivals, .. } if rate > 0.0 && rate.is_finite() => {
                Ok(Some(Self::new(rate, arrivals, plan.seed, plan.part)))
            }
            Level::Rate { .. } => Err("`rate` must be positive".to_owned()),
            Level::Burst { .. } => Err("the engine cannot make a `burst` yet".to_owned()),
            Level::Ramp { .. } => Err("the engine cannot make a `ramp` yet".to_owned()),
        }
    }

    /// `rate` is that of all parts together, in operations per second.
    pub fn new(rate: f64, arrivals: Arrivals, seed: u64, part: Part) -> Self {
        let gaps = match arrivals {
            Arrivals::Constant => Gaps::Constant,
            Arrivals::Poisson => Gaps::poisson(seed),
        };
        Self { gaps, rate, part }
    }

    /// Intended start of the slot `n` of this part. The same `n` always gives the same answer.
    pub fn intended(&mut self, n: u64) -> u64 {
        let slot = n * u64::from(self.part.of) + u64::from(self.part.index);
        (self.gaps.before(slot) / self.rate * 1e9) as u64
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
mod tests {
    use super::*;
    use crate::load::plan::tests::plan;
    use proptest::prelude::*;

    const WHOLE: Part = Part { index: 0, of: 1 };

    #[test]
    fn only_an_open_load_has_a_pace_and_its_rate_is_positive() {
        let mut plan = plan();
        assert!(Pace::of(&plan).unwrap().is_none());
        let mut paced = |rate| {
            plan.level = Level::Rate {
                rate,
                connections: 1,
                arrivals: Arrivals::Constant,
            };
            Pace::of(&plan)
        };
        assert_eq!(paced(4.0).unwrap().unwrap().intended(1), 250_000_000);
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(
                paced(rate).err(),
                Some("`rate` must be positive".to_owned())
            );
        }
    }

    #[test]
    fn a_constant_pace_keeps_equal_gaps_for_ever() {
        let mut pace = Pace::new(3.0, Arrivals::Constant, 1, WHOLE);
        assert_eq!(pace.intended(0), 0);
        assert_eq!(pace.intended(3), 1_000_000_000);
        assert_eq!(pace.intended(3 * 86_400), 86_400_000_000_000);
    }

    #[test]
    fn poisson_gaps_have_the_mean_and_the_spread_of_an_exponential() {
        let mut pace = Pace::new(1000.0, Arrivals::Poisson, 7, WHOLE);
        let starts: Vec<u64> = (0..=100_000).map(|n| pace.intended(n)).collect();
        let gaps: Vec<f64> = starts
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) as f64)
            .collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean / 1e6 - 1.0).abs() < 0.02, "mean gap {mean} ns");
        assert!(
            (variance.sqrt() / mean - 1.0).abs() < 0.02,
            "spread {variance}"
        );
    }

    #[test]
    fn a_deficit_of_1_6_percent_is_29_seconds_of_lag_after_half_an_hour() {
        let mut wanted = Pace::new(1000.0, Arrivals::Constant, 1, WHOLE);
        let answered_at_984_per_second = 1800 * 984;
        let lag = 1800.0 - wanted.intended(answered_at_984_per_second) as f64 / 1e9;
        assert!((lag - 28.8).abs() < 0.01, "{lag}");
    }

    proptest! {
        #[test]
        fn the_parts_together_are_the_whole_schedule(
            of in 1_u32..6, rate in 1.0..1e5_f64, seed: u64, poisson: bool,
        ) {
            let arrivals = if poisson { Arrivals::Poisson } else { Arrivals::Constant };
            let mut whole = Pace::new(rate, arrivals, seed, WHOLE);
            let mut expected: Vec<u64> = (0..u64::from(of) * 20).map(|n| whole.intended(n)).collect();
            let mut added: Vec<u64> = (0..of)
                .flat_map(|index| {
                    let mut pace = Pace::new(rate, arrivals, seed, Part { index, of });
                    (0..20).map(move |n| pace.intended(n)).collect::<Vec<_>>()
                })
                .collect();
            added.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(added, expected);
        }

        #[test]
        fn asking_out_of_order_changes_nothing(seed: u64, first in 0_u64..500, second in 0_u64..500) {
            let mut pace = Pace::new(100.0, Arrivals::Poisson, seed, WHOLE);
            let mut fresh = Pace::new(100.0, Arrivals::Poisson, seed, WHOLE);
            pace.intended(first);
            prop_assert_eq!(pace.intended(second), fresh.intended(second));
        }
    }
}
