//! MongoDB.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::net::SocketAddr;

use wire::load::LoadPlan;

use super::Failure;
use crate::load::mix::Operation;

/// A MongoDB to drive. There is none yet.
pub struct Mongodb {
    none: Infallible,
}

impl Mongodb {
    /// The error is one sentence.
    pub fn new(_plan: &LoadPlan) -> Result<Self, String> {
        Err("the driver `mongodb` is not there yet; there are `cassandra` and `redis`".to_owned())
    }

    /// What one logical thread works with.
    pub fn session(&self) -> Session {
        match self.none {}
    }

    /// Every address connected to so far.
    pub fn remotes(&self) -> BTreeSet<SocketAddr> {
        match self.none {}
    }
}

/// What one logical thread does.
pub struct Session {
    none: Infallible,
}

impl Session {
    /// Make every connection that operations will need.
    pub async fn connect(&mut self) -> Result<(), Failure> {
        match self.none {}
    }

    /// Carry out one operation.
    pub async fn perform(&mut self, _operation: &Operation) -> Result<(), Failure> {
        match self.none {}
    }

    /// Forget all connections.
    pub fn disconnect(&mut self) {
        match self.none {}
    }
}
