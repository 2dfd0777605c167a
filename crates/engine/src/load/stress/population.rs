//! Which seeds are written and read.

use std::collections::VecDeque;

use wire::load::{Part, Population as Planned};

use super::distribution::{Distribution, Draws, LARGEST};
use super::random::JavaRandom;
use super::read;
use crate::load::share;

/// Where the seeds of operations come from.
#[derive(Debug, Clone, PartialEq)]
pub enum Population {
    /// One after another, writes and reads together.
    Sequence {
        /// The first seed.
        first: i64,
        /// The last seed.
        last: i64,
        /// Whether to begin again after the last one.
        wrap: bool,
        /// How far behind the writes reads are; without it, a read takes the next seed.
        lookback: Option<Distribution>,
    },
    /// Drawn, those of writes and reads alike.
    Drawn(Distribution),
}

impl Population {
    /// That of a plan; the error is one sentence.
    pub fn of(plan: &Planned) -> Result<Self, String> {
        Ok(match plan {
            Planned::Sequence {
                first,
                last,
                wrap,
                lookback,
            } => Self::Sequence {
                // What no seed can be is refused as the largest one is.
                first: i64::try_from(*first).unwrap_or(i64::MAX),
                last: i64::try_from(*last).unwrap_or(i64::MAX),
                wrap: *wrap,
                lookback: lookback
                    .as_ref()
                    .map(|text| read("lookback", text))
                    .transpose()?,
            },
            Planned::Drawn { distribution } => Self::Drawn(read("distribution", distribution)?),
        })
    }

    /// Whether `parts` engines can share it; the error is one sentence.
    pub fn check(&self, parts: u32) -> Result<(), String> {
        let Self::Sequence {
            first,
            last,
            lookback,
            ..
        } = self
        else {
            return Ok(());
        };
        if *first < 0 || *last >= LARGEST {
            return Err(format!("seeds must be from 0 to below {LARGEST}"));
        }
        if last - first + 1 < i64::from(parts) {
            return Err(format!(
                "a sequence from {first} to {last} has fewer seeds than there are engines, which \
                 are {parts}"
            ));
        }
        match lookback {
            Some(back) if back.min() < 0 || back.max() > last + 1 => Err(format!(
                "reads cannot look back by `{back}`; it must be from 0 to {}",
                last + 1
            )),
            _ => Ok(()),
        }
    }
}

/// The seeds of one part of a load.
///
/// Parts of a sequence have ranges that follow one another, as if each were driven by itself. Parts
/// of a drawn population draw from all of it.
///
/// Three things differ where cassandra-stress goes wrong: it gives `counter_write` no seed twice and
/// hangs when none is left; what reads can look back to grows only if the first seed is 1; and a
/// write counts there when it is made, not when it is answered.
pub enum Seeds {
    /// One after another.
    Sequence(Sequence),
    /// Drawn.
    Drawn(Draws),
}

impl Seeds {
    /// Of a population that was checked.
    pub fn new(population: &Population, part: Part) -> Self {
        match population {
            Population::Sequence {
                first,
                last,
                wrap,
                lookback,
            } => {
                let share = share::range((last - first + 1).cast_unsigned(), part);
                Self::Sequence(Sequence {
                    first: first + share.start.cast_signed(),
                    total: (share.end - share.start).cast_signed(),
                    wrap: *wrap,
                    next: 0,
                    written: Written::default(),
                    lookback: lookback.clone().map(Draws::new),
                })
            }
            Population::Drawn(distribution) => Self::Drawn(Draws::new(distribution.clone())),
        }
    }

    /// The seed of the next write, by the random numbers of its client; None at the end of the
    /// sequence.
    pub fn write(&mut self, random: &mut JavaRandom) -> Option<i64> {
        match self {
            Self::Sequence(sequence) => sequence.following(),
            Self::Drawn(draws) => Some(draws.draw(random)),
        }
    }

    /// The seed of the next read, by the random numbers of its client; None at the end of the
    /// sequence.
    pub fn read(&mut self, random: &mut JavaRandom) -> Option<i64> {
        match self {
            Self::Sequence(sequence) => sequence.behind(random),
            Self::Drawn(draws) => Some(draws.draw(random)),
        }
    }

    /// The write of a seed is over, well or not: reads can look back to it.
    pub fn written(&mut self, seed: i64) {
        if let Self::Sequence(sequence) = self
            && sequence.lookback.is_some()
        {
            sequence.written.add(seed - sequence.first);
        }
    }
}

/// Seeds one after another.
pub struct Sequence {
    first: i64,
    total: i64,
    wrap: bool,
    next: i64,
    written: Written,
    lookback: Option<Draws>,
}

impl Sequence {
    fn following(&mut self) -> Option<i64> {
        if !self.wrap && self.next >= self.total {
            return None;
        }
        let seed = self.first + self.next % self.total;
        self.next += 1;
        Some(seed)
    }

    fn behind(&mut self, random: &mut JavaRandom) -> Option<i64> {
        let Some(lookback) = &mut self.lookback else {
            return self.following();
        };
        let back = lookback.draw(random);
        let written = self.written.count;
        if back <= written {
            return Some(self.first + written - back);
        }
        if written == self.total && !self.wrap {
            return None;
        }
        let place = if written == 0 { 0 } else { back % written };
        Some(self.first + place)
    }
}

