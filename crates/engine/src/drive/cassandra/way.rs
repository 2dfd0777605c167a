//! The way to the members: all of them are connected to, encrypted and logged in as is demanded.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use scylla::client::PoolSize;
use scylla::client::execution_profile::{ExecutionProfile, ExecutionProfileHandle};
use scylla::client::session::{Session as Connections, TlsContext};
use scylla::client::session_builder::SessionBuilder;
use scylla::cluster::Node;
use scylla::policies::load_balancing::DefaultPolicy;
use scylla::policies::retry::FallthroughRetryPolicy;
use scylla::policies::timestamp_generator::MonotonicTimestampGenerator;
use wire::load::{Target, Tls};

use super::failure::{broke, of_connecting, of_the_open};
use super::settings::Settings;
use crate::drive::connected::established;
use crate::drive::resolve::{Resolved, host};
use crate::drive::secure::{Connector, Login, configuration, speaks_tls};
use crate::drive::{Failure, Fault};

/// Time between two looks whether all connections are there.
const PROBING: Duration = Duration::from_millis(5);

/// The driver asks once in this time whether a connection lives, and ends one that is silent for as
/// long: so that it forgets a member that lost its power. It never ends one sooner than the plan
/// gives an operation up.
const SILENCE: Duration = Duration::from_secs(30);

/// See above.
pub struct Way {
    resolved: Resolved,
    login: Option<Login>,
    tls: Option<Tls>,
    connector: Connector,
}

impl Way {
    /// As a target demands it; the error is one sentence.
    pub fn of(target: &Target) -> Result<Self, String> {
        let login = Login::of(target)?;
        if login.as_ref().is_some_and(|login| login.user().is_none()) {
            return Err(
                "the driver `cassandra` logs in by a user; `credentials` must name one".into(),
            );
        }
        Ok(Self {
            resolved: Resolved::default(),
            login,
            tls: target.tls.clone(),
            connector: Connector::of(target)?,
        })
    }

    /// How connections were encrypted so far, each way once.
    pub fn encryption(&self) -> Vec<String> {
        self.connector.negotiated()
    }

    /// Connections to all members. One that cannot be reached is a failure: its share of the load
    /// would silently fall to the others.
    pub async fn connections(&self, settings: &Settings) -> Result<Connections, Failure> {
        let mut named = Vec::with_capacity(settings.addresses.len());
        for address in &settings.addresses {
            let remote = self.resolved.address(address).await?;
            self.greet(host(address), remote).await?;
            named.push((remote, host(address)));
        }
        let mut profile = profile(settings, None).into_handle();
        let session = self.session(settings, &named, &profile).await?;
        let state = session.get_cluster_state();
        let members = state.get_nodes_info();
        for member in members {
            let remote = SocketAddr::new(member.address.ip(), member.address.port());
            if named.iter().all(|(known, _)| *known != remote) {
                self.greet(&remote.ip().to_string(), remote).await?;
            }
            if !member.is_connected() {
                let told = self.resolved.told(remote);
                let message = format!(
                    "the member at {told} cannot be reached, and its share of the load would fall to \
                     the others; start it, or ask about it: nodetool status"
                );
                return Err(Failure::new(Fault::Connection, message));
            }
        }
        let first = |member: &&Arc<Node>| {
            SocketAddr::new(member.address.ip(), member.address.port()) == named[0].0
        };
        let of_first = members.iter().find(first);
        let of_first = of_first.and_then(|member| member.datacenter.as_deref());
        if let Some(near) = settings.datacenter.as_deref().or(of_first) {
            datacenter(near, members)?;
            profile.map_to_another_profile(self::profile(settings, Some(near)));
        }
        // With one connection to each the driver is content, and it opens the others later. It
        // keeps one more to hear of changes.
        let wanted = members.len() * settings.connections.get() + 1;
        while established()?.len() < wanted {
            tokio::time::sleep(PROBING).await;
        }
        Ok(session)
    }

