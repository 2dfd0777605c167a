//! Who is who in a replica set: asked of its members, at the addresses that they advertise.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::task::{JoinSet, spawn_local};

use super::Shared;
use super::hello::Hello;
use super::members::{Told, primary};
use super::message::message;
use super::settings::{Preference, Topology};
use crate::drive::{Failure, Fault};

/// Members that did not answer are asked again after this, if reads could go to them: MongoDB's
/// own drivers may take five times as long to see that one is back.
const AGAIN: Duration = Duration::from_secs(2);
/// Questions to a member, of which the fastest answer tells how near it is.
const QUESTIONS: usize = 5;

/// Questions under way, one to each address.
struct Inquiry {
    shared: Rc<Shared>,
    asked: BTreeSet<String>,
    questions: JoinSet<(String, Result<Told, Failure>)>,
}

impl Inquiry {
    fn ask(&mut self, address: &str) {
        if self.asked.insert(address.to_owned()) {
            let (shared, address) = (self.shared.clone(), address.to_owned());
            self.questions.spawn_local(async move {
                let told = shared.question(&address).await;
                (address, told)
            });
        }
    }
}

/// That somebody asks who is who, for everybody: meanwhile the others go by what is known. Who gives
/// up before everything is learnt leaves the question to the next one.
struct Asking<'a> {
    shared: &'a Shared,
    learnt: bool,
}

impl<'a> Asking<'a> {
    fn begin(shared: &'a Shared) -> Self {
        shared.asking.set(true);
        shared.stale.set(false);
        Self {
            shared,
            learnt: false,
        }
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.shared.asking.set(false);
        if !self.learnt {
            self.shared.suspect();
        }
    }
}

impl Shared {
    /// Whether it must be asked anew who is who, and nobody does so yet.
    pub(super) fn outdated(&self) -> bool {
        self.stale.get() && !self.asking.get()
    }

    /// Ask everybody heard of, and learn who takes writes and who takes reads. The error is that of
    /// somebody who did not answer, where nobody did.
    pub(super) async fn refresh(self: &Rc<Self>) -> Result<(), Failure> {
        let mut asking = Asking::begin(self);
        let mut inquiry = Inquiry {
            shared: self.clone(),
            asked: BTreeSet::new(),
            questions: JoinSet::new(),
        };
        let known = self.members.borrow().addresses().to_vec();
        for address in known.iter().chain(&self.settings.addresses) {
            inquiry.ask(address);
        }
        let (mut told, mut failures) = (Vec::new(), BTreeMap::new());
        while let Some(Ok((address, answer))) = inquiry.questions.join_next().await {
            match answer {
                Ok(one) => {
                    for host in &one.hello.hosts {
                        inquiry.ask(host);
                    }
                    // A dead member is not waited for where the primary takes everything.
                    let enough = one.hello.primary
                        && one.hello.hosts.contains(&address)
                        && self.settings.preference == Preference::Primary;
                    told.push(one);
                    if enough {
                        break;
                    }
                }
                Err(failure) => {
                    failures.insert(address, failure);
                }
            }
        }
        self.learn(told, failures)?;
        asking.learnt = true;
        Ok(())
    }

    /// Members are those that the set advertises: what else answered is one of them by another
    /// name.
    fn learn(
        self: &Rc<Self>,
        mut told: Vec<Told>,
        mut failures: BTreeMap<String, Failure>,
    ) -> Result<(), Failure> {
        let Some(authority) = primary(&told).or_else(|| told.first()) else {
            let failure = failures.pop_first().map(|(_, failure)| failure);
            return Err(failure.unwrap_or_else(|| no_answer("the replica set")));
        };
        let hosts = authority.hello.hosts.clone();
        told.retain(|one| hosts.contains(&one.address));
        let preference = self.settings.preference;
        self.members.borrow_mut().learn(&told, preference);
        let missing = hosts.iter().find_map(|host| failures.remove(host));
        let missing = missing.filter(|_| preference != Preference::Primary);
        if missing.is_some() {
            self.look_again();
        }
        *self.missing.borrow_mut() = missing;
        Ok(())
    }

    fn look_again(self: &Rc<Self>) {
        if self.looking.replace(true) {
            return;
        }
        let shared = Rc::downgrade(self);
        spawn_local(async move {
            tokio::time::sleep(AGAIN).await;
            if let Some(shared) = shared.upgrade() {
                shared.looking.set(false);
                if shared.refresh().await.is_err() {
                    shared.look_again();
                }
            }
        });
    }

    /// Ask one member who it is.
    async fn question(&self, address: &str) -> Result<Told, Failure> {
        let answer = tokio::time::timeout(self.settings.patience, self.told(address)).await;
        answer.unwrap_or_else(|_| Err(no_answer(&format!("`{address}`"))))
    }

    async fn told(&self, address: &str) -> Result<Told, Failure> {
        let (mut link, hello) = self.reach(address).await?;
        if let Some(reason) = self.stranger(&hello) {
            return Err(Failure::lasting(format!("`{address}` {reason}")));
        }
        let mut delay = Duration::MAX;
        if self.settings.preference == Preference::Nearest {
            let mut request = Vec::new();
            message(&mut request, 0, |body| {
                body.integer("ping", 1);
                body.text("$db", "admin");
            });
            for _ in 0..QUESTIONS {
                let begun = Instant::now();
                link.ask(&mut request).await?;
                delay = delay.min(begun.elapsed());
            }
        }
        Ok(Told {
            address: address.to_owned(),
            hello,
            delay,
        })
    }

    /// Why who said this is not a member of the replica set that is driven.
    fn stranger(&self, hello: &Hello) -> Option<String> {
        match (&hello.set, &self.settings.set) {
            (None, _) => {
                Some("is not a member of a replica set; drive it without `replicaSet`".to_owned())
            }
            (Some(set), Some(wanted)) if set != wanted => Some(format!(
                "is a member of the replica set `{set}`, not of `{wanted}`; type: replicaSet={set}"
            )),
            _ => None,
        }
    }

    /// Whether everybody that operations may go to was reached; a load does not begin before.
    pub(super) fn complete(&self) -> Result<(), Failure> {
        if let Some(failure) = &*self.missing.borrow() {
            return Err(failure.clone());
        }
        self.writer(0)?;
        self.reader(0).map(|_| ())
    }

    /// The member for a write.
    pub(super) fn writer(&self, turn: usize) -> Result<usize, Failure> {
        let writer = self.members.borrow().writer(turn);
        writer.ok_or_else(|| self.lost("the replica set has no primary".to_owned()))
    }

    /// The member for a read.
    pub(super) fn reader(&self, turn: usize) -> Result<usize, Failure> {
        let reader = self.members.borrow().reader(turn);
        reader.ok_or_else(|| {
            let preference = self.settings.preference.name();
            self.lost(format!(
                "the replica set has no member for `readPreference={preference}`"
            ))
        })
    }

    /// Nobody takes an operation: ask again before the next one.
    fn lost(&self, message: String) -> Failure {
        self.suspect();
        Failure::new(Fault::Connection, message)
    }

    /// Who is who may have changed.
    pub(super) fn suspect(&self) {
        self.stale.set(self.settings.topology == Topology::Replicas);
    }
}

fn no_answer(who: &str) -> Failure {
    Failure::new(
        Fault::Timeout,
        format!("{who} did not say in time who it is"),
    )
}