/// Counts the seeds from the first one on that are all written.
#[derive(Default)]
struct Written {
    count: i64,
    /// Whether those after them are, from the first that is not.
    after: VecDeque<bool>,
}

impl Written {
    fn add(&mut self, index: i64) {
        let Ok(ahead) = usize::try_from(index - self.count) else {
            return;
        };
        if self.after.len() <= ahead {
            self.after.resize(ahead + 1, false);
        }
        self.after[ahead] = true;
        while self.after.front() == Some(&true) {
            self.after.pop_front();
            self.count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WHOLE: Part = Part { index: 0, of: 1 };

    fn sequence(first: i64, last: i64, wrap: bool, lookback: Option<&str>) -> Population {
        Population::Sequence {
            first,
            last,
            wrap,
            lookback: lookback.map(|text| text.parse().unwrap()),
        }
    }

    /// The seeds that are asked for by letters: writes by `w`, reads by `r`.
    fn taken(seeds: &mut Seeds, asked: &str) -> Vec<Option<i64>> {
        let mut random = JavaRandom::new(1);
        asked
            .chars()
            .map(|letter| match letter {
                'w' => seeds.write(&mut random),
                _ => seeds.read(&mut random),
            })
            .collect()
    }

    #[test]
    fn a_sequence_is_shared_by_writes_and_reads_and_begins_again() {
        let mut seeds = Seeds::new(&sequence(5, 7, true, None), WHOLE);
        assert_eq!(
            taken(&mut seeds, "wrwr"),
            [Some(5), Some(6), Some(7), Some(5)]
        );
    }

    #[test]
    fn a_sequence_that_does_not_wrap_ends() {
        let mut seeds = Seeds::new(&sequence(1, 2, false, None), WHOLE);
        assert_eq!(taken(&mut seeds, "wwwr"), [Some(1), Some(2), None, None]);
    }

    #[test]
    fn reads_look_back_from_the_writes_that_are_all_answered() {
        let mut seeds = Seeds::new(&sequence(11, 20, true, Some("fixed(2)")), WHOLE);
        assert_eq!(taken(&mut seeds, "r"), [Some(11)], "nothing is written yet");
        let writes = [Some(11), Some(12), Some(13), Some(14), Some(15)];
        assert_eq!(taken(&mut seeds, "wwwww"), writes);
        (11..=13).chain([15]).for_each(|seed| seeds.written(seed));
        assert_eq!(taken(&mut seeds, "r"), [Some(12)], "14 is not answered");
        seeds.written(14);
        assert_eq!(taken(&mut seeds, "r"), [Some(14)]);
        seeds.written(11);
        assert_eq!(taken(&mut seeds, "r"), [Some(14)], "it was counted before");
    }

    #[test]
    fn a_look_before_the_first_write_begins_again_at_the_first() {
        let mut seeds = Seeds::new(&sequence(1, 9, true, Some("fixed(5)")), WHOLE);
        (1..=3).for_each(|seed| seeds.written(seed));
        assert_eq!(taken(&mut seeds, "r"), [Some(1 + 5 % 3)]);
    }

    #[test]
    fn such_a_look_ends_when_all_is_written_and_nothing_wraps() {
        let read = |wrap| {
            let mut seeds = Seeds::new(&sequence(1, 3, wrap, Some("fixed(4)")), WHOLE);
            (1..=3).for_each(|seed| seeds.written(seed));
            taken(&mut seeds, "r")
        };
        assert_eq!(read(false), [None]);
        assert_eq!(read(true), [Some(2)]);
    }

    #[test]
    fn a_drawn_population_is_drawn_for_writes_and_reads_alike() {
        let population = Population::Drawn("seq(1..3)".parse().unwrap());
        let mut seeds = Seeds::new(&population, WHOLE);
        assert_eq!(taken(&mut seeds, "wr"), [Some(1), Some(2)]);
        seeds.written(1);
        assert_eq!(taken(&mut seeds, "r"), [Some(3)]);
    }

    #[test]
    fn what_cannot_be_shared_or_looked_back_to_is_refused() {
        assert_eq!(sequence(1, 3, true, Some("uniform(0..4)")).check(3), Ok(()));
        let refused = |population: Population, parts| population.check(parts).unwrap_err();
        assert!(refused(sequence(1, 3, true, None), 4).contains("fewer seeds"));
        assert!(refused(sequence(-1, 3, true, None), 1).contains("from 0"));
        assert!(refused(sequence(1, LARGEST, true, None), 1).contains("to below 1000"));
        assert!(refused(sequence(3, 2, true, None), 1).contains("from 3 to 2"));
        assert!(refused(sequence(1, 3, true, Some("fixed(5)")), 1).contains("from 0 to 4"));
        assert!(refused(sequence(1, 3, true, Some("fixed(-1)")), 1).contains("`fixed(-1)`"));
    }

    proptest! {
        #[test]
        fn the_parts_of_a_sequence_have_each_seed_once(
            first in 0_i64..1000, width in 8_i64..500, of in 1_u32..8,
        ) {
            let population = sequence(first, first + width - 1, false, None);
            let all: Vec<i64> = (0..of)
                .flat_map(|index| {
                    let mut seeds = Seeds::new(&population, Part { index, of });
                    let mut random = JavaRandom::new(1);
                    std::iter::from_fn(move || seeds.write(&mut random)).collect::<Vec<_>>()
                })
                .collect();
            prop_assert_eq!(all, (first..first + width).collect::<Vec<_>>());
        }
    }
}
