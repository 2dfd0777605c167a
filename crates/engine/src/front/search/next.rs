//! Which rate to try next, and what was found, as in a study (`findings/saturation/probe.py`).
//!
//! A geometric ramp finds a rate that is too high, bisection on the logarithmic scale then narrows
//! it down. A disturbance may refuse a rate that would be sustained, so no single refusal decides:
//! a refusal by little is tried again at once, and the one that the search would end at before it
//! ends.

use wire::load::ProbeSummary;

use super::{BY_CONNECTIONS, BY_ENGINE, FOUND, Limits, USED_UP};

/// Of the ramp, up and down.
const FACTOR: f64 = 2.0;
/// Below this share of the intended operations one refusal is enough to go on with a lower rate.
const CLEAR: f64 = 0.9;
/// Share of the connections from which on all count as in use.
const ALL_IN_USE: f64 = 0.9;
/// How many times the shortest mean service time is no longer than that.
const AS_LONG: f64 = 1.5;

/// The rate to try after these loads, whole and at least 1; None when the search is over.
pub fn rate(limits: Limits, probes: &[ProbeSummary]) -> Option<f64> {
    let Some(last) = probes.last() else {
        return Some(limits.start.round().max(1.0));
    };
    if probes.len() >= limits.probes {
        return None;
    }
    if doubtful(last.rate, probes) {
        return Some(last.rate);
    }
    let Edges { low, high } = edges(probes);
    let Some(high) = high else {
        let from = low.unwrap_or(limits.start);
        return Some((from * FACTOR).round());
    };
    if narrow(limits, low, high) {
        return (!confirmed(high, probes)).then_some(high);
    }
    Some(match low {
        None => (high / FACTOR).floor().max(1.0),
        Some(low) => (low * high).sqrt().round().max(low + 1.0).min(high - 1.0),
    })
}

/// The highest rate that was sustained, and how the search ended.
pub fn found(limits: Limits, probes: &[ProbeSummary]) -> (Option<f64>, &'static str) {
    let Edges { low, high } = edges(probes);
    let over = high.is_some_and(|high| narrow(limits, low, high) && confirmed(high, probes));
    let limited = |high: f64| {
        probes
            .iter()
            .any(|probe| same(probe, high) && probe.saturated)
    };
    let ended = match (over, low) {
        (false, _) => USED_UP,
        (true, _) if high.is_some_and(limited) => BY_ENGINE,
        (true, None) => "never sustained",
        (true, _) if high.is_some_and(|high| by_connections(high, probes)) => BY_CONNECTIONS,
        (true, Some(_)) => FOUND,
    };
    (low, ended)
}

/// Whether it was not the database that refused a rate: all connections were in use, and answers
/// took about as long as at lower rates. In a database at its limit they wait for each other.
fn by_connections(rate: f64, probes: &[ProbeSummary]) -> bool {
    let times = probes.iter().filter_map(|probe| probe.service);
    let shortest = times.fold(f64::INFINITY, f64::min);
    probes
        .iter()
        .filter(|probe| same(probe, rate))
        .any(|probe| {
            probe.in_use.is_some_and(|share| share >= ALL_IN_USE)
                && probe.service.is_some_and(|time| time <= AS_LONG * shortest)
        })
}

/// The highest rate that was sustained, and the lowest refused by more than little or twice.
struct Edges {
    low: Option<f64>,
    high: Option<f64>,
}

fn edges(probes: &[ProbeSummary]) -> Edges {
    let sustained = |probe: &&ProbeSummary| probe.refusals.is_empty();
    let low = probes.iter().filter(sustained).map(|probe| probe.rate);
    let ever = |rate: f64| {
        probes
            .iter()
            .filter(sustained)
            .any(|probe| same(probe, rate))
    };
    let high = probes
        .iter()
        .map(|probe| probe.rate)
        .filter(|rate| !ever(*rate) && !doubtful(*rate, probes));
    Edges {
        low: low.reduce(f64::max),
        high: high.reduce(f64::min),
    }
}

/// Whether a load had this rate; rates are whole.
pub fn same(probe: &ProbeSummary, rate: f64) -> bool {
    (probe.rate - rate).abs() < 0.5
}

/// Whether a rate was refused once, and by so little that it must be tried again.
fn doubtful(rate: f64, probes: &[ProbeSummary]) -> bool {
    let mut at = probes.iter().filter(|probe| same(probe, rate));
    match (at.next(), at.next()) {
        (Some(one), None) => !one.refusals.is_empty() && one.achieved >= CLEAR,
        _ => false,
    }
}

/// Whether a rate that was never sustained was refused more than once.
fn confirmed(rate: f64, probes: &[ProbeSummary]) -> bool {
    probes.iter().filter(|probe| same(probe, rate)).count() > 1
}

