//! Counting what came of each operation.
//!
//! Closed loop: an operation belongs to the interval in which it was answered. Open load: it
//! belongs to the measured window when its *intended* start lies in it; then its response time is
//! recorded in full however late the answer came, and one not answered when the window ends is
//! backlog. So with an open load `intended = operations + errors before the end + backlog`.

use std::collections::BTreeMap;

use wire::load::Window;

use super::log::{Interval, Log, Times};
use super::mix::Kind;
use crate::drive::{Failure, Fault};

/// What came of one operation; times in nanoseconds since the load began.
pub struct Outcome<'a> {
    /// The operation type.
    pub kind: Kind,
    /// When it was meant to start; None in a closed loop.
    pub intended: Option<u64>,
    /// When it did start.
    pub started: u64,
    /// When it was answered or given up.
    pub ended: u64,
    /// What went wrong, if something did.
    pub failure: Option<&'a Failure>,
    /// Whether what it read was compared with what was written.
    pub compared: bool,
}

/// An operation that starts later than this after its intended start is late.
const LATE: u64 = 1_000_000;

/// Histograms of one interval: warm-up or measured, by type, service or response.
type Histograms = [[[Option<Times>; 2]; Kind::ALL.len()]; 2];

/// Messages of errors that are kept.
const MESSAGES: usize = 5;

/// Everything counted in one load.
pub struct Recorder {
    log: Log,
    begin: u64,
    end: u64,
    interval: u64,
    /// Whether histograms are filled.
    latencies: bool,
    start: u64,
    edge: u64,
    histograms: Histograms,
    window: (u64, u64),
    answered: u64,
    last_answer: u64,
    /// The time line.
    pub windows: Vec<Window>,
    /// Answered without error in the measured window, by type.
    pub operations: [u64; Kind::ALL.len()],
    /// Errors that belong to the measured window, by type and kind.
    pub errors: [[u64; Fault::ALL.len()]; Kind::ALL.len()],
    late: [u64; Kind::ALL.len()],
    verified: u64,
    errors_before_end: u64,
    /// The first messages of errors.
    pub messages: Vec<String>,
}

impl Recorder {
    /// The measured window is [begin, end), intervals are `interval` long; all in nanoseconds.
    pub fn new(log: Log, begin: u64, end: u64, interval: u64, latencies: bool) -> Self {
        let mut recorder = Self {
            log,
            begin,
            end,
            interval,
            latencies,
            start: 0,
            edge: 0,
            histograms: Histograms::default(),
            window: (0, 0),
            answered: 0,
            last_answer: begin,
            windows: Vec::new(),
            operations: [0; Kind::ALL.len()],
            errors: [[0; Fault::ALL.len()]; Kind::ALL.len()],
            late: [0; Kind::ALL.len()],
            verified: 0,
            errors_before_end: 0,
            messages: Vec::new(),
        };
        recorder.edge = recorder.edge();
        recorder
    }

    /// Count one operation.
    pub fn record(&mut self, outcome: &Outcome<'_>) {
        self.advance(outcome.ended);
        let in_time = outcome.ended < self.end;
        let measured = outcome.intended.unwrap_or(outcome.ended) >= self.begin;
        if outcome.intended.is_none() && !in_time {
            return;
        }
        let late = |intended| outcome.started > intended + LATE;
        self.late[outcome.kind as usize] +=
            u64::from(measured && outcome.intended.is_some_and(late));
        if let Some(failure) = outcome.failure {
            self.count_failure(outcome.kind, failure, measured, in_time);
            return;
        }
        self.answered += 1;
        self.last_answer = outcome.ended;
        self.window.0 += 1;
        if measured && in_time {
            self.operations[outcome.kind as usize] += 1;
            self.verified += u64::from(outcome.compared);
        }
        if !self.latencies {
            return;
        }
        let [service, response] =
            &mut self.histograms[usize::from(measured)][outcome.kind as usize];
        service
            .get_or_insert_with(|| self.log.empty())
            .saturating_record(outcome.ended - outcome.started);
        if let Some(intended) = outcome.intended {
            response
                .get_or_insert_with(|| self.log.empty())
                .saturating_record(outcome.ended - intended);
        }
    }

    /// Count an operation that was never started, though it was meant to be.
    pub fn record_unsent(&mut self, kind: Kind) {
        self.errors[kind as usize][Fault::Timeout as usize] += 1;
    }

