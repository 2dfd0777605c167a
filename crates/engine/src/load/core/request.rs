//! Which record an operation asks for: YCSB's `requestdistribution`.

use rand_xoshiro::Xoshiro256PlusPlus;
use wire::load::{Level, LoadPlan, Phase, Requests, Ycsb};

use super::inserted;
use super::zipfian::{SCRAMBLED_ITEMS, SCRAMBLED_ZETA, Zipfian};
use crate::load::hash::fnv;
use crate::load::pace::evenly;
use crate::load::share;

/// Chooses positions among the keys that there are.
pub enum Chooser {
    /// All alike.
    Uniform {
        /// The first of them.
        first: u64,
        /// How many they are.
        count: u64,
    },
    /// Popular keys, spread over all of them by a hash.
    Scrambled {
        /// Draws ranks.
        zipfian: Zipfian,
        /// The first position.
        first: u64,
        /// Positions that ranks are spread over.
        span: u64,
    },
    /// The later inserted, the more popular.
    Latest {
        /// Draws distances from the last key.
        zipfian: Zipfian,
    },
}

/// Whether such requests can be made; the error says what stands against it.
pub fn check(requests: Requests) -> Result<(), String> {
    match requests {
        Requests::Uniform | Requests::Zipfian | Requests::Latest => Ok(()),
        Requests::Sequential | Requests::Hotspot { .. } | Requests::Exponential { .. } => {
            let there_are = "there are `uniform`, `zipfian` and `latest`";
            Err(format!(
                "the engine cannot make these `requests` yet; {there_are}"
            ))
        }
    }
}

impl Chooser {
    /// `expected_inserts` widens the span of the scrambled distribution, so that the popular keys
    /// stay the same while keys are inserted. The error is one sentence.
    pub fn new(workload: &Ycsb, expected_inserts: u64) -> Result<Self, String> {
        check(workload.requests)?;
        let keys = inserted(workload).unwrap_or(0..workload.records);
        let (first, count) = (keys.start, keys.end - keys.start);
        Ok(match workload.requests {
            Requests::Zipfian => Self::Scrambled {
                zipfian: Zipfian::with_zeta(SCRAMBLED_ITEMS + 1, SCRAMBLED_ZETA),
                first,
                // One more than there are keys, as in YCSB; a key beyond the last is drawn again.
                span: count + expected_inserts + 1,
            },
            Requests::Latest => Self::Latest {
                zipfian: Zipfian::new((workload.records - 1).max(1)),
            },
            _ => Self::Uniform { first, count },
        })
    }

    /// A position, at most `last`, the highest that may be asked for.
    pub fn position(&mut self, last: u64, random: &mut Xoshiro256PlusPlus) -> u64 {
        match self {
            Self::Uniform { first, count } => *first + (evenly(random) * *count as f64) as u64,
            Self::Scrambled {
                zipfian,
                first,
                span,
            } => loop {
                let position = *first + fnv(zipfian.rank(evenly(random))) % *span;
                if position <= last {
                    break position;
                }
            },
            Self::Latest { zipfian } => {
                zipfian.grow(last);
                last - zipfian.rank(evenly(random)).min(last)
            }
        }
    }
}

/// Twice the inserts that this part is to make, cut to a whole number as YCSB cuts it. Where a
/// closed loop ends by time alone, which YCSB does not allow here, their number is unknown, and as
/// many as there are records are allowed for.
pub fn expected_inserts(plan: &LoadPlan, workload: &Ycsb) -> u64 {
    let weight = workload.mix.insert;
    if weight <= 0.0 || plan.phase == Phase::Load {
        return 0;
    }
    let operations = match (plan.level, plan.operations, plan.duration) {
        (_, Some(operations), _) => share::count(operations, plan.part) as f64,
        (Level::Rate { rate, .. }, None, Some(seconds)) => {
            rate * (plan.warmup + seconds) / f64::from(plan.part.of)
        }
        _ => return workload.records,
    };
    (operations * weight * 2.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::plan::tests::{plan, ycsb};
    use rand_xoshiro::rand_core::SeedableRng;
    use wire::load::Part;

    #[test]
    fn expected_inserts_are_cut_as_in_ycsb() {
        let mut plan = plan();
        ycsb(&mut plan).mix.insert = 0.05;
        (plan.duration, plan.operations) = (None, Some(1009));
        let expected = |plan: &LoadPlan| {
            let mut plan = plan.clone();
            let workload = ycsb(&mut plan).clone();
            expected_inserts(&plan, &workload)
        };
        assert_eq!(expected(&plan), 100);
        plan.part = Part { index: 1, of: 3 };
        assert_eq!(expected(&plan), 33);
        plan.phase = Phase::Load;
        assert_eq!(expected(&plan), 0);
    }

    #[test]
    fn only_keys_of_the_insert_range_are_asked_for() {
        for requests in [Requests::Uniform, Requests::Zipfian] {
            let mut plan = plan();
            let workload = ycsb(&mut plan);
            workload.requests = requests;
            (workload.insert_start, workload.insert_count) = (20, Some(5));
            let mut chooser = Chooser::new(workload, 0).unwrap();
            let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
            let mut seen = [false; 30];
            (0..500).for_each(|_| seen[chooser.position(999, &mut random) as usize] = true);
            let lowest = seen.iter().position(|seen| *seen);
            // The scrambled distribution has one position more than there are keys, as in YCSB.
            let highest = seen.iter().rposition(|seen| *seen).unwrap();
            assert_eq!(lowest, Some(20), "{requests:?}");
            let expected = if requests == Requests::Zipfian {
                25
            } else {
                24
            };
            assert_eq!(highest, expected, "{requests:?}");
        }
    }
}
