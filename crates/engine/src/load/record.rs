//! Counting what came of each operation.
//!
//! Closed loop: an operation belongs to the interval in which it was answered. Open load: it
//! belongs to the measured window when its *intended* start lies in it; then its response time is
//! recorded in full however late the answer came, and one not answered when the window ends is
//! backlog. So with an open load
//! `intended = operations + errors before the end + dropped + backlog`, and each operation that was
//! intended is in exactly one of the histograms `response`, `failed` and `dropped`.

use std::collections::BTreeMap;

use wire::load::Window;

use super::log::{Interval, Log, Times};
use super::mix::Kind;
use super::timeline::Timeline;
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
}

impl Time {
    const ALL: [Self; 5] = [
        Self::Service,
        Self::Response,
        Self::Slip,
        Self::Failed,
        Self::Dropped,
    ];

    /// The name in tags of the histogram log.
    fn name(self) -> &'static str {
        ["service", "response", "slip", "failed", "dropped"][self as usize]
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
    last_answer: u64,
    timeline: Timeline,
    operations: ByKind<u64>,
    errors: ByKind<[u64; Fault::ALL.len()]>,
    late: ByKind<u64>,
    unsent: ByKind<u64>,
    dropped: ByKind<u64>,
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
            last_answer: begin,
            timeline: Timeline::new(begin, interval),
            operations: ByKind::default(),
            errors: ByKind::default(),
            late: ByKind::default(),
            unsent: ByKind::default(),
            dropped: ByKind::default(),
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
        if outcome.intended.is_none() && !in_time {
            return;
        }
        let kind = outcome.kind;
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
        self.last_answer = outcome.ended;
        self.window.0 += 1;
        if measured && in_time {
            self.operations[kind as usize] += 1;
            self.verified += u64::from(outcome.compared);
        }
        let service = outcome.ended - outcome.started;
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
mod tests {
    use super::*;
    use crate::load::log::tests::{Kept, added};
    use proptest::collection::vec;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;
    const BEGIN: u64 = 100 * MS;
    const END: u64 = 600 * MS;
    /// After everything, and too soon for a line of progress.
    const OVER: u64 = 900 * MS;

    /// A line of the log: its tag, and how often each value stands in it.
    type Line = (String, BTreeMap<u64, u64>);

    /// Counts of one sort.
    type ByName = fn(&Counts) -> &BTreeMap<String, u64>;

    #[derive(Debug, Clone, Copy)]
    enum Fate {
        Answered,
        Failed(Fault),
        Unsent,
        Dropped,
    }

    /// One operation, its times in nanoseconds.
    #[derive(Debug, Clone, Copy)]
    struct One {
        kind: Kind,
        intended: u64,
        slip: u64,
        service: u64,
        fate: Fate,
    }

    impl One {
        fn started(self) -> u64 {
            self.intended + self.slip
        }

        fn ended(self) -> u64 {
            self.started() + self.service
        }
    }

    const READ: One = One {
        kind: Kind::Read,
        intended: 200 * MS,
        slip: 0,
        service: 3 * MS,
        fate: Fate::Answered,
    };

    fn one() -> impl Strategy<Value = One> {
        let fate = prop_oneof![
            4 => Just(Fate::Answered),
            2 => Just(Fate::Failed(Fault::Server)),
            1 => Just(Fate::Failed(Fault::NotFound)),
            1 => Just(Fate::Unsent),
            1 => Just(Fate::Dropped),
        ];
        let times = (0..END, 0..5 * MS, 0..250 * MS);
        (0..Kind::ALL.len(), times, fate).prop_map(|(kind, (intended, slip, service), fate)| One {
            kind: Kind::ALL[kind],
            intended,
            slip,
            service,
            fate,
        })
    }

    /// What a recorder makes of operations of an open load, or of a closed one, which knows none
    /// that were not started.
    fn recorded(open: bool, operations: &[One]) -> (Counts, Vec<Line>) {
        let kept = Kept::default();
        let mut recorder = Recorder::new(kept.log(), BEGIN, END, 130 * MS, true);
        let mut operations = operations.to_vec();
        operations.sort_by_key(|one| one.ended());
        for one in operations {
            let failure = match one.fate {
                Fate::Unsent | Fate::Dropped if !open => continue,
                Fate::Unsent if one.intended < BEGIN => continue,
                Fate::Unsent => {
                    recorder.record_unsent(one.kind, OVER - one.intended);
                    continue;
                }
                Fate::Dropped => {
                    recorder.record_dropped(one.kind, one.intended, one.started());
                    continue;
                }
                Fate::Failed(fault) => Some(Failure::new(fault, "it failed")),
                Fate::Answered => None,
            };
            recorder.record(&Outcome {
                kind: one.kind,
                intended: open.then_some(one.intended),
                started: one.started(),
                ended: one.ended(),
                failure: failure.as_ref(),
                compared: true,
            });
        }
        (recorder.finish(OVER).unwrap(), kept.lines())
    }

    /// How many are timed in the lines of a tag.
    fn timed(lines: &[Line], tag: &str) -> u64 {
        let of_tag = lines.iter().filter(|(known, _)| known == tag);
        of_tag.flat_map(|(_, counts)| counts.values()).sum()
    }

    /// The sum over all parts.
    fn summed<'a>(
        parts: impl IntoIterator<Item = &'a BTreeMap<String, u64>>,
    ) -> BTreeMap<String, u64> {
        let mut sums = BTreeMap::new();
        for (name, count) in parts.into_iter().flatten() {
            *sums.entry(name.clone()).or_default() += count;
        }
        sums
    }

