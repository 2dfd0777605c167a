//! Cassandra: a ring of one or more members, driven by the `scylla` crate.
//!
//! The driver finds the members by asking one of them, and sends each request to a member that has
//! the record. It does nothing that would hide a slow or failing member: no request is repeated,
//! none is sent twice, and no time-out is shorter than the plan's, which the load itself keeps.
//!
//! All threads share the connections, so one that breaks costs every request on it. The driver
//! makes it anew after 50 ms, and waits twice as long after each failure, up to 10 s, which no
//! option changes.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use scylla::client::PoolSize;
use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::session::Session as Connections;
use scylla::client::session_builder::SessionBuilder;
use scylla::policies::load_balancing::DefaultPolicy;
use scylla::policies::retry::FallthroughRetryPolicy;
use wire::load::{LoadPlan, Workload};

pub use self::session::Session;
use self::settings::Settings;
use self::statements::Statements;
use super::connected::{Watch, established};
use super::resolve::Resolved;
use super::{Failure, Fault, secure};
use crate::load::core::values::Values;

mod failure;
mod session;
mod settings;
mod statements;

/// Time between two looks whether all connections are there.
const PROBING: Duration = Duration::from_millis(5);

/// The driver asks once in this time whether a connection lives, and ends one that is silent for as
/// long: so that it forgets a member that lost its power. It never ends one sooner than the plan
/// gives an operation up.
const SILENCE: Duration = Duration::from_secs(30);

/// A Cassandra to drive.
pub struct Cassandra {
    shared: Rc<Shared>,
}

/// What all sessions share.
struct Shared {
    settings: Settings,
    values: Values,
    resolved: Resolved,
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
    /// `read_consistency` and `write_consistency` (`QUORUM`), `connections` to each member (1, as
    /// YCSB's driver has; the requests of all threads share them). The error is one sentence.
    pub fn new(plan: &LoadPlan) -> Result<Self, String> {
        secure::refuse(&plan.target)?;
        let Workload::Ycsb(workload) = &plan.workload else {
            return Err("the driver `cassandra` cannot make this workload yet".to_owned());
        };
        let shared = Shared {
            settings: Settings::of(plan)?,
            values: Values::new(workload),
            resolved: Resolved::default(),
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
        let session = self.connections().await?;
        let statements = Statements::prepare(&session, &self.settings, self.values.names()).await?;
        let ready = Ready {
            session,
            statements,
            watch: Watch::begin()?,
        };
        Ok(self.ready.get_or_init(|| ready))
    }

    /// Connections to all members. One that cannot be reached is a failure: its share of the load
    /// would silently fall to the others.
    async fn connections(&self) -> Result<Connections, Failure> {
        let settings = &self.settings;
        let mut members = Vec::with_capacity(settings.addresses.len());
        for address in &settings.addresses {
            members.push(self.resolved.address(address).await?);
        }
        let profile = ExecutionProfile::builder()
            .load_balancing_policy(DefaultPolicy::builder().token_aware(true).build())
            .retry_policy(Arc::new(FallthroughRetryPolicy::new()))
            .speculative_execution_policy(None)
            .request_timeout(None)
            .build();
        let session = SessionBuilder::new()
            .known_nodes_addr(members)
            .default_execution_profile_handle(profile.into_handle())
            .pool_size(PoolSize::PerHost(settings.connections))
            .connection_timeout(settings.timeout)
            .keepalive_interval(SILENCE)
            .keepalive_timeout(SILENCE.max(settings.timeout))
            .keyspaces_to_fetch([&settings.keyspace])
            .build()
            .await
            .map_err(|error| Failure::new(Fault::Connection, error.to_string()))?;
        let state = session.get_cluster_state();
        let members = state.get_nodes_info();
        if let Some(member) = members.iter().find(|member| !member.is_connected()) {
            let remote = SocketAddr::new(member.address.ip(), member.address.port());
            let told = self.resolved.told(remote);
            let message = format!("the member at {told} cannot be reached");
            return Err(Failure::new(Fault::Connection, message));
        }
        // With one connection to each the driver is content, and it opens the others later. It
        // keeps one more to hear of changes.
        let wanted = members.len() * settings.connections.get() + 1;
        while established()?.len() < wanted {
            tokio::time::sleep(PROBING).await;
        }
        Ok(session)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::plan::tests::{plan, stress};
    use wire::load::Tls;

    #[test]
    fn what_the_driver_cannot_do_is_refused_with_a_sentence() {
        let mut plan = plan();
        plan.target.driver = "cassandra".to_owned();
        plan.target.topology = "ring".to_owned();
        assert!(Cassandra::new(&plan).is_ok());
        let refused = |plan: &LoadPlan| Cassandra::new(plan).err().unwrap_or_default();
        let mut other = plan.clone();
        other.workload = stress();
        let said = refused(&other);
        assert!(said.contains("cannot make this workload yet"), "{said}");
        plan.target.tls = Some(Tls {
            authority: None,
            name: None,
            insecure: true,
        });
        let said = refused(&plan);
        assert!(said.contains("`cassandra` cannot use TLS yet"), "{said}");
    }
}
