//! The workload of cassandra-stress, as version 3.11.2 makes it: rows that either tool writes, the
//! other one can read.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;
use wire::load::{Part, Stress};

use self::distribution::Distribution;
use self::mix::{Kinds, Mix};
use self::population::{Population, Seeds};
use self::random::JavaRandom;
use self::row::Layout;

pub mod distribution;
pub mod judge;
mod mix;
mod population;
pub mod random;
pub mod row;
mod salt;

/// Whether a workload can be made; the error says what stands against it.
pub fn check(workload: &Stress, parts: u32) -> Result<(), String> {
    Workload::of(workload, parts).map(|_| ())
}

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
    /// Whether it changes what is stored.
    pub fn writes(self) -> bool {
        matches!(self, Self::Write | Self::CounterWrite)
    }
}

/// What is asked of the database, read from a plan.
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
    /// Whether reads ask for all columns without their names.
    pub slice: bool,
}

impl Workload {
    /// That of a plan that `parts` engines carry out; the error is one sentence.
    pub fn of(plan: &Stress, parts: u32) -> Result<Self, String> {
        let weights = [
            (Kind::Read, plan.mix.read),
            (Kind::Write, plan.mix.write),
            (Kind::CounterRead, plan.mix.counter_read),
            (Kind::CounterWrite, plan.mix.counter_write),
        ];
        let mix = Mix {
            weights: weights.to_vec(),
            clustering: read("clustering", &plan.clustering)?,
        };
        let population = Population::of(&plan.population)?;
        let layout = Layout {
            // One that is too large is refused as one of no bytes is.
            key_size: u16::try_from(plan.key_size).unwrap_or_default(),
            columns: plan.columns.clone(),
            size: read("size", &plan.size)?,
        };
        mix.check()?;
        population.check(parts)?;
        layout.check()?;
        Ok(Self {
            mix,
            population,
            layout,
            add: read("add", &plan.add)?,
            slice: plan.slice,
        })
    }
}

/// The distribution that a plan has under `name`.
fn read(name: &str, text: &str) -> Result<Distribution, String> {
    text.parse()
        .map_err(|what| format!("`{name}` cannot be {what}"))
}

/// One operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// What to do.
    pub kind: Kind,
    /// The seed of the row, of which its key and columns are made.
    pub seed: i64,
    /// The seed of the random numbers that decide what is added to counters.
    pub adds: i64,
}

/// All operations of one part of a load.
pub struct Operations {
    mix: Mix,
    seeds: Seeds,
}

/// What one virtual client draws with.
pub struct Client {
    random: JavaRandom,
    kinds: Kinds,
}

impl Operations {
    /// Those of a workload that was read for as many parts as there are.
    pub fn new(workload: &Workload, part: Part) -> Self {
        Self {
            mix: workload.mix.clone(),
            seeds: Seeds::new(&workload.population, part),
        }
    }

    /// The client that has these random numbers. It draws the same whoever draws before it, as far
    /// as the seeds of a sequence do not depend on who comes first.
    pub fn client(&self, mut random: Xoshiro256PlusPlus) -> Client {
        Client {
            random: JavaRandom::new(random.next_u64().cast_signed()),
            kinds: Kinds::new(&self.mix),
        }
    }

