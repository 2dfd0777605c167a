//! The fields of a record and what is written into them.

use std::ops::Range;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use wire::load::{FieldLengths, Ycsb};

use super::lengths::Lengths;
use super::{integrity, names};
use crate::load::operation::Operation;

/// Characters that YCSB makes of one random number of 32 bits.
const GROUP: usize = 6;

/// Names and values of the fields; made once per load.
pub struct Values {
    names: Vec<String>,
    content: Content,
}

enum Content {
    /// Random characters, of such lengths.
    Random(Lengths),
    /// What follows from key and field, of this length.
    Determined(usize),
}

impl Values {
    /// As a workload has them.
    pub fn new(workload: &Ycsb) -> Self {
        let content = match &workload.field_lengths {
            FieldLengths::Constant { length } if workload.integrity => {
                Content::Determined(*length as usize)
            }
            lengths => Content::Random(Lengths::new(lengths)),
        };
        Self {
            names: names(workload),
            content,
        }
    }

    /// `field0`, `field1`, …
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Numbers of the fields that an operation reads.
    pub fn read(&self, operation: &Operation) -> Range<usize> {
        operation.read.range(self.names.len())
    }

    /// Numbers of the fields that an operation writes.
    pub fn written(&self, operation: &Operation) -> Range<usize> {
        operation.write.range(self.names.len())
    }

    /// What an operation writes into a field: ASCII, and the same however often it is asked for.
    pub fn value(&self, operation: &Operation, field: usize) -> Vec<u8> {
        let mut value = Vec::new();
        self.write(operation, field, &mut value);
        value
    }

    /// Append the same to what is there.
    pub fn write(&self, operation: &Operation, field: usize, out: &mut Vec<u8>) {
        match &self.content {
            Content::Determined(length) => {
                let (key, name) = (operation.key.as_str(), &self.names[field]);
                out.extend_from_slice(integrity::value(key, name, *length).as_bytes());
            }
            Content::Random(lengths) => {
                let seed = operation.values ^ field as u64;
                let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
                let length = lengths.draw(&mut random);
                characters(length, &mut random, out);
            }
        }
    }
}

/// Append as many random characters, drawn as YCSB draws them. Each value is drawn anew: one that is
/// cut from a common stock could be compressed better than YCSB's.
fn characters(length: usize, random: &mut Xoshiro256PlusPlus, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + length.next_multiple_of(2 * GROUP), 0);
    for pair in out[start..].chunks_exact_mut(2 * GROUP) {
        let bits = random.next_u64();
        let [first, second] =
            [bits as u32, (bits >> 32) as u32].map(|bits| u128::from(group(bits)));
        pair.copy_from_slice(&(first | (second << 48)).to_le_bytes()[..2 * GROUP]);
    }
    out.truncate(start + length);
}

