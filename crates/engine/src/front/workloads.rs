//! YCSB's six core workloads, which need no file.

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Core {
    /// Update heavy: half reads, half updates
    A,
    /// Read mostly: 95 % reads, 5 % updates
    B,
    /// Reads only
    C,
    /// Read latest: 95 % reads of what was inserted last, 5 % inserts
    D,
    /// Short ranges: 95 % scans of up to 100 records, 5 % inserts
    E,
    /// Half reads, half reads with an update of what was read
    F,
}

impl Core {
    /// Its letter, as it is typed.
    pub fn letter(self) -> char {
        ['a', 'b', 'c', 'd', 'e', 'f'][self as usize]
    }

    /// Its property file.
    pub fn properties(self) -> &'static [u8] {
        match self {
            Self::A => include_bytes!("../../workloads/workloada"),
            Self::B => include_bytes!("../../workloads/workloadb"),
            Self::C => include_bytes!("../../workloads/workloadc"),
            Self::D => include_bytes!("../../workloads/workloadd"),
            Self::E => include_bytes!("../../workloads/workloade"),
            Self::F => include_bytes!("../../workloads/workloadf"),
        }
    }
}
