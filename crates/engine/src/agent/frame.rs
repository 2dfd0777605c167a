//! A message: two lengths, a header of JSON, and bytes.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Bytes of the longest header; whoever sends a longer one speaks another language.
const LONGEST_HEADER: u32 = 16 << 20;

/// Bytes that may follow a header.
const MOST: u32 = 1 << 30;

/// Read a message; none at the end of the stream.
pub fn read<Header: DeserializeOwned>(
    from: &mut impl Read,
) -> io::Result<Option<(Header, Vec<u8>)>> {
    let Some(header) = length(from)? else {
        return Ok(None);
    };
    let bytes = length(from)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    if header > LONGEST_HEADER || bytes > MOST {
        let what = format!("a message of {header} and {bytes} bytes is too long");
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    let text = exactly(from, header)?;
    let content = exactly(from, bytes)?;
    Ok(Some((serde_json::from_slice(&text)?, content)))
}

/// Write a message in one piece.
pub fn write(to: &mut impl Write, header: &impl Serialize, bytes: &[u8]) -> io::Result<()> {
    let text = serde_json::to_vec(header)?;
    let mut message = Vec::with_capacity(8 + text.len() + bytes.len());
    for part in [&text[..], bytes] {
        let length = u32::try_from(part.len()).map_err(io::Error::other)?;
        message.extend(length.to_be_bytes());
    }
    message.extend(text);
    message.extend(bytes);
    to.write_all(&message)
}

/// A length; none where the stream ends before it.
fn length(from: &mut impl Read) -> io::Result<Option<u32>> {
    let mut bytes = [0; 4];
    let mut filled = 0;
    while filled < bytes.len() {
        match from.read(&mut bytes[filled..]) {
            Ok(0) if filled == 0 => return Ok(None),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Some(u32::from_be_bytes(bytes)))
}

fn exactly(from: &mut impl Read, count: u32) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; count as usize];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_back_as_they_were_written_until_the_end() {
        let mut stream = Vec::new();
        write(&mut stream, &"one", b"\x00\xff").unwrap();
        write(&mut stream, &"two", b"").unwrap();
        let mut from = stream.as_slice();
        let one: (String, Vec<u8>) = read(&mut from).unwrap().unwrap();
        assert_eq!(one, ("one".to_owned(), vec![0, 255]));
        let two: (String, Vec<u8>) = read(&mut from).unwrap().unwrap();
        assert_eq!(two, ("two".to_owned(), vec![]));
        assert!(read::<String>(&mut from).unwrap().is_none());
    }

    #[test]
    fn what_is_cut_off_or_too_long_is_an_error() {
        let mut stream = Vec::new();
        write(&mut stream, &"one", b"bytes").unwrap();
        let cut = &stream[..stream.len() - 1];
        assert!(read::<String>(&mut &cut[..]).is_err());
        assert!(read::<String>(&mut &cut[..2]).is_err());
        let long = [0xff; 8];
        let error = read::<String>(&mut &long[..]).unwrap_err();
        assert!(error.to_string().contains("too long"));
    }
}