/// Six characters, the first one lowest, of five or six of the bits each. Some have a bit in
/// common, as in YCSB.
fn group(bits: u32) -> u64 {
    let bits = u64::from(bits);
    let above_space = (bits & 0x1F)
        | ((bits << 3) & 0x3F00)
        | ((bits << 6) & 0x005F_0000)
        | ((bits << 9) & 0x1F00_0000)
        | ((bits << 12) & 0x003F_0000_0000)
        | ((bits << 15) & 0x5F00_0000_0000);
    above_space + 0x2020_2020_2020
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::core::fit::fits;
    use crate::load::mix::Operations;
    use crate::load::plan::tests::{plan, ycsb};
    use crate::load::stream::stream;
    use wire::load::{LoadPlan, Phase};

    /// A plan of a load phase with such field lengths.
    fn plan_of(field_lengths: FieldLengths) -> LoadPlan {
        let mut plan = plan();
        plan.phase = Phase::Load;
        ycsb(&mut plan).field_lengths = field_lengths;
        plan
    }

    /// The values of all fields of each record.
    fn written(plan: &mut LoadPlan) -> Vec<Vec<String>> {
        let mut operations = Operations::new(plan).unwrap();
        let mut random = stream(plan.seed, plan.part, 0);
        let values = Values::new(ycsb(plan));
        std::iter::from_fn(|| operations.draw(&mut random))
            .map(|operation| {
                let all = values.written(&operation);
                all.map(|field| String::from_utf8(values.value(&operation, field)).unwrap())
                    .collect()
            })
            .collect()
    }

    #[test]
    fn six_characters_are_made_of_a_number_as_ycsb_makes_them() {
        let made = |bits: u32| group(bits).to_le_bytes();
        assert_eq!(made(0), *b"      \0\0");
        assert_eq!(made(0x1234_5678), [56, 83, 53, 40, 67, 41, 0, 0]);
        assert_eq!(made(u32::MAX), [63, 95, 127, 63, 95, 127, 0, 0]);
        // Bits that two characters share.
        assert_eq!(made(1 << 10), *b" @!   \0\0");
        assert_eq!(made(1 << 16), *b"  `\"  \0\0");
        assert_eq!(made(1 << 25), *b"    @!\0\0");
    }

    #[test]
    fn values_are_cut_to_their_lengths() {
        let characters = |length| {
            let mut made = b"there".to_vec();
            super::characters(length, &mut Xoshiro256PlusPlus::seed_from_u64(1), &mut made);
            made.strip_prefix(b"there").unwrap().to_vec()
        };
        let long = characters(100);
        assert_eq!(long.len(), 100);
        for length in [0, 1, 5, 6, 7, 12, 13] {
            assert_eq!(characters(length), long[..length]);
        }
    }

    #[test]
    fn characters_are_as_frequent_as_in_ycsb_at_each_place_of_a_group() {
        let values = written(&mut plan_of(FieldLengths::Constant { length: 100 }));
        let mut seen = [[0_u64; 128]; GROUP];
        for value in values.iter().flatten() {
            for (place, byte) in value.bytes().enumerate() {
                seen[place % GROUP][usize::from(byte)] += 1;
            }
        }
        for (place, counts) in seen.iter().enumerate() {
            let shares = std::array::from_fn::<f64, 128, _>(|byte| match (place % 3, byte) {
                (0, 32..64) | (1, 32..96) | (2, 32..64 | 96..128) => 1.0,
                _ => 0.0,
            });
            assert_eq!(fits(counts, &shares), Ok(()), "{place}");
        }
    }

    #[test]
    fn fields_and_records_differ_and_the_same_is_asked_for_twice() {
        let mut plan = plan_of(FieldLengths::Constant { length: 100 });
        let values = written(&mut plan);
        let mut all: Vec<&String> = values.iter().flatten().collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 10_000);
        assert_eq!(values, written(&mut plan));
    }

    #[test]
    fn each_field_has_a_length_of_its_own() {
        let (shortest, longest) = (3, 12);
        let values = written(&mut plan_of(FieldLengths::Uniform { shortest, longest }));
        // How often each length is, and how often two neighbours have the same one or not.
        let mut seen = [0_u64; 13];
        let mut alike = [0_u64; 2];
        for record in &values {
            for value in record {
                seen[value.len()] += 1;
            }
            for pair in record.windows(2) {
                alike[usize::from(pair[0].len() == pair[1].len())] += 1;
            }
        }
        let shares = [&[0.0; 3][..], &[1.0; 10]].concat();
        assert_eq!(fits(&seen, &shares), Ok(()));
        assert_eq!(fits(&alike, &[0.9, 0.1]), Ok(()));
    }

    #[test]
    fn values_that_are_to_be_compared_follow_from_key_and_field() {
        let mut plan = plan_of(FieldLengths::Constant { length: 31 });
        ycsb(&mut plan).integrity = true;
        let values = written(&mut plan);
        assert_eq!(values[0][9], "user6284781860667377211:field9:");
        assert_eq!(values[1][0], "user8517097267634966620:field0:");
    }
}
