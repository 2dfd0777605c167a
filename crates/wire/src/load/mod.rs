//! What load to make, and what came of it.

mod level;
mod plan;
mod result;
mod summary;
mod target;
mod workload;

pub use self::level::{Arrivals, Level, Policy};
pub use self::plan::{LoadPlan, Part, Phase};
pub use self::result::{LoadResult, Progress, Window};
pub use self::summary::{
    LatencySummary, OperationSummary, ProbeSummary, SUMMARY_VERSION, SaturationSummary,
    SearchSummary, Summary, ThreadsProbeSummary,
};
pub use self::target::{Credentials, Secret, Target, Tls};
pub use self::workload::{
    FieldLengths, Mix, Population, ReadFields, Requests, ScanLengths, Stress, StressMix, Workload,
    Ycsb,
};

/// Version of [`LoadPlan`] and [`LoadResult`]. 2: all of YCSB's core properties, cassandra-stress,
/// bursts, ramps, a common start, a policy for slots without a connection, log-in and TLS; the
/// result tells the shape of records, consistency, late and dropped operations, records compared
/// and saturation. 1: first.
pub const LOAD_VERSION: u32 = 2;
