//! What one logical thread does with its connections.

use std::rc::Rc;

use super::Shared;
use super::answer::Answer;
use super::bson::Value;
use super::link::Link;
use crate::drive::found::Found;
use crate::drive::{Failure, Fault};
use crate::load::operation::{Kind, Operation};

/// The connections of one logical thread, one to each member that it needs, and its buffer.
pub struct Session {
    shared: Rc<Shared>,
    links: Vec<Option<Link>>,
    /// Members that the last operation was sent to, by their numbers.
    asked: Vec<usize>,
    request: Vec<u8>,
    /// Whose turn it is, where several members may take an operation. Sessions begin at different
    /// ones.
    turn: usize,
}

impl Session {
    pub(super) fn new(shared: Rc<Shared>, turn: usize) -> Self {
        Self {
            shared,
            links: Vec::new(),
            asked: Vec::new(),
            request: Vec::with_capacity(4096),
            turn,
        }
    }

    /// Connect to every member that operations may go to.
    pub async fn connect(&mut self) -> Result<(), Failure> {
        if self.shared.outdated() {
            Box::pin(self.shared.refresh()).await?;
        }
        self.shared.complete()?;
        let wanted = self.shared.members.borrow().wanted();
        for member in wanted {
            link(&mut self.links, &self.shared, member).await?;
        }
        Ok(())
    }

    /// Forget the connections that the last operation used: another member may be slow or away, and
    /// those to the others stay. In a replica set another member may be the primary by now.
    pub fn disconnect(&mut self) {
        for member in self.asked.drain(..) {
            if let Some(link) = self.links.get_mut(member) {
                *link = None;
            }
        }
        self.shared.suspect();
    }

    /// Connections that it has.
    pub fn connections(&self) -> u64 {
        self.links.iter().flatten().count() as u64
    }

    /// Carry out one operation.
    pub async fn perform(
        &mut self,
        operation: &Operation,
        found: &mut Found,
    ) -> Result<(), Failure> {
        self.asked.clear();
        if self.shared.outdated() {
            Box::pin(self.shared.refresh()).await?;
        }
        self.turn = self.turn.wrapping_add(1);
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
        let member = self.shared.reader(self.turn)?;
        self.shared.requests.read(&mut self.request, operation);
        let page = self.command(member).await?.page()?;
        let Some(record) = page.first()? else {
            return Err(not_found());
        };
        if found.wanted() {
            for element in record.elements() {
                if let (name, Value::Binary(value)) = element? {
                    found.add(name, value);
                }
            }
        }
        Ok(())
    }

    async fn update(&mut self, operation: &Operation) -> Result<(), Failure> {
        self.shared.requests.update(&mut self.request, operation);
        match self.write().await? {
            Some(0) => Err(not_found()),
            _ => Ok(()),
        }
    }

    async fn insert(&mut self, operation: &Operation) -> Result<(), Failure> {
        self.shared.requests.insert(&mut self.request, operation);
        match self.write().await? {
            Some(0) => Err(Failure::new(
                Fault::Protocol,
                "the server says that it inserted nothing, and not why",
            )),
            _ => Ok(()),
        }
    }

    async fn scan(&mut self, operation: &Operation) -> Result<(), Failure> {
        let member = self.shared.reader(self.turn)?;
        self.shared.requests.scan(&mut self.request, operation);
        let mut records = 0;
        loop {
            let page = self.command(member).await?.page()?;
            records += page.count()?;
            let cursor = page.cursor;
            if cursor == 0 {
                break;
            }
            self.shared.requests.more(&mut self.request, cursor);
        }
        if records == 0 {
            return Err(Failure::new(
                Fault::NotFound,
                "the collection has no key from this one on",
            ));
        }
        Ok(())
    }

    /// Send the request, which writes, to the primary or a router. Returns how many records it
    /// found or made; None where the server does not say.
    async fn write(&mut self) -> Result<Option<i64>, Failure> {
        let member = self.shared.writer(self.turn)?;
        if self.shared.requests.acknowledged() {
            return Ok(Some(self.command(member).await?.written));
        }
        self.asked.push(member);
        let link = link(&mut self.links, &self.shared, member).await?;
        link.send(&mut self.request).await?;
        Ok(None)
    }

    /// Send the request to a member, and return its answer.
    async fn command(&mut self, member: usize) -> Result<Answer<'_>, Failure> {
        self.asked.push(member);
        let link = link(&mut self.links, &self.shared, member).await?;
        let answer = Answer::read(link.ask(&mut self.request).await?);
        answer.map_err(|refusal| {
            if refusal.primary_is_elsewhere() {
                self.shared.suspect();
            }
            refusal.failure
        })
    }
}

/// The connection to a member, made if it is missing.
async fn link<'a>(
    links: &'a mut Vec<Option<Link>>,
    shared: &Shared,
    member: usize,
) -> Result<&'a mut Link, Failure> {
    if links.len() <= member {
        links.resize_with(member + 1, || None);
    }
    let place = &mut links[member];
    if place.is_none() {
        let address = shared.members.borrow().address(member).to_owned();
        // Boxed, as what is seldom needed: an operation's own future stays small.
        *place = Some(Box::pin(shared.open(&address)).await?);
    }
    Ok(place.as_mut().expect("it was just made"))
}

fn not_found() -> Failure {
    Failure::new(
        Fault::NotFound,
        "the collection has no record with this key",
    )
}
