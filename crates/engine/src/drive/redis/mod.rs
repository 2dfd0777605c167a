//! Redis: one server, a primary with replicas (of which the primary is driven), or a cluster.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::rc::Rc;

use serde_json::Value;
use wire::load::{LoadPlan, Workload};

use self::link::Link;
use self::requests::Requests;
use self::resp::{command, word};
pub use self::session::Session;
use self::slots::Map;
use super::resolve::Resolved;
use super::{Failure, Fault, secure};
use crate::load::core::values::Values;

mod link;
mod requests;
mod resp;
mod session;
mod slots;

/// A Redis to drive.
pub struct Redis {
    shared: Rc<Shared>,
}

/// What all sessions share.
struct Shared {
    requests: Requests,
    seeds: Vec<String>,
    cluster: bool,
    map: RefCell<Map>,
    /// The map is to be asked for (again) before the next operation.
    stale: Cell<bool>,
    resolved: Resolved,
    remotes: RefCell<BTreeSet<SocketAddr>>,
}

impl Redis {
    /// Topologies: `single` and `replicas` drive the first address, `cluster` asks for its map.
    /// Option `wait`: replicas that acknowledge each write, within two fifths of the time-out, so
    /// that the server answers before the time is over even for an operation of two writes. The
    /// error is one sentence.
    pub fn new(plan: &LoadPlan) -> Result<Self, String> {
        let target = &plan.target;
        secure::refuse(target)?;
        let Workload::Ycsb(workload) = &plan.workload else {
            return Err("the driver `redis` cannot make the load of cassandra-stress".to_owned());
        };
        if workload.integrity {
            return Err("the driver `redis` cannot compare records yet".to_owned());
        }
        let cluster = match target.topology.as_str() {
            "single" | "replicas" => false,
            "cluster" => true,
            other => {
                return Err(format!(
                    "the driver `redis` has no topology `{other}`; there are `single`, `replicas` \
                     and `cluster`"
                ));
            }
        };
        if let Some(unknown) = target.options.keys().find(|key| *key != "wait") {
            return Err(format!("the driver `redis` has no option `{unknown}`"));
        }
        let replicas = match target.options.get("wait") {
            None => 0,
            Some(value) => Value::as_u64(value)
                .and_then(|number| u32::try_from(number).ok())
                .ok_or_else(|| "the option `wait` must be a number of replicas".to_owned())?,
        };
        let milliseconds = (plan.timeout * 400.0).ceil() as u32;
        let wait = (replicas > 0).then_some((replicas, milliseconds));
        let shared = Shared {
            requests: Requests::new(Values::new(workload), wait),
            seeds: target.addresses.clone(),
            cluster,
            map: RefCell::new(Map::single(&target.addresses[0])),
            stale: Cell::new(cluster),
            resolved: Resolved::default(),
            remotes: RefCell::default(),
        };
        Ok(Self {
            shared: Rc::new(shared),
        })
    }

    /// What one logical thread works with.
    pub fn session(&self) -> Session {
        Session::new(self.shared.clone())
    }

    /// Every address connected to so far.
    pub fn remotes(&self) -> BTreeSet<SocketAddr> {
        self.shared.remotes.borrow().clone()
    }
}

impl Shared {
    /// Connect to `address` and remember where that went.
    async fn open(&self, address: &str) -> Result<Link, Failure> {
        let remote = self.resolved.address(address).await?;
        let link = Link::open(remote).await.map_err(|error| {
            let told = self.resolved.told(remote);
            Failure::new(Fault::Connection, format!("{told}: {error}"))
        })?;
        self.remotes.borrow_mut().extend(link.remote());
        Ok(link)
    }

    /// Ask for the map of the cluster, whoever answers first of those heard of.
    async fn refresh(&self) -> Result<(), Failure> {
        let mut candidates = self.map.borrow().addresses().to_vec();
        candidates.extend(self.seeds.iter().cloned());
        let mut failure = Failure::new(Fault::Server, "no server has slots");
        for address in candidates {
            match self.ask_map(&address).await {
                Ok(true) => {
                    self.stale.set(false);
                    return Ok(());
                }
                Ok(false) => {}
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    async fn ask_map(&self, address: &str) -> Result<bool, Failure> {
        let mut request = Vec::new();
        command(&mut request, 2);
        word(&mut request, b"CLUSTER");
        word(&mut request, b"SLOTS");
        let answer = self.open(address).await?.ask(&request).await?;
        Ok(self.map.borrow_mut().learn(&answer, host(address)))
    }
}

/// The host of `host:port`.
fn host(address: &str) -> &str {
    address.rsplit_once(':').map_or(address, |(host, _)| host)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::plan::tests::{plan, stress, ycsb};
    use wire::load::Tls;

    #[test]
    fn what_the_driver_cannot_do_is_refused_with_a_sentence() {
        let mut plan = plan();
        plan.target.driver = "redis".to_owned();
        plan.target.topology = "single".to_owned();
        assert!(Redis::new(&plan).is_ok());
        let refused = |plan: &LoadPlan| Redis::new(plan).err().unwrap_or_default();
        let mut compared = plan.clone();
        ycsb(&mut compared).integrity = true;
        let said = refused(&compared);
        assert!(said.contains("cannot compare records yet"), "{said}");
        let mut other = plan.clone();
        other.workload = stress();
        let said = refused(&other);
        assert!(
            said.contains("cannot make the load of cassandra-stress"),
            "{said}"
        );
        plan.target.tls = Some(Tls {
            authority: None,
            name: None,
            insecure: true,
        });
        let said = refused(&plan);
        assert!(said.contains("`redis` cannot use TLS yet"), "{said}");
    }
}
