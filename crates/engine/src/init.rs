//! `init`: the first process of a host that is made of namespaces.
//!
//! It makes the namespaces, prints `host PID` and then `ready`, and holds standard input. When that
//! ends, its owner is gone, and it ends too: with it the kernel removes every process, mount and
//! interface of the host. A byte `k` there says that the host is to be kept, whatever becomes of
//! the owner.

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nix::mount::{MsFlags, mount};
use nix::sched::unshare;
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{SigHandler, Signal, signal};
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, fork, pause, sethostname};

use crate::enter::NAMESPACES;
use crate::mounts::Tree;

/// Where every host finds this program, whatever its own `/tmp` hides.
const ENGINE: &str = "/run/dunnage/engine";

/// Where programs read which system they are on: in the first of them that is there.
const MACHINE_IDS: [&str; 2] = ["/etc/machine-id", "/var/lib/dbus/machine-id"];

/// Arguments of `init`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Name of the host.
    #[arg(long)]
    name: String,
    /// A file that the host shall see as `/etc/hosts`.
    #[arg(long)]
    hosts: PathBuf,
    /// A file that the host shall see as `/etc/machine-id`, where this machine has one.
    #[arg(long)]
    machine_id: PathBuf,
    /// A control group's file that takes the number of a process; may be given several times.
    #[arg(long)]
    join: Vec<PathBuf>,
}

/// Make the host and stay until it ends.
pub fn init(arguments: &Arguments) -> io::Result<()> {
    let engine = Tree::of(Path::new("/proc/self/exe"))?;
    unshare(NAMESPACES)?;
    // SAFETY: this program has one thread here, so the child may do anything.
    match unsafe { fork() }? {
        ForkResult::Parent { child } => {
            say(&format!("host {child}"))?;
            waitpid(child, None)?;
            Ok(())
        }
        ForkResult::Child => {
            set_pdeathsig(Signal::SIGKILL)?;
            // SAFETY: no handler is installed; ignoring makes the kernel reap adopted orphans.
            unsafe { signal(Signal::SIGCHLD, SigHandler::SigIgn) }?;
            for file in &arguments.join {
                fs::write(file, "0")?;
            }
            furnish(arguments, &engine)?;
            say("ready")?;
            guard();
            Ok(())
        }
    }
}

/// Give the host its own name, file systems and view of the processes.
fn furnish(arguments: &Arguments, engine: &Tree) -> io::Result<()> {
    sethostname(&arguments.name)?;
    let none = None::<&str>;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)?;
    let hosts = Some(&arguments.hosts);
    mount(hosts, "/etc/hosts", none, MsFlags::MS_BIND, none)?;
    let machine_id = Some(&arguments.machine_id);
    for path in MACHINE_IDS.map(Path::new) {
        if path.exists() {
            mount(machine_id, path, none, MsFlags::MS_BIND, none)?;
        }
    }
    for (path, mode) in [("/run", 0o755), ("/tmp", 0o1777), ("/dev/shm", 0o1777)] {
        mount(Some("tmpfs"), path, Some("tmpfs"), MsFlags::empty(), none)?;
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    }
    mount(Some("proc"), "/proc", Some("proc"), MsFlags::empty(), none)?;
    fs::create_dir("/run/lock")?;
    engine.show_read_only(Path::new(ENGINE))
}

/// Return when the owner is gone, unless it said before that the host is to be kept.
fn guard() {
    let mut byte = [0];
    loop {
        match io::stdin().read(&mut byte) {
            Ok(1) if byte == *b"k" => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(1..) => {}
            Ok(0) | Err(_) => return,
        }
    }
    loop {
        pause();
    }
}

fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes())?;
    out.flush()
}
