//! The distributions that cassandra-stress knows by name.
//!
//! Each is drawn as commons-math 3.2 draws it from `java.util.Random`, so that the size of a column,
//! which is drawn from a seed, is the same one. Three things differ where cassandra-stress goes
//! wrong: `qextreme` stops it when it draws the smallest number, `~qextreme` leaves its range by one,
//! and columns whose size has a `~` do not fit into its buffer.

use std::f64::consts::LN_2;

use super::random::JavaRandom;

pub use self::text::{number, range};

mod text;

/// Largest number on either side of zero: nothing that is added here can overflow.
pub const LARGEST: i64 = 1_000_000_000_000_000_000;

/// Whole numbers with a smallest and a largest one.
///
/// It is written `fixed(34)`, `uniform(1..100)` or `~exp(1..1m)`, in letters of any size.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    min: i64,
    max: i64,
    shape: Shape,
    /// Whether the smallest number is drawn as often as otherwise the largest.
    inverted: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Shape {
    /// One number only.
    Fixed,
    Uniform,
    /// What falls outside of the range is drawn as its ends.
    Gaussian {
        mean: f64,
        deviation: f64,
    },
    Exponential {
        mean: f64,
    },
    Extreme(Weibull),
    /// In parts that are drawn alike often, evenly within each.
    Quantized {
        extreme: Weibull,
        /// First numbers of the parts, then the one after the last.
        edges: Vec<i64>,
    },
    /// One after another.
    Sequence,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Weibull {
    shape: f64,
    scale: f64,
}

impl Weibull {
    /// The number below which a share of all numbers is.
    fn below(self, share: f64) -> f64 {
        self.scale * (-(1.0 - share).ln()).powf(1.0 / self.shape)
    }
}

impl Distribution {
    /// Always the same number.
    pub fn fixed(number: i64) -> Self {
        Self {
            min: number,
            max: number,
            shape: Shape::Fixed,
            inverted: false,
        }
    }

    /// The smallest number.
    pub fn min(&self) -> i64 {
        self.min
    }

    /// The largest number.
    pub fn max(&self) -> i64 {
        self.max
    }

    /// Whether a seed gives the same number again: cassandra-stress seeds one of the two generators
    /// of `qextreme` only.
    pub fn repeats(&self) -> bool {
        !matches!(self.shape, Shape::Quantized { .. })
    }

    /// The first number that a seed gives.
    pub fn of_seed(&self, seed: i64) -> i64 {
        self.draw(&mut JavaRandom::new(seed), seed)
    }

    /// One number; `position` counts the draws of a sequence.
    fn draw(&self, random: &mut JavaRandom, position: i64) -> i64 {
        let (min, max) = (self.min, self.max);
        let number = match &self.shape {
            Shape::Fixed => min,
            Shape::Uniform => evenly(random, min, max),
            Shape::Gaussian { mean, deviation } => {
                ((deviation * random.next_gaussian() + mean) as i64).clamp(min, max)
            }
            Shape::Exponential { mean } => offset(min, max, mean * exponential(random)),
            Shape::Extreme(extreme) => offset(min, max, extreme.below(random.next_double())),
            Shape::Quantized { extreme, edges } => {
                let number = offset(min, max, extreme.below(random.next_double()));
                let part = edges.partition_point(|edge| *edge < number).max(1);
                let (first, after) = (edges[part - 1], edges[part]);
                first + (random.next_double() * (after - first) as f64) as i64
            }
            Shape::Sequence => min + position.rem_euclid(max - min + 1),
        };
        if self.inverted {
            max - (number - min)
        } else {
            number
        }
    }
}

/// A whole number from `min` to `max`, each drawn alike often.
pub(super) fn evenly(random: &mut JavaRandom, min: i64, max: i64) -> i64 {
    let share = random.next_double();
    let number = share * (max + 1) as f64 + (1.0 - share) * min as f64;
    (number as i64).clamp(min, max)
}

/// A number counted from the smallest one; too large ones are the largest.
fn offset(min: i64, max: i64, number: f64) -> i64 {
    min + (number as i64).clamp(0, max - min)
}

/// Most terms of the sum below that are needed to reach one.
const TERMS: u32 = 16;

/// A number from the exponential distribution of mean one, by the algorithm SA of Ahrens and
/// Dieter, "Computer Methods for Sampling from the Exponential and Normal Distributions" (1972).
fn exponential(random: &mut JavaRandom) -> f64 {
    let mut share = random.next_double();
    let mut whole = 0.0;
    while share > 0.0 && share < 0.5 {
        whole += LN_2;
        share *= 2.0;
    }
    share += share - 1.0;
    if share <= LN_2 {
        return whole + share;
    }
    let mut least = random.next_double();
    let mut term = LN_2;
    let mut sum = LN_2;
    for index in 2..=TERMS {
        least = least.min(random.next_double());
        term *= LN_2 / f64::from(index);
        sum += term;
        if share <= sum {
            break;
        }
    }
    whole + least * LN_2
}

/// Numbers of a distribution, one after another, for all who draw from it.
pub struct Draws {
    distribution: Distribution,
    position: i64,
}

impl Draws {
    /// A sequence begins at its first number.
    pub fn new(distribution: Distribution) -> Self {
        Self {
            distribution,
            position: 0,
        }
    }

    /// The next number for the one whose random numbers these are.
    pub fn draw(&mut self, random: &mut JavaRandom) -> i64 {
        let number = self.distribution.draw(random, self.position);
        self.position += 1;
        number
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Distribution {
        text.parse().unwrap()
    }

    fn drawn(text: &str, seed: i64, count: usize) -> Vec<i64> {
        let mut draws = Draws::new(read(text));
        let mut random = JavaRandom::new(seed);
        (0..count).map(|_| draws.draw(&mut random)).collect()
    }

    /// Compare the shares of draws up to some numbers with those that a formula gives.
    fn assert_shares(text: &str, expected: &[(i64, f64)]) {
        let draws = drawn(text, 5, 100_000);
        for (number, share) in expected {
            let below = draws.iter().filter(|drawn| *drawn <= number).count() as f64;
            let found = below / draws.len() as f64;
            assert!(
                (found - share).abs() < 0.006,
                "{text} up to {number}: {found} {share}"
            );
        }
    }

    #[test]
    fn uniform_numbers_are_those_of_java() {
        let expected = [
            73_087_819_071,
            41_008_081_150,
            20_771_484_131,
            33_271_705_596,
            96_775_590_943,
        ];
        assert_eq!(drawn("uniform(1..100b)", 1, 5), expected);
        assert_eq!(read("UNIFORM(1..100B)").of_seed(1), expected[0]);
    }

    #[test]
    fn numbers_are_those_that_cassandra_stress_draws() {
        // As version 3.11.2 told them, seeded by 7919.
        let told = [
            (
                "uniform(-7..1B)",
                [
                    145_639_778,
                    419_526_041,
                    730_653_391,
                    376_138_695,
                    892_570_145,
                ],
            ),
            ("gaussian(1..200)", [63, 92, 147, 75, 133]),
            (
                "GAUSS(1..1m,4)",
                [362_273, 468_723, 677_163, 404_863, 622_672],
            ),
            ("norm(-5..50,10,5)", [4, 8, 17, 6, 14]),
            ("exp(-4..1m)", [224_586, 198_505, 66_777, 173_381, 43_782]),
            ("extreme(1..300,2)", [71, 131, 203, 122, 265]),
            ("EXTR(1..1m,0.5)", [520, 6_200, 36_061, 4_666, 104_302]),
            ("~exp(0..40)", [7, 11, 30, 15, 34]),
            ("~gaussian(0..40,1)", [40, 26, 0, 36, 1]),
        ];
        for (text, numbers) in told {
            assert_eq!(drawn(text, 7919, 5), numbers, "{text}");
        }
    }

    #[test]
    fn every_uniform_number_is_drawn_alike_often() {
        let tenths: Vec<(i64, f64)> = (1..=10).map(|n| (n, n as f64 / 10.0)).collect();
        assert_shares("uniform(1..10)", &tenths);
    }

    #[test]
    fn both_ends_of_a_gaussian_take_its_tails() {
        // Shares below zero, one, two and three deviations; numbers are cut, so 50 has 50 to 51.
        assert_shares(
            "gaussian(1..100)",
            &[
                (0, 0.0),
                (50, 0.512),
                (66, 0.8413),
                (83, 0.9788),
                (100, 1.0),
            ],
        );
        assert_shares(
            "norm(1..10,4,4)",
            &[(1, 0.3085), (3, 0.5), (9, 0.9332), (10, 1.0)],
        );
        assert_shares(
            "gauss(0..20,1)",
            &[(0, 0.1841), (9, 0.5), (19, 0.8413), (20, 1.0)],
        );
    }

    #[test]
    fn an_exponential_reaches_all_of_its_range_but_the_root_of_its_width() {
        // 1 - exp(-x / mean) with the mean at which all but 1 / 100 lie within 10 000.
        let mean = 10_000.0 / 100.0_f64.ln();
        let below = |x: f64| 1.0 - (-x / mean).exp();
        assert_shares(
            "exp(0..10k)",
            &[
                (999, below(1e3)),
                (2_170, below(2_171.0)),
                (4_999, below(5e3)),
                (9_999, 0.99),
            ],
        );
    }

    #[test]
    fn an_extreme_is_a_weibull_cut_at_its_end() {
        let scale = 10_000.0 / 100.0_f64.ln().sqrt();
        let below = |x: f64| 1.0 - (-(x / scale).powi(2)).exp();
        let expected = [
            (1_000, below(1e3)),
            (4_000, below(4e3)),
            (8_000, below(8e3)),
            (10_000, 0.99),
        ];
        assert_shares("extreme(1..10001,2)", &expected);
        assert_eq!(read("extr(1..10001,2)"), read("extreme(1..10001,2)"));
    }

    #[test]
    fn the_parts_of_a_quantized_one_are_drawn_alike_often_and_evenly_within() {
        let scale = 1_000_000.0 / 1000.0_f64.ln().sqrt();
        let edge = |share: f64| (scale * (-(1.0 - share).ln()).sqrt()) as i64;
        let (quarter, half, most) = (edge(0.25), edge(0.5), edge(0.75));
        assert_shares(
            "qextr(0..1m,2,4)",
            &[
                (quarter, 0.25),
                (half, 0.5),
                (most, 0.75),
                (half.midpoint(most), 0.625),
            ],
        );
        assert!(!read("qextreme(0..1m,2,4)").repeats());
        assert!(read("extreme(0..1m,2)").repeats());
    }

    #[test]
    fn the_opposite_draws_the_largest_where_the_other_draws_the_smallest() {
        let plain = drawn("exp(3..50)", 2, 100);
        let turned: Vec<i64> = plain.iter().map(|number| 53 - number).collect();
        assert_eq!(drawn("~exp(3..50)", 2, 100), turned);
        assert_eq!(read("~fixed(5)"), Distribution::fixed(5));
    }

    #[test]
    fn a_sequence_begins_at_its_first_number_and_by_a_seed_at_any() {
        assert_eq!(drawn("seq(5..7)", 99, 5), [5, 6, 7, 5, 6]);
        assert_eq!(read("seq(5..7)").of_seed(4), 6);
    }

    #[test]
    fn what_a_seed_gives_is_the_first_number_drawn() {
        for text in [
            "gaussian(1..1000)",
            "exp(1..1000)",
            "extreme(1..1000,3)",
            "fixed(9)",
        ] {
            assert_eq!(vec![read(text).of_seed(77)], drawn(text, 77, 1), "{text}");
        }
    }

    /// Distributions of all shapes, as they are written.
    pub fn written() -> impl Strategy<Value = String> {
        let shapes = ["uniform(R)", "gaussian(R)", "exp(R)", "seq(R)", "fixed(7)"];
        let more = [
            "gaussian(R,0.5)",
            "gaussian(R,3,1e9)",
            "extreme(R,0.3)",
            "qextreme(R,2,7)",
        ];
        let all: Vec<&str> = shapes.into_iter().chain(more).collect();
        let shape = proptest::sample::select(all);
        (shape, -1000_i64..1000, 2_i64..100_000, any::<bool>()).prop_map(
            |(shape, min, width, inverted)| {
                let range = format!("{min}..{}", min + width);
                format!(
                    "{}{}",
                    if inverted { "~" } else { "" },
                    shape.replace('R', &range)
                )
            },
        )
    }

    proptest! {
        #[test]
        fn no_draw_leaves_the_range(text in written(), seed: i64) {
            let distribution = read(&text);
            for number in drawn(&text, seed, 100) {
                prop_assert!(distribution.min() <= number && number <= distribution.max());
            }
        }
    }
}
