//! What an operation is, and the sequence of operations that a seed gives.

use std::ops::Range;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use wire::load::{LoadPlan, Mix, Phase, Workload};

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

    /// The name in result files.
    pub fn name(self) -> &'static str {
        ["read", "update", "insert", "scan", "read-modify-write"][self as usize]
    }
}

/// One operation, ready to be sent.
#[derive(Clone, Copy)]
pub struct Operation {
    /// What to do.
    pub kind: Kind,
    /// The record, or the first one of a scan.
    pub key: KeyName,
    /// The one field to read; None reads all.
    pub read: Option<u32>,
    /// The one field to write; None writes all.
    pub write: Option<u32>,
    /// Records that a scan returns at most.
    pub length: u32,
    /// Where in the pool of random bytes the values are.
    pub value: usize,
    /// Of an insert in a run phase: by which to acknowledge it.
    position: Option<u64>,
}

/// All operations of one part, in the order in which they start.
pub struct Operations {
    workload: Workload,
    source: Source,
    random: Xoshiro256PlusPlus,
}

enum Source {
    Load(Range<u64>),
    Run(Box<Keys>),
}

/// Bytes that values are taken from, a power of two.
pub const POOL: usize = 1 << 16;

impl Operations {
    /// The same plan always gives the same sequence, as far as acknowledgements come alike.
    pub fn new(plan: &LoadPlan, expected_inserts: u64) -> Self {
        let workload = plan.workload.clone();
        let source = match plan.phase {
            Phase::Load => Source::Load(share::range(workload.records, plan.part)),
            Phase::Run => Source::Run(Box::new(Keys::new(&workload, plan.part, expected_inserts))),
        };
        let stream = plan.seed ^ (u64::from(plan.part.index) << 32);
        Self {
            workload,
            source,
            random: Xoshiro256PlusPlus::seed_from_u64(stream),
        }
    }

    /// The next operation; None when all records of a load phase are in.
    pub fn draw(&mut self) -> Option<Operation> {
        let random = &mut self.random;
        let (kind, number, position) = match &mut self.source {
            Source::Load(records) => (Kind::Insert, records.next()?, None),
            Source::Run(keys) => match choose(&self.workload.mix, evenly(random)) {
                Kind::Insert => {
                    let (number, position) = keys.fresh();
                    (Kind::Insert, number, Some(position))
                }
                kind => (kind, keys.existing(random), None),
            },
        };
        let mut below = |count: u32| (evenly(random) * f64::from(count)) as u32;
        let workload = &self.workload;
        Some(Operation {
            kind,
            key: KeyName::new(number, workload.hashed_keys, workload.zero_padding),
            read: (!workload.read_all_fields).then(|| below(workload.fields)),
            write: (kind != Kind::Insert && !workload.write_all_fields)
                .then(|| below(workload.fields)),
            length: if kind == Kind::Scan {
                1 + below(workload.max_scan_length)
            } else {
                0
            },
            value: below(POOL as u32) as usize,
            position,
        })
    }

    /// An operation is over, well or not: what it inserted may be asked for, as in YCSB.
    pub fn over(&mut self, operation: &Operation) {
        if let (Source::Run(keys), Some(position)) = (&mut self.source, operation.position) {
            keys.acknowledge(position);
        }
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
    use crate::load::plan::tests::plan;
    use proptest::prelude::*;
    use wire::load::Part;

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
        plan.workload.records = 10;
        plan.workload.hashed_keys = false;
        plan.part = Part { index: 1, of: 3 };
        let mut operations = Operations::new(&plan, 0);
        let names: Vec<String> = std::iter::from_fn(|| operations.draw())
            .map(|operation| String::from_utf8_lossy(operation.key.as_bytes()).into_owned())
            .collect();
        assert_eq!(names, ["user3", "user4", "user5"]);
    }

    #[test]
    fn scans_have_every_length_from_one_to_the_longest() {
        let mut plan = plan();
        plan.workload.mix = Mix {
            read: 0.0,
            scan: 1.0,
            update: 0.0,
            ..B
        };
        plan.workload.max_scan_length = 5;
        let mut operations = Operations::new(&plan, 0);
        let mut seen = [0_u32; 6];
        (0..5_000).for_each(|_| seen[operations.draw().unwrap().length as usize] += 1);
        assert_eq!(seen[0], 0);
        assert!(
            seen[1..].iter().all(|count| (850..1150).contains(count)),
            "{seen:?}"
        );
    }

    proptest! {
        #[test]
        fn the_same_seed_gives_the_same_sequence(seed: u64) {
            let mut plan = plan();
            plan.seed = seed;
            let names = || {
                let mut operations = Operations::new(&plan, 0);
                (0..50).map(|_| operations.draw().unwrap().key.as_bytes().to_vec()).collect::<Vec<_>>()
            };
            prop_assert_eq!(names(), names());
        }
    }
}