    /// Connections to the members that are `named`, and to those that they tell of.
    ///
    /// Where a connection in the open breaks, and the first member answers a greeting of TLS, the
    /// open is tried once more: a member may take both, and then this was only one connection that
    /// broke.
    async fn session(
        &self,
        settings: &Settings,
        named: &[(SocketAddr, &str)],
        profile: &ExecutionProfileHandle,
    ) -> Result<Connections, Failure> {
        let (remote, host) = named[0];
        let told = self.resolved.told(remote);
        let mut made = self
            .builder(settings, named, profile.clone())?
            .build()
            .await;
        if self.tls.is_none() && made.as_ref().is_err_and(broke) && speaks_tls(host, remote).await {
            made = self
                .builder(settings, named, profile.clone())?
                .build()
                .await;
            if made.as_ref().is_err_and(broke) {
                return Err(of_the_open(&told));
            }
        }
        made.map_err(|error| of_connecting(&error, &told, self.login.as_ref()))
    }

    /// The driver, as a plan asks for it, which begins with the members that are `named`.
    fn builder(
        &self,
        settings: &Settings,
        named: &[(SocketAddr, &str)],
        profile: ExecutionProfileHandle,
    ) -> Result<SessionBuilder, Failure> {
        let mut builder = SessionBuilder::new()
            .known_nodes_addr(named.iter().map(|(remote, _)| remote))
            .default_execution_profile_handle(profile)
            .timestamp_generator(Arc::new(MonotonicTimestampGenerator::new()))
            .pool_size(PoolSize::PerHost(settings.connections))
            .connection_timeout(settings.timeout)
            .keepalive_interval(SILENCE)
            .keepalive_timeout(SILENCE.max(settings.timeout))
            .keyspaces_to_fetch([&settings.keyspace]);
        if let Some(login) = &self.login {
            builder = builder.user(login.user().unwrap_or_default(), login.password());
        }
        if let Some(tls) = &self.tls {
            let hosts: Vec<_> = named
                .iter()
                .map(|(remote, host)| (remote.ip(), *host))
                .collect();
            let demanded = configuration(tls, &hosts).map_err(Failure::lasting)?;
            builder = builder.tls_context(Some(TlsContext::Rustls023(Arc::new(demanded))));
        }
        Ok(builder)
    }

    /// Where TLS is demanded: make sure that a member speaks it as is demanded, and remember how,
    /// by a connection of our own. The driver tells neither how nor why not.
    async fn greet(&self, host: &str, remote: SocketAddr) -> Result<(), Failure> {
        if self.tls.is_none() {
            return Ok(());
        }
        let connected = self.connector.connect(host, remote).await;
        connected
            .map(drop)
            .map_err(|error| Failure::from(error).at(&self.resolved.told(remote)))
    }
}

/// How requests are sent: each once, to members of the datacentre `near` alone if one is given.
fn profile(settings: &Settings, near: Option<&str>) -> ExecutionProfile {
    let mut policy = DefaultPolicy::builder().token_aware(settings.by_replica);
    if let Some(near) = near {
        policy = policy.prefer_datacenter(near.to_owned());
    }
    ExecutionProfile::builder()
        .load_balancing_policy(policy.build())
        .retry_policy(Arc::new(FallthroughRetryPolicy::new()))
        .speculative_execution_policy(None)
        .request_timeout(None)
        .build()
}

/// Make sure that a member is in a datacentre.
fn datacenter(near: &str, members: &[Arc<Node>]) -> Result<(), Failure> {
    let all = members
        .iter()
        .filter_map(|member| member.datacenter.as_deref());
    let known: BTreeSet<&str> = all.collect();
    if known.contains(near) {
        return Ok(());
    }
    let known: Vec<&str> = known.into_iter().collect();
    Err(Failure::lasting(format!(
        "no member is in the datacentre `{near}`; type ?datacenter= with one of `{}`",
        known.join("`, `")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::plan::tests::plan;
    use wire::load::{Credentials, Secret};

    #[test]
    fn a_password_needs_a_user() {
        let mut target = plan().target;
        target.credentials = Some(Credentials {
            user: None,
            // Cargo sets this one for every test.
            password: Secret::Variable("CARGO_PKG_NAME".to_owned()),
        });
        let said = Way::of(&target).err().unwrap();
        assert!(said.contains("`credentials` must name one"), "{said}");
        target.credentials.as_mut().unwrap().user = Some("me".to_owned());
        assert!(Way::of(&target).is_ok());
    }
}
