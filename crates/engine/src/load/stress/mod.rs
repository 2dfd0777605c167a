//! The workloads of cassandra-stress 3.11.2, whose rows either tool can write and the other read.

use wire::load::Part;

use self::distribution::Distribution;
use self::mix::{Kinds, Mix};
use self::population::{Population, Seeds};
use self::random::JavaRandom;
use self::row::Layout;

pub mod distribution;
pub mod mix;
pub mod population;
mod random;
pub mod row;
mod salt;

/// Types of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Read all columns of a row.
    Read,
    /// Write all columns of a row.
    Write,
    /// Read all counters of a row.
    CounterRead,
    /// Add to all counters of a row.
    CounterWrite,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::Read,
        Self::Write,
        Self::CounterRead,
        Self::CounterWrite,
    ];

    /// The name on a command line and in result files.
    pub fn name(self) -> &'static str {
        ["read", "write", "counter_read", "counter_write"][self as usize]
    }

    /// Whether it changes what is stored.
    pub fn writes(self) -> bool {
        matches!(self, Self::Write | Self::CounterWrite)
    }
}

/// What is asked of the database, whatever the level of the load.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// Which operations are made.
    pub mix: Mix,
    /// Which rows they are for.
    pub population: Population,
    /// What rows look like.
    pub layout: Layout,
    /// What is added to a counter.
    pub add: Distribution,
}

impl Workload {
    /// Whether `parts` engines can make it together; the error is one sentence.
    pub fn check(&self, parts: u32) -> Result<(), String> {
        self.mix.check()?;
        self.population.check(parts)?;
        self.layout.check()
    }
}

/// One operation; its row is a function of its seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// What to do.
    pub kind: Kind,
    /// The row.
    pub seed: i64,
}

/// All operations of one part of a load.
pub struct Operations {
    seeds: Seeds,
    clients: Vec<Kinds>,
}

impl Operations {
    /// Of a workload that was checked. The same `seed` always gives the same operations, as far as
    /// the clients ask in the same order and writes are answered alike.
    pub fn new(workload: &Workload, part: Part, clients: u32, seed: u64) -> Self {
        let stream = seed ^ (u64::from(part.index) << 32);
        let mut random = JavaRandom::new(stream.cast_signed());
        Self {
            seeds: Seeds::new(&workload.population, part, random.next_long()),
            clients: (0..clients)
                .map(|_| Kinds::new(&workload.mix, random.next_long()))
                .collect(),
        }
    }

    /// The next operation of a client; None at the end of a sequence.
    pub fn draw(&mut self, client: usize) -> Option<Operation> {
        let kind = self.clients[client].draw();
        let seed = if kind.writes() {
            self.seeds.write()
        } else {
            self.seeds.read()
        }?;
        Some(Operation { kind, seed })
    }

    /// An operation is over, well or not.
    pub fn over(&mut self, operation: Operation) {
        if operation.kind.writes() {
            self.seeds.written(operation.seed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Part = Part { index: 0, of: 1 };

    /// Two reads for each write, of a sequence that is looked back at.
    fn workload() -> Workload {
        Workload {
            mix: Mix {
                weights: vec![(Kind::Read, 2.0), (Kind::Write, 1.0)],
                clustering: "gaussian(1..10)".parse().unwrap(),
            },
            population: Population::Sequence {
                first: 1,
                last: 1_000_000,
                wrap: true,
                lookback: Some("exp(1..1000)".parse().unwrap()),
            },
            layout: Layout {
                key_size: 10,
                columns: Layout::numbered(5),
                size: Distribution::fixed(34),
            },
            add: Distribution::fixed(1),
        }
    }

    fn drawn(part: Part, seed: u64, count: usize) -> Vec<Operation> {
        let mut operations = Operations::new(&workload(), part, 4, seed);
        (0..count)
            .filter_map(|index| {
                let operation = operations.draw(index % 4)?;
                operations.over(operation);
                Some(operation)
            })
            .collect()
    }

    #[test]
    fn reads_ask_for_what_is_written_and_writes_go_on() {
        let mut written = 0;
        for operation in drawn(WHOLE, 1, 30_000) {
            if operation.kind == Kind::Write {
                assert_eq!(operation.seed, written + 1);
                written += 1;
            } else {
                assert!(operation.seed <= written.max(1), "{operation:?} after {written}");
            }
        }
        assert!((9_000..11_000).contains(&written), "{written}");
    }

    #[test]
    fn a_seed_gives_the_same_operations_and_each_part_has_its_own() {
        let kinds = |part, seed| {
            let operations = drawn(part, seed, 100);
            operations.iter().map(|one| one.kind).collect::<Vec<_>>()
        };
        assert_eq!(drawn(WHOLE, 1, 100), drawn(WHOLE, 1, 100));
        assert_ne!(kinds(WHOLE, 1), kinds(WHOLE, 2));
        let part = |index| Part { index, of: 2 };
        assert_ne!(kinds(part(0), 1), kinds(part(1), 1));
        let first = drawn(part(1), 1, 100).into_iter().find(|one| one.kind == Kind::Write);
        assert_eq!(first.map(|one| one.seed), Some(500_001));
    }

    #[test]
    fn clients_have_kinds_of_their_own() {
        let of = |client| {
            let mut operations = Operations::new(&workload(), WHOLE, 2, 9);
            (0..100).map(|_| operations.draw(client).unwrap().kind).collect::<Vec<_>>()
        };
        assert_ne!(of(0), of(1));
    }

    #[test]
    fn a_sequence_without_wrapping_ends_the_operations() {
        let mut workload = workload();
        workload.mix = Mix::only(Kind::CounterWrite);
        workload.population = Population::Sequence {
            first: 4,
            last: 5,
            wrap: false,
            lookback: None,
        };
        let mut operations = Operations::new(&workload, WHOLE, 1, 1);
        let taken = [operations.draw(0), operations.draw(0), operations.draw(0)];
        let of = |seed| Some(Operation { kind: Kind::CounterWrite, seed });
        assert_eq!(taken, [of(4), of(5), None]);
    }

    #[test]
    fn names_and_writes_are_those_of_the_kinds() {
        let names = Kind::ALL.map(Kind::name);
        assert_eq!(names, ["read", "write", "counter_read", "counter_write"]);
        assert_eq!(Kind::ALL.map(Kind::writes), [false, true, false, true]);
    }

    #[test]
    fn a_workload_is_refused_for_any_of_its_parts() {
        assert_eq!(workload().check(1), Ok(()));
        let refused = |change: fn(&mut Workload)| {
            let mut workload = workload();
            change(&mut workload);
            workload.check(2).unwrap_err()
        };
        assert!(refused(|it| it.mix.weights.clear()).contains("weights"));
        assert!(refused(|it| it.layout.key_size = 0).contains("key"));
        let short = |it: &mut Workload| {
            it.population = Population::Sequence {
                first: 1,
                last: 1,
                wrap: true,
                lookback: None,
            };
        };
        assert!(refused(short).contains("fewer seeds"));
    }
}
