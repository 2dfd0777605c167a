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
fn summed<'a>(parts: impl IntoIterator<Item = &'a BTreeMap<String, u64>>) -> BTreeMap<String, u64> {
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
fn one_under_way_when_the_window_of_a_closed_loop_ends_is_an_error_or_unfinished() {
    let across = One {
        intended: END - MS,
        ..READ
    };
    let (counts, lines) = recorded(false, &[across]);
    assert_eq!(counts.operations, BTreeMap::new());
    assert_eq!(counts.unfinished, BTreeMap::from([("read".to_owned(), 1)]));
    assert_eq!(timed(&lines, "read.unfinished"), 1);
    let failed = One {
        fate: Fate::Failed(Fault::Timeout),
        ..across
    };
    let (counts, lines) = recorded(false, &[failed]);
    assert_eq!(counts.errors["read"]["timeout"], 1);
    assert_eq!(counts.unfinished, BTreeMap::new());
    assert_eq!(timed(&lines, "read.failed"), 1);
    let told: u64 = counts.windows.iter().map(Window::over).sum();
    assert_eq!(told, 0, "the time line is of the window");
    let (counts, _) = recorded(true, &[across]);
    assert_eq!(counts.unfinished, BTreeMap::new(), "this is backlog");
}

#[test]
fn the_time_line_ends_with_the_last_operation_however_late_that_is_noticed() {
    let mut recorder = Recorder::new(Kept::default().log(), 0, u64::MAX, 100 * MS, true);
    recorder.record(&Outcome {
        kind: Kind::Insert,
        intended: None,
        started: 0,
        ended: 130 * MS,
        failure: None,
        compared: false,
    });
    recorder.advance(450 * MS);
    recorder.end_at(recorder.last_over() + 1);
    let counts = recorder.finish(460 * MS).unwrap();
    let lengths = counts.windows.iter().map(|window| window.length);
    assert_eq!(lengths.collect::<Vec<_>>(), [0.1, 0.030_000_001]);
    assert_eq!(counts.windows[1].operations, 1);
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
        let counts: [ByName; 5] = [
            |counts| &counts.operations,
            |counts| &counts.late,
            |counts| &counts.unsent,
            |counts| &counts.dropped,
            |counts| &counts.unfinished,
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
    fn each_operation_of_a_closed_loop_is_timed_once(operations in vec(one(), 0..24)) {
        let (counts, lines) = recorded(false, &operations);
        let made = |one: &&One| !matches!(one.fate, Fate::Unsent | Fate::Dropped);
        let started = operations.iter().filter(made);
        let measured = started.filter(|one| one.ended() >= BEGIN).count() as u64;
        let sum = |time: Time| -> u64 {
            let kinds = Kind::ALL.iter();
            kinds.map(|kind| timed(&lines, &format!("{}.{}", kind.name(), time.name()))).sum()
        };
        let [service, failed, unfinished] =
            [Time::Service, Time::Failed, Time::Unfinished].map(sum);
        prop_assert_eq!(service + failed + unfinished, measured);
        let counted = |counts: &BTreeMap<String, u64>| counts.values().sum::<u64>();
        prop_assert_eq!(counted(&counts.operations), service);
        prop_assert_eq!(counted(&counts.unfinished), unfinished);
        let errors = counts.errors.values().flat_map(BTreeMap::values).sum::<u64>();
        prop_assert_eq!(errors, failed);
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
