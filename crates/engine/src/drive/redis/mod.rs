//! Redis: one server, a primary with replicas, or a cluster.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::rc::Rc;

use tokio::task::JoinSet;
use wire::load::LoadPlan;

use self::greeting::Greeting;
use self::link::Link;
use self::requests::Requests;
use self::resp::{command, word};
pub use self::session::Session;
use self::settings::{Role, Settings};
use self::slots::Map;
use super::resolve::{Resolved, host};
use super::secure::{Connector, Login};
use super::{Failure, Fault};
use crate::load::core::values::Values;

mod greeting;
mod link;
mod requests;
mod resp;
mod session;
mod settings;
mod shape;
mod slots;

/// Whether this driver can do what a plan asks for; the error is one sentence.
pub fn check(plan: &LoadPlan) -> Result<(), String> {
    Settings::of(plan).map(drop)
}

/// A Redis to drive.
pub struct Redis {
    shared: Rc<Shared>,
    /// Sessions so far.
    sessions: Cell<usize>,
}

/// What all sessions share.
struct Shared {
    requests: Requests,
    seeds: Vec<String>,
    cluster: bool,
    reads: Role,
    map: RefCell<Map>,
    /// The map is to be asked for (again) before the next operation.
    stale: Cell<bool>,
    resolved: Resolved,
    connector: Connector,
    greeting: Greeting,
    remotes: RefCell<BTreeSet<SocketAddr>>,
}

impl Redis {
    /// Topologies: `single` drives the first address, `replicas` writes to it, `cluster` asks for
    /// its map. Options: `shape` (`hash`, or `string`, which has no scans), `wait`: replicas that
    /// acknowledge each write, and `read_from` (`primary`, or `replica`: each session reads from
    /// one replica of each primary, and sessions take turns at them; in the topology `replicas`
    /// those are the other addresses). The error is one sentence.
    pub fn new(plan: &LoadPlan) -> Result<Self, String> {
        let settings = Settings::of(plan)?;
        let login = Login::of(&plan.target)?;
        let readonly = settings.cluster && settings.reads == Role::Replica;
        let values = Values::new(settings.workload);
        let shared = Shared {
            requests: Requests::new(values, settings.shape, settings.wait),
            seeds: plan.target.addresses.clone(),
            cluster: settings.cluster,
            reads: settings.reads,
            map: RefCell::new(settings.map(plan)),
            stale: Cell::new(settings.cluster),
            resolved: Resolved::default(),
            connector: Connector::of(&plan.target)?,
            greeting: Greeting::new(login, readonly),
            remotes: RefCell::default(),
        };
        Ok(Self {
            shared: Rc::new(shared),
            sessions: Cell::new(0),
        })
    }

    /// What one logical thread works with.
    pub fn session(&self) -> Session {
        let number = self.sessions.get();
        self.sessions.set(number + 1);
        Session::new(self.shared.clone(), number)
    }

    /// How a record is kept.
    pub fn shape(&self) -> &'static str {
        self.shared.requests.shape().name()
    }

    /// Who is read from, and who must have a write before it is answered.
    pub fn consistency(&self) -> BTreeMap<String, String> {
        let read = match self.shared.reads {
            Role::Primary => "primary",
            Role::Replica => "replica",
        };
        let write = match self.shared.requests.replicas() {
            0 => "primary".to_owned(),
            replicas => format!("WAIT {replicas}"),
        };
        let levels = [("read", read.to_owned()), ("write", write)];
        levels.map(|(what, level)| (what.to_owned(), level)).into()
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
    /// Connect to `address`, which is to have a role, and remember where that went.
    async fn open(&self, address: &str, role: Role) -> Result<Link, Failure> {
        let remote = self.resolved.address(address).await?;
        let failed = |failure: Failure| failure.at(&self.resolved.told(remote));
        let connected = self.connector.connect(host(address), remote).await;
        let stream = connected.map_err(|error| failed(error.into()))?;
        self.remotes.borrow_mut().extend(stream.remote());
        let mut link = Link::new(stream);
        let greeted = self.greeting.exchange(&mut link, role).await;
        greeted.map_err(failed)?;
        Ok(link)
    }

    /// Ask everybody heard of for the map of the cluster, all at a time, so that one that stands
    /// still holds nobody up; whoever tells a map first is believed. One session asks for all:
    /// meanwhile the others go by the map that there is.
    async fn refresh(self: &Rc<Self>) -> Result<(), Failure> {
        self.stale.set(false);
        let mut candidates: BTreeSet<String> = self.seeds.iter().cloned().collect();
        candidates.extend(self.map.borrow().addresses().iter().cloned());
        let mut questions = JoinSet::new();
        for address in candidates {
            let shared = self.clone();
            questions.spawn_local(async move { shared.ask_map(&address).await });
        }
        let mut failure = Failure::new(Fault::Server, "no server has slots");
        while let Some(answer) = questions.join_next().await {
            match answer {
                Ok(Ok(true)) => return Ok(()),
                Ok(Err(error)) => failure = error,
                Ok(Ok(false)) | Err(_) => {}
            }
        }
        self.stale.set(true);
        Err(failure)
    }

    async fn ask_map(&self, address: &str) -> Result<bool, Failure> {
        let mut request = Vec::new();
        command(&mut request, 2);
        word(&mut request, b"CLUSTER");
        word(&mut request, b"SLOTS");
        let mut link = self.open(address, Role::Primary).await?;
        let answer = link.ask(&request).await?;
        Ok(self.map.borrow_mut().learn(&answer, host(address)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::plan::tests::plan;
    use wire::load::{Credentials, Secret, Tls};

    fn redis() -> LoadPlan {
        let mut plan = plan();
        plan.target.driver = "redis".to_owned();
        plan.target.addresses.push("127.0.0.1:2".to_owned());
        plan
    }

    #[test]
    fn results_tell_the_shape_and_who_is_read_from_and_waited_for() {
        let mut plan = redis();
        let told = |plan: &LoadPlan| {
            let redis = Redis::new(plan).unwrap();
            let levels: Vec<String> = redis.consistency().into_values().collect();
            (redis.shape(), levels)
        };
        let levels = |read: &str, write: &str| vec![read.to_owned(), write.to_owned()];
        assert_eq!(told(&plan), ("hash", levels("primary", "primary")));
        plan.target.topology = "replicas".to_owned();
        let options = serde_json::json!({"shape": "string", "read_from": "replica", "wait": 2});
        plan.target.options = serde_json::from_value(options).unwrap();
        assert_eq!(told(&plan), ("string", levels("replica", "WAIT 2")));
    }

    #[test]
    fn a_secret_or_an_authority_that_is_missing_is_refused() {
        let mut plan = redis();
        plan.target.tls = Some(Tls {
            authority: Some("/nowhere/ca.pem".to_owned()),
            name: None,
            insecure: false,
        });
        let said = Redis::new(&plan).err().unwrap();
        assert!(said.contains("`/nowhere/ca.pem`"), "{said}");
        plan.target.credentials = Some(Credentials {
            user: None,
            password: Secret::Variable("DUNNAGE_NO_SUCH_SECRET".to_owned()),
        });
        let said = Redis::new(&plan).err().unwrap();
        assert!(said.contains("`DUNNAGE_NO_SUCH_SECRET`"), "{said}");
    }
}
