//! The state that all logical threads of one load share.

use std::cell::{Cell, RefCell};

use wire::load::{Level, LoadPlan, Phase};

use super::clock::{Alarm, Clock};
use super::mix::{Operation, Operations};
use super::pace::Pace;
use super::record::{Outcome, Recorder};
use super::share;
use super::usage::Cpu;

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
    operations: RefCell<Operations>,
    schedule: Option<RefCell<Schedule>>,
    begin: u64,
    /// After this nothing is started and everything in flight is given up.
    last: Cell<u64>,
    budget: Option<u64>,
    in_flight: Cell<u64>,
    cpu_at_end: Cell<Option<Cpu>>,
}

/// The slots of an open load.
struct Schedule {
    pace: Pace,
    next: u64,
    /// Slots of the measured window that were taken.
    intended: u64,
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
    /// The window of a plan. Under an open load a number of operations is a length of time.
    pub fn of(plan: &LoadPlan) -> Self {
        let begin = nanoseconds(plan.warmup);
        let seconds = match (plan.level, plan.operations) {
            (Level::Rate { rate, .. }, Some(operations)) => Some(operations as f64 / rate),
            _ => plan.duration,
        };
        Self {
            begin,
            end: seconds.map(|seconds| begin + nanoseconds(seconds)),
        }
    }
}

impl Run {
    /// Everything for a load that begins when `clock` reads zero.
    pub fn new(plan: &LoadPlan, clock: Clock, recorder: Recorder) -> std::io::Result<Self> {
        let span = Span::of(plan);
        let schedule = match plan.level {
            Level::Threads { .. } => None,
            Level::Rate { rate, arrivals, .. } => {
                let pace = Pace::new(rate, arrivals, plan.seed, plan.part);
                Some(RefCell::new(Schedule {
                    pace,
                    next: 0,
                    intended: 0,
                }))
            }
        };
        let timeout = nanoseconds(plan.timeout);
        let budget = plan
            .operations
            .filter(|_| schedule.is_none())
            .map(|operations| share::count(operations, plan.part).max(1));
        Ok(Self {
            clock,
            alarm: Alarm::new(clock)?,
            timeout,
            recorder: RefCell::new(recorder),
            operations: RefCell::new(Operations::new(plan, expected_inserts(plan))),
            schedule,
            begin: span.begin,
            last: Cell::new(span.end.map_or(u64::MAX / 2, |end| end + timeout)),
            budget,
            in_flight: Cell::new(0),
            cpu_at_end: Cell::new(None),
        })
    }

    /// Whether operations have intended starts.
    pub fn open(&self) -> bool {
        self.schedule.is_some()
    }

    /// The next operation of a closed loop; None when it is time to stop.
    pub fn next(&self) -> Option<Operation> {
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
        self.draw()
    }

    /// The next intended start of an open load; None when the window has no more.
    pub fn next_slot(&self) -> Option<u64> {
        if self.clock.now() >= self.last.get() {
            return None;
        }
        self.take_slot()
    }

    /// The operation for a slot; None, and no slot of the window, when all records of a load phase
    /// are in.
    pub fn draw_for(&self, intended: u64) -> Option<Operation> {
        let drawn = self.draw();
        if let (None, Some(schedule)) = (&drawn, &self.schedule) {
            schedule.borrow_mut().intended -= u64::from(intended >= self.begin);
        }
        drawn
    }

    fn draw(&self) -> Option<Operation> {
        let drawn = self.operations.borrow_mut().draw();
        self.in_flight
            .set(self.in_flight.get() + u64::from(drawn.is_some()));
        drawn
    }

    /// When an operation that starts at `started` is to be given up.
    pub fn due(&self, started: u64) -> u64 {
        (started + self.timeout).min(self.last.get())
    }

    /// Count an operation that is over.
    pub fn over(&self, operation: &Operation, outcome: &Outcome<'_>) {
        self.operations.borrow_mut().over(operation);
        self.in_flight.set(self.in_flight.get() - 1);
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
        if self.cpu_at_end.get().is_none() {
            self.cpu_at_end.set(Some(Cpu::now().unwrap_or_default()));
            let mut recorder = self.recorder.borrow_mut();
            if end < recorder.end() {
                recorder.end_at(end);
            }
        }
    }

    /// Whether the measured window has ended.
    pub fn closed(&self) -> bool {
        self.cpu_at_end.get().is_some()
    }

    /// CPU time when the window was closed.
    pub fn cpu_at_end(&self) -> Cpu {
        self.cpu_at_end.get().unwrap_or_default()
    }

    /// Count what was never started, and return the operations intended inside the window.
    pub fn settle(&self) -> Option<u64> {
        let schedule = self.schedule.as_ref()?;
        if self.last.get() < u64::MAX / 2 {
            while let Some(intended) = self.take_slot() {
                let Some(operation) = self.draw_for(intended) else {
                    break;
                };
                if intended >= self.begin {
                    self.recorder.borrow_mut().record_unsent(operation.kind);
                }
            }
        }
        Some(schedule.borrow().intended)
    }

    fn take_slot(&self) -> Option<u64> {
        let mut schedule = self.schedule.as_ref()?.borrow_mut();
        let next = schedule.next;
        let intended = schedule.pace.intended(next);
        if intended >= self.recorder.borrow().end() {
            return None;
        }
        schedule.next += 1;
        schedule.intended += u64::from(intended >= self.begin);
        Some(intended)
    }
}

/// Seconds as nanoseconds.
pub fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

/// Twice the inserts that are to come, as YCSB reckons; where a closed loop ends by time their
/// number is unknown, and as many as there are records are allowed for.
fn expected_inserts(plan: &LoadPlan) -> u64 {
    let share = plan.workload.mix.insert;
    if share <= 0.0 || plan.phase == Phase::Load {
        return 0;
    }
    let operations = match (plan.level, plan.operations, plan.duration) {
        (_, Some(operations), _) => operations as f64,
        (Level::Rate { rate, .. }, None, Some(seconds)) => rate * (plan.warmup + seconds),
        _ => plan.workload.records as f64 / share / 2.0,
    };
    (2.0 * share * operations / f64::from(plan.part.of)).ceil() as u64
}
