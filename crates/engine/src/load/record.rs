//! Counting what came of each operation.
//!
//! Closed loop: an operation belongs to the interval in which it was over. One that is under way when
//! the window ends belongs to the window: it is an error if it goes wrong, else unfinished. So each
//! that was not over before the window is in exactly one of the histograms `service`, `failed` and
//! `unfinished`. Open load: it belongs to the measured window when its *intended* start lies in it; then its response time is
//! recorded in full however late the answer came, and one not answered when the window ends is
//! backlog. So with an open load
//! `intended = operations + errors before the end + dropped + backlog`, and each operation that was
//! intended is in exactly one of the histograms `response`, `failed` and `dropped`.

use std::collections::BTreeMap;

use wire::load::Window;

use super::log::{Interval, Log, Times};
use super::timeline::Timeline;
use super::work::Kind;
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

/// What is timed of an operation.
#[derive(Clone, Copy)]
enum Time {
    /// From its start to its answer.
    Service,
    /// From its intended start to its answer.
    Response,
    /// From its intended start to its start.
    Slip,
    /// From its intended start, or its start in a closed loop, until it went wrong.
    Failed,
    /// From the intended start of one that was left out until a connection was free.
    Dropped,
    /// From the start of one of a closed loop to its answer, which came after the window.
    Unfinished,
}

impl Time {
    const ALL: [Self; 6] = [
        Self::Service,
        Self::Response,
        Self::Slip,
        Self::Failed,
        Self::Dropped,
        Self::Unfinished,
    ];

    /// The name in tags of the histogram log.
    fn name(self) -> &'static str {
        [
            "service",
            "response",
            "slip",
            "failed",
            "dropped",
            "unfinished",
        ][self as usize]
    }
}

/// Histograms of one interval: warm-up or measured, by type, by what is timed.
type Histograms = [[[Option<Times>; Time::ALL.len()]; Kind::ALL.len()]; 2];

