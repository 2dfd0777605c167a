//! How fast the processor is: a fixed piece of arithmetic, and the CPU time that it takes.
//!
//! A virtual processor shares its core with neighbours whom nobody here sees. What they take is no
//! stolen time and shows in no counter, yet everything takes up to twice the CPU time meanwhile.

use std::hint::black_box;
use std::io;

use nix::time::{ClockId, clock_gettime};

use super::counters::Counters;

/// Rounds of one piece of work, some microseconds; independent chains, since it is the units of the
/// core that neighbours share.
const ROUNDS: u64 = 2_500;

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

/// Six chains of which hardly any waits for another.
fn work(rounds: u64) {
    let mut x = black_box([1_u64, 2, 3, 4, 5, 6]);
    for i in 0..rounds {
        x[0] = x[0].wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        x[1] = (x[1] ^ (x[1] << 13)).wrapping_add(i);
        x[2] = x[2].wrapping_mul(2_862_933_555_777_941_757).wrapping_add(3);
        x[3] = (x[3] ^ (x[3] >> 7)).wrapping_add(i);
        x[4] = x[4].wrapping_add(x[0] ^ i);
        x[5] ^= x[1].wrapping_add(i);
    }
    black_box(x);
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
