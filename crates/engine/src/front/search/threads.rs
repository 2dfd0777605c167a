//! The search for the highest throughput: a closed loop with more and more threads.
//!
//! Each load has twice as many threads as the one before, until two in a row bring no more: one that
//! a disturbance held back ends nothing.

use wire::load::{Level, LoadPlan, LoadResult, SaturationSummary, Summary, ThreadsProbeSummary};

use super::super::summary::ALL;
use super::super::words::{latency, number};
use super::{BY_ENGINE, Course, FOUND, Limits, USED_UP, by_engine};

/// How a search ended that has no load without errors.
const NONE: &str = "never without errors";
/// How one ended because of errors that came with more threads.
pub const ERRORS: &str = "errors";

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

    fn heed(&mut self, _: &LoadPlan, _: &LoadResult, summary: &Summary) -> String {
        let probe = probed(summary);
        let said = told(&probe);
        self.probes.push(probe);
        said
    }

    fn answer(&self) -> Option<usize> {
        answer(self.limits, &self.probes)
    }

    fn conclude(self: Box<Self>, ended: Option<&str>, summary: &mut Summary) {
        let found = answer(self.limits, &self.probes).map(|at| &self.probes[at]);
        let by_itself = by_itself(self.limits, self.first, &self.probes);
        summary.saturation = Some(SaturationSummary {
            threads: found.map(|probe| probe.threads),
            throughput: found.map(|probe| probe.throughput),
            highest: found.map(|_| highest(&self.probes)),
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
    let Some(before) = probes
        .len()
        .checked_sub(NO_GROWTH)
        .filter(|count| *count > 0)
    else {
        return false;
    };
    let (before, after) = probes.split_at(before);
    let more = highest(before) * (1.0 + limits.precision);
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

/// The highest throughput that counts.
fn highest(probes: &[ThreadsProbeSummary]) -> f64 {
    probes.iter().map(counted).fold(0.0, f64::max)
}

/// The number of the load with the fewest threads that has the highest throughput, but for the
/// precision.
fn answer(limits: Limits, probes: &[ThreadsProbeSummary]) -> Option<usize> {
    let most = highest(probes);
    let enough = most / (1.0 + limits.precision);
    let reaches = |probe: &ThreadsProbeSummary| counted(probe) >= enough;
    probes.iter().position(reaches).filter(|_| most > 0.0)
}

/// How a search ended that nothing else did end.
fn by_itself(limits: Limits, first: u32, probes: &[ThreadsProbeSummary]) -> &'static str {
    let Some(answer) = answer(limits, probes) else {
        return NONE;
    };
    if !level_out(limits, probes) && next(limits, first, probes).is_none() {
        return USED_UP;
    }
    let more = &probes[answer + 1..];
    if more.iter().any(|probe| probe.errors > 0) {
        ERRORS
    } else if probes[answer..].iter().any(|probe| probe.saturated) {
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
        errors => format!(", and {}, so it does not count", number(errors, "error")),
    };
    let engine = by_engine(probe.saturated);
    let threads = number(u64::from(probe.threads), "thread");
    let throughput = probe.throughput;
    format!("{threads}: {throughput:.0} a second{p99}{errors}{engine}")
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
        answer(LIMITS, probes).map(|at| probes[at].threads)
    }

    proptest! {
        #[test]
        fn the_fewest_threads_that_saturate_a_server_are_found(
            servers in 1u32..2000, each in 1.0..1e4_f64,
        ) {
            let probes = searched(|threads| each * f64::from(threads.min(servers)));
            let found = &probes[answer(LIMITS, &probes).unwrap()];
            let most = each * f64::from(servers);
            prop_assert!(found.throughput * 1.05 >= most, "{} of {}", found.throughput, most);
            prop_assert!(found.threads <= 2 * servers, "{} of {}", found.threads, servers);
            prop_assert_eq!(by_itself(LIMITS, 1, &probes), FOUND);
            prop_assert_eq!(probes.last().unwrap().threads, found.threads * 4);
        }
    }

    #[test]
    fn one_load_that_is_held_back_ends_nothing() {
        let probes = searched(|threads| match threads {
            4 => 1.0,
            other => f64::from(other.min(64)),
        });
        assert_eq!(threads(&probes), Some(64));
    }

    #[test]
    fn a_throughput_that_falls_again_is_not_the_answer() {
        let waits = |threads: u32| f64::from(threads.max(8)).sqrt();
        let probes = searched(|threads| f64::from(threads.min(8)) / waits(threads));
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
        let expected = "1 thread: 10 a second, and 1 error, so it does not count";
        assert_eq!(told, expected);
    }

    #[test]
    fn errors_that_come_with_more_threads_are_told_as_the_end() {
        let mut probes = searched(|threads| f64::from(threads.min(4)));
        assert_eq!(by_itself(LIMITS, 1, &probes), FOUND);
        probes[4].errors = 1;
        assert_eq!(
            (threads(&probes), by_itself(LIMITS, 1, &probes)),
            (Some(4), ERRORS)
        );
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
