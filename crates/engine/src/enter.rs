//! `enter`: run a program inside a host, in given control groups.
//!
//! This process stays outside as the program's parent and ends as the program does. Unlike
//! `nsenter` it does not stop when the program is stopped, and it tells both process ids.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::libc;
use nix::sched::{CloneFlags, setns};
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, dup2_stderr, dup2_stdout, fork, getpid, setsid};

/// What a shell answers when a program cannot be started.
const CANNOT_START: i32 = 127;

/// All namespaces that a host has of its own.
pub const NAMESPACES: CloneFlags = CloneFlags::CLONE_NEWNS
    .union(CloneFlags::CLONE_NEWPID)
    .union(CloneFlags::CLONE_NEWUTS)
    .union(CloneFlags::CLONE_NEWIPC)
    .union(CloneFlags::CLONE_NEWNET);

/// Arguments of `enter`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Process id of the host's first process.
    #[arg(long)]
    host: i32,
    /// A control group's file that takes the number of a process; may be given several times.
    #[arg(long)]
    join: Vec<PathBuf>,
    /// Most open files, soft and hard.
    #[arg(long)]
    files: u64,
    /// File to append all output to, as the host names it.
    #[arg(long)]
    log: Option<PathBuf>,
    /// Descriptor to which `outer PID` and `inner PID` are written; it is closed when the program
    /// runs.
    #[arg(long)]
    report: RawFd,
    /// The program and its arguments.
    #[arg(last = true, required = true)]
    argv: Vec<std::ffi::OsString>,
}

/// Run the program to its end, and end as it did.
pub fn enter(arguments: &Arguments) -> io::Result<()> {
    // SAFETY: the caller hands this descriptor over, and nothing else here uses it.
    let mut report = File::from(unsafe { OwnedFd::from_raw_fd(arguments.report) });
    fcntl(&report, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    let groups: Vec<File> = arguments
        .join
        .iter()
        .map(|path| OpenOptions::new().write(true).open(path))
        .collect::<io::Result<_>>()?;
    join(arguments.host, NAMESPACES)?;
    // SAFETY: this program has one thread here, so the child may do anything.
    match unsafe { fork() }? {
        ForkResult::Parent { child } => {
            report.write_all(format!("outer {child}\n").as_bytes())?;
            drop(report);
            drop(groups);
            end_as(waitpid(child, None)?)
        }
        ForkResult::Child => {
            let error = become_program(arguments, &groups, &mut report);
            eprintln!(
                "dunnage-engine: {}: {error}",
                arguments.argv[0].to_string_lossy()
            );
            std::process::exit(CANNOT_START);
        }
    }
}

/// Join namespaces of a process in one step, so that a host that is ending is never half entered.
pub fn join(process: i32, namespaces: CloneFlags) -> io::Result<()> {
    // SAFETY: plain numbers; the kernel returns a new descriptor or an error.
    let answer = unsafe { libc::syscall(libc::SYS_pidfd_open, process, 0) };
    if answer < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just returned this descriptor, and no one else owns it.
    let process = unsafe { OwnedFd::from_raw_fd(answer as i32) };
    Ok(setns(process, namespaces)?)
}

/// Take on the program's surroundings, then the program; returns only what went wrong.
fn become_program(arguments: &Arguments, groups: &[File], report: &mut File) -> io::Error {
    match prepare(arguments, groups, report) {
        Ok(()) => Command::new(&arguments.argv[0])
            .args(&arguments.argv[1..])
            .exec(),
        Err(error) => error,
    }
}

fn prepare(arguments: &Arguments, groups: &[File], report: &mut File) -> io::Result<()> {
    setsid()?;
    for mut group in groups {
        group.write_all(b"0")?;
    }
    setrlimit(Resource::RLIMIT_NOFILE, arguments.files, arguments.files)?;
    if let Some(path) = &arguments.log {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        let log = OpenOptions::new().append(true).create(true).open(path)?;
        dup2_stdout(&log)?;
        dup2_stderr(&log)?;
    }
    nix::unistd::chdir("/")?;
    report.write_all(format!("inner {}\n", getpid()).as_bytes())
}

/// End with the same exit code or by the same signal.
fn end_as(status: WaitStatus) -> io::Result<()> {
    match status {
        WaitStatus::Exited(_, code) => std::process::exit(code),
        WaitStatus::Signaled(_, signal, _) => {
            // A core file of this program would say nothing of the one that crashed.
            setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
            end_by(signal)
        }
        other => Err(io::Error::other(format!(
            "the program neither ended nor died: {other:?}"
        ))),
    }
}

fn end_by(signal: Signal) -> io::Result<()> {
    // SAFETY: the default action is restored; no handler runs.
    unsafe { nix::sys::signal::signal(signal, nix::sys::signal::SigHandler::SigDfl) }.ok();
    kill(Pid::this(), signal)?;
    Err(io::Error::other(format!("survived {signal}")))
}
