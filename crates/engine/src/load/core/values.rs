//! The fields of a record and what is written into them.

use std::borrow::Cow;
use std::ops::Range;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use wire::load::{FieldLengths, Ycsb};

use super::{integrity, names};
use crate::load::mix::Operation;

/// Characters that values are cut from, a power of two.
const POOL: u64 = 1 << 16;

/// Names of the fields, and random printable characters that values are cut from; made once per
/// load.
pub struct Values {
    names: Vec<String>,
    length: usize,
    /// Empty where values follow from key and field.
    pool: String,
}

impl Values {
    /// The same seed gives the same values.
    pub fn new(workload: &Ycsb, seed: u64) -> Self {
        let length = match workload.field_lengths {
            FieldLengths::Constant { length }
            | FieldLengths::Uniform {
                longest: length, ..
            }
            | FieldLengths::Zipfian {
                longest: length, ..
            } => length as usize,
            FieldLengths::Histogram { block, ref counts } => block as usize * counts.len(),
        };
        let characters = if workload.integrity {
            0
        } else {
            POOL as usize + length * workload.fields as usize
        };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let pool = std::iter::repeat_with(|| char::from(b' ' + (random.next_u64() >> 58) as u8))
            .take(characters)
            .collect();
        Self {
            names: names(workload),
            length,
            pool,
        }
    }

    /// `field0`, `field1`, …
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Numbers of the fields that an operation reads.
    pub fn read(&self, operation: &Operation) -> Range<usize> {
        operation.read.range(self.names.len())
    }

    /// Numbers of the fields that an operation writes.
    pub fn written(&self, operation: &Operation) -> Range<usize> {
        operation.write.range(self.names.len())
    }

    /// What an operation writes into a field.
    pub fn value(&self, operation: &Operation, field: usize) -> Cow<'_, str> {
        if self.pool.is_empty() {
            let name = &self.names[field];
            return Cow::Owned(integrity::value(operation.key.as_str(), name, self.length));
        }
        let from = (operation.values % POOL) as usize + field * self.length;
        Cow::Borrowed(&self.pool[from..from + self.length])
    }
}
