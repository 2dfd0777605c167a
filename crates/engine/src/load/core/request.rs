//! Which record an operation asks for: YCSB's `requestdistribution`.

use rand_xoshiro::Xoshiro256PlusPlus;
use wire::load::{Distribution, Workload};

use super::zipfian::{SCRAMBLED_ITEMS, SCRAMBLED_ZETA, Zipfian};
use crate::load::hash::fnv;
use crate::load::pace::evenly;

/// Chooses positions among the keys that there are.
pub enum Chooser {
    /// All alike.
    Uniform {
        /// Keys that were loaded.
        records: u64,
    },
    /// Popular keys, spread over all of them by a hash.
    Scrambled {
        /// Draws ranks.
        zipfian: Zipfian,
        /// Positions that ranks are spread over.
        span: u64,
    },
    /// The later inserted, the more popular.
    Latest {
        /// Draws distances from the last key.
        zipfian: Zipfian,
    },
}

impl Chooser {
    /// `expected_inserts` widens the span of the scrambled distribution, so that the popular keys
    /// stay the same while keys are inserted.
    pub fn new(workload: &Workload, expected_inserts: u64) -> Self {
        let records = workload.records;
        match workload.request_distribution {
            Distribution::Uniform => Self::Uniform { records },
            Distribution::Zipfian => Self::Scrambled {
                zipfian: Zipfian::with_zeta(SCRAMBLED_ITEMS + 1, SCRAMBLED_ZETA),
                // One more than there are keys, as in YCSB; a key beyond the last is drawn again.
                span: records + expected_inserts + 1,
            },
            Distribution::Latest => Self::Latest {
                zipfian: Zipfian::new((records - 1).max(1)),
            },
        }
    }

    /// A position from zero to `last`, the highest that may be asked for.
    pub fn position(&mut self, last: u64, random: &mut Xoshiro256PlusPlus) -> u64 {
        match self {
            Self::Uniform { records } => (evenly(random) * *records as f64) as u64,
            Self::Scrambled { zipfian, span } => loop {
                let position = fnv(zipfian.rank(evenly(random))) % *span;
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
