//! What one logical thread does with its connections.

use std::rc::Rc;

use super::Shared;
use super::link::{Link, server_error};
use super::requests::{INDEX, Requests};
use super::resp::{Head, Reply, Tree, command, tree, word};
use super::settings::Role;
use super::shape::Shape;
use super::slots::{Redirection, redirection, slot};
use crate::drive::found::Found;
use crate::drive::resolve::host;
use crate::drive::{Failure, Fault};
use crate::load::mix::{Fields, Kind, Operation};

/// Redirections that one command follows before it counts as failed.
const REDIRECTIONS: usize = 5;

/// The connections of one logical thread, one to each server that it needs, and its buffers.
pub struct Session {
    shared: Rc<Shared>,
    /// Which of several replicas it reads from.
    turn: usize,
    links: Vec<Option<Link>>,
    /// Servers that the last operation was sent to, by their numbers.
    asked: Vec<usize>,
    request: Vec<u8>,
    answer: Vec<u8>,
}

/// A server by its number in the map, and what it is asked as.
#[derive(Clone, Copy)]
struct Place {
    server: usize,
    role: Role,
}

impl Place {
    fn primary(server: usize) -> Self {
        let role = Role::Primary;
        Self { server, role }
    }
}

enum Answer {
    First(Reply),
    Elsewhere(Redirection),
}

impl Session {
    /// Sessions that take turns share replicas evenly.
    pub(super) fn new(shared: Rc<Shared>, turn: usize) -> Self {
        Self {
            shared,
            turn,
            links: Vec::new(),
            asked: Vec::new(),
            request: Vec::with_capacity(4096),
            answer: Vec::new(),
        }
    }

    /// Connect to every server that has slots, and to a replica of each if they are read from.
    pub async fn connect(&mut self) -> Result<(), Failure> {
        if self.shared.stale.get() {
            Box::pin(self.shared.refresh()).await?;
        }
        let owners = self.shared.map.borrow().owners();
        for server in owners {
            let writes = Place::primary(server);
            link(&mut self.links, &self.shared, writes).await?;
            let reads = self.reader(server)?;
            link(&mut self.links, &self.shared, reads).await?;
        }
        Ok(())
    }

    /// Forget the connections that the last operation used; in a cluster the map may be out of date
    /// too.
    pub fn disconnect(&mut self) {
        for server in self.asked.drain(..) {
            if let Some(link) = self.links.get_mut(server) {
                *link = None;
            }
        }
        self.shared.stale.set(self.shared.cluster);
    }

    /// Connections that it has.
    pub fn connections(&self) -> u64 {
        self.links.iter().flatten().count() as u64
    }

    /// Carry out one operation. Records that a scan finds are not handed back.
    pub async fn perform(
        &mut self,
        operation: &Operation,
        found: &mut Found,
    ) -> Result<(), Failure> {
        self.asked.clear();
        if self.shared.stale.get() {
            Box::pin(self.shared.refresh()).await?;
        }
        match operation.kind {
            Kind::Read => self.read(operation, found).await,
            Kind::Update => self.update(operation).await,
            Kind::Insert => self.insert(operation).await,
            Kind::Scan => self.scan(operation).await,
            Kind::ReadModifyWrite => {
                self.read(operation, found).await?;
                self.update(operation).await
            }
        }
    }

    async fn read(&mut self, operation: &Operation, found: &mut Found) -> Result<(), Failure> {
        let key = operation.key.as_bytes();
        self.request.clear();
        self.shared
            .requests
            .read(&mut self.request, key, operation.read);
        let reader = self.reader(self.owner(key))?;
        let reply = self.command(reader, 1, found.wanted()).await?;
        let requests = &self.shared.requests;
        requests.found(&reply)?;
        if found.wanted() {
            requests.hand_back(&self.answer, operation.read, found)?;
        }
        Ok(())
    }

    async fn update(&mut self, operation: &Operation) -> Result<(), Failure> {
        self.request.clear();
        let requests = &self.shared.requests;
        let replies =
            requests.write(&mut self.request, operation) + requests.wait(&mut self.request);
        let owner = Place::primary(self.owner(operation.key.as_bytes()));
        acknowledged(&self.command(owner, replies, false).await?)
    }

    /// Record and index entry go in one request where they live together, and are waited for once.
    async fn insert(&mut self, operation: &Operation) -> Result<(), Failure> {
        let key = operation.key.as_bytes();
        let indexed = self.shared.requests.shape() == Shape::Hash;
        self.request.clear();
        let mut replies = self.shared.requests.write(&mut self.request, operation);
        if indexed && !self.shared.cluster {
            replies += Requests::index(&mut self.request, key);
        }
        replies += self.shared.requests.wait(&mut self.request);
        let owner = Place::primary(self.owner(key));
        acknowledged(&self.command(owner, replies, false).await?)?;
        if indexed && self.shared.cluster {
            self.request.clear();
            let mut replies = Requests::index(&mut self.request, key);
            replies += self.shared.requests.wait(&mut self.request);
            let owner = Place::primary(self.owner(INDEX));
            acknowledged(&self.command(owner, replies, false).await?)?;
        }
        Ok(())
    }

