//! The search for the highest throughput: a closed loop with more and more threads.
//!
//! Each load has twice as many threads as the one before, until two in a row bring no more: one that
//! a disturbance held back ends nothing.

use wire::load::{
    Level, LoadPlan, LoadResult, SaturationSummary, Summary, ThreadsProbeSummary,
};

use super::super::summary::ALL;
use super::super::words::latency;
use super::{BY_ENGINE, Course, FOUND, Limits, USED_UP};

/// How one ended that has no load without errors.
const NONE: &str = "never without errors";

/// How many times the threads of the load before.
const FACTOR: u32 = 2;
/// So many loads in a row that bring no more end a search.
const NO_GROWTH: usize = 2;

/// One closed loop after another.
pub struct Threads {
    limits: Limits,
    first: u32,
    probes: Vec<ThreadsProbeSummary>,
}

impl Threads {
    /// None was made yet.
    pub fn new(limits: Limits, first: Level) -> Self {
        Self {
            limits,
            first: threads_of(first),
            probes: Vec::new(),
        }
    }
}

impl Course for Threads {
    fn next(&self) -> Option<Level> {
        let threads = next(self.limits, self.first, &self.probes)?;
        Some(Level::Threads { threads })
    }

    fn heed(&mut self, _: &LoadPlan, _: &LoadResult, summary: &Summary) -> (bool, String) {
        let probe = probed(summary);
        let said = told(&probe);
        self.probes.push(probe);
        let answer = answer(self.limits, &self.probes);
        let better = answer.is_some_and(|found| found.threads == threads_of(summary.level));
        (better, said)
    }

    fn grows(&self) -> bool {
        true
    }

    fn conclude(self: Box<Self>, ended: Option<&str>, summary: &mut Summary) {
        let found = answer(self.limits, &self.probes);
        let by_itself = by_itself(self.limits, self.first, &self.probes);
        summary.saturation = Some(SaturationSummary {
            threads: found.map(|probe| probe.threads),
            throughput: found.map(|probe| probe.throughput),
            ended: ended.unwrap_or(by_itself).to_owned(),
            probes: self.probes,
        });
    }
}

fn threads_of(level: Level) -> u32 {
    match level {
        Level::Threads { threads } => threads,
        _ => 1,
    }
}

fn probed(summary: &Summary) -> ThreadsProbeSummary {
    let all = &summary.operations[ALL];
    ThreadsProbeSummary {
        threads: threads_of(summary.level),
        throughput: summary.throughput,
        p99: all.service.as_ref().map(|times| times.quantiles["p99"]),
        errors: all.errors.values().sum(),
        saturated: summary.saturated,
    }
}

/// The threads to try after these loads; None when the search is over.
fn next(limits: Limits, first: u32, probes: &[ThreadsProbeSummary]) -> Option<u32> {
    let Some(last) = probes.last() else {
        return Some(first);
    };
    if probes.len() >= limits.probes || level_out(limits, probes) {
        return None;
    }
    last.threads.checked_mul(FACTOR)
}

/// Whether the last loads brought no more than those before.
fn level_out(limits: Limits, probes: &[ThreadsProbeSummary]) -> bool {
    let Some(before) = probes.len().checked_sub(NO_GROWTH).filter(|count| *count > 0) else {
        return false;
    };
    let (before, after) = probes.split_at(before);
    let most = before.iter().map(counted).fold(0.0, f64::max);
    let more = most * (1.0 + limits.precision);
    after.iter().all(|probe| counted(probe) <= more)
}

/// The throughput that counts: one with errors does not.
fn counted(probe: &ThreadsProbeSummary) -> f64 {
    if probe.errors == 0 {
        probe.throughput
    } else {
        0.0
    }
}

/// The load with the fewest threads that has the highest throughput, but for the precision.
fn answer(limits: Limits, probes: &[ThreadsProbeSummary]) -> Option<&ThreadsProbeSummary> {
    let most = probes.iter().map(counted).fold(0.0, f64::max);
    let enough = most / (1.0 + limits.precision);
    let mut well = probes.iter().filter(|probe| counted(probe) > 0.0);
    well.find(|probe| probe.throughput >= enough)
}

