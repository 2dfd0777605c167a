use super::*;
use crate::load::core::fit::{counts, fits};
use crate::load::core::zipfian::tests::{likely_below, shares};
use crate::load::plan::tests::{plan, ycsb};
use proptest::prelude::*;
use rand_xoshiro::rand_core::SeedableRng;

const WHOLE: Part = Part { index: 0, of: 1 };
const DRAWS: u32 = 200_000;

/// A workload of 200 records whose load phase inserts the hundred from 20 on.
fn workload(requests: Requests) -> Ycsb {
    let mut plan = plan();
    let workload = ycsb(&mut plan);
    workload.records = 200;
    (workload.insert_start, workload.insert_count) = (20, Some(100));
    workload.requests = requests;
    workload.clone()
}

/// How often each position is asked for while `last` is the highest.
fn drawn(workload: &Ycsb, expected_inserts: u64, last: u64) -> Vec<u64> {
    let mut chooser = Chooser::new(workload, WHOLE, expected_inserts).unwrap();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    counts(last as usize + 1, DRAWS, || {
        chooser.position(last, &mut random)
    })
}

/// Shares of the positions up to `last`, where these are those of the positions from `first`.
fn from(first: usize, shares: &[f64], last: u64) -> Vec<f64> {
    let mut all = vec![0.0; first];
    all.extend_from_slice(shares);
    all.resize(last as usize + 1, 0.0);
    all
}

#[test]
fn uniform_requests_are_for_all_keys_of_the_insert_range_alike() {
    let counts = drawn(&workload(Requests::Uniform), 0, 210);
    assert_eq!(fits(&counts, &from(20, &[1.0; 100], 210)), Ok(()));
}

#[test]
fn sequential_requests_go_through_the_insert_range_over_and_over() {
    let mut workload = workload(Requests::Sequential);
    workload.insert_count = Some(3);
    let mut chooser = Chooser::new(&workload, WHOLE, 0).unwrap();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let positions = [(); 7].map(|()| chooser.position(199, &mut random));
    assert_eq!(positions, [20, 21, 22, 20, 21, 22, 20]);
}

/// How likely each position is with the scrambled distribution over `span` of them: exactly
/// for the popular ranks, and evenly for the many others.
fn scrambled(first: u64, span: u64, last: u64) -> Vec<f64> {
    const RANKS: u64 = 200_000;
    let items = SCRAMBLED_ITEMS + 1;
    let below = |rank| likely_below(rank, items, items, SCRAMBLED_ZETA);
    let mut shares = vec![(1.0 - below(RANKS)) / span as f64; span as usize];
    for rank in 0..RANKS {
        shares[(fnv(rank) % span) as usize] += below(rank + 1) - below(rank);
    }
    shares.truncate((last - first) as usize + 1);
    from(first as usize, &shares, last)
}

#[test]
fn scrambled_requests_have_ycsbs_popular_keys() {
    let workload = workload(Requests::Zipfian);
    // One position more than the range has keys.
    let counts = drawn(&workload, 0, 199);
    assert_eq!(fits(&counts, &scrambled(20, 101, 199)), Ok(()));
    assert!(counts[120] > 0);
    let popular = (0..200).max_by_key(|position| counts[*position]);
    assert_eq!(popular, Some(20 + (fnv(0) % 101) as usize));
    assert!(fits(&counts, &scrambled(20, 102, 199)).is_err());
}

#[test]
fn scrambled_requests_for_keys_that_are_still_to_come_are_drawn_again() {
    let mut workload = workload(Requests::Zipfian);
    (workload.insert_start, workload.insert_count) = (20, Some(180));
    for last in [199, 230] {
        let counts = drawn(&workload, 100, last);
        assert_eq!(fits(&counts, &scrambled(20, 281, last)), Ok(()), "{last}");
    }
}

#[test]
fn latest_requests_are_for_the_last_keys_and_never_for_the_first() {
    let workload = workload(Requests::Latest);
    // Of 200 records, and of 230 after thirty inserts.
    for last in [199, 229] {
        let counts = drawn(&workload, 0, last);
        let mut shares = shares(199, last);
        shares.reverse();
        assert_eq!(fits(&counts, &from(1, &shares, last)), Ok(()), "{last}");
    }
}

#[test]
fn hot_keys_are_the_first_ones_and_have_their_share() {
    let (data, operations) = (0.255, 0.8);
    let counts = drawn(&workload(Requests::Hotspot { data, operations }), 0, 199);
    // A quarter and half a key of a hundred.
    let shares = [[0.8 / 25.0; 25].to_vec(), [0.2 / 75.0; 75].to_vec()].concat();
    assert_eq!(fits(&counts, &from(20, &shares, 199)), Ok(()));
}

