//! How long the values of fields are: YCSB's `fieldlengthdistribution`.

use rand_xoshiro::Xoshiro256PlusPlus;
use wire::load::FieldLengths;

use super::below;
use super::zipfian::Zipfian;
use crate::load::pace::evenly;

/// Most that the counts of a histogram may add up to, as in YCSB.
const MOST: u64 = i32::MAX as u64;

/// Whether such lengths can be drawn; the error says what stands against it.
pub fn check(lengths: &FieldLengths) -> Result<(), String> {
    let what = match lengths {
        FieldLengths::Uniform { shortest, longest }
        | FieldLengths::Zipfian { shortest, longest }
            if longest < shortest =>
        {
            "`field_lengths` must have `longest` not below `shortest`"
        }
        FieldLengths::Histogram { counts, .. } if !(1..=MOST).contains(&area(counts)) => {
            "the `counts` of `field_lengths` must add up to at least 1 and at most 2147483647"
        }
        _ => return Ok(()),
    };
    Err(what.to_owned())
}

/// All counts together.
fn area(counts: &[u64]) -> u64 {
    counts
        .iter()
        .fold(0, |sum, count| sum.saturating_add(*count))
}

/// Draws lengths in bytes.
pub enum Lengths {
    /// All alike.
    Constant(usize),
    /// From the shortest to the longest.
    Between(Between),
    /// As often as a histogram says.
    Histogram(Histogram),
}

impl Lengths {
    /// As a workload has them.
    pub fn new(lengths: &FieldLengths) -> Self {
        match lengths {
            FieldLengths::Constant { length } => Self::Constant(*length as usize),
            FieldLengths::Uniform { shortest, longest } => {
                Self::Between(Between::even(*shortest, *longest))
            }
            FieldLengths::Zipfian { shortest, longest } => {
                Self::Between(Between::skewed(*shortest, *longest))
            }
            FieldLengths::Histogram { block, counts } => Self::Histogram(Histogram {
                block: u64::from(*block),
                area: area(counts),
                counts: counts.clone(),
            }),
        }
    }

    /// The length of the next value.
    pub fn draw(&self, random: &mut Xoshiro256PlusPlus) -> usize {
        match self {
            Self::Constant(length) => *length,
            Self::Between(between) => between.draw(random) as usize,
            Self::Histogram(histogram) => histogram.draw(random) as usize,
        }
    }
}

/// Draws whole numbers from a shortest to a longest, both included.
pub struct Between {
    shortest: u32,
    spread: Spread,
}

/// How far from the shortest.
enum Spread {
    Even(u64),
    Skewed(Zipfian),
}

impl Between {
    /// All alike often.
    pub fn even(shortest: u32, longest: u32) -> Self {
        let spread = Spread::Even(many(shortest, longest));
        Self { shortest, spread }
    }

    /// Small ones more often.
    pub fn skewed(shortest: u32, longest: u32) -> Self {
        let spread = Spread::Skewed(Zipfian::new(many(shortest, longest)));
        Self { shortest, spread }
    }

    /// The next number.
    pub fn draw(&self, random: &mut Xoshiro256PlusPlus) -> u32 {
        self.shortest
            + match &self.spread {
                Spread::Even(numbers) => below(*numbers, random) as u32,
                Spread::Skewed(zipfian) => zipfian.rank(evenly(random)) as u32,
            }
    }
}

fn many(shortest: u32, longest: u32) -> u64 {
    u64::from(longest) + 1 - u64::from(shortest)
}

/// Draws multiples of a block.
pub struct Histogram {
    block: u64,
    counts: Vec<u64>,
    area: u64,
}

impl Histogram {
    fn draw(&self, random: &mut Xoshiro256PlusPlus) -> u64 {
        self.length(below(self.area, random))
    }

