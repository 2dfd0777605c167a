//! The state that all logical threads of one load share.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use wire::load::{LoadPlan, Policy};

use super::clock::{Alarm, Clock};
use super::judge::Judge;
use super::pace::Pace;
use super::record::{Outcome, Recorder};
use super::share;
use super::silence::Silence;
use super::usage::{Cpu, Watcher};
use super::work::{Client, Operation, Operations};
use crate::drive::Failure;
use crate::drive::found::Found;

/// One load under way. Times in nanoseconds since it began.
pub struct Run {
    /// Its clock.
    pub clock: Clock,
    /// Wakes those who wait for an intended start.
    pub alarm: Alarm,
    /// An operation without answer for so long is given up.
    pub timeout: u64,
    /// What is counted.
    pub recorder: RefCell<Recorder>,
    silence: RefCell<Silence>,
    /// Judges what reads found; None where nothing is compared.
    judge: Option<Judge>,
    operations: RefCell<Operations>,
    schedule: Option<RefCell<Schedule>>,
    /// Whether slots that find every connection busy are left out.
    drops: bool,
    begin: u64,
    /// After this nothing is started and everything in flight is given up.
    last: Cell<u64>,
    budget: Option<u64>,
    in_flight: Cell<u64>,
    /// Whether there are no more operations.
    exhausted: Cell<bool>,
    watcher: Watcher,
    used_at_end: Cell<Option<Used>>,
    ended_early: Cell<bool>,
}

/// What the engine used until the measured window ended.
#[derive(Clone, Copy, Default)]
pub struct Used {
    /// CPU time since the process began.
    pub cpu: Cpu,
    /// Nanoseconds of the window for which the thread that makes load was at its limit.
    pub limited: u64,
}

/// The slots of an open load.
struct Schedule {
    pace: Pace,
    client: Client,
    /// The slot that is taken next.
    next: u64,
    /// The slot whose operation is drawn next.
    drawn: u64,
    /// Operations of slots whose holders have not come for them yet.
    ahead: BTreeMap<u64, Operation>,
    /// Slots of the measured window that were taken.
    intended: u64,
}

/// Slots that are counted at a time.
const AT_A_TIME: u64 = 1024;

/// One slot of an open load that was taken.
pub struct Slot {
    /// When its operation is meant to start.
    pub intended: u64,
    /// Its place in the order of slots.
    number: u64,
}

/// Where the measured window lies; `end` is unknown when a number of operations or of records
/// ends it.
#[derive(Clone, Copy)]
pub struct Span {
    /// Its beginning.
    pub begin: u64,
    /// Its end.
    pub end: Option<u64>,
}

impl Span {
    /// The window of a plan. In an open load a number of operations ends it at the intended start of
    /// the one after them.
    pub fn of(plan: &LoadPlan) -> Self {
        let begin = nanoseconds(plan.warmup);
        let by_time = plan.duration.map(|seconds| begin + nanoseconds(seconds));
        let by_number = plan
            .operations
            .and_then(|operations| Pace::end(plan, operations, by_time.unwrap_or(u64::MAX)));
        let end = match (by_number, by_time) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        Self { begin, end }
    }
}

impl Run {
    /// Everything for a load of these operations in a window, that begins when `clock` reads zero.
    pub fn new(
        plan: &LoadPlan,
        span: Span,
        operations: Operations,
        clock: Clock,
        recorder: Recorder,
    ) -> std::io::Result<Self> {
        let pace = Pace::of(plan).map_err(std::io::Error::other)?;
        let schedule = pace.map(|pace| {
            RefCell::new(Schedule {
                pace,
                client: operations.client(0),
                next: 0,
                drawn: 0,
                ahead: BTreeMap::new(),
                intended: 0,
            })
        });
        let judge = Judge::of(plan).map_err(std::io::Error::other)?;
        let timeout = nanoseconds(plan.timeout);
        let budget = plan
            .operations
            .filter(|_| schedule.is_none())
            .map(|operations| share::count(operations, plan.part));
        Ok(Self {
            clock,
            alarm: Alarm::new(clock)?,
            timeout,
            recorder: RefCell::new(recorder),
            silence: RefCell::new(Silence::new(share::in_flight(plan.level, plan.part))),
            judge,
            operations: RefCell::new(operations),
            schedule,
            drops: plan.policy == Policy::Drop,
            begin: span.begin,
            last: Cell::new(span.end.map_or(u64::MAX / 2, |end| end + timeout)),
            budget,
            in_flight: Cell::new(0),
            exhausted: Cell::new(false),
            watcher: Watcher::begin(clock, span.begin)?,
            used_at_end: Cell::new(None),
            ended_early: Cell::new(false),
        })
    }

