//! One connection to one server.

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::resp::{Head, Reply, Scanner, Tree, tree};
use crate::drive::secure::Stream;
use crate::drive::{Failure, Fault};

/// Room for a record of a kilobyte: ten thousand sessions have one each. It grows on demand.
const FIRST_BUFFER: usize = 4 * 1024;

/// A connection with the bytes that have come and are not used up.
pub struct Link {
    stream: Stream,
    incoming: Vec<u8>,
    from: usize,
    to: usize,
    scanner: Scanner,
}

impl Link {
    /// Nothing has been sent or received on `stream`.
    pub fn new(stream: Stream) -> Self {
        Self {
            stream,
            incoming: vec![0; FIRST_BUFFER],
            from: 0,
            to: 0,
            scanner: Scanner::default(),
        }
    }

    /// Send a request, in one system call if the kernel takes it whole. What came without being
    /// asked for would be taken for its answer, and is a failure.
    ///
    /// It is seen if it came with the answer before. RESP2 does not number answers, so one too many
    /// that comes alone, after the next request was sent, is not told from the answer to that.
    pub async fn send(&mut self, request: &[u8]) -> Result<(), Failure> {
        if self.from < self.to {
            return Err(Failure::new(
                Fault::Protocol,
                "the server answered more than it was asked",
            ));
        }
        self.stream.write_all(request).await?;
        Ok(self.stream.flush().await?)
    }

    /// The next reply and its bytes, which last until the next call.
    pub async fn receive(&mut self) -> Result<(Reply, &[u8]), Failure> {
        loop {
            let scanned = self
                .scanner
                .scan(&self.incoming[self.from..self.to])
                .map_err(|_| {
                    Failure::new(Fault::Protocol, "the answer does not follow the protocol")
                })?;
            if let Some(reply) = scanned {
                let begin = self.from;
                self.from += reply.length;
                return Ok((reply, &self.incoming[begin..self.from]));
            }
            self.make_room();
            let read = self.stream.read(&mut self.incoming[self.to..]).await?;
            if read == 0 {
                return Err(Failure::new(
                    Fault::Connection,
                    "the server closed the connection",
                ));
            }
            self.to += read;
        }
    }

    /// Send a request and read its reply as a tree; an error reply is a failure.
    pub async fn ask(&mut self, request: &[u8]) -> Result<Tree, Failure> {
        self.send(request).await?;
        let (reply, bytes) = self.receive().await?;
        if reply.head == Head::Error {
            return Err(server_error(bytes));
        }
        tree(bytes, 0)
            .map(|(tree, _)| tree)
            .ok_or_else(|| Failure::new(Fault::Protocol, "the answer does not follow the protocol"))
    }

    fn make_room(&mut self) {
        if self.from == self.to {
            (self.from, self.to) = (0, 0);
        } else if self.to == self.incoming.len() {
            if self.from > 0 {
                self.incoming.copy_within(self.from..self.to, 0);
                (self.from, self.to) = (0, self.to - self.from);
            } else {
                self.incoming.resize(2 * self.to, 0);
            }
        }
    }
}

/// The failure that an error reply tells of.
pub fn server_error(bytes: &[u8]) -> Failure {
    let text = String::from_utf8_lossy(bytes);
    Failure::new(Fault::Server, text.trim_start_matches('-').trim_end())
}
