//! Servers that answer what they are asked, or fail as a test wants them to fail, whatever protocol
//! they speak.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Notify, oneshot};
use tokio::task::{JoinSet, LocalSet, spawn_local};
use tokio::time::{Instant, sleep_until, timeout};

pub use self::cassandra::Cassandra;
pub use self::mongodb::Mongodb;
pub use self::redis::Redis;

#[path = "../mongodb/bson.rs"]
mod bson;
mod cassandra;
pub mod driven;
mod mongodb;
mod redis;
#[path = "../scratch/mod.rs"]
pub mod scratch;

/// How a database is spoken to, as far as the engine speaks to it.
pub trait Protocol: Send + Sync {
    /// The driver's name in plans.
    fn driver(&self) -> &'static str;

    /// The topology of one server, in plans.
    fn topology(&self) -> &'static str {
        "single"
    }

    /// Whether the clients of one engine share their connections.
    fn shares(&self) -> bool {
        false
    }

    /// Length of the request that `heard` begins with; None while it is not whole.
    fn whole(&self, heard: &[u8]) -> Option<usize>;

    /// What a whole request is about.
    fn asked(&self, request: &[u8]) -> Asked;

    /// The answer to a request for an operation.
    fn answer(&self, request: &[u8], how: How) -> Vec<u8>;
}

/// One server of each database.
pub fn every() -> [Arc<dyn Protocol>; 3] {
    [
        Arc::new(Cassandra::default()),
        Arc::new(Mongodb),
        Arc::new(Redis::default()),
    ]
}

/// What a request is about.
pub enum Asked {
    /// Something around operations, such as a greeting; with the answer to it.
    Around(Vec<u8>),
    /// An operation on one record.
    Operation {
        /// The record's key.
        key: Vec<u8>,
        /// Whether the record is a new one.
        inserts: bool,
    },
}

/// How an operation is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// It is done.
    Well,
    /// There is no such record.
    Absent,
    /// By an error.
    Refusal,
    /// By a whole message that is no answer to it.
    Nonsense,
}

/// What comes of an operation that comes to harm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Harm {
    /// It is answered otherwise than well.
    Answer(How),
    /// It is answered by bytes of another protocol.
    Garbage,
    /// After half of the answer the server closes the connection.
    Half,
    /// It is never answered.
    Silence,
    /// It is answered well, twice.
    Twice,
}

/// What a server does.
#[derive(Debug, Clone, Copy)]
pub enum Behaviour {
    /// It answers everything well, at once.
    Healthy,
    /// Operations come to harm whose number can be divided by this.
    Every(u64, Harm),
    /// When the operation of this number comes, it says nothing for so long, to nobody.
    Stall(u64, Duration),
    /// It works for so long on each operation, on one after another.
    Slow(Duration),
    /// When the operation of this number comes, it ends all connections, and refuses others for so
    /// long.
    Refuse(u64, Duration),
    /// It answers nothing before so many operations have come.
    Together(u64),
    /// It says nothing at all, not even to a greeting.
    Mute,
    /// It answers everything by bytes of another protocol.
    Babble,
}

/// Bytes that are no message of any of the protocols.
const GARBAGE: &[u8] = b"HTTP/1.1 400 Bad Request\r\n\r\n";

/// Time between two looks whether connections are to be refused.
const LOOK: Duration = Duration::from_millis(2);

/// What a server has seen so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// Connections that it let in.
    pub connections: u64,
    /// Operations that it was asked for.
    pub asked: u64,
    /// Operations that it answered well.
    pub well: u64,
    /// Operations that came to harm.
    pub harmed: u64,
    /// Inserts of a record that was inserted before.
    pub repeated: u64,
    /// The most operations that waited for their answer at a time.
    pub most: u64,
}

#[derive(Default)]
struct Counts {
    connections: AtomicU64,
    asked: AtomicU64,
    well: AtomicU64,
    harmed: AtomicU64,
    repeated: AtomicU64,
    most: AtomicU64,
}