    async fn scan(&mut self, operation: &Operation) -> Result<(), Failure> {
        self.request.clear();
        Requests::scan(&mut self.request, operation);
        let reader = self.reader(self.owner(INDEX))?;
        self.command(reader, 1, true).await?;
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
            let reader = self.reader(group[0].0)?;
            self.asked.push(reader.server);
            let link = link(&mut self.links, &self.shared, reader).await?;
            link.send(&self.request).await?;
            for (_, key) in group {
                let (reply, bytes) = link.receive().await?;
                if reply.head == Head::Error && redirection(bytes, "").is_some() {
                    redirected.push(*key);
                } else {
                    let requests = &self.shared.requests;
                    let judged = judge(&reply, bytes).and_then(|()| requests.found(&reply));
                    outcome = outcome.and(judged);
                }
            }
        }
        for key in redirected {
            self.request.clear();
            self.shared.requests.read(&mut self.request, key, fields);
            let reader = self.reader(self.owner(key))?;
            let reply = self.command(reader, 1, false).await?;
            outcome = outcome.and(self.shared.requests.found(&reply));
        }
        outcome
    }

    fn owner(&self, key: &[u8]) -> usize {
        // Hashing is for clusters only; elsewhere every slot is the first server's.
        let slot = if self.shared.cluster { slot(key) } else { 0 };
        self.shared.map.borrow().owner(slot)
    }

    /// Where the records of a primary are read. That there is no replica counts as a connection
    /// that cannot be made, after which the map is asked for again.
    fn reader(&self, primary: usize) -> Result<Place, Failure> {
        if self.shared.reads == Role::Primary {
            return Ok(Place::primary(primary));
        }
        let map = self.shared.map.borrow();
        match map.replica(primary, self.turn) {
            Some(server) => Ok(Place {
                server,
                role: Role::Replica,
            }),
            None => Err(Failure::new(
                Fault::Connection,
                format!("`{}` has no replica to read from", map.address(primary)),
            )),
        }
    }

    /// Send the request to `place`, follow redirections, and return the first of the replies, all
    /// of which must be well; its bytes are in `answer` when `keep` is set.
    async fn command(
        &mut self,
        mut place: Place,
        replies: usize,
        keep: bool,
    ) -> Result<Reply, Failure> {
        let mut asking = false;
        for _ in 0..REDIRECTIONS {
            match self.exchange(place, replies, keep, asking).await? {
                Answer::First(reply) => return Ok(reply),
                Answer::Elsewhere(Redirection::Moved(slot, address)) => {
                    let mut map = self.shared.map.borrow_mut();
                    map.moved(slot, &address);
                    // A read goes there too: replicas may not know yet that the slot is theirs.
                    place = Place::primary(map.owner(slot));
                    asking = false;
                }
                Answer::Elsewhere(Redirection::Ask(address)) => {
                    let number = self.shared.map.borrow_mut().number(&address);
                    place = Place::primary(usize::from(number));
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
        place: Place,
        replies: usize,
        keep: bool,
        asking: bool,
    ) -> Result<Answer, Failure> {
        let Self {
            shared,
            links,
            asked,
            request,
            answer,
            ..
        } = self;
        asked.push(place.server);
        let link = link(links, shared, place).await?;
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
            .then(|| redirection(bytes, host(shared.map.borrow().address(place.server))))
            .flatten();
        let mut outcome = judge(&first, bytes);
        for number in 1..replies {
            let (reply, bytes) = link.receive().await?;
            outcome = outcome.and_then(|()| judge(&reply, bytes)).and_then(|()| {
                // With replicas to wait for, the last reply is that of WAIT.
                let wanted = if number + 1 == replies {
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
    place: Place,
) -> Result<&'a mut Link, Failure> {
    let Place { server, role } = place;
    if links.len() <= server {
        links.resize_with(server + 1, || None);
    }
    let known = &mut links[server];
    if known.is_none() {
        let address = shared.map.borrow().address(server).to_owned();
        *known = Some(shared.open(&address, role).await?);
    }
    Ok(known.as_mut().expect("it was just made"))
}

fn judge(reply: &Reply, bytes: &[u8]) -> Result<(), Failure> {
    if reply.head == Head::Error {
        Err(server_error(bytes))
    } else {
        Ok(())
    }
}

/// Whether a reply tells that something was written.
fn acknowledged(reply: &Reply) -> Result<(), Failure> {
    match reply.head {
        Head::Status | Head::Integer(_) => Ok(()),
        _ => Err(Failure::new(
            Fault::Protocol,
            "an acknowledgement was expected",
        )),
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
