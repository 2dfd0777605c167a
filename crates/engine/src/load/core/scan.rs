//! How many records a scan asks for: YCSB's `scanlengthdistribution`.

use rand_xoshiro::Xoshiro256PlusPlus;
use wire::load::ScanLengths;

use super::lengths::Between;

/// Draws numbers of records.
pub struct Lengths(Between);

impl Lengths {
    /// From the shortest to the longest of a workload, both included.
    pub fn new(lengths: ScanLengths) -> Self {
        Self(match lengths {
            ScanLengths::Uniform { shortest, longest } => Between::even(shortest, longest),
            ScanLengths::Zipfian { shortest, longest } => Between::skewed(shortest, longest),
        })
    }

    /// The length of the next scan.
    pub fn draw(&self, random: &mut Xoshiro256PlusPlus) -> u32 {
        self.0.draw(random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::core::fit::{counts, fits};
    use crate::load::core::zipfian::tests::shares;
    use rand_xoshiro::rand_core::SeedableRng;

    /// How often each number of records from two on is drawn.
    fn drawn(lengths: ScanLengths) -> Vec<u64> {
        let lengths = Lengths::new(lengths);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let counts = counts(101, 100_000, || u64::from(lengths.draw(&mut random)));
        assert_eq!(counts[..2], [0, 0]);
        counts[2..].to_vec()
    }

    #[test]
    fn even_lengths_go_from_the_shortest_to_the_longest() {
        let (shortest, longest) = (2, 100);
        let counts = drawn(ScanLengths::Uniform { shortest, longest });
        assert_eq!(fits(&counts, &[1.0; 99]), Ok(()));
    }

    #[test]
    fn skewed_lengths_are_mostly_short() {
        let (shortest, longest) = (2, 100);
        let counts = drawn(ScanLengths::Zipfian { shortest, longest });
        assert_eq!(fits(&counts, &shares(99, 99)), Ok(()));
    }
}
