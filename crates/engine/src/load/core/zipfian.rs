//! Gray et al., "Quickly Generating Billion-Record Synthetic Databases" (SIGMOD 1994), with the
//! constants that YCSB uses.

/// YCSB's skew.
pub const THETA: f64 = 0.99;
/// Items over which YCSB's scrambled generator draws, whatever the number of records.
pub const SCRAMBLED_ITEMS: u64 = 10_000_000_000;
/// Sum of `1 / i^THETA` over that many items, as YCSB has it.
pub const SCRAMBLED_ZETA: f64 = 26.469_028_201_783_02;

/// Draws ranks from zero, rank zero being the most popular one.
pub struct Zipfian {
    first_items: u64,
    items: u64,
    zeta: f64,
    /// The sum of the first two terms.
    of_two: f64,
    eta: f64,
}

impl Zipfian {
    /// Over `items` ranks; adds up as many terms, so a million takes about 20 ms.
    pub fn new(items: u64) -> Self {
        Self::with_zeta(items, terms(0.0, 0, items))
    }

    /// Over `items` ranks whose sum of terms is known.
    pub fn with_zeta(items: u64, zeta: f64) -> Self {
        let of_two = terms(0.0, 0, 2);
        Self {
            first_items: items,
            items,
            zeta,
            of_two,
            eta: eta(items, zeta, of_two),
        }
    }

    /// Let more ranks be drawn; fewer are ignored, as YCSB does.
    pub fn grow(&mut self, items: u64) {
        if items > self.items {
            self.zeta = terms(self.zeta, self.items, items);
            self.items = items;
            // YCSB keeps the first number of items here, and so do we.
            self.eta = eta(self.first_items, self.zeta, self.of_two);
        }
    }

    /// The rank for a number drawn evenly from [0, 1); below the number of items, even where what
    /// YCSB keeps of a first number of one item would have its ranks go beyond.
    pub fn rank(&self, share: f64) -> u64 {
        let scaled = share * self.zeta;
        if scaled < 1.0 {
            return 0;
        }
        if scaled < self.of_two {
            return 1;
        }
        let base = self.eta * share - self.eta + 1.0;
        let rank = (self.items as f64 * base.powf(1.0 / (1.0 - THETA))) as u64;
        rank.min(self.items.saturating_sub(1))
    }
}

fn eta(items: u64, zeta: f64, of_two: f64) -> f64 {
    (1.0 - (2.0 / items as f64).powf(1.0 - THETA)) / (1.0 - of_two / zeta)
}

/// A sum with the terms of the ranks `from..to` added, smallest rank first.
fn terms(sum: f64, from: u64, to: u64) -> f64 {
    (from..to).fold(sum, |sum, rank| sum + 1.0 / ((rank + 1) as f64).powf(THETA))
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::load::core::fit::{counts, fits};
    use crate::load::pace::evenly;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    /// How likely a rank below `rank` is over `items` ranks whose terms add up to `zeta`, where
    /// there were `first` when the generator was made: the share at which the formula of Gray et
    /// al. reaches `rank`.
    pub fn likely_below(rank: u64, first: u64, items: u64, zeta: f64) -> f64 {
        let two = 1.0 + 2_f64.powf(-THETA);
        if rank < 2 {
            return rank as f64 / zeta;
        }
        let power = |number: u64, of: u64| (number as f64 / of as f64).powf(1.0 - THETA);
        let eta = (1.0 - power(2, first)) / (1.0 - two / zeta);
        (1.0 - (1.0 - power(rank, items)) / eta).clamp(two / zeta, 1.0)
    }

    /// How likely each rank is.
    pub fn shares(first: u64, items: u64) -> Vec<f64> {
        let zeta: f64 = (1..=items).map(|item| (item as f64).powf(-THETA)).sum();
        let below = |rank| likely_below(rank, first, items, zeta);
        (0..items)
            .map(|rank| below(rank + 1) - below(rank))
            .collect()
    }

    fn drawn(zipfian: &Zipfian, ranks: usize, draws: u32) -> Vec<u64> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        counts(ranks, draws, || zipfian.rank(evenly(&mut random)))
    }

    #[test]
    fn the_formula_is_near_zipfs_law() {
        let shares = shares(1000, 1000);
        let zeta: f64 = (1..=1000_u32)
            .map(|item| f64::from(item).powf(-THETA))
            .sum();
        for rank in [0_u32, 1, 10, 100, 900] {
            let law = f64::from(rank + 1).powf(-THETA) / zeta;
            let formula = shares[rank as usize];
            assert!(
                (formula / law - 1.0).abs() < 0.15,
                "{rank}: {formula} {law}"
            );
        }
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn ranks_are_as_popular_as_the_formula_says() {
        let counts = drawn(&Zipfian::new(1000), 1000, 200_000);
        assert_eq!(fits(&counts, &shares(1000, 1000)), Ok(()));
        assert!(fits(&counts, &shares(900, 1000)).is_err());
    }

    #[test]
    fn growing_keeps_the_first_number_of_items_in_eta_as_ycsb_does() {
        let mut zipfian = Zipfian::new(100);
        zipfian.grow(500);
        zipfian.grow(50);
        let counts = drawn(&zipfian, 500, 200_000);
        assert_eq!(fits(&counts, &shares(100, 500)), Ok(()));
        assert!(fits(&counts, &shares(500, 500)).is_err());
        // What two of 100 were is now ten of 500.
        assert_eq!(counts[2..10], [0; 8]);
        assert!(counts[10] > 0);
    }

    #[test]
    fn the_known_sum_is_that_of_ten_thousand_million_items() {
        // Euler–Maclaurin: the sum of the first m terms and the integral over the rest.
        let m = 10_000_u64;
        let power = 1.0 - THETA;
        let rest = ((SCRAMBLED_ITEMS as f64).powf(power) - (m as f64).powf(power)) / power;
        let ends = 0.5 * ((SCRAMBLED_ITEMS as f64).powf(-THETA) - (m as f64).powf(-THETA));
        assert!((terms(0.0, 0, m) + rest + ends - SCRAMBLED_ZETA).abs() < 1e-6);
    }

    #[test]
    fn growing_step_by_step_gives_the_sum_of_the_whole() {
        let mut grown = Zipfian::new(100);
        (101..=500).for_each(|items| grown.grow(items));
        assert!((grown.zeta - terms(0.0, 0, 500)).abs() < 1e-9);
    }

    #[test]
    fn no_draw_leaves_the_ranks() {
        for first in [0, 1, 2, 3, 50] {
            let mut zipfian = Zipfian::new(first);
            for items in first..first + 5 {
                zipfian.grow(items);
                for step in 0..20_000 {
                    let rank = zipfian.rank(f64::from(step) / 20_000.0);
                    assert!(rank < items.max(1), "{first} {items} {step}");
                }
            }
        }
    }
}
