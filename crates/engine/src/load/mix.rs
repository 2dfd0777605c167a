//! What an operation is, and the sequence of operations that a seed gives.

use std::ops::Range;

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};
use wire::load::{LoadPlan, Mix, Part, Phase, ReadFields, Workload, Ycsb};

use super::core::scan::Lengths;
use super::core::{inserted, inserts};
use super::keys::{KeyName, Keys};
use super::pace::evenly;
use super::share;

/// Operation types of the YCSB core workloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Read one record.
    Read,
    /// Write fields of a record.
    Update,
    /// Write a new record.
    Insert,
    /// Read records in the order of the index.
    Scan,
    /// Read a record, then write fields of it.
    ReadModifyWrite,
}

impl Kind {
    /// All of them, in YCSB's order.
    pub const ALL: [Self; 5] = [
        Self::Read,
        Self::Update,
        Self::Insert,
        Self::Scan,
        Self::ReadModifyWrite,
    ];

    /// Whether one record is read, which may be compared with what was written.
    pub fn reads_one(self) -> bool {
        matches!(self, Self::Read | Self::ReadModifyWrite)
    }
}

/// Which fields of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fields {
    /// All.
    All,
    /// All, each asked for by its name.
    Named,
    /// One, by its number.
    One(u32),
}

impl Fields {
    /// Their numbers, where a record has `count` fields.
    pub fn range(self, count: usize) -> Range<usize> {
        match self {
            Self::All | Self::Named => 0..count,
            Self::One(field) => field as usize..field as usize + 1,
        }
    }
}

/// One operation, ready to be sent.
#[derive(Clone, Copy)]
pub struct Operation {
    /// What to do.
    pub kind: Kind,
    /// The record, or the first one of a scan.
    pub key: KeyName,
    /// What to read.
    pub read: Fields,
    /// What to write.
    pub write: Fields,
    /// Records that a scan returns at most.
    pub length: u32,
    /// A random number that decides the values to write.
    pub values: u64,
    /// Of an insert in a run phase: by which to acknowledge it.
    position: Option<u64>,
}

/// The random numbers of virtual client `client` of a part, or of the slots of an open load, which
/// are those of client 0.
pub fn stream(seed: u64, part: Part, client: u64) -> Xoshiro256PlusPlus {
    let mixed = [seed, u64::from(part.index), client]
        .into_iter()
        .fold(0, |state, number| {
            SplitMix64::seed_from_u64(state ^ number).next_u64()
        });
    Xoshiro256PlusPlus::seed_from_u64(mixed)
}

/// All operations of one part: what is common to its virtual clients.
pub struct Operations {
    workload: Ycsb,
    mix: Mix,
    scans: Lengths,
    source: Source,
}

enum Source {
    Load(Range<u64>),
    Run(Box<Keys>),
}

impl Operations {
    /// The error is one sentence.
    pub fn new(plan: &LoadPlan) -> Result<Self, String> {
        let Workload::Ycsb(workload) = &plan.workload else {
            return Err("these operations are not of YCSB".to_owned());
        };
        let source = match plan.phase {
            Phase::Load => {
                let keys = inserted(workload).unwrap_or_default();
                let share = share::range(keys.end - keys.start, plan.part);
                Source::Load(keys.start + share.start..keys.start + share.end)
            }
            Phase::Run => {
                let expected = inserts::expected(plan, workload);
                Source::Run(Box::new(Keys::new(workload, plan.part, expected)?))
            }
        };
        Ok(Self {
            mix: normalised(&workload.mix),
            scans: Lengths::new(workload.scan_lengths),
            workload: workload.clone(),
            source,
        })
    }

    /// The next operation of the client whose random numbers these are; None when all records of a
    /// load phase are in.
    ///
    /// It takes one of them, from which all else is drawn, the record last: how often that is drawn
    /// again depends on which inserts have been answered, and so does nothing but the record.
    pub fn draw(&mut self, client: &mut Xoshiro256PlusPlus) -> Option<Operation> {
        let own = client.next_u64();
        let random = &mut Xoshiro256PlusPlus::seed_from_u64(own);
        let loaded = match &mut self.source {
            Source::Load(records) => Some(records.next()?),
            Source::Run(_) => None,
        };
        let kind = match loaded {
            Some(_) => Kind::Insert,
            None => choose(&self.mix, evenly(random)),
        };
        let workload = &self.workload;
        let named = workload.integrity || workload.read_fields == ReadFields::AllByName;
        let field = |random: &mut Xoshiro256PlusPlus| {
            Fields::One((evenly(random) * f64::from(workload.fields)) as u32)
        };
        let read = match workload.read_fields {
            ReadFields::One => field(random),
            // As in YCSB, which names the fields that it is to compare, too.
            _ if named && kind == Kind::Read => Fields::Named,
            ReadFields::All | ReadFields::AllByName => Fields::All,
        };
        let write = if kind == Kind::Insert || workload.write_all_fields {
            Fields::All
        } else {
            field(random)
        };
        let length = if kind == Kind::Scan {
            self.scans.draw(random)
        } else {
            0
        };
        let values = random.next_u64();
        let (number, position) = match (&mut self.source, loaded) {
            (Source::Load(_), number) => (number?, None),
            (Source::Run(keys), _) if kind == Kind::Insert => {
                let (number, position) = keys.fresh();
                (number, Some(position))
            }
            (Source::Run(keys), _) => (keys.existing(random), None),
        };
        Some(Operation {
            kind,
            key: KeyName::new(number, workload.hashed_keys, workload.zero_padding),
            read,
            write,
            length,
            values,
            position,
        })
    }

