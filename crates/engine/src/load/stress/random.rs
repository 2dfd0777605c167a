//! The two random generators that rows of cassandra-stress are made with, bit for bit.

/// `java.util.Random`.
#[derive(Debug, Clone)]
pub struct JavaRandom {
    state: u64,
    kept: Option<f64>,
}

const MULTIPLIER: u64 = 0x0005_DEEC_E66D;
const INCREMENT: u64 = 0xB;
const STATE: u64 = (1 << 48) - 1;

impl JavaRandom {
    /// The generator that Java makes of `seed`, of which it takes 48 bits.
    pub fn new(seed: i64) -> Self {
        Self {
            state: (seed.cast_unsigned() ^ MULTIPLIER) & STATE,
            kept: None,
        }
    }

    /// A number of 64 bits, of which 48 are random.
    pub fn next_long(&mut self) -> i64 {
        let high = i64::from(self.next(32)) << 32;
        high.wrapping_add(i64::from(self.next(32)))
    }

    /// A number drawn evenly from zero up to, and not including, one.
    pub fn next_double(&mut self) -> f64 {
        let high = i64::from(self.next(26)) << 27;
        (high + i64::from(self.next(27))) as f64 / (1_u64 << 53) as f64
    }

    /// A number from the normal distribution of mean zero and deviation one, by the polar method.
    pub fn next_gaussian(&mut self) -> f64 {
        if let Some(kept) = self.kept.take() {
            return kept;
        }
        loop {
            let first = 2.0 * self.next_double() - 1.0;
            let second = 2.0 * self.next_double() - 1.0;
            let square = first * first + second * second;
            if 0.0 < square && square < 1.0 {
                let scale = (-2.0 * square.ln() / square).sqrt();
                self.kept = Some(second * scale);
                return first * scale;
            }
        }
    }

    fn next(&mut self, bits: u32) -> i32 {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT) & STATE;
        ((self.state >> (48 - bits)) as u32).cast_signed()
    }
}

/// Draws of one generator before it is seeded again.
const DRAWS: u32 = 32;

/// cassandra-stress's `FasterRandom`: a shift register that `java.util.Random` seeds now and then.
pub struct FasterRandom {
    state: i64,
    drawn: u32,
}

impl FasterRandom {
    /// The generator that is made of `seed`.
    pub fn new(seed: i64) -> Self {
        Self {
            state: JavaRandom::new(seed).next_long(),
            drawn: 0,
        }
    }

    /// A number of 64 bits.
    pub fn next_long(&mut self) -> i64 {
        self.drawn += 1;
        if self.drawn == DRAWS {
            *self = Self::new(self.state);
        }
        // To the right with the sign, unlike xorshift* as it was published.
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(2_685_821_657_736_338_717)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_java() {
        assert_eq!(JavaRandom::new(42).next(32), -1_170_105_035);
        assert_eq!(JavaRandom::new(42).next_long(), -5_025_562_857_975_149_833);
        let double = JavaRandom::new(0).next_double();
        assert!((double - 0.730_967_787_376_657).abs() < 1e-15, "{double}");
    }

    #[test]
    fn of_two_normal_numbers_one_is_kept() {
        let mut random = JavaRandom::new(0);
        let expected = [
            0.802_533_063_739_030_5,
            -0.901_546_088_417_512_2,
            2.080_920_790_428_163,
            0.763_770_768_436_489_4,
        ];
        for expected in expected {
            let found = random.next_gaussian();
            assert!((found - expected).abs() < 1e-14, "{found} {expected}");
        }
    }

    #[test]
    fn the_faster_numbers_are_those_of_cassandra_stress_and_it_is_seeded_again() {
        let mut random = FasterRandom::new(1);
        let found: Vec<i64> = (0..35).map(|_| random.next_long()).collect();
        assert_eq!(
            found[..5],
            [
                -4_146_445_186_634_961_508,
                -5_644_524_092_788_810_841,
                -8_780_053_043_296_993_624,
                2_200_813_764_513_942_921,
                1_567_451_884_733_067_761,
            ]
        );
        assert_eq!(
            found[31..],
            [
                -2_707_597_717_226_415_229,
                4_138_543_161_181_408_227,
                -1_298_744_581_235_174_812,
                -8_546_407_443_987_846_798,
            ]
        );
    }
}
