//! The YCSB core workload: everything that its properties decide, exactly as YCSB decides it.

use std::ops::Range;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;
use wire::load::{FieldLengths, ScanLengths, Ycsb};

use super::keys::MOST_PADDING;

#[cfg(test)]
mod fit;
pub mod inserts;
pub mod integrity;
mod lengths;
pub mod request;
pub mod scan;
pub mod values;
pub mod zipfian;

/// Whether a workload can be made; the error says what stands against it.
pub fn check(workload: &Ycsb) -> Result<(), String> {
    let mix = &workload.mix;
    let weights = [
        mix.read,
        mix.update,
        mix.insert,
        mix.scan,
        mix.read_modify_write,
    ];
    let (ScanLengths::Uniform { shortest, longest } | ScanLengths::Zipfian { shortest, longest }) =
        workload.scan_lengths;
    let prefix = &workload.field_prefix;
    let constant = matches!(workload.field_lengths, FieldLengths::Constant { .. });
    let refusals = [
        (workload.records == 0, "`records` must be at least 1"),
        (
            inserted(workload).is_none_or(|keys| keys.is_empty() || keys.end > workload.records),
            "`insert_start` and `insert_count` must name at least one key, and none beyond \
             `records`",
        ),
        (workload.fields == 0, "`fields` must be at least 1"),
        (
            prefix.is_empty()
                || !prefix
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b == b'_'),
            "`field_prefix` must be letters, digits and `_`",
        ),
        (
            shortest == 0 || longest < shortest,
            "`scan_lengths` must be at least 1, and `longest` not below `shortest`",
        ),
        (
            workload.zero_padding > MOST_PADDING,
            "`zero_padding` must be at most 32",
        ),
        (
            weights
                .iter()
                .any(|weight| *weight < 0.0 || !weight.is_finite())
                || weights.iter().sum::<f64>() <= 0.0,
            "the weights in `mix` must not be negative, and one must be positive",
        ),
        (
            workload.integrity && !constant,
            "`integrity` needs `field_lengths` of the kind `constant`, as in YCSB",
        ),
    ];
    match refusals.into_iter().find(|(refused, _)| *refused) {
        Some((_, what)) => Err(what.to_owned()),
        None => lengths::check(&workload.field_lengths).and_then(|()| request::check(workload)),
    }
}

/// Numbers of the keys that a load phase inserts; None where they would be too large.
pub fn inserted(workload: &Ycsb) -> Option<Range<u64>> {
    let first = workload.insert_start;
    let count = match workload.insert_count {
        Some(count) => count,
        None => workload.records.checked_sub(first)?,
    };
    Some(first..first.checked_add(count)?)
}

/// Names of the fields: `field0`, `field1`, ….
pub fn names(workload: &Ycsb) -> Vec<String> {
    let prefix = &workload.field_prefix;
    (0..workload.fields)
        .map(|number| format!("{prefix}{number}"))
        .collect()
}

/// A number drawn evenly from zero up to, and not including, `count`.
fn below(count: u64, random: &mut Xoshiro256PlusPlus) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(count)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::hash::java;
    use crate::load::keys::KeyName;
    use crate::load::mix::Operations;
    use crate::load::plan::tests::{plan, ycsb};
    use crate::load::stream::stream;
    use proptest::prelude::*;
    use wire::load::{Part, Phase, Requests};

    #[test]
    fn lengths_and_requests_that_cannot_be_made_are_refused() {
        let refused = |change: fn(&mut Ycsb)| {
            let mut plan = plan();
            change(ycsb(&mut plan));
            check(ycsb(&mut plan)).unwrap_err()
        };
        let lengths = refused(|workload| {
            let (block, counts) = (1, vec![]);
            workload.field_lengths = FieldLengths::Histogram { block, counts };
        });
        assert!(lengths.contains("`field_lengths`"), "{lengths}");
        let requests = refused(|workload| {
            let (data, operations) = (2.0, 0.5);
            workload.requests = Requests::Hotspot { data, operations };
        });
        assert!(requests.contains("`requests`"), "{requests}");
    }

    #[test]
    fn keys_and_their_scores_are_those_that_ycsb_makes() {
        let vectors = [
            (0, "user6284781860667377211", -594_971_599),
            (1, "user8517097267634966620", -314_243_905),
            (2, "user1820151046732198393", -338_223_234),
            (3, "user4052466453699787802", -1_414_300_200),
            (999, "user2071219101098386137", -517_353_160),
            (1000, "user5952875239596136740", 5_772_195),
        ];
        for (number, name, score) in vectors {
            let key = KeyName::new(number, true, 1);
            assert_eq!((key.as_str(), java(key.as_bytes())), (name, score));
        }
        // Numbers of a load phase do not wrap, as YCSB's do from the second of these on.
        let name = |number| KeyName::new(number, true, 1).as_str().to_owned();
        assert_eq!(name((1 << 31) - 1), "user627943977067101855");
        assert_eq!(name(1 << 31), "user5860980763039959109");
    }

    proptest! {
        #[test]
        fn the_parts_of_a_load_phase_insert_each_key_of_the_range_once(
            first in 0_u64..1000, count in 1_u64..50, beyond in 0_u64..50, of in 1_u32..8,
        ) {
            let mut plan = plan();
            plan.phase = Phase::Load;
            let workload = ycsb(&mut plan);
            workload.records = first + count + beyond;
            (workload.insert_start, workload.insert_count) = (first, Some(count));
            workload.hashed_keys = false;
            let mut all: Vec<String> = Vec::new();
            for index in 0..of {
                plan.part = Part { index, of };
                let mut operations = Operations::new(&plan).unwrap();
                let mut random = stream(plan.seed, plan.part, 0);
                let drawn = std::iter::from_fn(|| operations.draw(&mut random));
                all.extend(drawn.map(|operation| operation.key.as_str().to_owned()));
            }
            let range = first..first + count;
            let expected: Vec<String> = range.map(|number| format!("user{number}")).collect();
            prop_assert_eq!(all, expected);
        }
    }
}
