//! `agent`: act for the orchestration on a host that it reaches by a channel only.
//!
//! It listens on a socket, to which `speak` joins whoever has a channel. What it starts goes on
//! when a stream breaks, and is asked for again by the next one. When nobody has asked for a while
//! it ends: it kills what it started and removes its directory, so that nothing is left on a host
//! whose user has died.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use nix::sched::CloneFlags;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::unistd::{chdir, getppid};

use self::conversation::converse;
use self::processes::Processes;
use self::scratch::{Scratch, sweep};
use self::units::Units;
use crate::enter::join;
use crate::stop::Stop;

mod conversation;
mod files;
mod frame;
mod processes;
mod program;
mod scratch;
mod units;

/// What a node's programs see that its pods do not: its files, its network, its name, and control
/// groups by their paths from its top.
const OF_NODE: CloneFlags = CloneFlags::CLONE_NEWNS
    .union(CloneFlags::CLONE_NEWNET)
    .union(CloneFlags::CLONE_NEWUTS)
    .union(CloneFlags::CLONE_NEWIPC)
    .union(CloneFlags::CLONE_NEWCGROUP);

/// Between two looks at whether it is time to end.
const LOOK: Duration = Duration::from_millis(500);

/// Arguments of `agent`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The socket to listen on, for this user only.
    #[arg(long)]
    socket: PathBuf,
    /// A directory of its own on the host, with this program in it; removed at the end.
    #[arg(long)]
    scratch: PathBuf,
    /// Seconds after which it ends, if nobody asked for anything.
    #[arg(long)]
    silence: f64,
    /// Most open files of what it starts, if the host allows as many.
    #[arg(long)]
    files: u64,
    /// Be on the node and not in the pod that this process is in: it shares the node's process ids,
    /// and the parent of its parent is the node's container runtime.
    #[arg(long)]
    node: bool,
}

/// Act until told to end, or until nobody has asked for a while.
pub fn agent(arguments: &Arguments) -> io::Result<()> {
    let stop = Stop::heed()?;
    let engine = fs::read("/proc/self/exe")?;
    let listener = listen(&arguments.socket)?;
    if arguments.node {
        enter_node()?;
    }
    chdir("/")?;
    let scratch = Scratch::furnish(&arguments.scratch, &engine)?;
    drop(engine);
    if arguments.node
        && let Err(error) = sweep(&arguments.scratch)
    {
        eprintln!("dunnage-engine: what killed agents left cannot be removed: {error}");
    }
    allow_files(arguments.files)?;
    let units = if arguments.node {
        Units::own()?
    } else {
        Units::default()
    };
    let processes = Arc::new(Processes::new(units));
    let heard = Arc::clone(&processes);
    thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let processes = Arc::clone(&heard);
            thread::spawn(move || converse(connection, &processes));
        }
    });
    let silence = Duration::from_secs_f64(arguments.silence);
    while processes.silent_for() < silence && !stop.by(Instant::now() + LOOK)? {}
    processes.kill_all();
    scratch.vacate()
}

/// A socket that nobody but this user can connect to.
fn listen(path: &Path) -> io::Result<UnixListener> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Join the namespaces in which paths mean what they mean to the node and its pods' mounts.
///
/// Those are of the container runtime: it may have other mounts than the node's first process. Only
/// this process joins them. The container's first one, its parent, stays where it is: commands that
/// are run in the container later are where that is.
fn enter_node() -> io::Result<()> {
    let first = getppid();
    let status = fs::read_to_string(format!("/proc/{first}/status"))?;
    match parent(&status) {
        None | Some(0) => Err(io::Error::other(
            "the pod does not share its node's process ids",
        )),
        Some(runtime) => join(runtime, OF_NODE),
    }
}

/// The parent that `/proc/PID/status` tells; 0 for one outside.
fn parent(status: &str) -> Option<i32> {
    let told = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    told.trim().parse().ok()
}

fn allow_files(most: u64) -> io::Result<()> {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    let allowed = most.min(hard);
    Ok(setrlimit(Resource::RLIMIT_NOFILE, allowed, allowed)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_is_told_by_the_status() {
        assert_eq!(parent("Name:\tsh\nPPid:\t4711\nUid:\t0\n"), Some(4711));
        assert_eq!(parent("Name:\tPPid: 3\n"), None);
        let own = fs::read_to_string("/proc/self/status").unwrap();
        assert_eq!(parent(&own), Some(getppid().as_raw()));
    }
}
