//! The workload of cassandra-stress, as version 3.11.2 makes it.

use wire::load::Stress;

mod distribution;
mod mix;
mod population;
mod random;
mod row;
mod salt;

/// Whether a workload can be made; the error says what stands against it.
pub fn check(_workload: &Stress) -> Result<(), String> {
    Err("the engine cannot make the load of cassandra-stress yet; there is `ycsb`".to_owned())
}
