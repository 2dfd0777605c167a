//! A server, which listens and speaks on a thread of its own.

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::{JoinSet, LocalSet, spawn_local};
use tokio::time::{sleep_until, timeout};

use super::answers::{Answer, State};
use super::seen::{Counts, Seen};
use super::{Behaviour, How, Protocol};

/// Time between two looks whether connections are to be refused.
const LOOK: Duration = Duration::from_millis(2);

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
        self.counts.seen()
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
