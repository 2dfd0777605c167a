//! A summary as text for people.

use std::fmt::Write;

use wire::load::{Level, OperationSummary, Phase, Summary};

use super::search::{self, BY_CONNECTIONS, BY_ENGINE, ERRORS, FAILED};
use super::summary::ALL;
use super::words::{latency, number};
use crate::load::plan::in_flight;

/// Columns of the table of times: a heading, and the quantile that stands there.
const QUANTILES: [&str; 4] = ["p50", "p95", "p99", "p99.9"];

/// All of it; each line ends.
pub fn of(summary: &Summary) -> String {
    let mut out = String::new();
    searched(summary, &mut out);
    let all = &summary.operations[ALL];
    let phase = match summary.phase {
        Phase::Load => "load",
        Phase::Run => "run",
    };
    let _ = writeln!(
        out,
        "{} {phase}: {} operations in {:.1} s, {:.1} a second",
        summary.driver, all.count, summary.seconds, summary.throughput
    );
    if let Some(offered) = summary.offered {
        let _ = writeln!(
            out,
            "intended: {offered:.1} a second; when the time was over, {} were not answered{}",
            summary.backlog,
            later(all)
        );
    }
    kept(summary, &mut out);
    counted(summary, &mut out);
    times(summary, &mut out);
    for message in &summary.messages {
        let _ = writeln!(out, "an error: {message}");
    }
    if let Some(seconds) = summary.first_operation {
        let _ = writeln!(
            out,
            "first operation: {} after the start of the engine",
            latency(seconds)
        );
    }
    let _ = write!(
        out,
        "engine: busy for {:.0} % of the time",
        100.0 * summary.busy
    );
    let _ = match summary.level {
        // It may work without a pause, and judges itself by that alone.
        Level::Threads { .. } => writeln!(out),
        _ => writeln!(
            out,
            ", at its limit for {:.1} % of it",
            100.0 * summary.limited
        ),
    };
    out
}

/// How many of an open load were answered when the time was over, if any were.
fn later(all: &OperationSummary) -> String {
    let answered = all.response.as_ref().map_or(0, |times| times.count);
    match answered.saturating_sub(all.count) {
        0 => String::new(),
        later => format!("; {later} of these were answered later"),
    }
}

/// How a schedule was kept, without which response times say little.
fn kept(summary: &Summary, out: &mut String) {
    if let (Some(achieved), Level::Rate { .. }) = (summary.achieved, summary.level) {
        // What the warm-up left over counts, so that more than all may be over.
        let share = 100.0 * achieved.min(1.0);
        let _ = write!(out, "schedule: {share:.1} % of it was over in time");
        let _ = match summary.slope.map(|slope| (1000.0 * slope).round()) {
            Some(less) if less < 0.0 => {
                writeln!(
                    out,
                    ", and the backlog shrank by {} ms in each second",
                    -less
                )
            }
            Some(more) => writeln!(
                out,
                ", and the backlog grew by {} ms in each second",
                more.abs()
            ),
            None => writeln!(out),
        };
    }
    if summary.over_capacity {
        let _ = writeln!(
            out,
            "over capacity, of the database or of {} at once: these response times grow with --time",
            number(u64::from(in_flight(summary.level)), "operation")
        );
    }
    if let Level::Burst { .. } = summary.level {
        let _ = match summary.recovered_after {
            Some(seconds) => writeln!(
                out,
                "burst: nothing waited any more {} after its end, or sooner",
                latency(seconds)
            ),
            None => writeln!(out, "burst: it is not known that its backlog was ever gone"),
        };
    }
}

/// What became of operations that were not simply answered.
fn counted(summary: &Summary, out: &mut String) {
    for (kind, one) in &summary.operations {
        if kind == ALL {
            continue;
        }
        let mut told: Vec<String> = one
            .errors
            .iter()
            .map(|(error, count)| format!("{error} {count}"))
            .collect();
        if !told.is_empty() {
            let _ = writeln!(out, "errors of {kind}: {}", told.join(", "));
        }
        told.clear();
        for (what, count) in [
            ("started more than 1 ms late", one.late),
            ("never started", one.unsent),
            ("left out, as all connections were busy", one.dropped),
            ("unfinished when the time was over", one.unfinished),
        ] {
            if count > 0 {
                told.push(format!("{count} {what}"));
            }
        }
        if !told.is_empty() {
            let _ = writeln!(out, "{kind}: {}", told.join(", "));
        }
    }
}

