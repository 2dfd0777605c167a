//! What one logical thread does with its connections.

use std::rc::Rc;

use super::link::{Link, server_error};
use super::requests::{INDEX, Requests};
use super::resp::{Head, Reply, Tree, command, tree, word};
use super::slots::{Redirection, redirection, slot};
use super::{Shared, host};
use crate::drive::found::Found;
use crate::drive::{Failure, Fault};
use crate::load::mix::{Fields, Kind, Operation};

/// Redirections that one command follows before it counts as failed.
const REDIRECTIONS: usize = 5;

/// The connections of one logical thread, one to each server that it needs, and its buffers.
pub struct Session {
    shared: Rc<Shared>,
    links: Vec<Option<Link>>,
    request: Vec<u8>,
    answer: Vec<u8>,
}

enum Answer {
    First(Reply),
    Elsewhere(Redirection),
}

impl Session {
    pub(super) fn new(shared: Rc<Shared>) -> Self {
        Self {
            shared,
            links: Vec::new(),
            request: Vec::with_capacity(4096),
            answer: Vec::new(),
        }
    }

    /// Connect to every server that has slots.
    pub async fn connect(&mut self) -> Result<(), Failure> {
        if self.shared.stale.get() {
            self.shared.refresh().await?;
        }
        let owners = self.shared.map.borrow().owners();
        for server in owners {
            link(&mut self.links, &self.shared, server).await?;
        }
        Ok(())
    }

    /// Forget all connections; in a cluster the map may be out of date too.
    pub fn disconnect(&mut self) {
        self.links.clear();
        self.shared.stale.set(self.shared.cluster);
    }

    /// Carry out one operation. Nothing is handed back yet: no plan that compares is accepted.
    pub async fn perform(
        &mut self,
        operation: &Operation,
        _found: &mut Found,
    ) -> Result<(), Failure> {
        if self.shared.stale.get() {
            self.shared.refresh().await?;
        }
        match operation.kind {
            Kind::Read => self.read(operation).await,
            Kind::Update => self.update(operation).await,
            Kind::Insert => self.insert(operation).await,
            Kind::Scan => self.scan(operation).await,
            Kind::ReadModifyWrite => {
                self.read(operation).await?;
                self.update(operation).await
            }
        }
    }

    async fn read(&mut self, operation: &Operation) -> Result<(), Failure> {
        let key = operation.key.as_bytes();
        self.request.clear();
        self.shared
            .requests
            .read(&mut self.request, key, operation.read);
        found(&self.command(key, 1, false).await?)
    }

    async fn update(&mut self, operation: &Operation) -> Result<(), Failure> {
        self.request.clear();
        let requests = &self.shared.requests;
        let replies =
            requests.write(&mut self.request, operation) + requests.wait(&mut self.request);
        self.command(operation.key.as_bytes(), replies, false)
            .await
            .map(|_| ())
    }

    /// Record and index entry go in one request where they live together, and are waited for once.
    async fn insert(&mut self, operation: &Operation) -> Result<(), Failure> {
        let key = operation.key.as_bytes();
        self.request.clear();
        let mut replies = self.shared.requests.write(&mut self.request, operation);
        if self.shared.cluster {
            replies += self.shared.requests.wait(&mut self.request);
            self.command(key, replies, false).await?;
            self.request.clear();
            replies = 0;
        }
        replies += Requests::index(&mut self.request, key);
        replies += self.shared.requests.wait(&mut self.request);
        self.command(INDEX, replies, false).await.map(|_| ())
    }

    async fn scan(&mut self, operation: &Operation) -> Result<(), Failure> {
        self.request.clear();
        Requests::scan(&mut self.request, operation);
        self.command(INDEX, 1, true).await?;
        let Some((Tree::Array(entries), _)) = tree(&self.answer, 0) else {
            return Err(Failure::new(
                Fault::Protocol,
                "the index answered something else than keys",
            ));
        };
        let keys: Vec<String> = entries
            .into_iter()
            .filter_map(|entry| match entry {
                Tree::Text(key) => Some(key),
                _ => None,
            })
            .collect();
        if keys.is_empty() {
            return Err(Failure::new(
                Fault::NotFound,
                "the index has no key from this one on",
            ));
        }
        self.records(&keys, operation.read).await
    }

