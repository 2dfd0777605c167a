//! The connections of this process as the kernel tells them, whatever a driver believes.

use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::RawFd;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nix::libc;
use nix::sys::socket::{SockaddrStorage, getpeername};

/// Time between two looks.
const INTERVAL: Duration = Duration::from_secs(1);
/// The state of an established connection, of `tcpi_state` in `tcp(7)`.
const ESTABLISHED: u8 = 1;

/// Far ends of connections.
type Remotes = BTreeSet<SocketAddr>;

/// The far ends of all TCP connections that this process holds now, one for each connection.
///
/// Each open file is asked about. The kernel's table of connections would be read in pieces, and
/// tell those of a busy machine twice or not at all.
pub fn established() -> io::Result<Vec<SocketAddr>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(Path::new("/proc/self/fd"))? {
        let name = entry?.file_name();
        let number: Option<RawFd> = name.to_str().and_then(|name| name.parse().ok());
        found.extend(number.and_then(remote));
    }
    Ok(found)
}

/// The far end of an open file, if that is an established TCP connection.
fn remote(number: RawFd) -> Option<SocketAddr> {
    if state(number)? != ESTABLISHED {
        return None;
    }
    let far: SockaddrStorage = getpeername(number).ok()?;
    if let Some(four) = far.as_sockaddr_in() {
        return Some(SocketAddr::new(IpAddr::V4(four.ip()), four.port()));
    }
    let six = far.as_sockaddr_in6()?;
    Some(SocketAddr::new(six.ip().to_canonical(), six.port()))
}

/// The state of an open file, if that is a TCP connection: the first byte of what `TCP_INFO` tells.
fn state(number: RawFd) -> Option<u8> {
    let (mut state, mut length) = (0_u8, 1);
    // SAFETY: the kernel writes no more than one byte.
    let answer = unsafe {
        libc::getsockopt(
            number,
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut state).cast(),
            &raw mut length,
        )
    };
    (answer == 0).then_some(state)
}

/// Collects the far ends seen by looking once a second, on a thread of its own and of low
/// priority, because asking about thousands of files would hold up the thread that makes load.
pub struct Watch {
    seen: Arc<Mutex<Remotes>>,
    /// Dropping it ends the thread.
    _stop: Sender<()>,
}

impl Watch {
    /// Look now, and then once a second.
    pub fn begin() -> io::Result<Self> {
        let seen = Arc::new(Mutex::new(established()?.into_iter().collect()));
        let (stop, stopped) = channel();
        let shared = seen.clone();
        std::thread::Builder::new()
            .name("connected".to_owned())
            .spawn(move || {
                // SAFETY: a plain system call on this thread; without the right to it nothing
                // changes.
                unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, 19) };
                while stopped.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                    // A look that fails here fails in `Watch::seen` too, and is an error there.
                    if let Ok(found) = established() {
                        drop(add(&shared, found));
                    }
                }
            })?;
        Ok(Self { seen, _stop: stop })
    }

    /// Look once more, and tell everything seen so far.
    pub fn seen(&self) -> io::Result<Remotes> {
        Ok(add(&self.seen, established()?).clone())
    }
}

/// Everything seen so far, with what was found now.
fn add(seen: &Mutex<Remotes>, found: Vec<SocketAddr>) -> MutexGuard<'_, Remotes> {
    let mut all = seen.lock().unwrap_or_else(PoisonError::into_inner);
    all.extend(found);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    #[test]
    fn far_ends_are_of_either_family_and_one_of_the_older_is_told_as_such() {
        for address in ["127.0.0.1", "::1", "::ffff:127.0.0.1"] {
            let address: IpAddr = address.parse().unwrap();
            let Ok(listener) = TcpListener::bind((address, 0)) else {
                assert!(address.is_ipv6(), "a machine may be without it");
                continue;
            };
            let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let port = near.peer_addr().unwrap().port();
            let expected = SocketAddr::new(address.to_canonical(), port);
            assert_eq!(remote(near.as_raw_fd()), Some(expected));
            // What listens has no far end.
            assert_eq!(remote(listener.as_raw_fd()), None);
        }
        let (one, _other) = UnixStream::pair().unwrap();
        assert_eq!(remote(one.as_raw_fd()), None);
    }

    #[test]
    fn a_connection_is_seen_from_its_beginning_to_its_end_and_remembered() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let remote = listener.local_addr().unwrap();
        let watch = Watch::begin().unwrap();
        assert!(!watch.seen().unwrap().contains(&remote));
        let stream = TcpStream::connect(remote).unwrap();
        assert!(watch.seen().unwrap().contains(&remote));
        drop(stream);
        assert!(!established().unwrap().contains(&remote));
        assert!(watch.seen().unwrap().contains(&remote));
    }
}
