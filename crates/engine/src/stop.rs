//! Being told to end: by TERM or INT, or because the parent has ended.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::time::TimeSpec;
use nix::unistd::{Pid, getppid};

/// From its making on, TERM and INT no longer kill this process but end its waiting.
pub struct Stop {
    signals: SignalFd,
    parent: Pid,
}

impl Stop {
    /// Begin to heed. Threads must be started later, so that they inherit it.
    pub fn heed() -> nix::Result<Self> {
        let mut set = SigSet::empty();
        set.add(Signal::SIGTERM);
        set.add(Signal::SIGINT);
        set.thread_block()?;
        let signals = SignalFd::with_flags(&set, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
        Ok(Self {
            signals,
            parent: getppid(),
        })
    }

    /// Wait until `moment`; true as soon as it is time to end.
    ///
    /// The parent is compared, not signalled for: the kernel's own signal comes already when the
    /// thread that started us ends.
    pub fn by(&self, moment: Instant) -> nix::Result<bool> {
        loop {
            if getppid() != self.parent {
                return Ok(true);
            }
            let left = moment.saturating_duration_since(Instant::now());
            let slice = left.min(Duration::from_millis(200));
            let mut waiting = [PollFd::new(self.signals.as_fd(), PollFlags::POLLIN)];
            match ppoll(&mut waiting, Some(TimeSpec::from_duration(slice)), None) {
                Ok(0) if slice == left => return Ok(false),
                Ok(0) | Err(Errno::EINTR) => {}
                Ok(_) => return Ok(true),
                Err(error) => return Err(error),
            }
        }
    }
}
