//! `rest`: do nothing, and thereby hold this process's network namespace for others.

use std::io;

use nix::sys::signal::{SigHandler, SigSet, Signal, signal};

/// Stay until TERM or INT. The first process of a container never sees a signal that it leaves to
/// its default; one that is blocked waits to be taken.
pub fn rest() -> io::Result<()> {
    let mut told = SigSet::empty();
    told.add(Signal::SIGTERM);
    told.add(Signal::SIGINT);
    told.thread_block()?;
    // SAFETY: no handler is installed; ignoring makes the kernel reap adopted orphans.
    unsafe { signal(Signal::SIGCHLD, SigHandler::SigIgn) }?;
    told.wait()?;
    Ok(())
}
