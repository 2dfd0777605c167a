//! Cassandra: a ring of one or more members, driven by the `scylla` crate.
//!
//! The driver finds the members by asking one of them, and sends each request to a member that has
//! the record. It does nothing that would hide a slow or failing member: no request is repeated,
//! none is sent twice, and no time-out is shorter than the plan's, which the load itself keeps.
//!
//! All threads share the connections, so one that breaks costs every request on it. The driver
//! makes it anew after 50 ms, and waits twice as long after each failure, up to 10 s, which no
//! option changes. It also ends one by itself on which more than 1024 operations were given up over
//! a second ago and are still not answered.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;

use scylla::client::session::Session as Connections;
use wire::load::{LoadPlan, Workload};

pub use self::session::Session;
use self::settings::Settings;
use self::statements::Statements;
use self::way::Way;
use super::Failure;
use super::connected::Watch;
use crate::load::core::values::Values;

mod failure;
mod session;
mod settings;
mod statements;
mod way;

/// A Cassandra to drive.
pub struct Cassandra {
    shared: Rc<Shared>,
}

/// What all sessions share.
struct Shared {
    settings: Settings,
    values: Values,
    way: Way,
    ready: OnceCell<Ready>,
}

/// Everything that is there once the members have been reached.
struct Ready {
    session: Connections,
    statements: Statements,
    watch: Watch,
}

impl Cassandra {
    /// The only topology is `ring`. Options: `keyspace` (`ycsb`) and `table` (`usertable`),
    /// `read_consistency` and `write_consistency` (`ONE`, as in YCSB 0.17.0), `connections` to each
    /// member (1, as YCSB's driver has; the requests of all threads share them), `coordinator`
    /// (`replica`: each request goes to a member that has the record; or `any`). The error is one
    /// sentence.
    pub fn new(plan: &LoadPlan) -> Result<Self, String> {
        let Workload::Ycsb(workload) = &plan.workload else {
            return Err("the driver `cassandra` cannot make this workload yet".to_owned());
        };
        let shared = Shared {
            settings: Settings::of(plan)?,
            values: Values::new(workload),
            way: Way::of(&plan.target)?,
            ready: OnceCell::new(),
        };
        Ok(Self {
            shared: Rc::new(shared),
        })
    }

    /// What one logical thread works with.
    pub fn session(&self) -> Session {
        Session::new(self.shared.clone())
    }

    /// How many members must answer, by `read` and `write`.
    pub fn consistency(&self) -> BTreeMap<String, String> {
        self.shared.settings.consistency()
    }

    /// How connections were encrypted so far, each way once.
    pub fn encryption(&self) -> Vec<String> {
        self.shared.way.encryption()
    }

    /// Every address connected to so far. The driver decides by itself whom to connect to, so the
    /// kernel is asked, not the driver.
    pub fn remotes(&self) -> io::Result<BTreeSet<SocketAddr>> {
        match self.shared.ready.get() {
            Some(ready) => ready.watch.seen(),
            None => Ok(BTreeSet::new()),
        }
    }
}

impl Shared {
    async fn ready(&self) -> Result<&Ready, Failure> {
        if let Some(ready) = self.ready.get() {
            return Ok(ready);
        }
        // Boxed: it is large, and would make the future of every operation larger.
        let session = Box::pin(self.way.connections(&self.settings)).await?;
        let statements = Statements::prepare(&session, &self.settings, self.values.names()).await?;
        let ready = Ready {
            session,
            statements,
            watch: Watch::begin()?,
        };
        Ok(self.ready.get_or_init(|| ready))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::plan::tests::{plan, stress};

    #[test]
    fn what_the_driver_cannot_do_is_refused_with_a_sentence() {
        let mut plan = plan();
        plan.target.driver = "cassandra".to_owned();
        plan.target.topology = "ring".to_owned();
        assert!(Cassandra::new(&plan).is_ok());
        let refused = |plan: &LoadPlan| Cassandra::new(plan).err().unwrap_or_default();
        plan.workload = stress();
        let said = refused(&plan);
        assert!(said.contains("cannot make this workload yet"), "{said}");
    }
}
