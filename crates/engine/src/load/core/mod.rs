//! The YCSB core workload: everything that its properties decide, exactly as YCSB decides it.

mod integrity;
mod lengths;
pub mod request;
mod scan;
pub mod values;
pub mod zipfian;