    /// The next operation of a client; None at the end of a sequence.
    pub fn draw(&mut self, client: &mut Client) -> Option<Operation> {
        let Client { random, kinds } = client;
        let kind = kinds.draw(random);
        let seed = if kind.writes() {
            self.seeds.write(random)
        } else {
            self.seeds.read(random)
        };
        let adds = random.next_long();
        seed.map(|seed| Operation { kind, seed, adds })
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
    use crate::load::mix::stream;
    use wire::load::{Population as Planned, StressMix};

    const WHOLE: Part = Part { index: 0, of: 1 };

    /// Two reads for each write, of a sequence that is looked back at.
    fn plan() -> Stress {
        Stress {
            mix: StressMix {
                write: 1.0,
                read: 2.0,
                counter_write: 0.0,
                counter_read: 0.0,
            },
            clustering: "gaussian(1..10)".to_owned(),
            population: Planned::Sequence {
                first: 1,
                last: 1_000_000,
                wrap: true,
                lookback: Some("exp(1..1000)".to_owned()),
            },
            columns: Layout::numbered(5),
            size: "fixed(34)".to_owned(),
            key_size: 10,
            add: "fixed(1)".to_owned(),
            slice: false,
            validate: true,
        }
    }

    /// Operations, and as many clients.
    fn operations(plan: &Stress, part: Part, clients: u64, seed: u64) -> (Operations, Vec<Client>) {
        let workload = Workload::of(plan, part.of).unwrap();
        let operations = Operations::new(&workload, part);
        let clients = (0..clients).map(|client| operations.client(stream(seed, part, client)));
        let clients = clients.collect();
        (operations, clients)
    }

    fn drawn(plan: &Stress, part: Part, seed: u64, count: usize) -> Vec<Operation> {
        let (mut operations, mut clients) = operations(plan, part, 4, seed);
        (0..count)
            .filter_map(|index| {
                let operation = operations.draw(&mut clients[index % 4])?;
                operations.over(operation);
                Some(operation)
            })
            .collect()
    }

    #[test]
    fn reads_ask_for_what_is_written_and_writes_go_on() {
        let mut written = 0;
        for operation in drawn(&plan(), WHOLE, 1, 30_000) {
            if operation.kind == Kind::Write {
                assert_eq!(operation.seed, written + 1);
                written += 1;
            } else {
                assert!(
                    operation.seed <= written.max(1),
                    "{operation:?} after {written}"
                );
            }
        }
        assert!((9_000..11_000).contains(&written), "{written}");
    }

    #[test]
    fn a_seed_gives_the_same_operations_and_each_part_has_its_own() {
        let kinds = |part, seed| {
            let operations = drawn(&plan(), part, seed, 100);
            operations.iter().map(|one| one.kind).collect::<Vec<_>>()
        };
        assert_eq!(drawn(&plan(), WHOLE, 1, 100), drawn(&plan(), WHOLE, 1, 100));
        assert_ne!(kinds(WHOLE, 1), kinds(WHOLE, 2));
        let part = |index| Part { index, of: 2 };
        assert_ne!(kinds(part(0), 1), kinds(part(1), 1));
        let second = drawn(&plan(), part(1), 1, 100);
        let write = second.iter().find(|one| one.kind == Kind::Write);
        assert_eq!(write.map(|one| one.seed), Some(500_001));
    }

    #[test]
    fn a_client_draws_the_same_whoever_draws_before_it() {
        let mut plan = plan();
        plan.population = Planned::Drawn {
            distribution: "gaussian(1..1m)".to_owned(),
        };
        let (mut alone, mut loners) = operations(&plan, WHOLE, 2, 9);
        let (mut together, mut clients) = operations(&plan, WHOLE, 2, 9);
        let mut same = 0;
        for _ in 0..100 {
            let other = together.draw(&mut clients[0]);
            let own = alone.draw(&mut loners[1]);
            assert_eq!(together.draw(&mut clients[1]), own);
            same += usize::from(other == own);
        }
        assert_eq!(same, 0, "clients draw alike");
    }

    #[test]
    fn a_sequence_without_wrapping_ends_the_operations() {
        let mut plan = plan();
        plan.mix = StressMix {
            write: 0.0,
            read: 0.0,
            counter_write: 1.0,
            counter_read: 0.0,
        };
        plan.population = Planned::Sequence {
            first: 4,
            last: 5,
            wrap: false,
            lookback: None,
        };
        let found = drawn(&plan, WHOLE, 1, 3);
        let seeds: Vec<i64> = found.iter().map(|one| one.seed).collect();
        assert_eq!(seeds, [4, 5]);
        assert!(found.iter().all(|one| one.kind == Kind::CounterWrite));
        assert_ne!(found[0].adds, found[1].adds);
    }

    #[test]
    fn what_adds_or_writes_changes_what_is_stored() {
        let kinds = [
            Kind::Read,
            Kind::Write,
            Kind::CounterRead,
            Kind::CounterWrite,
        ];
        assert_eq!(kinds.map(Kind::writes), [false, true, false, true]);
    }

    #[test]
    fn a_plan_is_refused_for_any_of_its_parts() {
        assert!(Workload::of(&plan(), 2).is_ok());
        let refused = |change: fn(&mut Stress)| {
            let mut plan = plan();
            change(&mut plan);
            check(&plan, 1).unwrap_err()
        };
        assert!(refused(|plan| plan.mix.read = -1.0).contains("weights"));
        assert!(
            refused(|plan| plan.clustering = "1".to_owned()).contains("`clustering` cannot be")
        );
        assert!(refused(|plan| plan.size = "34".to_owned()).contains("`size` cannot be `34`"));
        assert!(refused(|plan| plan.add = String::new()).contains("`add` cannot be"));
        assert!(refused(|plan| plan.key_size = 65_536).contains("from 1 to 65535 bytes"));
        assert!(refused(|plan| plan.columns.reverse()).contains("order of their bytes"));
        let long = |plan: &mut Stress| {
            plan.population = Planned::Sequence {
                first: 1,
                last: u64::MAX,
                wrap: true,
                lookback: None,
            };
        };
        assert!(refused(long).contains("seeds must be"));
        let unknown = |plan: &mut Stress| {
            plan.population = Planned::Drawn {
                distribution: "zipf(1..9)".to_owned(),
            };
        };
        assert!(refused(unknown).contains("`distribution` cannot be `zipf(1..9)`"));
    }
}
