//! Whether counts are what shares say: Pearson's test, for the tests of what is drawn.

/// What a normal variable exceeds once in a million.
const QUANTILE: f64 = 4.753_424;
/// What a cell is expected to count at least; smaller ones are joined with their neighbours.
const LEAST: f64 = 20.0;

/// Whether `counts` may have been drawn with these `shares`, which need not add up to one. A sound
/// sample is refused once in a million. The error is one sentence.
pub fn fits(counts: &[u64], shares: &[f64]) -> Result<(), String> {
    assert_eq!(counts.len(), shares.len());
    let drawn = counts.iter().sum::<u64>() as f64;
    let whole: f64 = shares.iter().sum();
    let mut cells = vec![(0.0, 0.0)];
    for (number, (count, share)) in counts.iter().zip(shares).enumerate() {
        if *share <= 0.0 && *count > 0 {
            return Err(format!("{number} was drawn {count} times and never may be"));
        }
        if cells.last().is_some_and(|(_, expected)| *expected >= LEAST) {
            cells.push((0.0, 0.0));
        }
        let (seen, expected) = cells.last_mut().expect("there is one from the beginning");
        *seen += *count as f64;
        *expected += share / whole * drawn;
    }
    if let [.., (seen, expected), (rest, few)] = &mut cells[..]
        && *few < LEAST
    {
        *seen += *rest;
        *expected += *few;
        cells.pop();
    }
    assert!(cells.len() > 1, "one cell fits whatever was drawn");
    let distance: f64 = cells
        .iter()
        .map(|(seen, expected)| (seen - expected).powi(2) / expected)
        .sum();
    // Wilson and Hilferty, "The distribution of chi-square" (PNAS 1931).
    let freedom = (cells.len() - 1) as f64;
    let width = 2.0 / (9.0 * freedom);
    let limit = freedom * (1.0 - width + QUANTILE * width.sqrt()).powi(3);
    if distance < limit {
        return Ok(());
    }
    Err(format!(
        "{distance:.1} is not below {limit:.1} with {} cells",
        cells.len()
    ))
}

/// How often each of the first `numbers` numbers is drawn.
pub fn counts(numbers: usize, draws: u32, mut draw: impl FnMut() -> u64) -> Vec<u64> {
    let mut counts = vec![0; numbers];
    (0..draws).for_each(|_| counts[draw() as usize] += 1);
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::core::below;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    #[test]
    fn numbers_below_another_are_drawn_evenly() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let counts = counts(7, 70_000, || below(7, &mut random));
        assert_eq!(fits(&counts, &[1.0; 7]), Ok(()));
    }

    #[test]
    fn a_share_that_is_a_fifth_too_large_does_not_fit() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let counts = counts(7, 70_000, || below(7, &mut random));
        let refused = fits(&counts, &[1.2, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
        assert!(refused.unwrap_err().ends_with("with 7 cells"));
    }

    #[test]
    fn what_may_never_be_drawn_is_named() {
        let refused = fits(&[50, 50, 1], &[1.0, 1.0, 0.0]);
        let said = "2 was drawn 1 times and never may be";
        assert_eq!(refused, Err(said.to_owned()));
    }

    #[test]
    fn rare_numbers_are_judged_together() {
        let counts = [1000, 3, 2, 4, 3, 4, 2, 3, 1];
        let mut shares = [0.003; 9];
        shares[0] = 1.0;
        assert_eq!(fits(&counts, &shares), Ok(()));
        shares[1..].fill(0.1);
        assert!(fits(&counts, &shares).is_err());
    }
}
