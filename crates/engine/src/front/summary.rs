//! What came of a load, for whoever typed it.

use std::collections::{BTreeMap, BTreeSet};

use wire::load::{Level, LoadPlan, LoadResult, OperationSummary, Policy, SUMMARY_VERSION, Summary};

use super::kept::{Kept, recovered};
use super::sums::Sums;

/// The operation type under which all of them stand.
pub const ALL: &str = "all";

/// The summary of one load: its plan, its result, and the times that were added up meanwhile.
pub fn of(plan: &LoadPlan, result: &LoadResult, sums: &Sums) -> Summary {
    let seconds = result.seconds;
    let share = |part: f64| if seconds > 0.0 { part / seconds } else { 0.0 };
    let count: u64 = result.operations.values().sum();
    let kept = result.intended.map(|_| Kept::of(result));
    // Operations that are left out do not wait, so there is no backlog that could grow.
    let steady = match plan.level {
        Level::Rate { arrivals, .. } if plan.policy != Policy::Drop => Some(arrivals),
        _ => None,
    };
    Summary {
        version: SUMMARY_VERSION,
        driver: plan.target.driver.clone(),
        phase: plan.phase,
        level: plan.level,
        part: plan.part,
        seed: plan.seed,
        began: result.began,
        seconds,
        ended_early: result.ended_early,
        started: result.started,
        first_operation: result.first_operation.filter(|_| plan.start.is_none()),
        throughput: share(count as f64),
        offered: result.intended.map(|intended| share(intended as f64)),
        backlog: result.backlog,
        achieved: kept.as_ref().map(|kept| kept.achieved),
        slope: kept
            .as_ref()
            .filter(|_| steady.is_some())
            .map(|kept| kept.slope),
        over_capacity: kept
            .zip(steady)
            .is_some_and(|(kept, arrivals)| kept.over(arrivals))
            && !result.saturated
            && result.silent_from.is_none(),
        recovered_after: recovered(plan, result),
        silent_from: result.silent_from,
        operations: operations(result, sums),
        messages: result.messages.clone(),
        connections: result.connections,
        cpu: result.cpu_user + result.cpu_system,
        busy: share(result.cpu_busiest_thread),
        limited: share(result.limited),
        saturated: result.saturated,
        search: None,
        saturation: None,
    }
}

/// Each operation type that there was, and all of them together.
fn operations(result: &LoadResult, sums: &Sums) -> BTreeMap<String, OperationSummary> {
    let kinds: BTreeSet<&String> = result
        .operations
        .keys()
        .chain(result.errors.keys())
        .chain(result.late.keys())
        .chain(result.dropped.keys())
        .chain(result.unfinished.keys())
        .collect();
    let mut all = OperationSummary {
        service: sums.of_all("service"),
        response: sums.of_all("response"),
        failed: sums.of_all("failed"),
        ..OperationSummary::default()
    };
    let number = |counts: &BTreeMap<String, u64>, kind: &String| {
        let count = counts.get(kind);
        count.copied().unwrap_or_default()
    };
    let mut found = BTreeMap::new();
    for kind in kinds {
        let one = OperationSummary {
            count: number(&result.operations, kind),
            errors: result.errors.get(kind).cloned().unwrap_or_default(),
            late: number(&result.late, kind),
            unsent: number(&result.unsent, kind),
            dropped: number(&result.dropped, kind),
            unfinished: number(&result.unfinished, kind),
            service: sums.of(kind, "service"),
            response: sums.of(kind, "response"),
            failed: sums.of(kind, "failed"),
        };
        all.count += one.count;
        for (error, count) in &one.errors {
            *all.errors.entry(error.clone()).or_default() += count;
        }
        all.late += one.late;
        all.unsent += one.unsent;
        all.dropped += one.dropped;
        all.unfinished += one.unfinished;
        found.insert(kind.clone(), one);
    }
    found.insert(ALL.to_owned(), all);
    found
}

#[cfg(test)]
pub mod tests {
    use super::super::sums::tests::interval;
    use super::*;
    use crate::load::plan::tests::plan;
    use wire::load::{Arrivals, LOAD_VERSION, Part, Window};

