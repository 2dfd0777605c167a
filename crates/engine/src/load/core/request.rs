//! Which record an operation asks for: YCSB's `requestdistribution`.

use std::ops::Range;

use rand_xoshiro::Xoshiro256PlusPlus;
use wire::load::{Part, Requests, Ycsb};

use super::zipfian::{SCRAMBLED_ITEMS, SCRAMBLED_ZETA, Zipfian};
use super::{below, inserted};
use crate::load::hash::fnv;
use crate::load::pace::evenly;

/// Chooses positions among the keys that there are.
pub enum Chooser {
    /// All alike.
    Uniform {
        /// The first of them.
        first: u64,
        /// How many they are.
        count: u64,
    },
    /// One after another, over and over. Parts take turns.
    Sequential {
        /// The first of them.
        first: u64,
        /// How many they are.
        count: u64,
        /// How far from the first the next one is.
        next: u64,
        /// How much farther the one after it is.
        step: u64,
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
    /// The first ones more often than the others.
    Hotspot {
        /// The first of them.
        first: u64,
        /// How many are hot.
        hot: u64,
        /// How many come after those.
        cold: u64,
        /// Share of the requests that ask for hot ones.
        share: f64,
    },
    /// Exponentially less popular the farther from the last key.
    Exponential {
        /// One over the mean distance, were there no first key.
        gamma: f64,
    },
}

/// Whether the requests of a workload that has keys can be made; the error says what stands
/// against it.
pub fn check(workload: &Ycsb) -> Result<(), String> {
    let shares = 0.0..=1.0;
    let refused = match workload.requests {
        Requests::Hotspot { data, operations }
            if !shares.contains(&data) || !shares.contains(&operations) =>
        {
            Some("`data` and `operations` must be from 0 to 1")
        }
        Requests::Hotspot { data, operations } => {
            let keys = range(workload);
            let count = keys.end - keys.start;
            match hot(count, data) {
                0 if operations > 0.0 => Some("`data` is too little for one hot key"),
                hot if hot == count && operations < 1.0 => {
                    Some("`data` leaves no key for the other `operations`")
                }
                _ => None,
            }
        }
        Requests::Exponential { percentile, share } => {
            let sound = percentile > 0.0 && percentile <= 100.0 && share > 0.0 && share.is_finite();
            (!sound).then_some("`percentile` must be above 0 and at most 100, `share` positive")
        }
        Requests::Uniform | Requests::Sequential | Requests::Zipfian | Requests::Latest => None,
    };
    match refused {
        Some(what) => Err(format!("`requests`: {what}")),
        None => Ok(()),
    }
}

/// Numbers of the keys that may be asked for, were there no inserts.
fn range(workload: &Ycsb) -> Range<u64> {
    inserted(workload).unwrap_or(0..workload.records)
}

/// How many keys are hot: as YCSB cuts it.
fn hot(count: u64, data: f64) -> u64 {
    ((count as f64 * data) as u64).min(count)
}

impl Chooser {
    /// `expected_inserts` widens the span of the scrambled distribution, so that the popular keys
    /// stay the same while keys are inserted. The error is one sentence.
    pub fn new(workload: &Ycsb, part: Part, expected_inserts: u64) -> Result<Self, String> {
        check(workload)?;
        let keys = range(workload);
        let (first, count) = (keys.start, keys.end - keys.start);
        Ok(match workload.requests {
            Requests::Uniform => Self::Uniform { first, count },
            Requests::Sequential => Self::Sequential {
                first,
                count,
                next: u64::from(part.index) % count,
                step: u64::from(part.of),
            },
            Requests::Zipfian => Self::Scrambled {
                zipfian: Zipfian::with_zeta(SCRAMBLED_ITEMS + 1, SCRAMBLED_ZETA),
                first,
                // One more than there are keys, as in YCSB; a key beyond the last is drawn again.
                span: count + expected_inserts + 1,
            },
            // One less than there are keys, as in YCSB: the first one is not asked for.
            Requests::Latest => Self::Latest {
                zipfian: Zipfian::new(workload.records - 1),
            },
            Requests::Hotspot { data, operations } => Self::Hotspot {
                first,
                hot: hot(count, data),
                cold: count - hot(count, data),
                share: operations,
            },
            Requests::Exponential { percentile, share } => Self::Exponential {
                gamma: -(1.0 - percentile / 100.0).ln() / (workload.records as f64 * share),
            },
        })
    }

    /// A position, at most `last`, the highest that may be asked for.
    pub fn position(&mut self, last: u64, random: &mut Xoshiro256PlusPlus) -> u64 {
        match self {
            Self::Uniform { first, count } => *first + below(*count, random),
            Self::Sequential {
                first,
                count,
                next,
                step,
            } => {
                let position = *first + *next;
                *next = (*next + *step) % *count;
                position
            }
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
                last.saturating_sub(zipfian.rank(evenly(random)))
            }
            Self::Hotspot {
                first,
                hot,
                cold,
                share,
            } => {
                if evenly(random) < *share {
                    *first + below(*hot, random)
                } else {
                    *first + *hot + below(*cold, random)
                }
            }
            Self::Exponential { gamma } => {
                // Where YCSB draws again until the distance is not beyond the first key, this draws
                // once, from the shares of the distances that are not.
                let within = -(-*gamma * (last as f64 + 1.0)).exp_m1();
                let distance = -(-evenly(random) * within).ln_1p() / *gamma;
                last.saturating_sub(distance as u64)
            }
        }
    }
}

#[cfg(test)]
mod tests;
