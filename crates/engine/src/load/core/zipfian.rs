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
    eta: f64,
}

impl Zipfian {
    /// Over `items` ranks; adds up as many terms, so a million takes about 20 ms.
    pub fn new(items: u64) -> Self {
        Self::with_zeta(items, terms(0, items))
    }

    /// Over `items` ranks whose sum of terms is known.
    pub fn with_zeta(items: u64, zeta: f64) -> Self {
        Self {
            first_items: items,
            items,
            zeta,
            eta: eta(items, zeta),
        }
    }

    /// Let more ranks be drawn; fewer are ignored, as YCSB does.
    pub fn grow(&mut self, items: u64) {
        if items > self.items {
            self.zeta += terms(self.items, items);
            self.items = items;
            // YCSB keeps the first number of items here, and so do we.
            self.eta = eta(self.first_items, self.zeta);
        }
    }

    /// The rank for a number drawn evenly from [0, 1).
    pub fn rank(&self, share: f64) -> u64 {
        let scaled = share * self.zeta;
        if scaled < 1.0 {
            return 0;
        }
        if scaled < 1.0 + 0.5_f64.powf(THETA) {
            return 1;
        }
        let base = self.eta * share - self.eta + 1.0;
        (self.items as f64 * base.powf(1.0 / (1.0 - THETA))) as u64
    }
}

fn eta(items: u64, zeta: f64) -> f64 {
    let of_two = terms(0, 2);
    (1.0 - (2.0 / items as f64).powf(1.0 - THETA)) / (1.0 - of_two / zeta)
}

fn terms(from: u64, to: u64) -> f64 {
    (from..to).map(|i| 1.0 / ((i + 1) as f64).powf(THETA)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::pace::evenly;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    #[test]
    fn the_first_ranks_are_as_popular_as_theory_says() {
        let zipfian = Zipfian::new(1000);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let draws = 400_000;
        let mut seen = vec![0_u32; 1000];
        for _ in 0..draws {
            seen[zipfian.rank(evenly(&mut random)) as usize] += 1;
        }
        let zeta = terms(0, 1000);
        for rank in [0_usize, 1] {
            let expected = 1.0 / ((rank + 1) as f64).powf(THETA) / zeta;
            let observed = f64::from(seen[rank]) / f64::from(draws);
            assert!(
                (observed / expected - 1.0).abs() < 0.03,
                "rank {rank}: {observed} {expected}"
            );
        }
        let head: u32 = seen[..100].iter().sum();
        let expected = terms(0, 100) / zeta;
        let observed = f64::from(head) / f64::from(draws);
        assert!(
            (observed / expected - 1.0).abs() < 0.03,
            "first hundred: {observed} {expected}"
        );
    }

    #[test]
    fn the_known_sum_is_that_of_ten_thousand_million_items() {
        // Euler–Maclaurin: the sum of the first m terms and the integral over the rest.
        let m = 10_000_u64;
        let power = 1.0 - THETA;
        let rest = ((SCRAMBLED_ITEMS as f64).powf(power) - (m as f64).powf(power)) / power;
        let ends = 0.5 * ((SCRAMBLED_ITEMS as f64).powf(-THETA) - (m as f64).powf(-THETA));
        assert!((terms(0, m) + rest + ends - SCRAMBLED_ZETA).abs() < 1e-6);
    }

    #[test]
    fn growing_step_by_step_gives_the_sum_of_the_whole() {
        let mut grown = Zipfian::new(100);
        (101..=500).for_each(|items| grown.grow(items));
        assert!((grown.zeta - terms(0, 500)).abs() < 1e-9);
    }

    #[test]
    fn no_draw_leaves_the_ranks() {
        let zipfian = Zipfian::new(50);
        for step in 0..100_000 {
            assert!(zipfian.rank(f64::from(step) / 100_000.0) < 50);
        }
    }
}