/// A table of times: from intended starts where there are any.
fn times(summary: &Summary, out: &mut String) {
    let open = !matches!(summary.level, Level::Threads { .. });
    let heading = if open {
        "response times"
    } else {
        "service times"
    };
    let _ = write!(out, "{heading:<18}{:>10}{:>10}", "count", "mean");
    for name in QUANTILES {
        let _ = write!(out, "{name:>10}");
    }
    let _ = writeln!(out, "{:>10}", "max");
    let others = summary.operations.iter().filter(|(kind, _)| *kind != ALL);
    let whole = summary.operations.get_key_value(ALL);
    for (kind, one) in others.chain(whole) {
        row(kind, one, open, out);
    }
}

fn row(kind: &str, one: &OperationSummary, open: bool, out: &mut String) {
    let found = if open { &one.response } else { &one.service };
    let Some(found) = found else { return };
    let _ = write!(
        out,
        "{kind:<18}{:>10}{:>10}",
        found.count,
        latency(found.mean)
    );
    for name in QUANTILES {
        let _ = write!(out, "{:>10}", latency(found.quantiles[name]));
    }
    let _ = writeln!(out, "{:>10}", latency(found.maximum));
}

/// What a search found.
fn searched(summary: &Summary, out: &mut String) {
    let ended = match search::ended(summary) {
        Some(BY_ENGINE) => "the engine itself may have been the limit",
        Some(BY_CONNECTIONS) => {
            "above it all connections were in use, and answers took no longer: type more --connections"
        }
        Some(FAILED) => "the next load could not be made",
        Some(ERRORS) => "there were errors with more threads",
        Some(other) => other,
        None => return,
    };
    if let Some(search) = &summary.search {
        let _ = match search.rate {
            Some(rate) => writeln!(
                out,
                "highest rate that was sustained: {rate:.0} a second ({ended})"
            ),
            None => writeln!(out, "no rate was sustained ({ended})"),
        };
    }
    if let Some(found) = &summary.saturation {
        let _ = match (found.highest, found.throughput, found.threads) {
            (Some(highest), Some(throughput), Some(threads)) => writeln!(
                out,
                "highest throughput: {highest:.0} a second, and {throughput:.0} with no more than \
                 {} ({ended})",
                number(u64::from(threads), "thread")
            ),
            _ => writeln!(out, "no throughput was reached without errors ({ended})"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::super::summary::tests::summary;
    use super::*;
    use wire::load::{SaturationSummary, SearchSummary};

    #[test]
    fn people_read_counts_errors_and_times() {
        let expected = "\
fake run: 90 operations in 2.0 s, 45.0 a second
intended: 50.0 a second; when the time was over, 3 were not answered
schedule: 98.0 % of it was over in time, and the backlog grew by 40 ms in each second
errors of read: not_found 2, timeout 1
read: 5 started more than 1 ms late, 2 unfinished when the time was over
errors of scan: timeout 1
scan: 1 never started
update: 3 left out, as all connections were busy
response times         count      mean       p50       p95       p99     p99.9       max
read                       3   3.00 ms   3.00 ms   4.00 ms   4.00 ms   4.00 ms   4.00 ms
update                     1   20.0 ms   20.0 ms   20.0 ms   20.0 ms   20.0 ms   20.0 ms
all                        4   7.25 ms   3.00 ms   20.0 ms   20.0 ms   20.0 ms   20.0 ms
an error: no such record
first operation: 20.0 ms after the start of the engine
engine: busy for 20 % of the time, at its limit for 1.0 % of it
";
        assert_eq!(of(&summary()), expected);
    }

    #[test]
    fn response_times_of_more_than_could_be_answered_are_told_as_such() {
        let mut much = summary();
        assert!(!of(&much).contains("over capacity"));
        much.over_capacity = true;
        let said = of(&much);
        let expected = "over capacity, of the database or of 4 operations at once: these response \
                        times grow with --time\n";
        assert!(said.contains(expected), "{said}");
        much.level = Level::Burst {
            rate: 100.0,
            length: 1.0,
            rest: 0.0,
            connections: 4,
            arrivals: wire::load::Arrivals::Constant,
        };
        assert!(of(&much).contains("burst: it is not known"));
        much.recovered_after = Some(0.5);
        let told = of(&much);
        assert!(
            told.contains("burst: nothing waited any more 500 ms after its end, or sooner"),
            "{told}"
        );
    }

    #[test]
    fn a_load_that_leaves_out_operations_has_no_backlog_that_grows() {
        let mut dropping = summary();
        dropping.slope = None;
        let said = of(&dropping);
        assert!(
            said.contains("schedule: 98.0 % of it was over in time\n"),
            "{said}"
        );
    }

    #[test]
    fn what_a_warm_up_left_over_is_no_more_than_all_and_a_backlog_may_shrink() {
        let mut shrinking = summary();
        (shrinking.achieved, shrinking.slope) = (Some(1.118), Some(-0.162));
        let said = of(&shrinking);
        let expected = "schedule: 100.0 % of it was over in time, and the backlog shrank by 162 ms";
        assert!(said.contains(expected), "{said}");
        shrinking.slope = Some(-0.0002);
        assert!(of(&shrinking).contains("the backlog grew by 0 ms in each second"));
    }

    #[test]
    fn what_was_answered_after_the_time_is_told() {
        let mut much = summary();
        let all = much.operations.get_mut(ALL).unwrap();
        all.count = 1;
        let said = of(&much);
        assert!(
            said.contains("3 were not answered; 3 of these were answered later\n"),
            "{said}"
        );
    }

    #[test]
    fn a_closed_loop_has_service_times_and_nothing_intended() {
        let mut closed = summary();
        closed.level = Level::Threads { threads: 4 };
        closed.offered = None;
        let told = of(&closed);
        assert!(told.contains("service times  "), "{told}");
        assert!(!told.contains("intended"), "{told}");
        assert!(
            told.ends_with("engine: busy for 20 % of the time\n"),
            "{told}"
        );
    }

    #[test]
    fn a_search_begins_with_what_it_found() {
        let mut found = summary();
        let mut search = SearchSummary {
            objective: std::collections::BTreeMap::new(),
            rate: Some(1234.0),
            ended: "found".to_owned(),
            probes: Vec::new(),
        };
        found.search = Some(search.clone());
        search.ended = BY_ENGINE.to_owned();
        let told = of(&found);
        let first = "highest rate that was sustained: 1234 a second (found)\n";
        assert!(told.starts_with(first), "{told}");
        found.search = Some(search.clone());
        let told = of(&found);
        let first = "highest rate that was sustained: 1234 a second (the engine itself ";
        assert!(told.starts_with(first), "{told}");
        search.ended = BY_CONNECTIONS.to_owned();
        found.search = Some(search.clone());
        assert!(of(&found).contains(": type more --connections)\n"));
        (search.rate, search.ended) = (None, "never sustained".to_owned());
        found.search = Some(search);
        let told = of(&found);
        assert!(told.starts_with("no rate was sustained (never sustained)\n"));
    }

    #[test]
    fn a_search_for_throughput_begins_with_the_highest_one() {
        let mut found = summary();
        let mut saturation = SaturationSummary {
            threads: Some(32),
            throughput: Some(98_765.4),
            highest: Some(101_234.0),
            ended: "found".to_owned(),
            probes: Vec::new(),
        };
        found.saturation = Some(saturation.clone());
        let first = "highest throughput: 101234 a second, and 98765 with no more than 32 threads \
                     (found)\n";
        let told = of(&found);
        assert!(told.starts_with(first), "{told}");
        (saturation.threads, saturation.throughput) = (None, None);
        found.saturation = Some(saturation);
        assert!(of(&found).starts_with("no throughput was reached without errors (found)\n"));
    }
}
