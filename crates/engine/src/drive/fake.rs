//! A server inside the engine: one queue, a fixed service time, stalls at known times. It needs no
//! network, and what a correct instrument must say of it can be worked out.

use std::cell::Cell;
use std::rc::Rc;

use serde_json::Value;
use wire::load::{LoadPlan, Workload};

use super::found::Found;
use super::{Failure, Fault, no_option, secure};
use crate::load::clock::{Alarm, Clock};
use crate::load::core::values::Values;
use crate::load::stress::row::{Row, Rows};
use crate::load::work::Operation;
use crate::load::{operation, stress};

/// Options: `service_us`, `stall_every_s` with `stall_s` (the server does no work for `stall_s`
/// every `stall_every_s` of the load), `fail_every` (each such operation is a server error),
/// `corrupt_every` (each such record that is compared is not what was written).
#[derive(Clone)]
pub struct Fake {
    server: Rc<Server>,
}

struct Server {
    clock: Clock,
    alarm: Rc<Alarm>,
    /// What its clock reads when the load begins.
    origin: Cell<u64>,
    service: u64,
    stalls: Option<Stalls>,
    fail_every: u64,
    corrupt_every: u64,
    /// What records hold, where it is compared.
    content: Content,
    compared: Cell<u64>,
    free: Cell<u64>,
    served: Cell<u64>,
}

/// What records hold.
enum Content {
    /// Nothing that anybody compares.
    Anything,
    /// YCSB's fields.
    Fields(Values),
    /// Columns of cassandra-stress, by their names.
    Columns(Rows, Vec<String>),
}

impl Content {
    /// The error is one sentence.
    fn of(plan: &LoadPlan) -> Result<Self, String> {
        Ok(match &plan.workload {
            Workload::Ycsb(workload) if workload.integrity => Self::Fields(Values::new(workload)),
            Workload::Stress(workload) if workload.validate => {
                let layout = stress::Workload::of(workload, plan.part.of)?.layout;
                Self::Columns(Rows::new(&layout), layout.columns)
            }
            Workload::Ycsb(_) | Workload::Stress(_) => Self::Anything,
        })
    }
}

/// No work is done in [k·every, k·every + length) for k = 1, 2, …
#[derive(Clone, Copy)]
struct Stalls {
    every: u64,
    length: u64,
}

/// All options.
const OPTIONS: [&str; 5] = [
    "service_us",
    "stall_every_s",
    "stall_s",
    "fail_every",
    "corrupt_every",
];

/// Whether this server can be what a plan asks for; the error is one sentence.
pub fn check(plan: &LoadPlan) -> Result<(), String> {
    secure::refuse(&plan.target)?;
    let mut asked = plan.target.options.keys();
    if let Some(unknown) = asked.find(|key| !OPTIONS.contains(&key.as_str())) {
        return Err(no_option("fake", unknown, &OPTIONS));
    }
    match Stalls::of(plan) {
        Some(stalls) if stalls.length >= stalls.every => {
            Err("`stall_s` must be shorter than `stall_every_s`".to_owned())
        }
        _ => Ok(()),
    }
}

/// An option in its unit, in nanoseconds where that is a time.
fn nanoseconds(plan: &LoadPlan, key: &str, unit: f64) -> u64 {
    let asked = plan.target.options.get(key).and_then(Value::as_f64);
    (asked.unwrap_or(0.0).max(0.0) * unit) as u64
}

impl Fake {
    /// The error is one sentence.
    pub fn new(plan: &LoadPlan, clock: Clock) -> Result<Self, String> {
        check(plan)?;
        let nanoseconds = |key: &str, unit: f64| nanoseconds(plan, key, unit);
        let alarm = Rc::new(Alarm::new(clock).map_err(|error| error.to_string())?);
        let ringer = alarm.clone();
        tokio::task::spawn_local(async move { ringer.ring().await });
        let server = Server {
            clock,
            alarm,
            origin: Cell::new(0),
            service: nanoseconds("service_us", 1e3),
            stalls: Stalls::of(plan),
            fail_every: nanoseconds("fail_every", 1.0),
            corrupt_every: nanoseconds("corrupt_every", 1.0),
            content: Content::of(plan)?,
            compared: Cell::new(0),
            free: Cell::new(0),
            served: Cell::new(0),
        };
        Ok(Self {
            server: Rc::new(server),
        })
    }