    /// Read the records of all keys, those of one server in one request.
    async fn records(&mut self, keys: &[String], fields: Fields) -> Result<(), Failure> {
        let mut owned: Vec<(usize, &[u8])> = keys
            .iter()
            .map(|key| (self.owner(key.as_bytes()), key.as_bytes()))
            .collect();
        owned.sort_by_key(|(server, _)| *server);
        let mut redirected = Vec::new();
        let mut outcome = Ok(());
        for group in owned.chunk_by(|one, other| one.0 == other.0) {
            self.request.clear();
            for (_, key) in group {
                self.shared.requests.read(&mut self.request, key, fields);
            }
            let link = link(&mut self.links, &self.shared, group[0].0).await?;
            link.send(&self.request).await?;
            for (_, key) in group {
                let (reply, bytes) = link.receive().await?;
                if reply.head == Head::Error && redirection(bytes, "").is_some() {
                    redirected.push(*key);
                } else {
                    outcome = outcome.and(judge(&reply, bytes).and_then(|()| found(&reply)));
                }
            }
        }
        for key in redirected {
            self.request.clear();
            self.shared.requests.read(&mut self.request, key, fields);
            let reply = self.command(key, 1, false).await?;
            outcome = outcome.and(found(&reply));
        }
        outcome
    }

    fn owner(&self, key: &[u8]) -> usize {
        // Hashing is for clusters only; elsewhere every slot is the first server's.
        let slot = if self.shared.cluster { slot(key) } else { 0 };
        self.shared.map.borrow().owner(slot)
    }

    /// Send the request to the server of `key`, follow redirections, and return the first of the
    /// replies, all of which must be well; its bytes are in `answer` when `keep` is set.
    async fn command(&mut self, key: &[u8], replies: usize, keep: bool) -> Result<Reply, Failure> {
        let mut server = self.owner(key);
        let mut asking = false;
        for _ in 0..REDIRECTIONS {
            match self.exchange(server, replies, keep, asking).await? {
                Answer::First(reply) => return Ok(reply),
                Answer::Elsewhere(Redirection::Moved(slot, address)) => {
                    let mut map = self.shared.map.borrow_mut();
                    map.moved(slot, &address);
                    server = map.owner(slot);
                    asking = false;
                }
                Answer::Elsewhere(Redirection::Ask(address)) => {
                    server = usize::from(self.shared.map.borrow_mut().number(&address));
                    asking = true;
                }
            }
        }
        Err(Failure::new(Fault::Server, "redirected too often"))
    }

    /// One request and all its replies, which are read to the end even after an error, so that the
    /// connection stays usable.
    async fn exchange(
        &mut self,
        server: usize,
        replies: usize,
        keep: bool,
        asking: bool,
    ) -> Result<Answer, Failure> {
        let Self {
            shared,
            links,
            request,
            answer,
        } = self;
        let link = link(links, shared, server).await?;
        if asking {
            let mut asking = Vec::new();
            command(&mut asking, 1);
            word(&mut asking, b"ASKING");
            link.ask(&asking).await?;
        }
        link.send(request).await?;
        let (first, bytes) = link.receive().await?;
        if keep {
            answer.clear();
            answer.extend_from_slice(bytes);
        }
        let elsewhere = (shared.cluster && first.head == Head::Error)
            .then(|| redirection(bytes, host(shared.map.borrow().address(server))))
            .flatten();
        let mut outcome = judge(&first, bytes);
        for number in 1..replies {
            let (reply, bytes) = link.receive().await?;
            outcome = outcome.and_then(|()| judge(&reply, bytes)).and_then(|()| {
                // With replicas to wait for, every second reply is that of WAIT.
                let wanted = if number % 2 == 1 {
                    shared.requests.replicas()
                } else {
                    0
                };
                enough(&reply, wanted)
            });
        }
        match elsewhere {
            Some(redirection) => Ok(Answer::Elsewhere(redirection)),
            None => outcome.map(|()| Answer::First(first)),
        }
    }
}

/// The connection to a server, made if it is missing.
async fn link<'a>(
    links: &'a mut Vec<Option<Link>>,
    shared: &Shared,
    server: usize,
) -> Result<&'a mut Link, Failure> {
    if links.len() <= server {
        links.resize_with(server + 1, || None);
    }
    let place = &mut links[server];
    if place.is_none() {
        let address = shared.map.borrow().address(server).to_owned();
        *place = Some(shared.open(&address).await?);
    }
    Ok(place.as_mut().expect("it was just made"))
}

fn judge(reply: &Reply, bytes: &[u8]) -> Result<(), Failure> {
    if reply.head == Head::Error {
        Err(server_error(bytes))
    } else {
        Ok(())
    }
}

/// A record that is not there is an empty hash, or nothing but nulls for the fields asked for.
fn found(reply: &Reply) -> Result<(), Failure> {
    match reply.head {
        Head::Array(Some(elements)) if elements > reply.nulls => Ok(()),
        Head::Array(_) => Err(Failure::new(Fault::NotFound, "the record is not there")),
        _ => Err(Failure::new(Fault::Protocol, "a record was expected")),
    }
}

fn enough(reply: &Reply, wanted: i64) -> Result<(), Failure> {
    match reply.head {
        Head::Integer(acknowledged) if wanted > 0 && acknowledged < wanted => {
            let message = format!("{acknowledged} of {wanted} replicas acknowledged the write");
            Err(Failure::new(Fault::Server, message))
        }
        _ => Ok(()),
    }
}