/// A server on a port of its own, which ends with this.
pub struct Server {
    /// Where it listens.
    pub address: SocketAddr,
    /// What it speaks.
    pub protocol: Arc<dyn Protocol>,
    counts: Arc<Counts>,
    /// Dropping it ends the server.
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// It listens when this returns.
    pub fn begin(protocol: &Arc<dyn Protocol>, behaviour: Behaviour) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let counts = Arc::new(Counts::default());
        let (stop, stopped) = oneshot::channel();
        let (spoken, counted) = (protocol.clone(), counts.clone());
        let thread = std::thread::spawn(move || {
            let mut builder = tokio::runtime::Builder::new_current_thread();
            let runtime = builder.enable_all().build().unwrap();
            LocalSet::new().block_on(&runtime, async move {
                let state = Rc::new(State::new(spoken, behaviour, counted));
                spawn_local(accept(state, listener, address));
                let _ = stopped.await;
            });
        });
        Self {
            address,
            protocol: protocol.clone(),
            counts,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// What it has seen so far.
    pub fn seen(&self) -> Seen {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Seen {
            connections: read(&self.counts.connections),
            asked: read(&self.counts.asked),
            well: read(&self.counts.well),
            harmed: read(&self.counts.harmed),
            repeated: read(&self.counts.repeated),
            most: read(&self.counts.most),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What the connections of a server share.
struct State {
    protocol: Arc<dyn Protocol>,
    behaviour: Behaviour,
    counts: Arc<Counts>,
    inserted: RefCell<HashSet<Vec<u8>>>,
    under_way: Cell<u64>,
    /// Nothing is said before this.
    awake: Cell<Instant>,
    /// Everything that came before is worked off by then.
    free: Cell<Instant>,
    /// Until when connections are refused, if they are.
    refusing: Cell<Option<Instant>>,
    gathered: Notify,
}

/// What is said on a connection, and when.
struct Answer {
    bytes: Vec<u8>,
    due: Due,
    /// Whether an operation is answered by it, and how.
    operation: Option<How>,
    /// Until the operation is over.
    _under_way: Option<UnderWay>,
    /// Whether the connection ends with it.
    last: bool,
}

enum Due {
    Now,
    At(Instant),
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
    fn new(protocol: Arc<dyn Protocol>, behaviour: Behaviour, counts: Arc<Counts>) -> Self {
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
    fn answer(self: &Rc<Self>, request: &[u8]) -> Option<Answer> {
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
    async fn until(&self, due: &Due) {
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

/// Let clients in, on and on.
async fn accept(state: Rc<State>, listener: std::net::TcpListener, address: SocketAddr) {
    let mut listener = TcpListener::from_std(listener).unwrap();
    loop {
        let mut open = JoinSet::new();
        let until = loop {
            if let Some(until) = state.refusing.get() {
                break until;
            }
            if let Ok(accepted) = timeout(LOOK, listener.accept()).await {
                let (stream, _) = accepted.unwrap();
                state.counts.connections.fetch_add(1, Ordering::Relaxed);
                stream.set_nodelay(true).unwrap();
                let (reads, writes) = stream.into_split();
                let (answers, said) = unbounded_channel();
                open.spawn_local(hear(state.clone(), reads, answers));
                open.spawn_local(speak(state.clone(), writes, said));
            }
        };
        drop(listener);
        // Keeps the port from others, and refuses connections as long as it does not listen.
        let closed = TcpSocket::new_v4().unwrap();
        closed.set_reuseaddr(true).unwrap();
        closed.bind(address).unwrap();
        // Ends all connections.
        open.shutdown().await;
        sleep_until(until).await;
        state.refusing.set(None);
        listener = closed.listen(1024).unwrap();
    }
}

/// Take what a client asks for, until it goes away.
async fn hear(state: Rc<State>, mut stream: OwnedReadHalf, answers: UnboundedSender<Answer>) {
    let mut heard = Vec::new();
    loop {
        while let Some(length) = state.protocol.whole(&heard) {
            let request: Vec<u8> = heard.drain(..length).collect();
            if let Some(answer) = state.answer(&request)
                && answers.send(answer).is_err()
            {
                return;
            }
        }
        match stream.read_buf(&mut heard).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
    }
}

/// Answer a client in the order in which it asked.
async fn speak(
    state: Rc<State>,
    mut stream: OwnedWriteHalf,
    mut answers: UnboundedReceiver<Answer>,
) {
    while let Some(answer) = answers.recv().await {
        state.until(&answer.due).await;
        if let Some(how) = answer.operation {
            let well = u64::from(how == How::Well);
            state.counts.well.fetch_add(well, Ordering::Relaxed);
        }
        if stream.write_all(&answer.bytes).await.is_err() || answer.last {
            return;
        }
    }
}
