//! What can be typed of a workload of cassandra-stress, whose own words follow.

/// A workload of cassandra-stress.
#[derive(Debug, Default, clap::Args)]
pub struct Stress {
    /// Another workload, in the words of cassandra-stress 3.11.2: all that follows, as in
    /// --stress write n=1m -rate threads=32
    #[arg(
        long = "stress",
        id = "stress",
        value_name = "WORDS",
        num_args = 1..,
        allow_hyphen_values = true,
        conflicts_with_all = [
            "phase", "core", "files", "properties", "threads", "rate", "burst", "ramp",
            "arrivals", "connections", "policy", "time", "operations", "search",
        ]
    )]
    pub words: Vec<String>,
}