/// How a search ended that nothing else did end.
fn by_itself(limits: Limits, first: u32, probes: &[ThreadsProbeSummary]) -> &'static str {
    let Some(answer) = answer(limits, probes) else {
        return NONE;
    };
    let mut from_there = probes.iter().filter(|probe| probe.threads >= answer.threads);
    if !level_out(limits, probes) && next(limits, first, probes).is_none() {
        USED_UP
    } else if from_there.any(|probe| probe.saturated) {
        BY_ENGINE
    } else {
        FOUND
    }
}

/// One sentence of a load that was tried.
fn told(probe: &ThreadsProbeSummary) -> String {
    let p99 = probe
        .p99
        .map_or_else(String::new, |p99| format!(", service.p99 {}", latency(p99)));
    let errors = match probe.errors {
        0 => String::new(),
        errors => format!(", and {errors} errors, so it does not count"),
    };
    let engine = if probe.saturated {
        " (the engine itself may have been the limit)"
    } else {
        ""
    };
    let (threads, throughput) = (probe.threads, probe.throughput);
    format!("{threads} threads: {throughput:.0} a second{p99}{errors}{engine}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMITS: Limits = Limits {
        start: 1.0,
        precision: 0.05,
        probes: 20,
    };

    fn probe(threads: u32, throughput: f64) -> ThreadsProbeSummary {
        ThreadsProbeSummary {
            threads,
            throughput,
            p99: None,
            errors: 0,
            saturated: false,
        }
    }

    /// All loads of a search on a database that does so much with so many threads.
    fn searched(throughput: impl Fn(u32) -> f64) -> Vec<ThreadsProbeSummary> {
        let mut probes = Vec::new();
        while let Some(threads) = next(LIMITS, 1, &probes) {
            probes.push(probe(threads, throughput(threads)));
        }
        probes
    }

    fn threads(probes: &[ThreadsProbeSummary]) -> Option<u32> {
        answer(LIMITS, probes).map(|found| found.threads)
    }

    proptest! {
        #[test]
        fn the_fewest_threads_that_saturate_a_server_are_found(
            servers in 1u32..2000, each in 1.0..1e4_f64,
        ) {
            let probes = searched(|threads| each * f64::from(threads.min(servers)));
            let found = answer(LIMITS, &probes).unwrap();
            let most = each * f64::from(servers);
            prop_assert!(found.throughput * 1.05 >= most, "{} of {}", found.throughput, most);
            prop_assert!(found.threads <= 2 * servers, "{} of {}", found.threads, servers);
            prop_assert_eq!(by_itself(LIMITS, 1, &probes), FOUND);
            prop_assert_eq!(probes.last().unwrap().threads, found.threads * 4);
        }
    }

    #[test]
    fn one_load_that_is_held_back_ends_nothing() {
        let probes = searched(|threads| if threads == 4 { 1.0 } else { f64::from(threads.min(64)) });
        assert_eq!(threads(&probes), Some(64));
    }

    #[test]
    fn a_throughput_that_falls_again_is_not_the_answer() {
        let probes = searched(|threads| f64::from(threads.min(8)) / f64::from(threads.max(8)).sqrt());
        assert_eq!((threads(&probes), probes.len()), (Some(8), 6));
    }

    #[test]
    fn loads_with_errors_do_not_count() {
        let mut probes = vec![probe(1, 10.0), probe(2, 20.0), probe(4, 40.0)];
        probes[2].errors = 1;
        assert_eq!(threads(&probes), Some(2));
        for probe in &mut probes {
            probe.errors = 1;
        }
        assert_eq!(by_itself(LIMITS, 1, &probes), NONE);
        let told = told(&probes[0]);
        assert!(told.contains("and 1 errors, so it does not count"), "{told}");
    }

    #[test]
    fn where_the_engine_was_the_limit_it_is_told() {
        let mut probes = searched(|threads| f64::from(threads.min(4)));
        probes[0].saturated = true;
        assert_eq!(by_itself(LIMITS, 1, &probes), FOUND, "it has fewer threads");
        probes[3].saturated = true;
        assert_eq!(by_itself(LIMITS, 1, &probes), BY_ENGINE);
        assert!(told(&probes[3]).contains("the engine itself"));
    }

    #[test]
    fn a_search_ends_after_so_many_loads() {
        let limits = Limits {
            probes: 3,
            ..LIMITS
        };
        let probes = [probe(1, 1.0), probe(2, 2.0), probe(4, 4.0)];
        assert_eq!(next(limits, 1, &probes), None);
        assert_eq!(by_itself(limits, 1, &probes), USED_UP);
    }
}
