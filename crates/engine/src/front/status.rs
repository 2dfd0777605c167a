//! The line on a terminal that tells how the load is going.

use std::io::{self, IsTerminal, Write};

use hdrhistogram::Histogram;
use wire::load::{Level, LoadPlan, Phase, Workload};

use super::sums::pour;
use super::words::{latency, length};
use super::ycsb::inserted;
use crate::load::log::Interval;
use crate::load::{nanoseconds, share};
use crate::message::CLEAR;

const SECOND: u64 = 1_000_000_000;

/// One load's line, painted once a second, or once an interval if those are longer. It vanishes
/// with its owner.
pub struct Status(Course);

impl Status {
    /// Begin to tell how the load of a plan goes; None where standard error is no terminal that
    /// can take a line back.
    pub fn open(plan: &LoadPlan) -> Option<Self> {
        let terminal = std::env::var("TERM").is_ok_and(|name| name != "dumb");
        if !terminal || !io::stderr().is_terminal() {
            return None;
        }
        let begins = if plan.start.is_some() {
            "; the load begins at its start"
        } else {
            ""
        };
        paint(&format!(
            "preparing, then connecting to `{}`{begins}",
            plan.target.addresses[0]
        ));
        Some(Self(Course::of(plan)))
    }

    /// An interval is over.
    pub fn hear(&mut self, interval: &Interval) {
        if let Some(line) = self.0.line(interval) {
            paint(&line);
        }
    }
}

impl Drop for Status {
    fn drop(&mut self) {
        paint("");
    }
}

/// Write a line in place of the one that is there. A terminal that is too narrow cuts it off.
fn paint(line: &str) {
    // Nobody looks at a terminal that has gone away.
    let _ = write!(io::stderr(), "{CLEAR}\x1b[?7l{line}\x1b[?7h");
}

/// How a load goes.
struct Course {
    /// What is done, before and in the measured window.
    words: [&'static str; 2],
    /// Nanoseconds from the start of the load to the beginning of the measured window.
    begin: u64,
    /// Likewise to its end, if a time ends it.
    end: Option<u64>,
    /// Operations that end it, if a number does.
    most: Option<u64>,
    /// How tags end of the times that are told.
    sort: &'static str,
    told: Told,
    /// Times since the last line; none before the first.
    times: Option<Histogram<u64>>,
}

/// What the last line told.
#[derive(Clone, Copy, Default)]
struct Told {
    at: u64,
    operations: u64,
}

impl Course {
    fn of(plan: &LoadPlan) -> Self {
        let closed = matches!(plan.level, Level::Threads { .. });
        let records = match &plan.workload {
            Workload::Ycsb(workload) if plan.phase == Phase::Load => Some(inserted(workload)),
            _ => None,
        };
        let begin = nanoseconds(plan.warmup);
        let most = plan.operations.or(records);
        let doing = match plan.phase {
            Phase::Load => "loading",
            Phase::Run => "running",
        };
        Self {
            words: ["warming up", doing],
            begin,
            end: plan.duration.map(|seconds| begin + nanoseconds(seconds)),
            most: most.map(|most| share::count(most, plan.part)),
            sort: if closed { ".service" } else { ".response" },
            told: Told::default(),
            times: None,
        }
    }

    /// The line after an interval, if it is time for one.
    fn line(&mut self, interval: &Interval) -> Option<String> {
        for (tag, times) in &interval.histograms {
            if tag.ends_with(self.sort) {
                let sum = self.times.get_or_insert_with(|| Histogram::new_from(times));
                pour(times, sum);
            }
        }
        let (at, operations) = (interval.end(), interval.operations);
        let passed = at - self.told.at;
        if passed < SECOND {
            return None;
        }
        let rate = (operations - self.told.operations) as f64 * 1e9 / passed as f64;
        let slow = self.times.as_ref().filter(|times| !times.is_empty());
        let p99 = slow.map_or_else(
            || "-".to_owned(),
            |times| latency(times.value_at_quantile(0.99) as f64 / 1e9),
        );
        let left = self.left(at, operations, rate).filter(|_| !interval.after);
        let left = left.map_or_else(String::new, |left| format!(", {} left", length(left)));
        let doing = if interval.after {
            "waiting for the last answers"
        } else {
            self.words[usize::from(at > self.begin)]
        };
        if let Some(times) = &mut self.times {
            times.reset();
        }
        self.told = Told { at, operations };
        Some(format!(
            "{doing} {}: {operations} operations, {rate:.0}/s, {} errors, p99 {p99}{left}",
            length(at as f64 / 1e9),
            interval.errors,
        ))
    }