/// Whether there is nothing left to try between what was sustained and what was refused.
fn narrow(limits: Limits, low: Option<f64>, high: f64) -> bool {
    match low {
        None => high <= 1.0,
        Some(low) => high <= low * (1.0 + limits.precision) || high - low <= 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMITS: Limits = Limits {
        start: 1000.0,
        precision: 0.05,
        probes: 40,
    };

    fn probe(rate: f64, achieved: f64, sustained: bool) -> ProbeSummary {
        let refusals = if sustained {
            Vec::new()
        } else {
            vec!["too much".to_owned()]
        };
        ProbeSummary {
            rate,
            achieved,
            slope: 0.0,
            p99: None,
            service: None,
            in_use: None,
            saturated: false,
            refusals,
        }
    }

    /// All loads of a search on a database that sustains so much.
    fn searched(limits: Limits, capacity: f64) -> Vec<ProbeSummary> {
        let mut probes = Vec::new();
        while let Some(rate) = rate(limits, &probes) {
            probes.push(probe(rate, (capacity / rate).min(1.0), rate <= capacity));
        }
        probes
    }

    proptest! {
        #[test]
        fn the_rate_found_is_within_the_precision_below_the_capacity(
            capacity in 1.0..1e6_f64, start in 1.0..1e5_f64,
        ) {
            let limits = Limits { start, ..LIMITS };
            let probes = searched(limits, capacity);
            let (rate, ended) = found(limits, &probes);
            prop_assert_eq!(ended, "found");
            let rate = rate.unwrap();
            prop_assert!(rate <= capacity);
            prop_assert!(capacity < (rate * 1.05).max(rate + 1.0), "{} of {}", rate, capacity);
        }
    }

    #[test]
    fn a_database_that_sustains_nothing_is_told() {
        let probes = searched(LIMITS, 0.5);
        assert_eq!(found(LIMITS, &probes), (None, "never sustained"));
        assert_eq!(probes.last().unwrap().rate.round() as u64, 1);
    }

    #[test]
    fn a_search_ends_after_so_many_loads() {
        let limits = Limits {
            probes: 3,
            ..LIMITS
        };
        let probes = searched(limits, 1e9);
        assert_eq!(probes.len(), 3);
        assert_eq!(found(limits, &probes), (Some(4000.0), "used up"));
    }

    #[test]
    fn a_refusal_by_little_is_tried_again_and_one_by_much_is_not() {
        let by_little = [probe(1000.0, 0.97, false)];
        assert_eq!(rate(LIMITS, &by_little), Some(1000.0));
        let by_much = [probe(1000.0, 0.5, false)];
        assert_eq!(rate(LIMITS, &by_much), Some(500.0));
        let again = [by_little[0].clone(), probe(1000.0, 1.0, true)];
        assert_eq!(rate(LIMITS, &again), Some(2000.0));
        assert_eq!(found(LIMITS, &[]), (None, "used up"));
    }

    #[test]
    fn a_rate_that_was_too_high_for_the_engine_is_not_told_as_that_of_the_database() {
        let mut probes = searched(LIMITS, 1500.0);
        assert_eq!(found(LIMITS, &probes).1, "found");
        let much = probes.iter_mut().find(|probe| same(probe, 2000.0)).unwrap();
        much.saturated = true;
        assert_eq!(
            found(LIMITS, &probes).1,
            "found",
            "it does not bound the answer"
        );
        let (low, _) = found(LIMITS, &probes);
        for probe in &mut probes {
            probe.saturated = !probe.refusals.is_empty();
        }
        assert_eq!(found(LIMITS, &probes), (low, BY_ENGINE));
    }

    #[test]
    fn a_rate_that_was_too_high_for_the_connections_is_not_told_as_that_of_the_database() {
        let ended = |much: f64| {
            let mut probes = searched(LIMITS, 3200.0);
            for probe in &mut probes {
                let refused = !probe.refusals.is_empty();
                probe.service = Some(if refused { much } else { 0.02 });
                probe.in_use = Some(if refused {
                    1.0
                } else {
                    probe.rate * 0.02 / 64.0
                });
            }
            found(LIMITS, &probes).1
        };
        assert_eq!(ended(0.021), BY_CONNECTIONS);
        assert_eq!(
            ended(0.04),
            "found",
            "answers wait for each other in the database"
        );
    }

    #[derive(serde::Deserialize)]
    struct Golden {
        searched: Vec<Searched>,
    }

    #[derive(serde::Deserialize)]
    struct Searched {
        name: String,
        start: f64,
        precision: f64,
        probes: usize,
        tried: Vec<Tried>,
        rate: Option<f64>,
        ended: String,
    }

    #[derive(serde::Deserialize)]
    struct Tried {
        rate: f64,
        achieved: f64,
        sustained: bool,
    }

    #[test]
    fn the_next_rate_and_the_end_of_a_search_are_those_of_a_study() {
        // `tests/unit/analysis/test_analysis_search_alone.py` reads the same.
        let golden = include_str!("../../../tests/golden/search.json");
        let golden: Golden = serde_json::from_str(golden).unwrap();
        for case in golden.searched {
            let limits = Limits {
                start: case.start,
                precision: case.precision,
                probes: case.probes,
            };
            let name = &case.name;
            let mut probes = Vec::new();
            for tried in case.tried {
                assert_eq!(rate(limits, &probes), Some(tried.rate), "{name}");
                probes.push(probe(tried.rate, tried.achieved, tried.sustained));
            }
            assert_eq!(rate(limits, &probes), None, "{name}");
            assert_eq!(found(limits, &probes), (case.rate, &*case.ended), "{name}");
        }
    }
}
