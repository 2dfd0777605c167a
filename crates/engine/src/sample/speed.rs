//! How fast the processor is: a fixed piece of arithmetic, and the CPU time that it takes.
//!
//! A virtual processor shares its core with neighbours whom nobody here sees. What they take is no
//! stolen time and shows in no counter, yet everything takes up to twice the CPU time meanwhile.

use std::io;

use nix::time::{ClockId, clock_gettime};

use super::counters::Counters;
use crate::arithmetic::{ROUNDS, work};

/// Pieces of one probe, of which the median counts: an interrupt lands in one of them, and whoever
/// made it must not seem to have slowed the processor down.
const PIECES: usize = 9;

/// Rounds before them, which no clock looks at: caches and predictors were somebody else's.
const WARMING: u64 = 5_000;

/// Pieces of work so far, one a probe, and what they took.
#[derive(Default)]
pub struct Speed {
    pieces: f64,
    cpu: f64,
}

impl Speed {
    /// Find out how long a piece takes now.
    pub fn probe(&mut self) -> io::Result<()> {
        work(WARMING);
        let mut took = [0.0; PIECES];
        let mut before = thread_cpu()?;
        for piece in &mut took {
            work(ROUNDS);
            let after = thread_cpu()?;
            *piece = after - before;
            before = after;
        }
        took.sort_by(f64::total_cmp);
        self.cpu += took[PIECES / 2];
        self.pieces += 1.0;
        Ok(())
    }

    /// `speed_work` (pieces) and `speed_cpu` (seconds), cumulative.
    pub fn counters(&self) -> Counters {
        [("speed_work", self.pieces), ("speed_cpu", self.cpu)]
            .map(|(name, value)| (name.to_owned(), value))
            .into()
    }
}

fn thread_cpu() -> io::Result<f64> {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)?;
    Ok(time.tv_sec() as f64 + time.tv_nsec() as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_probe_is_one_piece_of_work_that_takes_time() {
        let mut speed = Speed::default();
        speed.probe().unwrap();
        let first = speed.counters();
        speed.probe().unwrap();
        let second = speed.counters();
        assert!((first["speed_work"] - 1.0).abs() < 1e-9);
        assert!((second["speed_work"] - 2.0).abs() < 1e-9);
        assert!(0.0 < first["speed_cpu"] && first["speed_cpu"] < second["speed_cpu"]);
    }
}
