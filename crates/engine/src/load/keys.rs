//! Which key an operation is for, and what keys are called.

use std::collections::VecDeque;

use rand_xoshiro::Xoshiro256PlusPlus;
use wire::load::{Part, Ycsb};

use super::core::request::Chooser;
use super::hash::fnv;

/// Most zeros that a key may be filled with.
pub const MOST_PADDING: u32 = 32;
const PREFIX: &[u8] = b"user";
const LONGEST: usize = PREFIX.len() + MOST_PADDING as usize;

/// The name of one key, such as `user6284781860667377211`.
#[derive(Clone, Copy)]
pub struct KeyName {
    bytes: [u8; LONGEST],
    length: u8,
}

impl KeyName {
    /// The name of key `number` under the rules of a workload.
    pub fn new(number: u64, hashed: bool, zero_padding: u32) -> Self {
        let mut rest = if hashed { fnv(number) } else { number };
        let mut at = LONGEST;
        let mut bytes = [b'0'; LONGEST];
        loop {
            at -= 1;
            bytes[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        at = at.min(LONGEST - zero_padding as usize);
        let length = PREFIX.len() + LONGEST - at;
        bytes.copy_within(at.., PREFIX.len());
        bytes[..PREFIX.len()].copy_from_slice(PREFIX);
        Self {
            bytes,
            length: length as u8,
        }
    }

    /// The name as it goes over the network.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(self.as_bytes()).expect("a name is letters and digits")
    }
}

/// Counts inserted keys; a key may be asked for once it and all before it have been answered.
pub struct Acknowledged {
    next: u64,
    last: u64,
    answered: VecDeque<bool>,
}

impl Acknowledged {
    fn after(records: u64) -> Self {
        Self {
            next: records,
            last: records - 1,
            answered: VecDeque::new(),
        }
    }

    fn take(&mut self) -> u64 {
        let taken = self.next;
        self.next += 1;
        self.answered.push_back(false);
        taken
    }

    fn give_back(&mut self) {
        self.next -= 1;
        self.answered.pop_back();
    }

    fn acknowledge(&mut self, position: u64) {
        self.answered[(position - self.last - 1) as usize] = true;
        while self.answered.front() == Some(&true) {
            self.answered.pop_front();
            self.last += 1;
        }
    }
}

/// Chooses keys for the operations of a run phase.
///
/// Positions count the keys that this part knows: the loaded records, then its own inserts. Parts
/// insert different keys: part `i` of `n` the numbers `records + i`, `records + i + n`, ….
pub struct Keys {
    records: u64,
    part: Part,
    inserted: Acknowledged,
    chooser: Chooser,
}

impl Keys {
    /// `expected_inserts` widens the span of the scrambled distribution, so that the popular keys
    /// stay the same while keys are inserted. The error is one sentence.
    pub fn new(workload: &Ycsb, part: Part, expected_inserts: u64) -> Result<Self, String> {
        let records = workload.records;
        Ok(Self {
            records,
            part,
            inserted: Acknowledged::after(records),
            chooser: Chooser::new(workload, part, expected_inserts)?,
        })
    }

    /// Number of a key that exists.
    pub fn existing(&mut self, random: &mut Xoshiro256PlusPlus) -> u64 {
        let position = self.chooser.position(self.inserted.last, random);
        self.number(position)
    }

    /// Number of a new key, with the position by which to acknowledge it.
    pub fn fresh(&mut self) -> (u64, u64) {
        let position = self.inserted.take();
        (self.number(position), position)
    }

    /// The last fresh key is not inserted after all, and so is the next fresh one.
    pub fn give_back(&mut self) {
        self.inserted.give_back();
    }

    /// Let the key at `position` be asked for.
    pub fn acknowledge(&mut self, position: u64) {
        self.inserted.acknowledge(position);
    }

