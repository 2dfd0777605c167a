//! A summary in the lines that YCSB 0.17.0 exports: `[READ], Operations, 497`.
//!
//! As its `TextMeasurementsExporter` and `OneMeasurementHdrHistogram` write them. Lines of what is
//! not here are left out: those of a JVM's garbage collection, and of `CLEANUP`. An open load has
//! the lines of `measurement.interval=both`.

use std::collections::BTreeMap;
use std::fmt::Write;

use wire::load::{LatencySummary, OperationSummary, Summary};

use super::summary::ALL;

/// Quantiles that YCSB tells if nothing else is said, and their ordinal numbers.
const QUANTILES: [(&str, &str); 2] = [("p95", "95th"), ("p99", "99th")];

/// All lines.
pub fn of(summary: &Summary) -> String {
    let mut out = String::new();
    let milliseconds = (summary.seconds * 1e3).round();
    let over = summary.operations[ALL].count + errors(&summary.operations[ALL]);
    line(&mut out, "OVERALL", "RunTime(ms)", milliseconds);
    let throughput = java(if milliseconds > 0.0 {
        1000.0 * over as f64 / milliseconds
    } else {
        0.0
    });
    line(&mut out, "OVERALL", "Throughput(ops/sec)", throughput);
    let open = summary.offered.is_some();
    let types = summary.operations.iter().filter(|(kind, _)| *kind != ALL);
    for (kind, one) in types.clone() {
        let name = kind.to_uppercase();
        times(&mut out, &name, one.service.as_ref());
        for (code, count) in codes(one) {
            line(&mut out, &name, &format!("Return={code}"), count);
        }
        // Where there are intended starts, failures are timed from those.
        let failed = one.failed.as_ref().filter(|_| !open);
        if failed.is_some() {
            times(&mut out, &format!("{name}-FAILED"), failed);
        }
    }
    for (kind, one) in types.filter(|_| open) {
        let name = format!("Intended-{}", kind.to_uppercase());
        for (suffix, found) in [("", &one.response), ("-FAILED", &one.failed)] {
            if found.is_some() {
                times(&mut out, &format!("{name}{suffix}"), found.as_ref());
            }
        }
    }
    out
}

/// The lines of a histogram; YCSB writes those of an empty one if there were return codes only.
fn times(out: &mut String, name: &str, found: Option<&LatencySummary>) {
    let whole = |seconds: f64| (seconds * 1e9).round() as u64 / 1000;
    line(
        out,
        name,
        "Operations",
        found.map_or(0, |found| found.count),
    );
    let mean = found.map_or(0.0, |found| found.mean * 1e6);
    line(out, name, "AverageLatency(us)", java(mean));
    for (what, value) in [
        ("MinLatency(us)", found.map_or(0.0, |found| found.minimum)),
        ("MaxLatency(us)", found.map_or(0.0, |found| found.maximum)),
    ] {
        line(out, name, what, whole(value));
    }
    for (quantile, ordinal) in QUANTILES {
        let value = found.map_or(0.0, |found| found.quantiles[quantile]);
        let what = format!("{ordinal}PercentileLatency(us)");
        line(out, name, &what, whole(value));
    }
}

fn line(out: &mut String, name: &str, what: &str, value: impl std::fmt::Display) {
    let _ = writeln!(out, "[{name}], {what}, {value}");
}

fn errors(one: &OperationSummary) -> u64 {
    one.errors.values().sum()
}

/// How often each return code of YCSB came.
fn codes(one: &OperationSummary) -> BTreeMap<&'static str, u64> {
    let mut codes = BTreeMap::new();
    // Those that are timed: in an open load also those that were answered after the window.
    if let Some(answered) = &one.service {
        codes.insert("OK", answered.count);
    }
    for (error, count) in &one.errors {
        let code = match &**error {
            "not_found" => "NOT_FOUND",
            "mismatch" => "UNEXPECTED_STATE",
            "unavailable" => "SERVICE_UNAVAILABLE",
            _ => "ERROR",
        };
        *codes.entry(code).or_default() += count;
    }
    codes
}

/// A number as Java's `Double.toString` writes it.
fn java(number: f64) -> String {
    if number != 0.0 && !(1e-3..1e7).contains(&number.abs()) {
        let text = format!("{number:E}");
        return match text.split_once('E') {
            Some((digits, power)) if !digits.contains('.') => format!("{digits}.0E{power}"),
            _ => text,
        };
    }
    format!("{number:?}")
}

#[cfg(test)]
mod tests {
    use super::super::summary::tests::summary;
    use super::*;
    use wire::load::Level;

    #[test]
    fn doubles_are_those_of_java() {
        for (number, expected) in [
            (0.0, "0.0"),
            (1.0, "1.0"),
            (316.75, "316.75"),
            (9_999_999.0, "9999999.0"),
            (12_345_678.0, "1.2345678E7"),
            (1e7, "1.0E7"),
            (0.000_25, "2.5E-4"),
            (0.001, "0.001"),
        ] {
            assert_eq!(java(number), expected);
        }
    }

    #[test]
    fn a_closed_loop_is_told_in_the_lines_of_ycsb() {
        let mut closed = summary();
        closed.level = Level::Threads { threads: 4 };
        closed.offered = None;
        closed
            .operations
            .retain(|kind, _| kind == ALL || kind == "read");
        let read = closed.operations.get_mut("read").unwrap();
        for found in [&mut read.service, &mut read.failed] {
            let found = found.as_mut().unwrap();
            (found.mean, found.minimum, found.maximum) = (0.002, 0.001, 0.003_000_7);
            for value in found.quantiles.values_mut() {
                *value = 0.002_999;
            }
        }
        assert_eq!(
            of(&closed),
            "\
[OVERALL], RunTime(ms), 2000
[OVERALL], Throughput(ops/sec), 47.0
[READ], Operations, 3
[READ], AverageLatency(us), 2000.0
[READ], MinLatency(us), 1000
[READ], MaxLatency(us), 3000
[READ], 95thPercentileLatency(us), 2999
[READ], 99thPercentileLatency(us), 2999
[READ], Return=ERROR, 1
[READ], Return=NOT_FOUND, 2
[READ], Return=OK, 3
[READ-FAILED], Operations, 1
[READ-FAILED], AverageLatency(us), 2000.0
[READ-FAILED], MinLatency(us), 1000
[READ-FAILED], MaxLatency(us), 3000
[READ-FAILED], 95thPercentileLatency(us), 2999
[READ-FAILED], 99thPercentileLatency(us), 2999
"
        );
    }

    #[test]
    fn an_open_load_has_both_clocks_of_ycsb() {
        let told = of(&summary());
        let names: Vec<&str> = told
            .lines()
            .filter(|line| line.contains("], Operations, "))
            .collect();
        assert_eq!(
            names,
            [
                "[READ], Operations, 3",
                "[SCAN], Operations, 0",
                "[UPDATE], Operations, 1",
                "[Intended-READ], Operations, 3",
                "[Intended-READ-FAILED], Operations, 1",
                "[Intended-UPDATE], Operations, 1",
            ]
        );
        assert!(told.contains("[SCAN], Return=ERROR, 1\n"), "{told}");
        // As in YCSB, whose two counts are of the same operations.
        assert!(told.contains("[READ], Return=OK, 3\n"), "{told}");
        let each: Vec<usize> = told.lines().map(|line| line.split(", ").count()).collect();
        assert!(each.iter().all(|parts| *parts == 3), "{told}");
    }
}