/// Something for each operation type.
type ByKind<T> = [T; Kind::ALL.len()];

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
    /// Up to when histograms have been handed over.
    logged: u64,
    histograms: Histograms,
    window: (u64, u64),
    answered: u64,
    failed: u64,
    /// The earliest start of an operation; the largest number if there was none.
    first_start: u64,
    last_over: u64,
    timeline: Timeline,
    operations: ByKind<u64>,
    errors: ByKind<[u64; Fault::ALL.len()]>,
    late: ByKind<u64>,
    unsent: ByKind<u64>,
    dropped: ByKind<u64>,
    unfinished: ByKind<u64>,
    verified: u64,
    errors_before_end: u64,
    messages: Vec<String>,
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
            logged: 0,
            histograms: Histograms::default(),
            window: (0, 0),
            answered: 0,
            failed: 0,
            first_start: u64::MAX,
            last_over: begin,
            timeline: Timeline::new(begin, interval),
            operations: ByKind::default(),
            errors: ByKind::default(),
            late: ByKind::default(),
            unsent: ByKind::default(),
            dropped: ByKind::default(),
            unfinished: ByKind::default(),
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
        self.first_start = self.first_start.min(outcome.started);
        let in_time = outcome.ended < self.end;
        let measured = outcome.intended.unwrap_or(outcome.ended) >= self.begin;
        let kind = outcome.kind;
        self.last_over = outcome.ended;
        if let Some(intended) = outcome.intended {
            let slip = outcome.started - intended;
            self.late[kind as usize] += u64::from(measured && slip > LATE);
            self.time(measured, kind, Time::Slip, slip);
        }
        if let Some(failure) = outcome.failure {
            self.count_failure(kind, failure, measured, in_time);
            let since = outcome.intended.unwrap_or(outcome.started);
            self.time(measured, kind, Time::Failed, outcome.ended - since);
            return;
        }
        self.answered += 1;
        self.window.0 += 1;
        if measured && in_time {
            self.operations[kind as usize] += 1;
            self.verified += u64::from(outcome.compared);
        }
        let service = outcome.ended - outcome.started;
        if outcome.intended.is_none() && !in_time {
            self.unfinished[kind as usize] += 1;
            self.time(measured, kind, Time::Unfinished, service);
            return;
        }
        self.time(measured, kind, Time::Service, service);
        if let Some(intended) = outcome.intended {
            self.time(measured, kind, Time::Response, outcome.ended - intended);
        }
    }

    /// Count an operation of the measured window that was never started, though it was meant to be,
    /// and was given up after so many nanoseconds. It is a time-out like others.
    pub fn record_unsent(&mut self, kind: Kind, waited: u64) {
        self.unsent[kind as usize] += 1;
        self.errors[kind as usize][Fault::Timeout as usize] += 1;
        self.time(true, kind, Time::Failed, waited);
    }

    /// Count an operation that was left out, because no connection was free before `free`.
    pub fn record_dropped(&mut self, kind: Kind, intended: u64, free: u64) {
        let measured = intended >= self.begin;
        self.dropped[kind as usize] += u64::from(measured);
        self.time(measured, kind, Time::Dropped, free - intended);
    }

    /// Operations of the measured window that were left out so far.
    pub fn dropped(&self) -> u64 {
        self.dropped.iter().sum()
    }

    /// Operations of the measured window that were over, well or not, when it ended.
    pub fn over(&self) -> u64 {
        self.operations.iter().sum::<u64>() + self.errors_before_end
    }

    /// When the last operation so far was over, well or not, or the beginning of the window.
    pub fn last_over(&self) -> u64 {
        self.last_over
    }

    /// End of the measured window.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// The measured window ends here, and no operation was over since; before, its end was not
    /// known, and intervals beyond it may have been closed.
    pub fn end_at(&mut self, end: u64) {
        self.advance(end);
        self.end = end;
        self.edge = self.edge();
        self.timeline.cut(end);
    }

    /// Whether the log cannot be written any more; [`Recorder::finish`] tells why.
    pub fn failed(&self) -> bool {
        self.log.failed()
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
        // What the log was not ready for.
        self.hand_over();
        self.log.close()?;
        let counted = |counts: ByKind<u64>| by_kind(counts.map(|n| (n > 0).then_some(n)));
        Ok(Counts {
            windows: self.timeline.windows(),
            operations: counted(self.operations),
            errors: by_kind(self.errors.map(by_fault)),
            late: counted(self.late),
            unsent: counted(self.unsent),
            dropped: counted(self.dropped),
            unfinished: counted(self.unfinished),
            verified: self.verified,
            messages: self.messages,
            first_start: (self.first_start < u64::MAX).then_some(self.first_start),
        })
    }

    fn time(&mut self, measured: bool, kind: Kind, time: Time, nanoseconds: u64) {
        if self.latencies {
            self.histograms[usize::from(measured)][kind as usize][time as usize]
                .get_or_insert_with(|| self.log.empty())
                .saturating_record(nanoseconds);
        }
    }

    fn count_failure(&mut self, kind: Kind, failure: &Failure, measured: bool, in_time: bool) {
        self.window.1 += 1;
        self.failed += 1;
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
        if self.start < self.end {
            let (operations, errors) = self.window;
            self.timeline
                .add(self.start, edge - self.start, operations, errors);
        }
        self.window = (0, 0);
        self.start = edge;
        self.edge = self.edge();
        if self.log.ready() {
            self.hand_over();
        }
    }

    /// Hand over what was timed since the last time.
    fn hand_over(&mut self) {
        let mut histograms = Vec::new();
        for (phase, classes) in ["warmup.", ""].into_iter().zip(&mut self.histograms) {
            for (kind, times) in Kind::ALL.into_iter().zip(classes) {
                for (time, histogram) in Time::ALL.into_iter().zip(times) {
                    let tag = || format!("{phase}{}.{}", kind.name(), time.name());
                    histograms.extend(histogram.take().map(|found| (tag(), found)));
                }
            }
        }
        self.log.hand_over(Interval {
            start: self.logged,
            length: self.start - self.logged,
            histograms,
            operations: self.answered,
            errors: self.failed,
            after: self.logged >= self.end,
        });
        self.logged = self.start;
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
    /// Operations that were never started, though they were meant to be.
    pub unsent: BTreeMap<String, u64>,
    /// Operations that were left out.
    pub dropped: BTreeMap<String, u64>,
    /// Operations of a closed loop that were answered after the window.
    pub unfinished: BTreeMap<String, u64>,
    /// Operations whose records were compared with what was written and are the same.
    pub verified: u64,
    /// The first messages of errors.
    pub messages: Vec<String>,
    /// The earliest start of an operation, in nanoseconds since the load began.
    pub first_start: Option<u64>,
}

fn by_kind<T>(values: ByKind<Option<T>>) -> BTreeMap<String, T> {
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

#[cfg(test)]
mod tests;
