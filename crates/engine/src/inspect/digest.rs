//! The SHA-256 of a file, and of bytes.

use std::fmt::Write;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

/// Hash a file, as lower-case hexadecimal digits.
pub fn sha256(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut block = vec![0; 1 << 16];
    loop {
        match file.read(&mut block)? {
            0 => break,
            count => hash.update(&block[..count]),
        }
    }
    Ok(digits(hash))
}

/// Hash bytes in the same way.
pub fn sha256_of(bytes: &[u8]) -> String {
    digits(Sha256::new_with_prefix(bytes))
}

fn digits(hash: Sha256) -> String {
    let mut text = String::with_capacity(64);
    for byte in hash.finalize() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const OF_ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn the_hash_of_bytes_is_the_well_known_one() {
        assert_eq!(sha256_of(b"abc"), OF_ABC);
    }

    #[test]
    fn the_hash_of_a_file_is_the_well_known_one() {
        let path = std::env::temp_dir().join(format!("digest-{}", std::process::id()));
        std::fs::write(&path, "abc").unwrap();
        let found = sha256(&path);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(found.unwrap(), OF_ABC);
    }
}