    /// The length for a number below the area. As in YCSB, the first bucket takes one number more
    /// than it counts, which the last one lacks, and the last one has the length of the one before.
    fn length(&self, mut number: u64) -> u64 {
        let last = self.counts.len() - 1;
        for (blocks, count) in (1_u64..).zip(&self.counts[..last]) {
            if number <= *count {
                return blocks * self.block;
            }
            number -= count;
        }
        last as u64 * self.block
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::core::fit::{counts, fits};
    use crate::load::core::zipfian::tests::shares;
    use rand_xoshiro::rand_core::SeedableRng;

    const DRAWS: u32 = 100_000;

    fn drawn(lengths: &FieldLengths, most: usize) -> Vec<u64> {
        assert_eq!(check(lengths), Ok(()));
        let lengths = Lengths::new(lengths);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        counts(most + 1, DRAWS, || lengths.draw(&mut random) as u64)
    }

    /// Shares of the numbers from zero, where there is none before `shortest`.
    fn from(shortest: usize, shares: &[f64]) -> Vec<f64> {
        [&vec![0.0; shortest][..], shares].concat()
    }

    fn histogram(block: u32, counts: &[u64]) -> FieldLengths {
        let counts = counts.to_vec();
        FieldLengths::Histogram { block, counts }
    }

    #[test]
    fn constant_lengths_are_all_alike() {
        let counts = drawn(&FieldLengths::Constant { length: 3 }, 3);
        assert_eq!(counts, [0, 0, 0, u64::from(DRAWS)]);
    }

    #[test]
    fn uniform_lengths_go_from_the_shortest_to_the_longest() {
        let (shortest, longest) = (3, 40);
        let counts = drawn(&FieldLengths::Uniform { shortest, longest }, 40);
        assert_eq!(fits(&counts, &from(3, &[1.0; 38])), Ok(()));
    }

    #[test]
    fn zipfian_lengths_are_mostly_short() {
        let (shortest, longest) = (3, 40);
        let counts = drawn(&FieldLengths::Zipfian { shortest, longest }, 40);
        assert_eq!(fits(&counts, &from(3, &shares(38, 38))), Ok(()));
        assert!(fits(&counts, &from(3, &[1.0; 38])).is_err());
    }

    #[test]
    fn lengths_that_can_only_be_one_are_that_one() {
        let (shortest, longest) = (7, 7);
        for lengths in [
            FieldLengths::Uniform { shortest, longest },
            FieldLengths::Zipfian { shortest, longest },
        ] {
            assert_eq!(drawn(&lengths, 7)[7], u64::from(DRAWS));
        }
    }

    #[test]
    fn a_histogram_has_the_borders_of_ycsb() {
        let lengths = |block, counts: &[u64]| {
            let Lengths::Histogram(histogram) = Lengths::new(&histogram(block, counts)) else {
                panic!("not a histogram");
            };
            (0..histogram.area)
                .map(|number| histogram.length(number))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            lengths(10, &[1, 2, 3, 4]),
            [10, 10, 20, 20, 30, 30, 30, 30, 30, 30]
        );
        assert_eq!(lengths(10, &[0, 0, 2]), [10, 20]);
        assert_eq!(lengths(10, &[5]), [0; 5]);
        assert_eq!(lengths(0, &[1, 1]), [0, 0]);
    }

    #[test]
    fn a_histogram_is_drawn_as_often_as_it_says() {
        let counts = drawn(&histogram(2, &[100, 200, 300, 400]), 6);
        let shares = [0.0, 0.0, 101.0, 0.0, 200.0, 0.0, 699.0];
        assert_eq!(fits(&counts, &shares), Ok(()));
    }

    #[test]
    fn lengths_that_cannot_be_drawn_are_refused() {
        let (shortest, longest) = (2, 1);
        for lengths in [
            FieldLengths::Uniform { shortest, longest },
            FieldLengths::Zipfian { shortest, longest },
        ] {
            let refused = check(&lengths).unwrap_err();
            assert!(refused.contains("`longest` not below"), "{refused}");
        }
        for counts in [&[][..], &[0, 0], &[u64::MAX, 1]] {
            let refused = check(&histogram(1, counts)).unwrap_err();
            assert!(refused.contains("add up to at least 1"), "{refused}");
        }
    }
}
