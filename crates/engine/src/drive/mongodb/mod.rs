//! MongoDB: one server, a replica set, or the routers of a sharded cluster, driven by `OP_MSG`.
//!
//! Like the other drivers this one does nothing that would hide a slow or failing member: no
//! request is repeated, and the plan's time-out, which the load itself keeps, is the only one.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::rc::Rc;

use wire::load::{LoadPlan, Workload};

use self::hello::Hello;
use self::link::Link;
use self::members::Members;
use self::requests::Requests;
use self::scram::Scram;
pub use self::session::Session;
use self::settings::{Settings, Topology};
use super::Failure;
use super::resolve::{Resolved, host};
use super::secure::{Connector, Login};
use crate::load::core::values::Values;

mod answer;
mod bson;
mod discovery;
mod hello;
mod link;
mod members;
mod message;
mod requests;
mod scram;
mod session;
mod settings;

/// Whether this driver can do what a plan asks for; the error is one sentence.
pub fn check(plan: &LoadPlan) -> Result<(), String> {
    Settings::of(plan).map(drop)
}

/// A MongoDB to drive.
pub struct Mongodb {
    shared: Rc<Shared>,
}

/// What all sessions share.
struct Shared {
    settings: Settings,
    requests: Requests,
    login: Option<Scram>,
    members: RefCell<Members>,
    /// Who is who is to be asked for (again) before the next operation.
    stale: Cell<bool>,
    /// Somebody asks.
    asking: Cell<bool>,
    /// Why a member that reads could go to was not reached.
    missing: RefCell<Option<Failure>>,
    /// Whether such a member will be asked again.
    looking: Cell<bool>,
    resolved: Resolved,
    connector: Connector,
    remotes: RefCell<BTreeSet<SocketAddr>>,
    /// Sessions so far.
    sessions: Cell<usize>,
}

impl Mongodb {
    /// Topologies: `single` drives the first address, `replicas` finds members and primary by
    /// asking those of the addresses, `sharded` takes the addresses, which must be routers, in
    /// turns. Options, by their names in MongoDB's connection strings: `w` (1; a number of members
    /// or `majority`) and `journal` (false), `readPreference` (`primary`) and `readConcernLevel`,
    /// `replicaSet` (any), `authSource` (`admin`; the database that knows the user); besides
    /// `database` (`ycsb`), `collection` (`usertable`) and `upsert` (false; whether an insert may
    /// replace a record). The error is one sentence.
    pub fn new(plan: &LoadPlan) -> Result<Self, String> {
        let target = &plan.target;
        let Workload::Ycsb(workload) = &plan.workload else {
            return Err("the driver `mongodb` cannot make the load of cassandra-stress".to_owned());
        };
        let settings = Settings::of(plan)?;
        let login = Login::of(target)?
            .map(|login| Scram::new(login, &settings.auth_source))
            .transpose()?;
        let members = match settings.topology {
            Topology::Single => Members::alike(&settings.addresses[..1]),
            Topology::Replicas => Members::unknown(&settings.addresses),
            Topology::Sharded => Members::alike(&settings.addresses),
        };
        let shared = Shared {
            requests: Requests::new(Values::new(workload), settings.clone()),
            login,
            members: RefCell::new(members),
            stale: Cell::new(settings.topology == Topology::Replicas),
            asking: Cell::new(false),
            missing: RefCell::new(None),
            looking: Cell::new(false),
            resolved: Resolved::default(),
            connector: Connector::of(target)?,
            remotes: RefCell::default(),
            sessions: Cell::new(0),
            settings,
        };
        Ok(Self {
            shared: Rc::new(shared),
        })
    }

    /// What one logical thread works with.
    pub fn session(&self) -> Session {
        let number = self.shared.sessions.get();
        self.shared.sessions.set(number + 1);
        Session::new(self.shared.clone(), number)
    }

    /// What `read` and `write` wait for, in the words of MongoDB.
    pub fn consistency(&self) -> BTreeMap<String, String> {
        self.shared.settings.consistency()
    }

    /// How connections were encrypted so far, as it was negotiated, each way once.
    pub fn encryption(&self) -> Vec<String> {
        self.shared.connector.negotiated()
    }

    /// Every address connected to so far.
    pub fn remotes(&self) -> BTreeSet<SocketAddr> {
        self.shared.remotes.borrow().clone()
    }
}

impl Shared {
    /// A connection for operations.
    async fn open(&self, address: &str) -> Result<Link, Failure> {
        let (mut link, hello) = self.reach(address).await?;
        if self.settings.topology == Topology::Sharded && !hello.router {
            return Err(Failure::lasting(format!(
                "`{address}` is not a router (`mongos`) of a sharded cluster; drive it without \
                 `sharded`"
            )));
        }
        if let Some(login) = &self.login {
            let done = login.perform(&mut link).await;
            done.map_err(|failure| failure.at(&format!("`{address}`")))?;
        }
        Ok(link)
    }

    /// Connect to `address`, remember where that went, and ask who is there.
    async fn reach(&self, address: &str) -> Result<(Link, Hello), Failure> {
        let remote = self.resolved.address(address).await?;
        let told = |failure: Failure| failure.at(&self.resolved.told(remote));
        let connected = self.connector.connect(host(address), remote).await;
        let stream = connected.map_err(|error| told(error.into()))?;
        self.remotes.borrow_mut().extend(stream.remote());
        let mut link = Link::new(stream);
        let hello = hello::greet(&mut link).await.map_err(told)?;
        Ok((link, hello))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::plan::tests::{plan, stress, ycsb};
    use wire::load::{Credentials, Secret, Tls};

    #[test]
    fn what_the_driver_cannot_do_is_refused_with_a_sentence() {
        let mut plan = plan();
        plan.target.driver = "mongodb".to_owned();
        plan.target.topology = "single".to_owned();
        ycsb(&mut plan).integrity = true;
        assert!(Mongodb::new(&plan).is_ok());
        let refused = |plan: &LoadPlan| Mongodb::new(plan).err().unwrap_or_default();
        let mut other = plan.clone();
        other.workload = stress();
        let said = refused(&other);
        assert!(said.contains("cannot make the load of"), "{said}");
        let mut unknown = plan.clone();
        unknown.target.topology = "ring".to_owned();
        let said = refused(&unknown);
        assert!(said.contains("no topology `ring`"), "{said}");
        let mut nobody = plan.clone();
        nobody.target.credentials = Some(Credentials {
            user: None,
            password: Secret::Variable("CARGO_PKG_NAME".to_owned()),
        });
        let said = refused(&nobody);
        assert!(said.contains("must name one"), "{said}");
        plan.target.tls = Some(Tls {
            authority: Some("/nowhere/ca.pem".to_owned()),
            name: None,
            insecure: false,
        });
        let said = refused(&plan);
        assert!(said.contains("from `/nowhere/ca.pem`"), "{said}");
    }
}