    /// The operation that was drawn last is left out: the key of an insert is the next one's.
    pub fn take_back(&mut self, operation: &Operation) {
        if let (Source::Run(keys), Some(_)) = (&mut self.source, operation.position) {
            keys.give_back();
        }
    }

    /// An operation is over, well or not: what it inserted may be asked for, as in YCSB.
    pub fn over(&mut self, operation: &Operation) {
        if let (Source::Run(keys), Some(position)) = (&mut self.source, operation.position) {
            keys.acknowledge(position);
        }
    }
}

/// The same weights as shares that add up to one.
fn normalised(mix: &Mix) -> Mix {
    let sum = mix.read + mix.update + mix.insert + mix.scan + mix.read_modify_write;
    Mix {
        read: mix.read / sum,
        update: mix.update / sum,
        insert: mix.insert / sum,
        scan: mix.scan / sum,
        read_modify_write: mix.read_modify_write / sum,
    }
}

/// The operation type for a number drawn evenly from [0, 1).
pub fn choose(mix: &Mix, share: f64) -> Kind {
    let shares = [
        mix.read,
        mix.update,
        mix.insert,
        mix.scan,
        mix.read_modify_write,
    ];
    let mut edge = 0.0;
    let mut last = Kind::Read;
    for (kind, width) in Kind::ALL.into_iter().zip(shares) {
        edge += width;
        if width > 0.0 {
            last = kind;
            if share < edge {
                break;
            }
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::plan::tests::{plan, stress, ycsb};
    use proptest::prelude::*;
    use rand_xoshiro::rand_core::Rng;
    use wire::load::{Requests, ScanLengths};

    const WHOLE: Part = Part { index: 0, of: 1 };

    /// What makes the core workloads A to F of the workload of a test.
    fn change(workload: &mut Ycsb, core: usize) {
        let [read, update, insert, scan, read_modify_write] = [
            [0.5, 0.5, 0.0, 0.0, 0.0],
            [0.95, 0.05, 0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0, 0.0, 0.0],
            [0.95, 0.0, 0.05, 0.0, 0.0],
            [0.0, 0.0, 0.05, 0.95, 0.0],
            [0.5, 0.0, 0.0, 0.0, 0.5],
        ][core];
        workload.mix = Mix {
            read,
            update,
            insert,
            scan,
            read_modify_write,
        };
        // So few that many are drawn again, because they are not there yet.
        workload.records = 20;
        workload.requests = if core == 3 {
            Requests::Latest
        } else {
            Requests::Zipfian
        };
    }

    const B: Mix = Mix {
        read: 0.95,
        update: 0.05,
        insert: 0.0,
        scan: 0.0,
        read_modify_write: 0.0,
    };

    #[test]
    fn each_type_has_its_share() {
        let updates = (0..10_000)
            .filter(|step| choose(&B, f64::from(*step) / 10_000.0) == Kind::Update)
            .count();
        assert_eq!(updates, 500);
    }

    #[test]
    fn shares_that_do_not_quite_add_up_fall_to_the_last_type_in_the_mix() {
        assert_eq!(choose(&Mix { read: 0.9, ..B }, 0.9999), Kind::Update);
    }

    #[test]
    fn a_load_phase_inserts_every_record_of_the_part_once() {
        let mut plan = plan();
        plan.phase = Phase::Load;
        plan.part = Part { index: 1, of: 3 };
        let workload = ycsb(&mut plan);
        workload.records = 10;
        workload.hashed_keys = false;
        let names = |plan: &LoadPlan| {
            let mut operations = Operations::new(plan).unwrap();
            let mut random = stream(plan.seed, plan.part, 0);
            std::iter::from_fn(|| operations.draw(&mut random))
                .map(|operation| operation.key.as_str().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(names(&plan), ["user3", "user4", "user5"]);
        let workload = ycsb(&mut plan);
        (workload.insert_start, workload.insert_count) = (4, Some(3));
        assert_eq!(names(&plan), ["user5"]);
    }

    #[test]
    fn the_key_of_an_insert_that_is_left_out_is_the_next_ones() {
        let mut plan = plan();
        let workload = ycsb(&mut plan);
        (workload.mix.read, workload.mix.insert) = (0.0, 1.0);
        (workload.records, workload.hashed_keys) = (10, false);
        let mut operations = Operations::new(&plan).unwrap();
        let mut random = stream(plan.seed, plan.part, 0);
        let mut drawn = || operations.draw(&mut random).unwrap();
        let first = drawn();
        let second = drawn();
        operations.take_back(&second);
        let third = operations.draw(&mut random).unwrap();
        assert_eq!(second.key.as_str(), "user11");
        assert_eq!(third.key.as_str(), "user11");
        // All that was drawn may be answered, in any order.
        operations.over(&third);
        operations.over(&first);
        assert_eq!(operations.draw(&mut random).unwrap().key.as_str(), "user12");
    }

    #[test]
    fn other_operations_than_those_of_ycsb_are_refused() {
        let mut plan = plan();
        plan.workload = stress();
        let refused = Operations::new(&plan).err();
        assert_eq!(refused, Some("these operations are not of YCSB".to_owned()));
    }

    #[test]
    fn weights_need_not_add_up_to_one() {
        let shares = normalised(&Mix {
            read: 3.0,
            update: 1.0,
            ..B
        });
        assert_eq!((shares.read, shares.update), (0.75, 0.25));
    }

    #[test]
    fn only_reads_send_the_names_of_all_fields_and_only_if_they_are_to() {
        let mut plan = plan();
        let workload = ycsb(&mut plan);
        (workload.mix.scan, workload.mix.read_modify_write) = (1.0, 1.0);
        workload.scan_lengths = ScanLengths::Uniform {
            shortest: 5,
            longest: 5,
        };
        let drawn = |plan: &LoadPlan| {
            let mut operations = Operations::new(plan).unwrap();
            let mut random = stream(1, WHOLE, 0);
            (0..100)
                .map(|_| operations.draw(&mut random).unwrap())
                .collect::<Vec<_>>()
        };
        assert!(drawn(&plan).iter().all(|one| one.read == Fields::All));
        for (read_fields, integrity) in [(ReadFields::AllByName, false), (ReadFields::All, true)] {
            let workload = ycsb(&mut plan);
            (workload.read_fields, workload.integrity) = (read_fields, integrity);
            for operation in drawn(&plan) {
                let reads = operation.kind == Kind::Read;
                assert_eq!(operation.read == Fields::Named, reads);
                let length = if operation.kind == Kind::Scan { 5 } else { 0 };
                assert_eq!(operation.length, length);
            }
        }
        ycsb(&mut plan).read_fields = ReadFields::One;
        let one = |fields| matches!(fields, Fields::One(0..10));
        assert!(drawn(&plan).iter().all(|operation| one(operation.read)));
    }

    proptest! {
        #[test]
        fn the_same_seed_gives_each_client_the_same_sequence_whoever_comes_first(
            seed: u64, turns in proptest::collection::vec(0_usize..3, 90),
        ) {
            let mut plan = plan();
            plan.seed = seed;
            let drawn = |turns: &[usize]| {
                let mut operations = Operations::new(&plan).unwrap();
                let mut streams = [0, 1, 2].map(|client| stream(plan.seed, plan.part, client));
                let mut names: [Vec<String>; 3] = Default::default();
                for client in turns {
                    let operation = operations.draw(&mut streams[*client]).unwrap();
                    names[*client].push(operation.key.as_str().to_owned());
                }
                names
            };
            let in_turns: Vec<usize> = (0..270).map(|turn| turn % 3).collect();
            for (some, all) in drawn(&turns).iter().zip(drawn(&in_turns)) {
                prop_assert_eq!(some, &all[..some.len()]);
            }
        }

        #[test]
        fn only_which_records_are_asked_for_depends_on_which_inserts_have_been_answered(
            seed: u64, core in 0_usize..6, answered in proptest::collection::vec(0_usize..8, 200),
        ) {
            let mut plan = plan();
            plan.seed = seed;
            change(ycsb(&mut plan), core);
            // Kinds, fields, lengths and values, and the records where none is inserted.
            let drawn = |answered: &[usize]| {
                let mut operations = Operations::new(&plan).unwrap();
                let mut random = stream(plan.seed, plan.part, 0);
                let mut under_way: Vec<Operation> = Vec::new();
                let mut all = Vec::new();
                for choice in answered {
                    let one = operations.draw(&mut random).unwrap();
                    let names = ![3, 4].contains(&core);
                    let key = names.then(|| one.key.as_str().to_owned());
                    all.push((one.kind, one.read, one.write, one.length, one.values, key));
                    under_way.push(one);
                    // As many as are chosen are answered, in another order than they began.
                    for _ in 0..*choice {
                        if !under_way.is_empty() {
                            let last = under_way.swap_remove(choice % under_way.len());
                            operations.over(&last);
                        }
                    }
                }
                all
            };
            prop_assert_eq!(drawn(&answered), drawn(&[1; 200]));
        }

        #[test]
        fn no_two_streams_are_alike(seed: u64, one in 0_u32..50, other in 0_u32..50) {
            let first = |index, client| {
                stream(seed, Part { index, of: 50 }, u64::from(client)).next_u64()
            };
            prop_assert_ne!(first(one, 0), first(one, other + 1));
            prop_assert_ne!(first(one, other), first(one + 1, other));
            prop_assert_eq!(first(one, other), first(one, other));
        }
    }
}