    fn number(&self, position: u64) -> u64 {
        if position < self.records {
            return position;
        }
        self.records
            + u64::from(self.part.index)
            + (position - self.records) * u64::from(self.part.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::core::zipfian::SCRAMBLED_ZETA;
    use crate::load::plan::tests::{plan, ycsb};
    use proptest::prelude::*;
    use rand_xoshiro::rand_core::SeedableRng;
    use wire::load::Requests;

    const WHOLE: Part = Part { index: 0, of: 1 };

    fn workload(records: u64, requests: Requests) -> Ycsb {
        let mut plan = plan();
        let workload = ycsb(&mut plan);
        workload.records = records;
        workload.requests = requests;
        workload.clone()
    }

    fn keys(records: u64, requests: Requests) -> Keys {
        Keys::new(&workload(records, requests), WHOLE, 0).unwrap()
    }

    fn name(number: u64, hashed: bool, padding: u32) -> String {
        String::from_utf8(KeyName::new(number, hashed, padding).as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn the_first_keys_are_called_as_in_ycsb() {
        assert_eq!(name(0, true, 1), "user6284781860667377211");
        assert_eq!(name(1, true, 1), "user8517097267634966620");
        assert_eq!(name(5, false, 1), "user5");
        assert_eq!(name(5, false, 8), "user00000005");
        assert_eq!(name(0, true, 24), "user000006284781860667377211");
    }

    #[test]
    fn every_key_of_a_uniform_workload_is_asked_for_alike() {
        let mut keys = keys(10, Requests::Uniform);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut seen = [0_u32; 10];
        (0..100_000).for_each(|_| seen[keys.existing(&mut random) as usize] += 1);
        assert!(
            seen.iter().all(|count| (9_500..10_500).contains(count)),
            "{seen:?}"
        );
    }

    #[test]
    fn the_most_popular_key_of_a_scrambled_workload_has_its_share() {
        let mut keys = keys(1000, Requests::Zipfian);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let popular = fnv(0) % 1001;
        let hits = (0..200_000)
            .filter(|_| keys.existing(&mut random) == popular)
            .count() as f64
            / 2e5;
        // The rank itself, and an even part of all the other ranks that fall on the same key.
        let expected = 1.0 / SCRAMBLED_ZETA + (1.0 - 1.0 / SCRAMBLED_ZETA) / 1001.0;
        assert!((hits / expected - 1.0).abs() < 0.05, "{hits} {expected}");
    }

    #[test]
    fn inserts_that_are_answered_out_of_order_count_as_in_ycsb() {
        // `tests/live/test_ycsb_original.py` has YCSB itself say the same.
        let script = include_str!("../../tests/golden/acknowledged.txt");
        let mut inserted = Acknowledged::after(1);
        for line in script.lines() {
            let (action, number) = line.split_once(' ').unwrap();
            let number: u64 = number.parse().unwrap();
            let told = match action {
                "begin" => {
                    inserted = Acknowledged::after(number);
                    number
                }
                "take" => inserted.take(),
                "acknowledge" => {
                    inserted.acknowledge(number);
                    number
                }
                "last" => inserted.last,
                other => panic!("{other}"),
            };
            assert_eq!(told, number, "{line}");
        }
    }

    #[test]
    fn the_latest_key_is_the_most_popular_and_moves_with_acknowledged_inserts() {
        let mut keys = keys(1000, Requests::Latest);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let popular = |keys: &mut Keys, random: &mut Xoshiro256PlusPlus| {
            let mut seen = std::collections::BTreeMap::new();
            (0..20_000).for_each(|_| *seen.entry(keys.existing(random)).or_insert(0) += 1);
            seen.into_iter().max_by_key(|(_, count)| *count).unwrap().0
        };
        assert_eq!(popular(&mut keys, &mut random), 999);
        let (first, first_position) = keys.fresh();
        let (second, second_position) = keys.fresh();
        assert_eq!((first, second), (1000, 1001));
        keys.acknowledge(second_position);
        assert_eq!(
            popular(&mut keys, &mut random),
            999,
            "the one before is not there yet"
        );
        keys.acknowledge(first_position);
        assert_eq!(popular(&mut keys, &mut random), 1001);
    }

    proptest! {
        #[test]
        fn parts_insert_different_keys_that_together_have_no_gap(
            of in 1_u32..6, records in 1_u64..1000, inserts in 1_usize..50,
        ) {
            let mut all: Vec<u64> = (0..of)
                .flat_map(|index| {
                    let plan = workload(records, Requests::Uniform);
                    let mut keys = Keys::new(&plan, Part { index, of }, 0).unwrap();
                    (0..inserts).map(move |_| keys.fresh().0).collect::<Vec<_>>()
                })
                .collect();
            all.sort_unstable();
            let expected: Vec<u64> = (records..records + inserts as u64 * u64::from(of)).collect();
            prop_assert_eq!(all, expected);
        }

        #[test]
        fn only_keys_that_exist_are_asked_for(
            records in 1_u64..50, seed: u64,
            requests in prop_oneof![
                Just(Requests::Uniform), Just(Requests::Zipfian), Just(Requests::Latest),
            ],
        ) {
            let mut keys = Keys::new(&workload(records, requests), WHOLE, 20).unwrap();
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            for _ in 0..200 {
                prop_assert!(keys.existing(&mut random) < records);
            }
        }
    }
}
