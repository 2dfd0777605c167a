//! What a server says to requests, and when.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::seen::Counts;
use super::{Asked, Behaviour, Harm, How, Protocol};

/// Bytes that are no message of any of the protocols.
const GARBAGE: &[u8] = b"HTTP/1.1 400 Bad Request\r\n\r\n";

/// What the connections of a server share.
pub struct State {
    /// What it speaks.
    pub protocol: Arc<dyn Protocol>,
    behaviour: Behaviour,
    /// What it has seen.
    pub counts: Arc<Counts>,
    inserted: RefCell<HashSet<Vec<u8>>>,
    under_way: Cell<u64>,
    /// Nothing is said before this.
    awake: Cell<Instant>,
    /// Everything that came before is worked off by then.
    free: Cell<Instant>,
    /// Until when connections are refused, if they are.
    pub refusing: Cell<Option<Instant>>,
    gathered: Notify,
}

/// What is said on a connection, and when.
pub struct Answer {
    /// What is said.
    pub bytes: Vec<u8>,
    /// Not before.
    pub due: Due,
    /// Whether an operation is answered by it, and how.
    pub operation: Option<How>,
    /// Until the operation is over.
    _under_way: Option<UnderWay>,
    /// Whether the connection ends with it.
    pub last: bool,
}

/// When something is said.
pub enum Due {
    /// At once.
    Now,
    /// At an instant.
    At(Instant),
    /// When so many operations have come.
    Together(u64),
}

impl Answer {
    fn now(bytes: Vec<u8>, operation: Option<How>) -> Self {
        Self {
            bytes,
            due: Due::Now,
            operation,
            _under_way: None,
            last: false,
        }
    }
}

/// Counts an operation as one that waits for its answer.
struct UnderWay(Rc<State>);

impl UnderWay {
    fn begin(state: &Rc<State>) -> Self {
        let under_way = state.under_way.get() + 1;
        state.under_way.set(under_way);
        state.counts.most.fetch_max(under_way, Ordering::Relaxed);
        Self(state.clone())
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.under_way.set(self.0.under_way.get() - 1);
    }
}

impl State {
    /// One that has seen nothing yet.
    pub fn new(protocol: Arc<dyn Protocol>, behaviour: Behaviour, counts: Arc<Counts>) -> Self {
        let now = Instant::now();
        Self {
            protocol,
            behaviour,
            counts,
            inserted: RefCell::default(),
            under_way: Cell::new(0),
            awake: Cell::new(now),
            free: Cell::new(now),
            refusing: Cell::new(None),
            gathered: Notify::new(),
        }
    }

    /// What is said to a request; None where nothing is.
    pub fn answer(self: &Rc<Self>, request: &[u8]) -> Option<Answer> {
        match self.behaviour {
            Behaviour::Mute => return None,
            Behaviour::Babble => return Some(Answer::now(GARBAGE.to_vec(), None)),
            _ => {}
        }
        match self.protocol.asked(request) {
            Asked::Around(answer) => Some(Answer::now(answer, None)),
            Asked::Operation { key, inserts } => {
                let number = self.counts.asked.fetch_add(1, Ordering::Relaxed) + 1;
                if inserts && !self.inserted.borrow_mut().insert(key) {
                    self.counts.repeated.fetch_add(1, Ordering::Relaxed);
                }
                let under_way = UnderWay::begin(self);
                let answer = self.operation(request, number)?;
                Some(Answer {
                    _under_way: Some(under_way),
                    ..answer
                })
            }
        }
    }

    /// What is said to the operation of a number.
    fn operation(&self, request: &[u8], number: u64) -> Option<Answer> {
        let well = self.protocol.answer(request, How::Well);
        let mut answer = Answer::now(well, Some(How::Well));
        match self.behaviour {
            Behaviour::Every(every, harm) if number.is_multiple_of(every) => {
                self.counts.harmed.fetch_add(1, Ordering::Relaxed);
                return self.harmed(request, harm, answer);
            }
            Behaviour::Stall(at, length) if number == at => {
                self.awake.set(Instant::now() + length);
            }
            Behaviour::Slow(work) => {
                let done = self.free.get().max(Instant::now()) + work;
                self.free.set(done);
                answer.due = Due::At(done);
            }
            Behaviour::Refuse(at, length) if number == at => {
                self.refusing.set(Some(Instant::now() + length));
                return None;
            }
            Behaviour::Refuse(..) if self.refusing.get().is_some() => return None,
            Behaviour::Together(operations) => {
                if number == operations {
                    self.gathered.notify_waiters();
                }
                answer.due = Due::Together(operations);
            }
            _ => {}
        }
        Some(answer)
    }

    /// What is said to an operation that comes to harm and else would be answered by `well`.
    fn harmed(&self, request: &[u8], harm: Harm, mut well: Answer) -> Option<Answer> {
        match harm {
            Harm::Answer(how) => Some(Answer::now(self.protocol.answer(request, how), Some(how))),
            Harm::Garbage => Some(Answer::now(GARBAGE.to_vec(), Some(How::Nonsense))),
            Harm::Half => {
                well.bytes.truncate(well.bytes.len() / 2);
                well.operation = Some(How::Nonsense);
                well.last = true;
                Some(well)
            }
            Harm::Silence => None,
            Harm::Twice => {
                well.bytes = well.bytes.repeat(2);
                Some(well)
            }
        }
    }

    /// Wait until an answer is to be said.
    pub async fn until(&self, due: &Due) {
        match due {
            Due::Now => {}
            Due::At(instant) => sleep_until(*instant).await,
            Due::Together(operations) => {
                while self.counts.asked.load(Ordering::Relaxed) < *operations {
                    self.gathered.notified().await;
                }
            }
        }
        while Instant::now() < self.awake.get() {
            sleep_until(self.awake.get()).await;
        }
    }
}
