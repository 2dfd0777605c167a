//! `speak`: join standard input and output to the socket of an agent.
//!
//! It is what a channel runs. When either side ends, so does this; the agent goes on.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread;

/// Bytes that are carried at once.
const MOST: usize = 65_536;

/// Arguments of `speak`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The agent's socket.
    #[arg(long)]
    socket: PathBuf,
}

/// Carry both directions until the agent ends or standard input does.
pub fn speak(arguments: &Arguments) -> io::Result<()> {
    let socket = UnixStream::connect(&arguments.socket)?;
    let mut to = socket.try_clone()?;
    thread::spawn(move || {
        // Whatever ends it, the agent shall see that nobody speaks any more.
        carry(&mut io::stdin().lock(), &mut to).ok();
        to.shutdown(Shutdown::Both).ok();
    });
    // Standard output of Rust waits for the end of a line, and messages have none.
    let mut out = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    carry(&mut &socket, &mut out)
}

/// Carry bytes as they come, until their end.
fn carry(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut bytes = vec![0; MOST];
    loop {
        match from.read(&mut bytes) {
            Ok(0) => return Ok(()),
            Ok(count) => to.write_all(&bytes[..count])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_carried_to_their_end() {
        let sent: Vec<u8> = (0..200_000_u32).map(|number| number as u8).collect();
        let mut got = Vec::new();
        carry(&mut sent.as_slice(), &mut got).unwrap();
        assert_eq!(got, sent);
    }
}
