//! One connection to one server.

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::bson::{Document, Malformed};
use super::message::{self, LONGEST, SHORTEST};
use crate::drive::secure::Stream;
use crate::drive::{Failure, Fault};

/// Room for a record of a kilobyte: ten thousand sessions have one each. It grows on demand.
const FIRST_BUFFER: usize = 4 * 1024;

/// A connection, on which each request is answered before the next one is sent.
pub struct Link {
    stream: Stream,
    incoming: Vec<u8>,
    /// Number of the last request.
    number: u32,
}

impl Link {
    /// Nothing has been sent or received on `stream`.
    pub fn new(stream: Stream) -> Self {
        Self {
            stream,
            incoming: vec![0; FIRST_BUFFER],
            number: 0,
        }
    }

    /// Send a request, in one system call if the kernel takes it whole.
    pub async fn send(&mut self, request: &mut [u8]) -> Result<(), Failure> {
        self.number = self.number.wrapping_add(1);
        message::stamp(request, self.number);
        self.stream.write_all(request).await?;
        Ok(self.stream.flush().await?)
    }

    /// Send a request and wait for its answer, which lasts until the next request.
    pub async fn ask(&mut self, request: &mut [u8]) -> Result<Document<'_>, Failure> {
        self.send(request).await?;
        let length = self.receive().await?;
        message::answer(&self.incoming[..length], self.number)
    }

    /// Read one message to the beginning of the buffer; returns its length.
    async fn receive(&mut self) -> Result<usize, Failure> {
        let (mut read, mut length) = (0, SHORTEST);
        while read < length {
            if self.incoming.len() < length {
                self.incoming.resize(length.next_power_of_two(), 0);
            }
            let more = self.stream.read(&mut self.incoming[read..]).await?;
            if more == 0 {
                return Err(Failure::new(
                    Fault::Connection,
                    "the server closed the connection",
                ));
            }
            read += more;
            if let Some(head) = self.incoming[..read].first_chunk() {
                length = u32::from_le_bytes(*head) as usize;
                if !(SHORTEST..=LONGEST).contains(&length) {
                    return Err(Malformed.into());
                }
            }
        }
        // Nothing else was asked for.
        if read > length {
            return Err(Malformed.into());
        }
        Ok(length)
    }
}