    /// Whether operations have intended starts.
    pub fn open(&self) -> bool {
        self.schedule.is_some()
    }

    /// Whether what reads find is compared with what was written.
    pub fn compares(&self) -> bool {
        self.judge.is_some()
    }

    /// What virtual client `number` draws with.
    pub fn client(&self, number: u64) -> Client {
        self.operations.borrow().client(number)
    }

    /// The next operation of a virtual client of a closed loop; None when it is time to stop.
    pub fn next(&self, client: &mut Client) -> Option<Operation> {
        let now = self.clock.now();
        let recorder = self.recorder.borrow();
        let spent = now >= self.begin
            && self
                .budget
                .is_some_and(|most| recorder.over() + self.in_flight.get() >= most);
        if spent || now >= recorder.end() {
            return None;
        }
        drop(recorder);
        self.draw(client)
    }

    /// The next slot of an open load for one who is free since `free`; None when the window has no
    /// more. Those who are idle take slots ahead, so a slot that is not taken when its time comes has
    /// found every connection busy, and is left out if the policy says so.
    pub fn next_slot(&self, free: u64) -> Option<Slot> {
        if free >= self.last.get() {
            return None;
        }
        loop {
            let slot = self.take_slot()?;
            if !self.drops || slot.intended >= free {
                return Some(slot);
            }
            self.leave_out(&slot, free)?;
        }
    }

    /// The operation of a slot whose time has come; None when there are no more, and then the slot is
    /// no part of the load. It is drawn now, as its keys depend on what was inserted before, but in
    /// the order of slots, so that each slot has the same one whoever carries it out.
    pub fn operation(&self, slot: &Slot) -> Option<Operation> {
        let operation = self.drawn_for(slot.number);
        if operation.is_none() {
            self.give_up(slot);
            // Nobody is to wait for the slots after it.
            self.alarm.end_at(slot.intended);
        }
        operation
    }

    fn drawn_for(&self, number: u64) -> Option<Operation> {
        let mut schedule = self.schedule.as_ref()?.borrow_mut();
        let Schedule {
            client,
            drawn,
            ahead,
            ..
        } = &mut *schedule;
        while *drawn < number {
            ahead.insert(*drawn, self.draw(client)?);
            *drawn += 1;
        }
        if *drawn == number {
            *drawn += 1;
            return self.draw(client);
        }
        ahead.remove(&number)
    }

    /// A slot that was taken ahead lies beyond an end that has come sooner: it is no part of the
    /// load.
    pub fn give_up(&self, slot: &Slot) {
        if let Some(schedule) = &self.schedule {
            schedule.borrow_mut().intended -= u64::from(slot.intended >= self.begin);
        }
    }

    /// Count the slot that was taken last as dropped; a connection was free at `free`. None when
    /// there are no more operations.
    fn leave_out(&self, slot: &Slot, free: u64) -> Option<()> {
        let operation = self.operation(slot)?;
        self.operations.borrow_mut().take_back(&operation);
        self.in_flight.set(self.in_flight.get() - 1);
        let mut recorder = self.recorder.borrow_mut();
        recorder.record_dropped(operation.kind(), slot.intended, free);
        Some(())
    }

    fn draw(&self, client: &mut Client) -> Option<Operation> {
        let drawn = self.operations.borrow_mut().draw(client);
        self.in_flight
            .set(self.in_flight.get() + u64::from(drawn.is_some()));
        self.exhausted.set(drawn.is_none());
        drawn
    }

