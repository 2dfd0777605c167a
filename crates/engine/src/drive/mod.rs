//! The databases that operations go to.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::SocketAddr;

use wire::load::LoadPlan;

use self::found::Found;
use crate::load::clock::Clock;
use crate::load::work::Operation;

mod cassandra;
pub mod connected;
mod fake;
pub mod found;
mod mongodb;
mod redis;
pub mod resolve;
mod secure;

/// Kinds of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// No answer in time.
    Timeout,
    /// The connection broke or could not be made.
    Connection,
    /// The server answered with an error.
    Server,
    /// The record is not there.
    NotFound,
    /// The answer makes no sense.
    Protocol,
    /// Too few members are alive for the consistency asked for, as the server says.
    Unavailable,
    /// The record is not what was written.
    Mismatch,
}

impl Fault {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Timeout,
        Self::Connection,
        Self::Server,
        Self::NotFound,
        Self::Protocol,
        Self::Unavailable,
        Self::Mismatch,
    ];

    /// The name in result files.
    pub fn name(self) -> &'static str {
        [
            "timeout",
            "connection",
            "server",
            "not_found",
            "protocol",
            "unavailable",
            "mismatch",
        ][self as usize]
    }

    /// Whether the server answered, if only that something is wrong.
    pub fn is_answer(self) -> bool {
        !matches!(self, Self::Timeout | Self::Connection)
    }

    /// Whether the connection cannot be used any more.
    pub fn breaks_connection(self) -> bool {
        matches!(self, Self::Timeout | Self::Connection | Self::Protocol)
    }
}

/// An operation that went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What kind of error it is.
    pub fault: Fault,
    /// As the server or the kernel said it.
    pub message: String,
    /// Whether trying again changes nothing, as with a wrong password.
    pub lasting: bool,
}

impl Failure {
    /// A failure of a kind with its message.
    pub fn new(fault: Fault, message: impl Into<String>) -> Self {
        Self {
            fault,
            message: message.into(),
            lasting: false,
        }
    }

    /// A failure to connect that trying again would not change; the message says what to do.
    pub fn lasting(message: impl Into<String>) -> Self {
        Self {
            lasting: true,
            ..Self::new(Fault::Connection, message)
        }
    }

    /// The same, told with where it happened.
    pub fn at(self, place: &str) -> Self {
        Self {
            message: format!("{place}: {}", self.message),
            ..self
        }
    }
}

/// The failure of an operation of a workload that is not the plan's, which no plan leads to.
fn other_workload() -> Failure {
    Failure::new(Fault::Protocol, "this operation is of another workload")
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self {
            // Of this kind is a handshake of TLS with a certificate that is not trusted, or with what
            // speaks no TLS.
            lasting: error.kind() == io::ErrorKind::InvalidData,
            ..Self::new(Fault::Connection, error.to_string())
        }
    }
}

/// Whether the driver that a plan names can do what its target asks for, as far as one knows before
/// there is a connection; the error is one sentence.
pub fn check(plan: &LoadPlan) -> Result<(), String> {
    match plan.target.driver.as_str() {
        "cassandra" => cassandra::check(plan),
        "mongodb" => mongodb::check(plan),
        "redis" => redis::check(plan),
        "fake" => fake::check(plan),
        other => Err(no_driver(other)),
    }
}

fn no_driver(name: &str) -> String {
    format!("there is no driver `{name}`; there are `cassandra`, `mongodb`, `redis` and `fake`")
}

/// The refusal of an option that `driver` does not have, with those that it has.
fn no_option(driver: &str, name: &str, known: &[&str]) -> String {
    format!(
        "the driver `{driver}` has no option `{name}`; there are `{}`",
        known.join("`, `")
    )
}

/// A database to drive; sessions are opened on it.
pub enum Driver {
    /// A ring of Cassandra.
    Cassandra(cassandra::Cassandra),
    /// A MongoDB of any topology.
    Mongodb(mongodb::Mongodb),
    /// A Redis of any topology.
    Redis(redis::Redis),
    /// A server inside the engine that answers by itself.
    Fake(fake::Fake),
}

impl Driver {
    /// The driver that a plan names; the error is one sentence.
    pub fn new(plan: &LoadPlan, clock: Clock) -> io::Result<Self> {
        let driver = match plan.target.driver.as_str() {
            "cassandra" => cassandra::Cassandra::new(plan).map(Self::Cassandra),
            "mongodb" => mongodb::Mongodb::new(plan).map(Self::Mongodb),
            "redis" => redis::Redis::new(plan).map(Self::Redis),
            "fake" => fake::Fake::new(plan, clock).map(Self::Fake),
            other => Err(no_driver(other)),
        };
        driver.map_err(io::Error::other)
    }

