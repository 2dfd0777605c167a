//! The operations of a load, whichever workload they are of.

use rand_xoshiro::Xoshiro256PlusPlus;
use wire::load::{LoadPlan, Part, Workload};

use super::{mix, stress};

/// Types of operations of all workloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Of either workload: read one record, or one row.
    Read,
    /// See [`mix::Kind::Update`].
    Update,
    /// See [`mix::Kind::Insert`].
    Insert,
    /// See [`mix::Kind::Scan`].
    Scan,
    /// See [`mix::Kind::ReadModifyWrite`].
    ReadModifyWrite,
    /// See [`stress::Kind::Write`].
    Write,
    /// See [`stress::Kind::CounterRead`].
    CounterRead,
    /// See [`stress::Kind::CounterWrite`].
    CounterWrite,
}

impl Kind {
    /// All of them, YCSB's first, in its order.
    pub const ALL: [Self; 8] = [
        Self::Read,
        Self::Update,
        Self::Insert,
        Self::Scan,
        Self::ReadModifyWrite,
        Self::Write,
        Self::CounterRead,
        Self::CounterWrite,
    ];

    /// The name in result files.
    pub fn name(self) -> &'static str {
        [
            "read",
            "update",
            "insert",
            "scan",
            "read-modify-write",
            "write",
            "counter_read",
            "counter_write",
        ][self as usize]
    }
}

/// One operation, ready to be sent.
#[derive(Clone, Copy)]
pub enum Operation {
    /// Of YCSB's core workload.
    Ycsb(mix::Operation),
    /// Of cassandra-stress.
    Stress(stress::Operation),
}

impl Operation {
    /// What it does.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Ycsb(operation) => match operation.kind {
                mix::Kind::Read => Kind::Read,
                mix::Kind::Update => Kind::Update,
                mix::Kind::Insert => Kind::Insert,
                mix::Kind::Scan => Kind::Scan,
                mix::Kind::ReadModifyWrite => Kind::ReadModifyWrite,
            },
            Self::Stress(operation) => match operation.kind {
                stress::Kind::Read => Kind::Read,
                stress::Kind::Write => Kind::Write,
                stress::Kind::CounterRead => Kind::CounterRead,
                stress::Kind::CounterWrite => Kind::CounterWrite,
            },
        }
    }
}

/// What a virtual client, or the slots of an open load, which are client 0, draw with.
pub enum Client {
    /// Random numbers.
    Ycsb(Xoshiro256PlusPlus),
    /// Random numbers, and the operations in a row that are left.
    Stress(stress::Client),
}

/// All operations of one part of a load: what is common to its virtual clients.
pub struct Operations {
    source: Source,
    seed: u64,
    part: Part,
}

enum Source {
    Ycsb(mix::Operations),
    Stress(stress::Operations),
}

impl Operations {
    /// Those of a plan; the error is one sentence.
    pub fn new(plan: &LoadPlan) -> Result<Self, String> {
        let source = match &plan.workload {
            Workload::Ycsb(_) => Source::Ycsb(mix::Operations::new(plan)?),
            Workload::Stress(workload) => {
                let workload = stress::Workload::of(workload, plan.part.of)?;
                Source::Stress(stress::Operations::new(&workload, plan.part))
            }
        };
        Ok(Self {
            source,
            seed: plan.seed,
            part: plan.part,
        })
    }

    /// What virtual client `number` of this part draws with.
    pub fn client(&self, number: u64) -> Client {
        let random = mix::stream(self.seed, self.part, number);
        match &self.source {
            Source::Ycsb(_) => Client::Ycsb(random),
            Source::Stress(operations) => Client::Stress(operations.client(random)),
        }
    }

    /// The next operation of a client of this workload; None when there are no more.
    pub fn draw(&mut self, client: &mut Client) -> Option<Operation> {
        match (&mut self.source, client) {
            (Source::Ycsb(operations), Client::Ycsb(random)) => {
                operations.draw(random).map(Operation::Ycsb)
            }
            (Source::Stress(operations), Client::Stress(client)) => {
                operations.draw(client).map(Operation::Stress)
            }
            _ => None,
        }
    }

    /// The operation that was drawn last is left out: the key of an insert is the next one's, and
    /// the row of a write is left out, too.
    pub fn take_back(&mut self, operation: &Operation) {
        match (&mut self.source, operation) {
            (Source::Ycsb(operations), Operation::Ycsb(operation)) => {
                operations.take_back(operation);
            }
            _ => self.over(operation),
        }
    }

    /// An operation is over, well or not.
    pub fn over(&mut self, operation: &Operation) {
        match (&mut self.source, operation) {
            (Source::Ycsb(operations), Operation::Ycsb(operation)) => operations.over(operation),
            (Source::Stress(operations), Operation::Stress(operation)) => {
                operations.over(*operation);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::plan::tests::{plan, stress};

    /// The kinds that a plan's first client draws.
    fn drawn(plan: &LoadPlan) -> Vec<&'static str> {
        let mut operations = Operations::new(plan).unwrap();
        let mut client = operations.client(0);
        std::iter::from_fn(|| operations.draw(&mut client))
            .map(|operation| operation.kind().name())
            .take(40)
            .collect()
    }

    #[test]
    fn operations_are_those_of_the_plans_workload() {
        let mut plan = plan();
        assert_eq!(drawn(&plan), ["read"; 40]);
        plan.workload = stress();
        assert_eq!(drawn(&plan), ["write"; 40]);
        if let Workload::Stress(workload) = &mut plan.workload {
            (workload.mix.write, workload.mix.counter_read) = (0.0, 1.0);
            workload.mix.counter_write = 1.0;
        }
        let found = drawn(&plan);
        for kind in ["counter_read", "counter_write"] {
            assert!(found.contains(&kind), "{found:?}");
        }
    }

    #[test]
    fn each_kind_has_a_name_of_its_own() {
        for kind in Kind::ALL {
            let same = Kind::ALL
                .into_iter()
                .filter(|other| other.name() == kind.name());
            assert_eq!(same.count(), 1, "{kind:?}");
            assert_eq!(Kind::ALL[kind as usize], kind);
        }
    }

    #[test]
    fn reads_do_not_wait_for_a_write_that_is_left_out() {
        let mut plan = plan();
        plan.workload = stress();
        let Workload::Stress(workload) = &mut plan.workload else {
            panic!("it was made so");
        };
        workload.mix.read = 1.0;
        workload.population = wire::load::Population::Sequence {
            first: 1,
            last: 100,
            wrap: true,
            lookback: Some("fixed(1)".to_owned()),
        };
        let mut operations = Operations::new(&plan).unwrap();
        let mut client = operations.client(0);
        let (mut written, mut read) = (0, 0);
        for number in 0..200 {
            let Some(Operation::Stress(operation)) = operations.draw(&mut client) else {
                panic!("a sequence that wraps has no end");
            };
            if operation.kind == stress::Kind::Write {
                written = operation.seed;
            } else {
                read += 1;
                assert_eq!(operation.seed, written.max(1));
            }
            if number % 2 == 0 {
                operations.take_back(&Operation::Stress(operation));
            } else {
                operations.over(&Operation::Stress(operation));
            }
        }
        assert!(read > 20 && written > 20, "{read} {written}");
    }
}
