//! The workload of cassandra-stress, as version 3.11.2 makes it.

mod distribution;
mod mix;
mod population;
mod random;
mod row;
mod salt;
