//! What an operation of YCSB is.

use std::ops::Range;

use super::keys::KeyName;

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
    pub(super) position: Option<u64>,
}