#[test]
fn exponential_requests_have_their_percentile_within_their_share() {
    let requests = |percentile| Requests::Exponential {
        percentile,
        share: 0.5,
    };
    let last = 219;
    let counts = drawn(&workload(requests(95.0)), 0, last);
    // 95 % within the last hundred, so within the last 220 as many as follow from it.
    let beyond = |distance: u64| 0.05_f64.powf(distance as f64 / 100.0);
    let shares: Vec<f64> = (0..=last)
        .map(|position| beyond(last - position) - beyond(last - position + 1))
        .collect();
    assert_eq!(fits(&counts, &shares), Ok(()));
    let other = drawn(&workload(requests(90.0)), 0, last);
    assert!(fits(&other, &shares).is_err());
}

#[test]
fn an_exponential_of_all_requests_asks_for_the_last_key_alone() {
    let requests = Requests::Exponential {
        percentile: 100.0,
        share: 1.0,
    };
    assert_eq!(drawn(&workload(requests), 0, 5)[5], u64::from(DRAWS));
}

#[test]
fn a_nearly_flat_exponential_comes_to_an_end_and_is_flat() {
    let requests = Requests::Exponential {
        percentile: 1.0,
        share: 1e9,
    };
    let counts = drawn(&workload(requests), 0, 99);
    assert_eq!(fits(&counts, &[1.0; 100]), Ok(()));
}

#[test]
fn requests_that_cannot_be_made_are_refused() {
    let refused = |requests| check(&workload(requests)).unwrap_err();
    let hotspot = |data, operations| Requests::Hotspot { data, operations };
    let exponential = |percentile, share| Requests::Exponential { percentile, share };
    assert!(refused(hotspot(1.1, 0.5)).contains("from 0 to 1"));
    assert!(refused(hotspot(0.5, -0.1)).contains("from 0 to 1"));
    assert!(refused(hotspot(0.009, 0.5)).contains("too little for one"));
    assert!(refused(hotspot(1.0, 0.5)).contains("leaves no key"));
    for (percentile, share) in [(0.0, 0.5), (100.1, 0.5), (95.0, 0.0), (95.0, f64::INFINITY)] {
        let said = refused(exponential(percentile, share));
        assert!(said.contains("above 0 and at most 100"), "{said}");
    }
    // What would not be drawn need not be there.
    assert_eq!(check(&workload(hotspot(0.0, 0.0))), Ok(()));
    assert_eq!(check(&workload(hotspot(1.0, 1.0))), Ok(()));
}

fn any_requests() -> impl Strategy<Value = Requests> {
    let hotspot = (0.0..=1.0_f64, 0.0..=1.0_f64)
        .prop_map(|(data, operations)| Requests::Hotspot { data, operations });
    let exponential = (0.1..=100.0_f64, 0.01..10.0_f64)
        .prop_map(|(percentile, share)| Requests::Exponential { percentile, share });
    prop_oneof![
        Just(Requests::Uniform),
        Just(Requests::Sequential),
        Just(Requests::Zipfian),
        Just(Requests::Latest),
        hotspot,
        exponential,
    ]
}

proptest! {
    #[test]
    fn only_keys_that_exist_are_asked_for(
        requests in any_requests(), first in 0_u64..30, count in 1_u64..30, beyond in 0_u64..30,
        expected in 0_u64..40, of in 1_u32..5, seed: u64,
    ) {
        let mut workload = workload(requests);
        workload.records = first + count + beyond;
        (workload.insert_start, workload.insert_count) = (first, Some(count));
        prop_assume!(check(&workload).is_ok());
        let part = Part { index: of - 1, of };
        let mut chooser = Chooser::new(&workload, part, expected).unwrap();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let lowest = match requests {
            Requests::Latest | Requests::Exponential { .. } => 0,
            _ => first,
        };
        for last in workload.records - 1..workload.records + 20 {
            for _ in 0..10 {
                let position = chooser.position(last, &mut random);
                prop_assert!((lowest..=last).contains(&position), "{position}");
            }
        }
    }

    #[test]
    fn parts_ask_for_sequential_keys_in_turns(of in 1_u32..8, count in 1_u64..20) {
        let mut workload = workload(Requests::Sequential);
        workload.insert_count = Some(count);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut choosers: Vec<_> = (0..of)
            .map(|index| Chooser::new(&workload, Part { index, of }, 0).unwrap())
            .collect();
        let mut whole = Chooser::new(&workload, WHOLE, 0).unwrap();
        for turn in 0..100 {
            let chooser = &mut choosers[turn % of as usize];
            let position = chooser.position(199, &mut random);
            prop_assert_eq!(position, whole.position(199, &mut random));
        }
    }
}
