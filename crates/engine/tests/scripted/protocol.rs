//! How a database is spoken to, as far as the engine speaks to it.

/// One way to speak.
pub trait Protocol: Send + Sync {
    /// The driver's name in plans.
    fn driver(&self) -> &'static str;

    /// The topology of one server, in plans.
    fn topology(&self) -> &'static str {
        "single"
    }

    /// Whether the clients of one engine share their connections.
    fn shares(&self) -> bool {
        false
    }

    /// Length of the request that `heard` begins with; None while it is not whole.
    fn whole(&self, heard: &[u8]) -> Option<usize>;

    /// What a whole request is about.
    fn asked(&self, request: &[u8]) -> Asked;

    /// The answer to a request for an operation.
    fn answer(&self, request: &[u8], how: How) -> Vec<u8>;
}

/// What a request is about.
pub enum Asked {
    /// Something around operations, such as a greeting; with the answer to it.
    Around(Vec<u8>),
    /// An operation on one record.
    Operation {
        /// The record's key.
        key: Vec<u8>,
        /// Whether the record is a new one.
        inserts: bool,
    },
}

/// How an operation is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// It is done.
    Well,
    /// There is no such record.
    Absent,
    /// By an error.
    Refusal,
    /// By a whole message that is no answer to it.
    Nonsense,
}