    /// Operations of the measured window that were over, well or not, when it ended.
    pub fn over(&self) -> u64 {
        self.operations.iter().sum::<u64>() + self.errors_before_end
    }

    /// The last answer so far, or the beginning of the window.
    pub fn last_answer(&self) -> u64 {
        self.last_answer
    }

    /// End of the measured window.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// The measured window ends here; before, its end was not known.
    pub fn end_at(&mut self, end: u64) {
        self.advance(end);
        self.end = end;
        self.edge = self.edge();
    }

    /// Close all intervals that are over at `now`.
    pub fn advance(&mut self, now: u64) {
        while self.edge <= now {
            self.close_interval(self.edge);
        }
    }

    /// Close the last interval and wait until the log is written.
    pub fn finish(mut self, now: u64) -> std::io::Result<Counts> {
        self.advance(now);
        let last = if self.start < self.end {
            self.end.min(now)
        } else {
            now
        };
        if last > self.start {
            self.close_interval(last);
        }
        self.log.close()?;
        Ok(Counts {
            windows: self.windows,
            operations: by_kind(self.operations.map(|count| (count > 0).then_some(count))),
            errors: by_kind(self.errors.map(by_fault)),
            late: by_kind(self.late.map(|count| (count > 0).then_some(count))),
            verified: self.verified,
            messages: self.messages,
        })
    }

    fn count_failure(&mut self, kind: Kind, failure: &Failure, measured: bool, in_time: bool) {
        self.window.1 += 1;
        if measured {
            self.errors[kind as usize][failure.fault as usize] += 1;
            self.errors_before_end += u64::from(in_time);
        }
        if self.messages.len() < MESSAGES && !self.messages.contains(&failure.message) {
            self.messages.push(failure.message.clone());
        }
    }

    /// Where the current interval ends: intervals meet the beginning and the end of the window.
    fn edge(&self) -> u64 {
        if self.start < self.begin {
            let left = self.begin - self.start;
            let odd = left % self.interval;
            self.start + if odd == 0 { self.interval } else { odd }
        } else {
            let edge = self.start + self.interval;
            if self.start < self.end {
                edge.min(self.end)
            } else {
                edge
            }
        }
    }

    fn close_interval(&mut self, edge: u64) {
        let mut histograms = Vec::new();
        for (phase, classes) in ["warmup.", ""].into_iter().zip(&mut self.histograms) {
            for (kind, pair) in Kind::ALL.into_iter().zip(classes) {
                for (time, histogram) in ["service", "response"].into_iter().zip(pair) {
                    let tag = || format!("{phase}{}.{time}", kind.name());
                    histograms.extend(histogram.take().map(|found| (tag(), found)));
                }
            }
        }
        let length = edge - self.start;
        if self.start < self.end {
            self.windows.push(Window {
                start: (self.start as f64 - self.begin as f64) / 1e9,
                length: length as f64 / 1e9,
                operations: self.window.0,
                errors: self.window.1,
            });
        }
        let interval = Interval {
            start: self.start,
            length,
            histograms,
            operations: self.answered,
        };
        self.log.hand_over(interval);
        self.window = (0, 0);
        self.start = edge;
        self.edge = self.edge();
    }
}

/// The counts of a load as the result file has them.
pub struct Counts {
    /// The time line.
    pub windows: Vec<Window>,
    /// Answered without error in the measured window.
    pub operations: BTreeMap<String, u64>,
    /// Errors by operation type and kind.
    pub errors: BTreeMap<String, BTreeMap<String, u64>>,
    /// Operations that started late.
    pub late: BTreeMap<String, u64>,
    /// Operations whose records were compared with what was written and are the same.
    pub verified: u64,
    /// The first messages of errors.
    pub messages: Vec<String>,
}

fn by_kind<T>(values: [Option<T>; Kind::ALL.len()]) -> BTreeMap<String, T> {
    Kind::ALL
        .into_iter()
        .zip(values)
        .filter_map(|(kind, value)| Some((kind.name().to_owned(), value?)))
        .collect()
}

fn by_fault(counts: [u64; Fault::ALL.len()]) -> Option<BTreeMap<String, u64>> {
    let named: BTreeMap<String, u64> = Fault::ALL
        .into_iter()
        .zip(counts)
        .filter(|(_, count)| *count > 0)
        .map(|(fault, count)| (fault.name().to_owned(), count))
        .collect();
    (!named.is_empty()).then_some(named)
}
