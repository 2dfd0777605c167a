//! How many records a scan asks for: YCSB's `scanlengthdistribution`.

use rand_xoshiro::Xoshiro256PlusPlus;
use wire::load::ScanLengths;

use super::zipfian::Zipfian;
use crate::load::pace::evenly;

/// Draws lengths.
pub struct Lengths {
    shortest: u32,
    spread: Spread,
}

/// How far from the shortest.
enum Spread {
    Even(u32),
    Skewed(Zipfian),
}

impl Lengths {
    /// From the shortest to the longest of a workload, both included.
    pub fn new(lengths: ScanLengths) -> Self {
        match lengths {
            ScanLengths::Uniform { shortest, longest } => Self {
                shortest,
                spread: Spread::Even(longest - shortest + 1),
            },
            ScanLengths::Zipfian { shortest, longest } => Self {
                shortest,
                spread: Spread::Skewed(Zipfian::new(u64::from(longest - shortest + 1))),
            },
        }
    }

    /// The length of the next scan.
    pub fn draw(&self, random: &mut Xoshiro256PlusPlus) -> u32 {
        let share = evenly(random);
        self.shortest
            + match &self.spread {
                Spread::Even(lengths) => (share * f64::from(*lengths)) as u32,
                Spread::Skewed(zipfian) => zipfian.rank(share) as u32,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::rand_core::SeedableRng;

    fn seen(lengths: ScanLengths) -> [u32; 8] {
        let lengths = Lengths::new(lengths);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut seen = [0; 8];
        (0..5_000).for_each(|_| seen[lengths.draw(&mut random) as usize] += 1);
        seen
    }

    #[test]
    fn even_lengths_go_from_the_shortest_to_the_longest() {
        let seen = seen(ScanLengths::Uniform {
            shortest: 3,
            longest: 7,
        });
        assert_eq!(seen[..3], [0, 0, 0]);
        assert!(
            seen[3..].iter().all(|count| (850..1150).contains(count)),
            "{seen:?}"
        );
    }

    #[test]
    fn skewed_lengths_are_mostly_short() {
        let seen = seen(ScanLengths::Zipfian {
            shortest: 2,
            longest: 7,
        });
        assert_eq!(seen[..2], [0, 0]);
        assert!(seen[2..].is_sorted_by(|one, next| one > next), "{seen:?}");
        assert!(seen[7] > 0, "{seen:?}");
    }
}
