//! What can be typed of a workload of YCSB.

use std::path::PathBuf;

use crate::front::workloads::Core;

/// A workload of YCSB: its properties, and those of files.
#[derive(Debug, Default, clap::Args)]
pub struct Ycsb {
    /// One of YCSB's six core workloads; -P and -p change it
    #[arg(long = "workload", value_name = "LETTER", value_enum)]
    pub core: Option<Core>,
    /// A property file of YCSB; later ones win
    #[arg(short = 'P', long = "properties", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// A property of YCSB, which wins over those of files
    #[arg(short = 'p', long = "property", value_name = "NAME=VALUE")]
    pub properties: Vec<String>,
}

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Phase {
    /// Insert all records
    Load,
    /// Make the operations of the workload
    Run,
}

impl From<Phase> for wire::load::Phase {
    fn from(phase: Phase) -> Self {
        match phase {
            Phase::Load => Self::Load,
            Phase::Run => Self::Run,
        }
    }
}