    /// Seconds until the load is over, as far as one can tell.
    fn left(&self, at: u64, operations: u64, rate: f64) -> Option<f64> {
        let by_time = self.end.map(|end| end.saturating_sub(at) as f64 / 1e9);
        let by_number = self
            .most
            .filter(|_| rate > 0.0)
            .map(|most| most.saturating_sub(operations) as f64 / rate);
        match (by_time, by_number) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sums::tests::interval;
    use super::*;
    use crate::load::plan::tests::plan;
    use wire::load::{Arrivals, Part};

    fn line(course: &mut Course, start: u64, tag: &str, operations: u64) -> String {
        let told = course.line(&interval(start, &[(tag, &[2])], operations));
        told.unwrap()
    }

    #[test]
    fn a_line_tells_what_the_last_second_was_like_and_what_is_left() {
        let mut plan = plan();
        plan.warmup = 1.0;
        plan.duration = Some(70.0);
        let mut course = Course::of(&plan);
        assert_eq!(
            line(&mut course, 0, "warmup.read.service", 100),
            "warming up 1 s: 100 operations, 100/s, 0 errors, p99 2.00 ms, 1 min 10 s left"
        );
        assert_eq!(
            line(&mut course, 1, "read.service", 350),
            "running 2 s: 350 operations, 250/s, 0 errors, p99 2.00 ms, 1 min 9 s left"
        );
        assert_eq!(
            line(&mut course, 2, "read.failed", 350),
            "running 3 s: 350 operations, 0/s, 0 errors, p99 -, 1 min 8 s left"
        );
    }

    #[test]
    fn when_the_window_is_over_the_last_answers_are_waited_for() {
        let mut plan = plan();
        plan.duration = Some(70.0);
        let mut course = Course::of(&plan);
        let mut last = interval(3, &[("read.service", &[2])], 9);
        last.after = true;
        assert_eq!(
            course.line(&last).unwrap(),
            "waiting for the last answers 4 s: 9 operations, 2/s, 0 errors, p99 2.00 ms"
        );
    }

    #[test]
    fn a_line_comes_once_a_second() {
        let mut course = Course::of(&plan());
        let mut short = interval(0, &[("read.service", &[1])], 1);
        short.length = SECOND / 2;
        assert_eq!(course.line(&short), None);
        (short.start, short.operations) = (SECOND / 2, 3);
        let told = course.line(&short).unwrap();
        assert!(told.starts_with("running 1 s: 3 operations, 3/s"), "{told}");
    }

    #[test]
    fn a_number_of_operations_tells_what_is_left() {
        let mut plan = plan();
        plan.duration = None;
        plan.operations = Some(1000);
        let mut course = Course::of(&plan);
        assert!(line(&mut course, 0, "read.service", 100).ends_with("9 s left"));
        plan.phase = Phase::Load;
        plan.operations = None;
        plan.part = Part { index: 1, of: 2 };
        let mut course = Course::of(&plan);
        let told = line(&mut course, 0, "insert.service", 100);
        assert!(
            told.starts_with("loading 1 s") && told.ends_with(", 4 s left"),
            "{told}"
        );
    }

    #[test]
    fn an_open_load_tells_response_times() {
        let mut plan = plan();
        plan.level = Level::Rate {
            rate: 10.0,
            connections: 1,
            arrivals: Arrivals::Constant,
        };
        let mut course = Course::of(&plan);
        assert!(line(&mut course, 0, "read.service", 1).contains("p99 -"));
        assert!(line(&mut course, 1, "read.response", 1).contains("p99 2.00 ms"));
    }
}
