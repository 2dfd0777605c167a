//! MongoDB.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::future::Ready;
use std::net::SocketAddr;

use wire::load::LoadPlan;

use super::Failure;
use super::found::Found;
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

    /// How a record is kept.
    pub fn shape(&self) -> &'static str {
        match self.none {}
    }

    /// How many members must answer, by `read` and `write`.
    pub fn consistency(&self) -> BTreeMap<String, String> {
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
    pub fn connect(&mut self) -> Ready<Result<(), Failure>> {
        match self.none {}
    }

    /// Carry out one operation.
    pub fn perform(
        &mut self,
        _operation: &Operation,
        _found: &mut Found,
    ) -> Ready<Result<(), Failure>> {
        match self.none {}
    }

    /// Forget all connections.
    pub fn disconnect(&mut self) {
        match self.none {}
    }
}
