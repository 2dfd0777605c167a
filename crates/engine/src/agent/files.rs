//! Files of the host.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::thread;
use std::time::Duration;

/// How often a directory is tried to be removed into which somebody still writes.
const TRIES: u32 = 20;

/// Between two of these.
const AGAIN: Duration = Duration::from_millis(50);

/// Write a file, making its directories; nobody may do more with it than `mode` says, at no time.
pub fn put(path: &Path, mode: u32, content: &[u8]) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        DirBuilder::new().recursive(true).create(parent)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(mode);
    let mut file = options.open(path)?;
    file.set_permissions(Permissions::from_mode(mode))?;
    file.write_all(content)
}

/// Read a file; none if there is no such file.
pub fn get(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(content) => Ok(Some(content)),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Remove a file, or a directory with all in it, if it is there. A link is not followed.
///
/// A server that was killed, or shall be, may still write into a directory while it is emptied.
pub fn remove(path: &Path) -> io::Result<()> {
    for _ in 1..TRIES {
        match remove_once(path) {
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => thread::sleep(AGAIN),
            done => return done,
        }
    }
    remove_once(path)
}

fn remove_once(path: &Path) -> io::Result<()> {
    let found = match fs::symlink_metadata(path) {
        Err(error) if is_missing(&error) => return Ok(()),
        other => other?,
    };
    if found.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_put_read_and_removed() {
        let top = std::env::temp_dir().join(format!("files-{}", std::process::id()));
        let file = top.join("below/file");
        put(&file, 0o600, b"longer").unwrap();
        put(&file, 0o640, b"new").unwrap();
        assert_eq!(get(&file).unwrap(), Some(b"new".to_vec()));
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        assert_eq!(get(&file.join("below")).unwrap(), None);
        let link = top.join("link");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        remove(&link).unwrap();
        assert!(file.exists());
        remove(&top).unwrap();
        assert_eq!(get(&file).unwrap(), None);
        remove(&top).unwrap();
        assert!(get(Path::new("/")).is_err());
    }

    #[test]
    fn a_directory_is_removed_though_somebody_still_writes_into_it() {
        let top = std::env::temp_dir().join(format!("written-{}", std::process::id()));
        fs::create_dir(&top).unwrap();
        let place = top.clone();
        let writing = thread::spawn(move || {
            let files = (0..2000).map(|number| fs::write(place.join(number.to_string()), "more"));
            files.take_while(Result::is_ok).count()
        });
        remove(&top).unwrap();
        writing.join().unwrap();
        assert!(!top.exists());
    }
}
