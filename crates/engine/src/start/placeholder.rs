//! What stands for a member's address in files and arguments until it starts.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::Path;

/// The placeholder of one member, and what it stands for.
pub struct Placeholder {
    text: String,
    address: String,
}

impl Placeholder {
    /// That of `member`; those of other members are none of its.
    pub fn new(member: &str, address: Ipv4Addr) -> Self {
        Self {
            text: format!("@late:{member}@"),
            address: address.to_string(),
        }
    }

    /// A text with the address in every place; None when there is no place.
    pub fn fill(&self, text: &[u8]) -> Option<Vec<u8>> {
        let (mut filled, mut rest) = (Vec::new(), text);
        while let Some(at) = find(rest, self.text.as_bytes()) {
            filled.extend_from_slice(&rest[..at]);
            filled.extend_from_slice(self.address.as_bytes());
            rest = &rest[at + self.text.len()..];
        }
        let any = rest.len() < text.len();
        filled.extend_from_slice(rest);
        any.then_some(filled)
    }

    /// Fill in a file; one without a place is not written.
    pub fn fill_file(&self, path: &Path) -> io::Result<()> {
        match self.fill(&fs::read(path)?) {
            // In a container the directory may be read-only, or the file alone be mounted.
            Some(text) => replace(path, &text).or_else(|_| fs::write(path, text)),
            None => Ok(()),
        }
    }
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

/// Put a new file with the same mode and owner in the place of the old one, so that nobody reads a
/// half of it.
fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let path = path.canonicalize()?;
    let old = path.metadata()?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".filled");
    let sibling = path.with_file_name(name);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&sibling)?;
    file.write_all(text)
        .and_then(|()| fchown(&file, Some(old.uid()), Some(old.gid())))
        .and_then(|()| file.set_permissions(Permissions::from_mode(old.mode())))
        .and_then(|()| fs::rename(&sibling, &path))
        .inspect_err(|_| drop(fs::remove_file(&sibling)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str) -> Option<String> {
        let placeholder = Placeholder::new("db-1", Ipv4Addr::new(10, 0, 0, 2));
        let bytes = placeholder.fill(text.as_bytes());
        bytes.map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn every_place_of_this_member_is_filled_in_and_no_other() {
        assert_eq!(
            filled("@late:db-1@:7000,@late:db-10@,@late:db-1@").unwrap(),
            "10.0.0.2:7000,@late:db-10@,10.0.0.2"
        );
        assert_eq!(filled("@late:db-1@").unwrap(), "10.0.0.2");
    }

    #[test]
    fn a_text_without_a_place_stays_as_it_is() {
        for text in ["", "@late:db-1", "@late:db-2@", "mail@late:db-1 @"] {
            assert_eq!(filled(text), None);
        }
    }
}
