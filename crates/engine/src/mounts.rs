//! `bind`: make a directory of this machine visible inside a host, read-only.
//!
//! The tree is taken hold of before the namespace is entered, so that what a host hides behind its
//! own file systems (`/run`, `/tmp`) can be given to it all the same.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::libc;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns};

/// Arguments of `bind`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Process id of the host's first process.
    #[arg(long)]
    host: i32,
    /// What to show, as this machine names it.
    #[arg(long)]
    source: PathBuf,
    /// Where to show it, as the host names it.
    #[arg(long)]
    target: PathBuf,
}

/// Show a directory or file of this machine in a host. Nothing happens when it is there already.
pub fn bind(arguments: &Arguments) -> io::Result<()> {
    let tree = Tree::of(&arguments.source)?;
    let source = fs::metadata(&arguments.source)?;
    let namespaces = fs::File::open(format!("/proc/{}/ns/mnt", arguments.host))?;
    setns(namespaces, CloneFlags::CLONE_NEWNS)?;
    let there = fs::metadata(&arguments.target);
    if there.is_ok_and(|there| (there.dev(), there.ino()) == (source.dev(), source.ino())) {
        return Ok(());
    }
    tree.show_read_only(&arguments.target)
}

/// A part of a file system, held independently of any namespace.
pub struct Tree {
    hold: OwnedFd,
    directory: bool,
}

impl Tree {
    /// Take hold of what lies at `path`.
    pub fn of(path: &Path) -> io::Result<Self> {
        let directory = fs::metadata(path)?.is_dir();
        let name = CString::new(path.as_os_str().as_bytes())?;
        let flags = libc::OPEN_TREE_CLONE | libc::OPEN_TREE_CLOEXEC;
        // SAFETY: `name` is a NUL-terminated string that outlives the call.
        let answer =
            unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, name.as_ptr(), flags) };
        if answer < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just returned this descriptor, and no one else owns it.
        let hold = unsafe { OwnedFd::from_raw_fd(answer as i32) };
        Ok(Self { hold, directory })
    }

    /// Mount it read-only at `target` in the present mount namespace, making that path.
    pub fn show_read_only(&self, target: &Path) -> io::Result<()> {
        if self.directory {
            fs::create_dir_all(target)?;
        } else {
            if let Some(parent) = target.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::File::create(target)?;
        }
        let name = CString::new(target.as_os_str().as_bytes())?;
        // SAFETY: both strings are NUL-terminated and outlive the call.
        let answer = unsafe {
            libc::syscall(
                libc::SYS_move_mount,
                self.hold.as_raw_fd(),
                c"".as_ptr(),
                libc::AT_FDCWD,
                name.as_ptr(),
                libc::MOVE_MOUNT_F_EMPTY_PATH,
            )
        };
        if answer < 0 {
            return Err(io::Error::last_os_error());
        }
        let flags = MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY;
        mount(None::<&str>, target, None::<&str>, flags, None::<&str>)?;
        Ok(())
    }
}