    /// All are connected, and the load begins when `clock` reads zero.
    pub fn begin(&self, clock: Clock) {
        if let Self::Fake(fake) = self {
            fake.begin(clock);
        }
    }

    /// Whether sessions share their connections; else each has connections of its own.
    pub fn sessions_share(&self) -> bool {
        matches!(self, Self::Cassandra(_) | Self::Fake(_))
    }

    /// What one logical thread works with.
    pub fn session(&self) -> Session {
        match self {
            Self::Cassandra(cassandra) => Session::Cassandra(cassandra.session()),
            Self::Mongodb(mongodb) => Session::Mongodb(mongodb.session()),
            Self::Redis(redis) => Session::Redis(Box::new(redis.session())),
            Self::Fake(fake) => Session::Fake(fake.clone()),
        }
    }

    /// How a record is kept, in one word of the result's schema.
    pub fn shape(&self) -> &'static str {
        match self {
            Self::Cassandra(_) => "row",
            Self::Mongodb(_) => "document",
            Self::Redis(redis) => redis.shape(),
            Self::Fake(_) => "none",
        }
    }

    /// How many members must answer, by `read` and `write`.
    pub fn consistency(&self) -> BTreeMap<String, String> {
        match self {
            Self::Cassandra(cassandra) => cassandra.consistency(),
            Self::Mongodb(mongodb) => mongodb.consistency(),
            Self::Redis(redis) => redis.consistency(),
            Self::Fake(_) => BTreeMap::new(),
        }
    }

    /// How connections were encrypted so far, as it was negotiated, each way once.
    pub fn encryption(&self) -> Vec<String> {
        match self {
            Self::Mongodb(mongodb) => mongodb.encryption(),
            Self::Redis(redis) => redis.encryption(),
            Self::Cassandra(cassandra) => cassandra.encryption(),
            // A target that demands TLS is refused.
            Self::Fake(_) => Vec::new(),
        }
    }

    /// Every address connected to so far, as the kernel tells it.
    pub fn remotes(&self) -> io::Result<BTreeSet<SocketAddr>> {
        match self {
            Self::Cassandra(cassandra) => cassandra.remotes(),
            Self::Mongodb(mongodb) => Ok(mongodb.remotes()),
            Self::Redis(redis) => Ok(redis.remotes()),
            Self::Fake(_) => Ok(BTreeSet::new()),
        }
    }
}

/// The connections of one logical thread; one operation at a time.
pub enum Session {
    /// See [`Driver::Cassandra`].
    Cassandra(cassandra::Session),
    /// See [`Driver::Mongodb`].
    Mongodb(mongodb::Session),
    /// See [`Driver::Redis`].
    Redis(Box<redis::Session>),
    /// See [`Driver::Fake`].
    Fake(fake::Fake),
}

impl Session {
    /// Make every connection that operations will need.
    pub async fn connect(&mut self) -> Result<(), Failure> {
        match self {
            Self::Cassandra(session) => session.connect().await,
            Self::Mongodb(session) => session.connect().await,
            Self::Redis(session) => session.connect().await,
            Self::Fake(_) => Ok(()),
        }
    }

    /// Connections that are its own, now that it is connected.
    pub fn connections(&self) -> u64 {
        match self {
            Self::Mongodb(session) => session.connections(),
            Self::Redis(session) => session.connections(),
            Self::Cassandra(_) | Self::Fake(_) => 0,
        }
    }

    /// Carry out one operation, making a missing connection first. What it reads is added to
    /// `found`, if that is wanted. When this is given up half-way, [`Session::disconnect`] must
    /// follow.
    pub async fn perform(
        &mut self,
        operation: &Operation,
        found: &mut Found,
    ) -> Result<(), Failure> {
        match (self, operation) {
            // Boxed: moved by value, a future this large would slow the other drivers down.
            (Self::Cassandra(session), _) => Box::pin(session.perform(operation, found)).await,
            (Self::Mongodb(session), Operation::Ycsb(operation)) => {
                session.perform(operation, found).await
            }
            (Self::Redis(session), Operation::Ycsb(operation)) => {
                session.perform(operation, found).await
            }
            (Self::Fake(fake), _) => fake.perform(operation, found).await,
            (Self::Mongodb(_) | Self::Redis(_), Operation::Stress(_)) => Err(other_workload()),
        }
    }

    /// Forget all connections, after one broke or may still bring the answer to an operation that
    /// was given up. Where connections are shared and answers carry the number of their request,
    /// there is nothing to forget.
    pub fn disconnect(&mut self) {
        match self {
            Self::Mongodb(session) => session.disconnect(),
            Self::Redis(session) => session.disconnect(),
            Self::Cassandra(_) | Self::Fake(_) => {}
        }
    }
}