    /// When an operation that starts at `started` is to be given up.
    pub fn due(&self, started: u64) -> u64 {
        (started + self.timeout).min(self.last.get())
    }

    /// Whether what an operation found is what was written; None where it is not compared.
    pub fn judge(&self, operation: &Operation, found: &Found) -> Option<Result<(), Failure>> {
        self.judge.as_ref()?.judge(operation, found)
    }

    /// Count an operation that is over.
    pub fn over(&self, operation: &Operation, outcome: &Outcome<'_>) {
        self.operations.borrow_mut().over(operation);
        self.in_flight.set(self.in_flight.get() - 1);
        self.silence.borrow_mut().heed(outcome);
        let mut recorder = self.recorder.borrow_mut();
        recorder.record(outcome);
        if self.budget.is_some_and(|most| recorder.over() >= most) {
            drop(recorder);
            // The end is exclusive, and the operation that reached it belongs to the window.
            self.close(outcome.ended + 1);
        }
    }

    /// The measured window ends at `end`; only the first call counts.
    pub fn close(&self, end: u64) {
        if self.used_at_end.get().is_none() {
            self.used_at_end.set(Some(Used {
                cpu: Cpu::now().unwrap_or_default(),
                limited: self.watcher.limited(),
            }));
            let mut recorder = self.recorder.borrow_mut();
            if end < recorder.end() {
                recorder.end_at(end);
                self.alarm.end_at(end);
            }
            let last = end.saturating_add(self.timeout);
            self.last.set(self.last.get().min(last));
        }
    }

    /// The measured window ends now, before its time, unless it has ended.
    pub fn end_early(&self) {
        self.ended_early.set(!self.closed());
        self.close(self.clock.now());
    }

    /// Whether it ended before its time.
    pub fn ended_early(&self) -> bool {
        self.ended_early.get()
    }

    /// When the last answer came, if the database did not answer any more.
    pub fn silent_since(&self) -> Option<u64> {
        self.silence.borrow().since()
    }

    /// Whether the measured window has ended.
    pub fn closed(&self) -> bool {
        self.used_at_end.get().is_some()
    }

    /// Whether all operations that there are have been begun.
    pub fn exhausted(&self) -> bool {
        self.exhausted.get()
    }

    /// What was used when the window was closed.
    pub fn used_at_end(&self) -> Used {
        self.used_at_end.get().unwrap_or_default()
    }

    /// Count what was never started, and return the operations intended inside the window. There may
    /// be millions, so signals are heeded meanwhile.
    pub async fn settle(&self) -> Option<u64> {
        let schedule = self.schedule.as_ref()?;
        let last = self.last.get();
        if last < u64::MAX / 2 {
            while let Some(slot) = self.take_slot() {
                if slot.number % AT_A_TIME == 0 {
                    tokio::task::yield_now().await;
                }
                if self.drops {
                    if self.leave_out(&slot, last).is_none() {
                        break;
                    }
                    continue;
                }
                let Some(operation) = self.operation(&slot) else {
                    break;
                };
                self.operations.borrow_mut().take_back(&operation);
                if slot.intended >= self.begin {
                    let mut recorder = self.recorder.borrow_mut();
                    recorder.record_unsent(operation.kind(), last - slot.intended);
                    let mut silence = self.silence.borrow_mut();
                    silence.unanswered(slot.intended, last);
                }
            }
        }
        Some(schedule.borrow().intended)
    }

    fn take_slot(&self) -> Option<Slot> {
        let mut schedule = self.schedule.as_ref()?.borrow_mut();
        let next = schedule.next;
        let intended = schedule.pace.intended(next);
        if intended >= self.recorder.borrow().end() {
            return None;
        }
        schedule.next += 1;
        schedule.intended += u64::from(intended >= self.begin);
        Some(Slot {
            intended,
            number: next,
        })
    }
}

/// Seconds as nanoseconds.
pub fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

#[cfg(test)]
mod tests;
