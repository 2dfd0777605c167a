//! The fields of a record and what is written into them.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use wire::load::LoadPlan;

use crate::load::mix::{Operation, POOL};

/// Names of the fields, and random printable characters that values are cut from; made once per
/// load.
pub struct Values {
    names: Vec<String>,
    length: usize,
    pool: String,
}

impl Values {
    /// The same seed gives the same values.
    pub fn new(plan: &LoadPlan) -> Self {
        let length = plan.workload.field_length as usize;
        let fields = plan.workload.fields;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(plan.seed);
        let pool = std::iter::repeat_with(|| char::from(b' ' + (random.next_u64() >> 58) as u8))
            .take(POOL + length * fields as usize)
            .collect();
        Self {
            names: (0..fields).map(|number| format!("field{number}")).collect(),
            length,
            pool,
        }
    }

    /// `field0`, `field1`, …
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Numbers of the fields that an operation writes.
    pub fn written(&self, operation: &Operation) -> std::ops::Range<usize> {
        operation.write.map_or(0..self.names.len(), |field| {
            field as usize..field as usize + 1
        })
    }

    /// What an operation writes into a field.
    pub fn value(&self, operation: &Operation, field: usize) -> &str {
        let from = operation.value + field * self.length;
        &self.pool[from..from + self.length]
    }
}
