//! Slots that are taken ahead, and their operations.

use super::*;
use crate::load::log::Log;
use crate::load::plan::tests::{plan, ycsb};
use crate::load::progress::Lines;
use wire::load::{Arrivals, Level, Requests};

/// A plan that inserts as often as it reads the latest record.
fn latest(level: Level) -> LoadPlan {
    let mut plan = plan();
    plan.level = level;
    plan.duration = Some(1000.0);
    let workload = ycsb(&mut plan);
    (workload.mix.read, workload.mix.update) = (0.5, 0.0);
    workload.mix.insert = 0.5;
    workload.requests = Requests::Latest;
    plan
}

/// What `make` makes of a load under way.
fn under_way<T>(plan: &LoadPlan, make: impl FnOnce(&Run) -> T) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let path = std::env::temp_dir().join(format!(
            "dunnage-{}-{:?}.hlog",
            std::process::id(),
            std::thread::current().id()
        ));
        let now = std::time::SystemTime::now();
        let log = Log::open(&path, now, Box::new(Lines::default())).unwrap();
        std::fs::remove_file(&path).unwrap();
        let span = Span::of(plan);
        let recorder = Recorder::new(log, 0, u64::MAX, 1_000_000_000, false);
        let operations = Operations::new(plan).unwrap();
        let run = Run::new(plan, span, operations, Clock::start(), recorder).unwrap();
        make(&run)
    })
}

fn over(run: &Run, operation: &Operation) {
    let ended = run.clock.now();
    run.over(
        operation,
        &Outcome {
            kind: operation.kind(),
            intended: None,
            started: ended,
            ended,
            failure: None,
            compared: false,
        },
    );
}

fn key(operation: &Operation) -> String {
    let Operation::Ycsb(of_ycsb) = operation else {
        panic!("the plan is of YCSB");
    };
    format!("{:?} {:?}", operation.kind(), of_ycsb.key.as_bytes())
}

fn rate() -> Level {
    Level::Rate {
        rate: 1000.0,
        connections: 200,
        arrivals: Arrivals::Constant,
    }
}

#[test]
fn the_latest_record_is_that_of_the_moment_however_many_wait_for_their_slots() {
    let threads = Level::Threads { threads: 1 };
    let one_by_one: Vec<String> = under_way(&latest(threads), |run| {
        let mut client = run.client(0);
        let next = || {
            let operation = run.next(&mut client)?;
            over(run, &operation);
            Some(key(&operation))
        };
        std::iter::from_fn(next).take(200).collect()
    });
    let taken_ahead: Vec<String> = under_way(&latest(rate()), |run| {
        let slots: Vec<Slot> = (0..200).map(|_| run.next_slot(0).unwrap()).collect();
        let carry_out = |slot: &Slot| {
            let operation = run.operation(slot).unwrap();
            over(run, &operation);
            key(&operation)
        };
        slots.iter().map(carry_out).collect()
    });
    assert_eq!(taken_ahead, one_by_one);
}

#[test]
fn each_slot_has_its_operation_whoever_comes_first() {
    let in_order = |order: [usize; 3]| {
        under_way(&latest(rate()), |run| {
            let slots = [(); 3].map(|()| run.next_slot(0).unwrap());
            let mut found = [const { String::new() }; 3];
            for number in order {
                found[number] = key(&run.operation(&slots[number]).unwrap());
            }
            found
        })
    };
    let expected = in_order([0, 1, 2]);
    assert_eq!(in_order([2, 0, 1]), expected);
    assert_eq!(in_order([1, 2, 0]), expected);
}