    #[test]
    fn one_that_starts_a_millisecond_after_its_time_is_not_late_and_a_later_one_is() {
        let slips = [0, LATE, LATE + 1];
        let operations = slips.map(|slip| One { slip, ..READ });
        let (counts, lines) = recorded(true, &operations);
        assert_eq!(counts.late, BTreeMap::from([("read".to_owned(), 1)]));
        assert_eq!(timed(&lines, "read.slip"), 3);
        let (counts, lines) = recorded(false, &operations);
        assert_eq!(counts.late, BTreeMap::new());
        assert_eq!(timed(&lines, "read.slip"), 0);
    }

    #[test]
    fn one_that_failed_is_timed_apart_from_its_intended_start_on() {
        let failed = One {
            slip: 40 * MS,
            fate: Fate::Failed(Fault::Timeout),
            ..READ
        };
        for (open, milliseconds) in [(true, 43), (false, 3)] {
            let (counts, lines) = recorded(open, &[failed]);
            assert_eq!(counts.errors["read"]["timeout"], 1);
            assert_eq!(timed(&lines, "read.service"), 0);
            assert_eq!(timed(&lines, "read.response"), 0);
            let sums = added(&lines);
            let (value, count) = sums["read.failed"].first_key_value().unwrap();
            assert_eq!((value / MS, *count), (milliseconds, 1));
        }
    }

    #[test]
    fn one_that_was_never_started_is_a_time_out_and_one_left_out_is_none() {
        let fates = [Fate::Unsent, Fate::Dropped];
        let (counts, lines) = recorded(true, &fates.map(|fate| One { fate, ..READ }));
        assert_eq!(counts.unsent["read"], 1);
        assert_eq!(counts.dropped["read"], 1);
        assert_eq!(
            counts.errors["read"],
            BTreeMap::from([("timeout".to_owned(), 1)])
        );
        assert_eq!(timed(&lines, "read.failed"), 1);
        assert_eq!(timed(&lines, "read.dropped"), 1);
        assert_eq!(timed(&lines, "read.slip"), 0);
    }

    #[test]
    fn a_disk_that_stands_still_makes_intervals_longer_and_loses_nothing() {
        let kept = Kept::default();
        let held = kept.hold();
        let mut recorder = Recorder::new(kept.log(), 0, 500 * MS, MS, true);
        for number in 0..500 {
            recorder.record(&Outcome {
                kind: Kind::Read,
                intended: None,
                started: number * MS,
                ended: number * MS + 1000,
                failure: None,
                compared: false,
            });
        }
        assert!(!recorder.log.ready());
        drop(held);
        let counts = recorder.finish(500 * MS).unwrap();
        let lines = kept.lines();
        assert_eq!(counts.operations["read"], 500);
        assert_eq!(counts.windows.len(), 500);
        assert_eq!(timed(&lines, "read.service"), 500);
        assert!(lines.len() < 500);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn the_parts_of_a_load_add_up_to_the_whole(
            open: bool, operations in vec((one(), 0_usize..3), 0..24),
        ) {
            let all: Vec<One> = operations.iter().map(|(one, _)| *one).collect();
            let (whole, lines) = recorded(open, &all);
            let parts = [0, 1, 2].map(|part| {
                let own = operations.iter().filter(|(_, of)| *of == part);
                recorded(open, &own.map(|(one, _)| *one).collect::<Vec<_>>())
            });
            prop_assert_eq!(added(parts.iter().flat_map(|(_, lines)| lines)), added(&lines));
            let counts: [ByName; 4] = [
                |counts| &counts.operations,
                |counts| &counts.late,
                |counts| &counts.unsent,
                |counts| &counts.dropped,
            ];
            for of in counts {
                prop_assert_eq!(&summed(parts.iter().map(|(counts, _)| of(counts))), of(&whole));
            }
            let verified: u64 = parts.iter().map(|(counts, _)| counts.verified).sum();
            prop_assert_eq!(verified, whole.verified);
            for kind in Kind::ALL {
                let name = kind.name();
                let errors = parts.iter().filter_map(|(counts, _)| counts.errors.get(name));
                prop_assert_eq!(
                    summed(errors), whole.errors.get(name).cloned().unwrap_or_default()
                );
            }
            for (number, window) in whole.windows.iter().enumerate() {
                let alike = parts.each_ref().map(|(counts, _)| counts.windows[number]);
                prop_assert!(alike.iter().all(|part| (part.start - window.start).abs() < 1e-9));
                let operations: u64 = alike.iter().map(|part| part.operations).sum();
                let errors: u64 = alike.iter().map(|part| part.errors).sum();
                prop_assert_eq!((operations, errors), (window.operations, window.errors));
            }
        }

        #[test]
        fn each_operation_that_was_intended_is_timed_once(operations in vec(one(), 0..24)) {
            let (counts, lines) = recorded(true, &operations);
            let measured = |one: &&One| one.intended >= BEGIN;
            let intended = operations.iter().filter(measured).count() as u64;
            let found: u64 = Kind::ALL
                .iter()
                .flat_map(|kind| Time::ALL.map(|time| (kind.name(), time)))
                .filter(|(_, time)| matches!(time, Time::Response | Time::Failed | Time::Dropped))
                .map(|(kind, time)| timed(&lines, &format!("{kind}.{}", time.name())))
                .sum();
            prop_assert_eq!(found, intended);
            let errors = counts.errors.values().flat_map(BTreeMap::values).sum::<u64>();
            let over = summed([&counts.operations, &counts.dropped]).values().sum::<u64>() + errors;
            // The others were answered after the window.
            prop_assert!(over <= intended);
        }
    }
}