    /// The load begins when `clock` reads zero: from there on stalls count.
    pub fn begin(&self, clock: Clock) {
        let origin = clock
            .instant(0)
            .duration_since(self.server.clock.instant(0));
        self.server.origin.set(origin.as_nanos() as u64);
    }

    /// Answer after the server has worked on everything before this, and on this.
    pub async fn perform(&self, operation: &Operation, found: &mut Found) -> Result<(), Failure> {
        let server = &self.server;
        let begin = server.free.get().max(server.clock.now());
        let origin = server.origin.get();
        let done = match server.stalls {
            Some(stalls) => origin + stalls.done(begin.saturating_sub(origin), server.service),
            None => begin + server.service,
        };
        server.free.set(done);
        server.alarm.until(done).await;
        server.served.set(server.served.get() + 1);
        if server.fail_every > 0 && server.served.get().is_multiple_of(server.fail_every) {
            return Err(Failure::new(
                Fault::Server,
                "ERR this one was meant to fail",
            ));
        }
        if found.wanted() {
            match operation {
                Operation::Ycsb(operation) if operation.kind.reads_one() => {
                    self.hand_back(operation, found);
                }
                Operation::Stress(operation) if operation.kind == stress::Kind::Read => {
                    self.hand_back_row(operation.seed, found);
                }
                Operation::Ycsb(_) | Operation::Stress(_) => {}
            }
        }
        tokio::task::yield_now().await;
        Ok(())
    }

    /// The fields as they were written, or with one that was not.
    fn hand_back(&self, operation: &operation::Operation, found: &mut Found) {
        let Content::Fields(values) = &self.server.content else {
            return;
        };
        let corrupt = self.corrupts();
        for field in values.read(operation) {
            let value = values.value(operation, field);
            let value = if corrupt { &[] } else { &*value };
            found.add(values.names()[field].as_bytes(), value);
        }
    }

    /// The columns of a seed likewise.
    fn hand_back_row(&self, seed: i64, found: &mut Found) {
        let Content::Columns(rows, names) = &self.server.content else {
            return;
        };
        let corrupt = self.corrupts();
        let mut row = Row::default();
        rows.whole(seed, &mut row);
        for (name, value) in names.iter().zip(row.columns()) {
            found.add(name.as_bytes(), if corrupt { b"" } else { value });
        }
    }

    /// Whether the record that is handed back now is not to be what was written.
    fn corrupts(&self) -> bool {
        let server = &self.server;
        server.compared.set(server.compared.get() + 1);
        server.corrupt_every > 0 && server.compared.get().is_multiple_of(server.corrupt_every)
    }
}

impl Stalls {
    fn of(plan: &LoadPlan) -> Option<Self> {
        let every = nanoseconds(plan, "stall_every_s", 1e9);
        let length = nanoseconds(plan, "stall_s", 1e9);
        (length > 0).then_some(Self { every, length })
    }

    /// When `work` that begins at `begin` is done.
    fn done(self, begin: u64, work: u64) -> u64 {
        let mut at = self.awake(begin);
        let mut left = work;
        loop {
            let next = (at / self.every + 1) * self.every;
            if at + left < next {
                return at + left;
            }
            left -= next - at;
            at = next + self.length;
        }
    }

    fn awake(self, time: u64) -> u64 {
        let begun = time / self.every * self.every;
        if begun > 0 && time < begun + self.length {
            begun + self.length
        } else {
            time
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Stalls;

    #[test]
    fn work_waits_for_the_end_of_a_stall() {
        let stalls = Stalls {
            every: 100,
            length: 10,
        };
        assert_eq!(stalls.done(5, 3), 8);
        assert_eq!(stalls.done(98, 3), 111);
        assert_eq!(stalls.done(104, 3), 113);
        assert_eq!(stalls.done(110, 200), 330);
    }
}