    fn counts(pairs: &[(&str, u64)]) -> BTreeMap<String, u64> {
        let owned = pairs
            .iter()
            .map(|(name, count)| ((*name).to_owned(), *count));
        owned.collect()
    }

    /// The result of two seconds of an open load of a hundred operations.
    pub fn result() -> LoadResult {
        LoadResult {
            version: LOAD_VERSION,
            part: Part { index: 0, of: 1 },
            began: 1000.0,
            seconds: 2.0,
            operations: counts(&[("read", 60), ("update", 30)]),
            errors: BTreeMap::from([
                (
                    "read".to_owned(),
                    counts(&[("not_found", 2), ("timeout", 1)]),
                ),
                ("scan".to_owned(), counts(&[("timeout", 1)])),
            ]),
            late: counts(&[("read", 5)]),
            unsent: counts(&[("scan", 1)]),
            dropped: counts(&[("update", 3)]),
            unfinished: counts(&[("read", 2)]),
            verified: None,
            messages: vec!["no such record".to_owned()],
            windows: windows(&[9, 25, 25, 25, 23]),
            remotes: Vec::new(),
            shape: "none".to_owned(),
            consistency: BTreeMap::new(),
            encryption: Vec::new(),
            connections: 4,
            cpu_user: 0.3,
            cpu_system: 0.1,
            cpu_busiest_thread: 0.4,
            limited: 0.02,
            saturated: false,
            intended: Some(100),
            backlog: 3,
            started: Some(999.5),
            first_operation: Some(0.02),
            ended_early: false,
            silent_from: None,
        }
    }

    /// A time line of half seconds, of which the first one is of the warm-up.
    pub fn windows(over: &[u64]) -> Vec<Window> {
        (0..)
            .zip(over)
            .map(|(number, operations)| Window {
                start: f64::from(number) * 0.5 - 0.5,
                length: 0.5,
                operations: *operations,
                errors: 0,
            })
            .collect()
    }

    /// The summary of that.
    pub fn summary() -> Summary {
        let mut sums = Sums::default();
        let times: &[(&str, &[u64])] = &[
            ("read.service", &[1, 2, 3]),
            ("read.response", &[2, 3, 4]),
            ("update.service", &[10]),
            ("update.response", &[20]),
            ("read.failed", &[50]),
        ];
        sums.add(&interval(0, times, 90));
        let mut plan = plan();
        plan.level = Level::Rate {
            rate: 50.0,
            connections: 4,
            arrivals: Arrivals::Constant,
        };
        of(&plan, &result(), &sums)
    }

    #[test]
    fn all_operations_are_the_sum_of_their_types() {
        let found = summary();
        let all = &found.operations[ALL];
        assert_eq!(
            (all.count, all.late, all.unsent, all.dropped),
            (90, 5, 1, 3)
        );
        assert_eq!(all.unfinished, 2);
        assert_eq!(all.errors, counts(&[("not_found", 2), ("timeout", 2)]));
        assert_eq!(all.service.as_ref().unwrap().count, 4);
        assert_eq!(all.failed.as_ref().unwrap().count, 1);
        let kinds: Vec<&String> = found.operations.keys().collect();
        assert_eq!(kinds, ["all", "read", "scan", "update"]);
        assert_eq!(found.operations["scan"].service, None);
    }

    #[test]
    fn rates_and_shares_are_of_the_measured_window() {
        let found = summary();
        assert_eq!((found.throughput, found.offered), (45.0, Some(50.0)));
        assert_eq!((found.achieved, found.recovered_after), (Some(0.98), None));
        let slope = found.slope.unwrap();
        assert!((slope - 0.04).abs() < 1e-9, "{slope}");
        assert_eq!((found.busy, found.limited), (0.2, 0.01));
        assert!((found.cpu - 0.4).abs() < 1e-9);
        let mut closed = result();
        (closed.seconds, closed.intended) = (0.0, None);
        let found = of(&plan(), &closed, &Sums::default());
        assert_eq!((found.throughput, found.offered), (0.0, None));
        assert_eq!((found.achieved, found.slope), (None, None));
        assert!(!found.over_capacity);
    }
}
