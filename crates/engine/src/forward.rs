//! `forward`: carry connections to addresses of the network that this process is in.
//!
//! What it listens on is reached from outside that network: files, and a socket that it was given.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use nix::sys::stat::{Mode, umask};
use tokio::io::{AsyncRead, AsyncWrite, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio::task::{LocalSet, spawn_local};

/// Arguments of `forward`.
#[derive(clap::Args)]
pub struct Arguments {
    /// `SOCKET=ADDRESS`: the file to listen on, for this user only, and where to carry what comes
    /// in there. May be given several times.
    #[arg(long)]
    pair: Vec<Pair>,
    /// `DESCRIPTOR=ADDRESS`: the same for a socket that listens already.
    #[arg(long)]
    listener: Vec<Given>,
}

/// A file to listen on, and where to.
#[derive(Clone)]
struct Pair {
    socket: PathBuf,
    to: SocketAddr,
}

/// A descriptor that listens, and where to.
#[derive(Clone)]
struct Given {
    descriptor: RawFd,
    to: SocketAddr,
}

impl FromStr for Pair {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (socket, to) = parted(text)?;
        let socket = socket.into();
        Ok(Self { socket, to })
    }
}

impl FromStr for Given {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, to) = parted(text)?;
        let descriptor = number
            .parse()
            .map_err(|_| format!("`{number}` is no descriptor"))?;
        Ok(Self { descriptor, to })
    }
}

fn parted(text: &str) -> Result<(&str, SocketAddr), String> {
    let (from, to) = text
        .rsplit_once('=')
        .ok_or_else(|| format!("`{text}` has no `=`"))?;
    let to = to
        .parse()
        .map_err(|_| format!("`{to}` is not of the form `address:port`"))?;
    Ok((from, to))
}

/// Carry connections until this process is ended.
pub fn forward(arguments: &Arguments) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    LocalSet::new().block_on(&runtime, carry_all(arguments))
}

async fn carry_all(arguments: &Arguments) -> io::Result<()> {
    // Files to listen on are for this user only.
    umask(Mode::from_bits_truncate(0o177));
    let mut tasks = Vec::new();
    for Pair { socket, to } in arguments.pair.clone() {
        remove_left(&socket)?;
        let listener = UnixListener::bind(&socket)?;
        tasks.push(spawn_local(from_file(listener, to)));
    }
    for Given { descriptor, to } in arguments.listener.clone() {
        // SAFETY: the caller hands this descriptor over, and nothing else here uses it.
        let socket = unsafe { OwnedFd::from_raw_fd(descriptor) };
        let listener = std::net::TcpListener::from(socket);
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        tasks.push(spawn_local(from_address(listener, to)));
    }
    for task in tasks {
        task.await??;
    }
    Ok(())
}

/// Remove the socket that a forwarder left when it was killed.
///
/// One that answers is another forwarder's. Like a file that is no socket, it stays, and nothing can
/// listen there.
fn remove_left(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.file_type().is_socket() && UnixStream::connect(path).is_err() => {
            fs::remove_file(path)
        }
        _ => Ok(()),
    }
}

async fn from_file(listener: UnixListener, to: SocketAddr) -> io::Result<()> {
    loop {
        let (from, _) = listener.accept().await?;
        spawn_local(carry(from, to));
    }
}

async fn from_address(listener: TcpListener, to: SocketAddr) -> io::Result<()> {
    loop {
        let (from, _) = listener.accept().await?;
        spawn_local(carry(from, to));
    }
}

/// Carry one connection until both its ends are closed. Who cannot be reached is told by its end.
async fn carry(mut from: impl AsyncRead + AsyncWrite + Unpin, to: SocketAddr) {
    if let Ok(mut there) = TcpStream::connect(to).await {
        let _ = copy_bidirectional(&mut from, &mut there).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::fd::IntoRawFd;
    use std::os::unix::fs::PermissionsExt;
    use std::thread;

    /// A server that answers each line that it is sent with the same in capitals, once.
    fn shouting() -> SocketAddr {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for client in listener.incoming() {
                let mut client = client.unwrap();
                let mut said = String::new();
                client.read_to_string(&mut said).unwrap();
                client.write_all(said.to_uppercase().as_bytes()).unwrap();
            }
        });
        address
    }

    #[test]
    fn what_comes_in_by_a_file_or_a_given_socket_is_carried_there_and_back() {
        let to = shouting();
        let socket = std::env::temp_dir().join(format!("dunnage-forward-{}", std::process::id()));
        let given = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let outside = given.local_addr().unwrap();
        let arguments = Arguments {
            pair: vec![format!("{}={to}", socket.display()).parse().ok().unwrap()],
            listener: vec![
                format!("{}={to}", given.into_raw_fd())
                    .parse()
                    .ok()
                    .unwrap(),
            ],
        };
        thread::spawn(move || forward(&arguments));
        let mut by_socket = loop {
            if let Ok(stream) = UnixStream::connect(&socket) {
                break stream;
            }
            thread::yield_now();
        };
        let mode = fs::metadata(&socket).unwrap().permissions().mode();
        fs::remove_file(&socket).unwrap();
        assert_eq!(mode & 0o777, 0o600);
        let mut by_address = std::net::TcpStream::connect(outside).unwrap();
        by_socket.write_all(b"by file").unwrap();
        by_socket.shutdown(std::net::Shutdown::Write).unwrap();
        by_address.write_all(b"by socket").unwrap();
        by_address.shutdown(std::net::Shutdown::Write).unwrap();
        let (mut one, mut other) = (String::new(), String::new());
        by_socket.read_to_string(&mut one).unwrap();
        by_address.read_to_string(&mut other).unwrap();
        assert_eq!((one.as_str(), other.as_str()), ("BY FILE", "BY SOCKET"));
    }

    #[test]
    fn the_socket_of_a_forwarder_that_was_killed_is_removed_and_nothing_else_is() {
        let place = std::env::temp_dir().join(format!("dunnage-left-{}", std::process::id()));
        let living = std::os::unix::net::UnixListener::bind(&place).unwrap();
        remove_left(&place).unwrap();
        assert!(place.exists(), "one that answers is removed");
        drop(living);
        assert!(place.exists(), "nothing is left of it");
        remove_left(&place).unwrap();
        assert!(!place.exists());
        remove_left(&place).unwrap();
        fs::write(&place, "kept").unwrap();
        remove_left(&place).unwrap();
        assert_eq!(fs::read_to_string(&place).unwrap(), "kept");
        fs::remove_file(&place).unwrap();
    }

    #[test]
    fn what_is_no_pair_is_refused_with_what_is_wrong() {
        let said = |text: &str| text.parse::<Pair>().err().unwrap();
        assert_eq!(said("socket"), "`socket` has no `=`");
        assert_eq!(
            said("socket=here"),
            "`here` is not of the form `address:port`"
        );
        let given = "x=127.0.0.1:1".parse::<Given>().err().unwrap();
        assert_eq!(given, "`x` is no descriptor");
    }
}
