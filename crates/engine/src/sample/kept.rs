//! A file of counters that is kept open and read again from its start.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// A file that may not be there yet, or no longer.
pub struct Kept {
    path: PathBuf,
    file: Option<File>,
}

impl Kept {
    /// Nothing is opened before it is read.
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            file: None,
        }
    }

    /// Read all of it into `text`. A file that was removed is looked for anew the next time.
    pub fn read(&mut self, text: &mut String) -> io::Result<()> {
        let read = self.reread(text);
        if read.is_err() {
            self.file = None;
        }
        read
    }

    fn reread(&mut self, text: &mut String) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(File::open(&self.path)?),
        };
        let mut bytes = std::mem::take(text).into_bytes();
        bytes.clear();
        let mut block = [0; 4096];
        loop {
            match file.read_at(&mut block, bytes.len() as u64)? {
                0 => break,
                count => bytes.extend_from_slice(&block[..count]),
            }
        }
        *text =
            String::from_utf8(bytes).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))?;
        Ok(())
    }
}
