//! The directory of an agent, and those of agents before it that were killed.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use super::files;

/// Name of this program in the directory.
const ENGINE: &str = "engine";

/// A directory of an agent's own. Its lock ends with the agent, however that ends, and tells others
/// whether somebody lives there.
pub struct Scratch {
    path: PathBuf,
    _held: Flock<File>,
}

impl Scratch {
    /// Make the directory, empty but for this program: an agent before may have been killed.
    pub fn furnish(path: &Path, engine: &[u8]) -> io::Result<Self> {
        files::remove(path)?;
        fs::create_dir_all(path)?;
        let held = hold(path)?; // before anything is in it, see `is_abandoned`
        // A server's settings may have a password, and its node has other users.
        fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
        files::put(&path.join(ENGINE), 0o755, engine)?;
        Ok(Self {
            path: path.to_owned(),
            _held: held,
        })
    }

    /// Remove it, and the directories above it that nothing else is in.
    pub fn vacate(self) -> io::Result<()> {
        files::remove(&self.path)?;
        for above in self.path.ancestors().skip(1) {
            if fs::remove_dir(above).is_err() {
                break;
            }
        }
        Ok(())
    }
}

/// Remove what agents of other testbeds left that were killed with their node, say; it says so.
///
/// The directory of an agent is in that of its testbed, and those of all testbeds lie side by side.
pub fn sweep(own: &Path) -> io::Result<()> {
    let mut above = own.ancestors().skip(1);
    let (Some(testbed), Some(all)) = (above.next(), above.next()) else {
        return Ok(());
    };
    for other in below(all)?.iter().filter(|other| *other != testbed) {
        for left in below(other)? {
            if is_abandoned(&left)? {
                eprintln!("dunnage-engine: {}: its agent was killed", left.display());
                files::remove(&left)?;
                fs::remove_dir(other).ok(); // the last one's
            }
        }
    }
    Ok(())
}

/// Whether something is in a directory of an agent that lives no more.
fn is_abandoned(directory: &Path) -> io::Result<bool> {
    if below(directory)?.is_empty() {
        return Ok(false); // of an agent that is about to hold it
    }
    match hold(directory) {
        Ok(_) => Ok(true),
        Err(error) if is(&error, Errno::EWOULDBLOCK) || is(&error, Errno::ENOENT) => Ok(false),
        Err(error) => Err(error),
    }
}

fn hold(directory: &Path) -> io::Result<Flock<File>> {
    let locked = Flock::lock(File::open(directory)?, FlockArg::LockExclusiveNonblock);
    locked.map_err(|(_, errno)| errno.into())
}

fn is(error: &io::Error, errno: Errno) -> bool {
    error.raw_os_error() == Some(errno as i32)
}

/// What is in a directory; nothing where there is none.
fn below(directory: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(directory) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(error) if is(&error, Errno::ENOENT) || is(&error, Errno::ENOTDIR) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("{name}-{}", std::process::id()))
    }

    #[test]
    fn a_directory_is_furnished_and_vacated_with_what_is_empty_above() {
        let top = place("furnished");
        fs::create_dir_all(&top).unwrap();
        fs::write(top.join("others"), "stay").unwrap();
        let path = top.join("nodes/db-1");
        drop(Scratch::furnish(&path, b"program").unwrap());
        assert_eq!(fs::read(path.join(ENGINE)).unwrap(), b"program");
        fs::create_dir(path.join("members")).unwrap();
        let scratch = Scratch::furnish(&path, b"newer").unwrap();
        assert_eq!(fs::read(path.join(ENGINE)).unwrap(), b"newer");
        assert!(!path.join("members").exists());
        scratch.vacate().unwrap();
        assert_eq!(fs::read_dir(&top).unwrap().count(), 1);
        fs::remove_dir_all(&top).unwrap();
    }

    #[test]
    fn what_killed_agents_left_is_swept_and_the_living_are_left_alone() {
        let top = place("swept");
        let furnished = |path: &str| Scratch::furnish(&top.join(path), b"program").unwrap();
        drop(furnished("dead/db-1"));
        drop(furnished("half/db-1"));
        drop(furnished("own/db-2"));
        let living = [furnished("half/db-2"), furnished("own/db-1")];
        fs::create_dir_all(top.join("begun/db-1")).unwrap();
        fs::write(top.join("file"), "of nobody").unwrap();
        sweep(&top.join("own/db-1")).unwrap();
        let mut left: Vec<_> = below(&top).unwrap();
        left.sort();
        assert_eq!(
            left,
            ["begun", "file", "half", "own"].map(|name| top.join(name))
        );
        assert_eq!(below(&top.join("half")).unwrap(), [top.join("half/db-2")]);
        assert_eq!(below(&top.join("own")).unwrap().len(), 2);
        drop(living);
        fs::remove_dir_all(&top).unwrap();
    }

    #[test]
    fn nothing_is_swept_where_there_is_nothing() {
        sweep(Path::new("/")).unwrap();
        sweep(&place("nowhere").join("own/db-1")).unwrap();
    }
}
