//! The connections of this process as the kernel lists them, whatever a driver believes.

use std::collections::{BTreeSet, HashSet};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Time between two looks.
const INTERVAL: Duration = Duration::from_secs(1);
/// The state of an established connection in the kernel's tables.
const ESTABLISHED: &str = "01";

/// Far ends of connections.
type Remotes = BTreeSet<SocketAddr>;

/// The far ends of all TCP connections that this process holds now, one for each connection.
pub fn established() -> io::Result<Vec<SocketAddr>> {
    let own = own_sockets(Path::new("/proc/self/fd"))?;
    let mut found = Vec::new();
    for table in ["tcp", "tcp6"] {
        match std::fs::read_to_string(Path::new("/proc/self/net").join(table)) {
            Ok(text) => found.extend(remotes(&text, &own)),
            // A kernel without IPv6 has no table of it.
            Err(error) if error.kind() == io::ErrorKind::NotFound && table == "tcp6" => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// Collects the far ends seen by looking once a second, on a thread of its own and of low
/// priority, because reading the kernel's tables would hold up the thread that makes load.
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
                unsafe { nix::libc::setpriority(nix::libc::PRIO_PROCESS, 0, 19) };
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

/// Numbers of the sockets among a process's open files: links that read `socket:[NUMBER]`.
fn own_sockets(directory: &Path) -> io::Result<HashSet<String>> {
    let mut numbers = HashSet::new();
    for entry in std::fs::read_dir(directory)? {
        // A file that is closed meanwhile is no connection any more.
        let Ok(target) = std::fs::read_link(entry?.path()) else {
            continue;
        };
        let name = target.to_string_lossy();
        numbers.extend(
            name.strip_prefix("socket:[")
                .and_then(|rest| rest.strip_suffix(']'))
                .map(str::to_owned),
        );
    }
    Ok(numbers)
}

/// The far ends in one of the kernel's tables: its third column, where the fourth is the state
/// and the tenth the socket's number (`proc_pid_net(5)`).
fn remotes(table: &str, own: &HashSet<String>) -> Vec<SocketAddr> {
    table
        .lines()
        .skip(1)
        .filter_map(|line| {
            let columns: Vec<&str> = line.split_whitespace().collect();
            let (remote, state, number) = (columns.get(2)?, columns.get(3)?, columns.get(9)?);
            (*state == ESTABLISHED && own.contains(*number))
                .then(|| address(remote))
                .flatten()
        })
        .collect()
}

/// `0100007F:2352` is 127.0.0.1:9042: words of four bytes in the machine's order, then the port.
fn address(text: &str) -> Option<SocketAddr> {
    let (host, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let mut bytes = Vec::with_capacity(16);
    for word in host.as_bytes().chunks(8) {
        let word = u32::from_str_radix(std::str::from_utf8(word).ok()?, 16).ok()?;
        bytes.extend(word.to_ne_bytes());
    }
    let host = match <[u8; 4]>::try_from(bytes.as_slice()) {
        Ok(four) => IpAddr::V4(Ipv4Addr::from(four)),
        Err(_) => IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?)).to_canonical(),
    };
    Some(SocketAddr::new(host, port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn far_ends_are_read_as_the_kernel_writes_them() {
        let head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt\n";
        let row = |remote: &str, state: &str, number: u32| {
            format!(
                "   0: 0100007F:A1B2 {remote} {state} 00000000:00000000 00:00000000 00000000     \
                 0        0 {number} 1 0000000000000000 20 4 30 10 -1\n"
            )
        };
        let own = HashSet::from(["7".to_owned()]);
        let table = format!(
            "{head}{}{}{}{}",
            row("0100007F:2352", "01", 7),
            row("0200007F:2352", "01", 8),
            row("0300007F:2352", "06", 7),
            row("0000000000000000FFFF00000400000A:2352", "01", 7),
        );
        let found: Vec<String> = remotes(&table, &own)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(found, ["127.0.0.1:9042", "10.0.0.4:9042"]);
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
