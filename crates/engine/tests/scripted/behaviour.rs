//! What a server does, as a test wants it to.

use std::time::Duration;

use super::protocol::How;

/// What comes of an operation that comes to harm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Harm {
    /// It is answered otherwise than well.
    Answer(How),
    /// It is answered by bytes of another protocol.
    Garbage,
    /// After half of the answer the server closes the connection.
    Half,
    /// It is never answered.
    Silence,
    /// It is answered well, twice.
    Twice,
}

/// What a server does.
#[derive(Debug, Clone, Copy)]
pub enum Behaviour {
    /// It answers everything well, at once.
    Healthy,
    /// Operations come to harm whose number can be divided by this.
    Every(u64, Harm),
    /// When the operation of this number comes, it says nothing for so long, to nobody.
    Stall(u64, Duration),
    /// It works for so long on each operation, on one after another.
    Slow(Duration),
    /// When the operation of this number comes, it ends all connections, and refuses others for so
    /// long.
    Refuse(u64, Duration),
    /// It answers nothing before so many operations have come.
    Together(u64),
    /// It says nothing at all, not even to a greeting.
    Mute,
    /// It answers everything by bytes of another protocol.
    Babble,
}
