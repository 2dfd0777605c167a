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
use wire::load::{LoadPlan, Part, Workload};

use self::failure::of_execution;
use self::missing::Table;
pub use self::session::Session;
use self::settings::Settings;
use self::stress::Tables;
use self::way::Way;
use self::ycsb::Records;
use super::connected::Watch;
use super::{Failure, Fault};
use crate::load::core::values::Values;
use crate::load::stress::Workload as Rows;

mod failure;
mod missing;
mod session;
mod settings;
mod statements;
mod stress;
mod way;
mod ycsb;

/// Whether this driver can do what a plan asks for; the error is one sentence.
pub fn check(plan: &LoadPlan) -> Result<(), String> {
    Settings::of(plan).map(drop)
}

/// A Cassandra to drive.
pub struct Cassandra {
    shared: Rc<Shared>,
}

/// What all sessions share.
struct Shared {
    settings: Settings,
    workload: Workload,
    part: Part,
    way: Way,
    ready: OnceCell<Ready>,
}

/// Everything that is there once the members have been reached.
struct Ready {
    session: Connections,
    work: Work,
    watch: Watch,
}

/// What the operations of a workload need.
enum Work {
    /// Those of YCSB.
    Ycsb(Box<Records>),
    /// Those of cassandra-stress.
    Stress(Box<Tables>),
}

impl Cassandra {
    /// The only topology is `ring`. Options: `keyspace` (`ycsb`) and `table` (`usertable`),
    /// `read_consistency` and `write_consistency` (`ONE`, as in YCSB 0.17.0), `connections` to each
    /// member (1, as YCSB's driver has; the requests of all threads share them), `coordinator`
    /// (`replica`: each request goes to a member that has the record; or `any`), `datacenter` (that
    /// of the first address: its members are asked, and no others), and those of
    /// [`Settings::before`] and [`Settings::timestamp`]. The error is one sentence.
    pub fn new(plan: &LoadPlan) -> Result<Self, String> {
        let shared = Shared {
            settings: Settings::of(plan)?,
            workload: plan.workload.clone(),
            part: plan.part,
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
        let ready = Box::pin(self.made()).await?;
        Ok(self.ready.get_or_init(|| ready))
    }

    /// Reach the members, and make all that operations need.
    async fn made(&self) -> Result<Ready, Failure> {
        let session = self.way.connections(&self.settings).await?;
        for statement in &self.settings.before {
            let done = session.query_unpaged(statement.as_str(), ()).await;
            done.map_err(|error| of_execution(&error))?;
        }
        let work = self.work(&session).await.map_err(|failure| {
            let tables = Table::needed(&self.settings, &self.workload);
            missing::told(failure, &tables, &session, self.part.of == 1)
        })?;
        Ok(Ready {
            session,
            work,
            watch: Watch::begin()?,
        })
    }

    /// The statements of the workload, prepared.
    async fn work(&self, session: &Connections) -> Result<Work, Failure> {
        let settings = &self.settings;
        Ok(match &self.workload {
            Workload::Ycsb(workload) => {
                let values = Values::new(workload);
                Work::Ycsb(Box::new(Records::prepare(session, settings, values).await?))
            }
            Workload::Stress(workload) => {
                let refused = |what| Failure::new(Fault::Protocol, what);
                let workload = Rows::of(workload, self.part.of).map_err(refused)?;
                Work::Stress(Box::new(
                    Tables::prepare(session, settings, &workload).await?,
                ))
            }
        })
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
        plan.workload = stress();
        assert!(Cassandra::new(&plan).is_ok());
        plan.target.topology = "star".to_owned();
        let said = Cassandra::new(&plan).err().unwrap_or_default();
        assert!(said.contains("there is `ring`"), "{said}");
    }
}
