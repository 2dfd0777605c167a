//! What is added to the counters of a row.

use super::Workload;
use super::distribution::Draws;
use super::random::JavaRandom;

/// What is added, for all clients, so that the numbers of a sequence follow one another.
pub struct Adds {
    draws: Draws,
    /// Counters of a row.
    counters: usize,
}

impl Adds {
    /// Those of a workload.
    pub fn new(workload: &Workload) -> Self {
        Self {
            draws: Draws::new(workload.add.clone()),
            counters: workload.layout.columns.len(),
        }
    }

    /// What the next operation adds to each counter, by the seed of its random numbers.
    pub fn next(&mut self, seed: i64) -> Vec<i64> {
        let mut random = JavaRandom::new(seed);
        (0..self.counters)
            .map(|_| self.draws.draw(&mut random))
            .collect()
    }
}
