//! BSON, as much of it as a load needs: written at the end of a buffer, and looked up in one.

use std::borrow::Cow;

use crate::drive::{Failure, Fault};

const DOUBLE: u8 = 0x01;
const STRING: u8 = 0x02;
const DOCUMENT: u8 = 0x03;
const ARRAY: u8 = 0x04;
const BINARY: u8 = 0x05;
const OBJECT_ID: u8 = 0x07;
const BOOLEAN: u8 = 0x08;
const INT32: u8 = 0x10;
const INT64: u8 = 0x12;

/// The subtype of binary data that is nothing in particular.
const GENERIC: u8 = 0;

/// Adds elements to a document that is being written. Names hold no zero byte.
pub struct Writer<'a>(&'a mut Vec<u8>);

/// Write a document at the end of `out`.
pub fn document(out: &mut Vec<u8>, content: impl FnOnce(&mut Writer<'_>)) {
    let begin = out.len();
    out.extend_from_slice(&[0; 4]);
    content(&mut Writer(out));
    out.push(0);
    let length = (out.len() - begin) as u32;
    out[begin..begin + 4].copy_from_slice(&length.to_le_bytes());
}

impl Writer<'_> {
    fn begin(&mut self, kind: u8, name: &str) {
        self.0.push(kind);
        self.0.extend_from_slice(name.as_bytes());
        self.0.push(0);
    }

    /// A text.
    pub fn text(&mut self, name: &str, value: &str) {
        self.begin(STRING, name);
        let length = value.len() as u32 + 1;
        self.0.extend_from_slice(&length.to_le_bytes());
        self.0.extend_from_slice(value.as_bytes());
        self.0.push(0);
    }

    /// Bytes.
    pub fn binary(&mut self, name: &str, value: &[u8]) {
        self.binary_by(name, |out| out.extend_from_slice(value));
    }

    /// Bytes: all that `write` appends.
    pub fn binary_by(&mut self, name: &str, write: impl FnOnce(&mut Vec<u8>)) {
        self.begin(BINARY, name);
        let length = self.0.len();
        self.0.extend_from_slice(&[0, 0, 0, 0, GENERIC]);
        let begin = self.0.len();
        write(self.0);
        let written = (self.0.len() - begin) as u32;
        self.0[length..length + 4].copy_from_slice(&written.to_le_bytes());
    }

    /// A number of 32 bits.
    pub fn integer(&mut self, name: &str, value: i32) {
        self.begin(INT32, name);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// A number of 64 bits.
    pub fn long(&mut self, name: &str, value: i64) {
        self.begin(INT64, name);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// True or false.
    pub fn boolean(&mut self, name: &str, value: bool) {
        self.begin(BOOLEAN, name);
        self.0.push(u8::from(value));
    }

    /// A document inside this one.
    pub fn document(&mut self, name: &str, content: impl FnOnce(&mut Writer<'_>)) {
        self.begin(DOCUMENT, name);
        document(self.0, content);
    }

    /// An array of one document.
    pub fn only(&mut self, name: &str, content: impl FnOnce(&mut Writer<'_>)) {
        self.begin(ARRAY, name);
        document(self.0, |array| array.document("0", content));
    }
}

/// Bytes that are no BSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed;

impl From<Malformed> for Failure {
    fn from(_: Malformed) -> Self {
        Self::new(Fault::Protocol, "the answer does not follow the protocol")
    }
}

/// A document in a buffer: its elements, without length and end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Document<'a>(&'a [u8]);

/// The value of an element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// A floating-point number.
    Double(f64),
    /// A whole number of either length.
    Integer(i64),
    /// True or false.
    Boolean(bool),
    /// A text, which ought to be UTF-8.
    Text(&'a [u8]),
    /// A document, or an array, which is one whose names are numbers.
    Document(Document<'a>),
    /// Bytes that are nothing in particular.
    Binary(&'a [u8]),
    /// An object's identifier.
    Id(&'a [u8]),
    /// What no load has a use for.
    Other,
}

impl<'a> Value<'a> {
    /// The number, in whole; None for what is no number.
    pub fn integer(self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(number),
            Self::Double(number) => Some(number as i64),
            _ => None,
        }
    }

    /// The text; None for what is no text.
    pub fn text(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Text(text) => Some(String::from_utf8_lossy(text)),
            _ => None,
        }
    }
}

impl<'a> Document<'a> {
    /// The document that begins where `bytes` begin.
    pub fn first_of(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let length = length(bytes).ok_or(Malformed)?;
        match bytes.get(..length) {
            Some([_, _, _, _, elements @ .., 0]) => Ok(Self(elements)),
            _ => Err(Malformed),
        }
    }

    /// Its elements in their order, by name.
    pub fn elements(self) -> Elements<'a> {
        Elements(self.0)
    }

    /// The value of the first element of that name; None if there is none.
    pub fn get(self, name: &str) -> Result<Option<Value<'a>>, Malformed> {
        for element in self.elements() {
            let (known, value) = element?;
            if known == name.as_bytes() {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }
}

/// Elements of a document; an error is the last one.
pub struct Elements<'a>(&'a [u8]);

impl<'a> Iterator for Elements<'a> {
    type Item = Result<(&'a [u8], Value<'a>), Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        let (kind, rest) = self.0.split_first()?;
        let Some((name, value, rest)) = element(*kind, rest) else {
            self.0 = &[];
            return Some(Err(Malformed));
        };
        self.0 = rest;
        Some(Ok((name, value)))
    }
}

/// Name and value of an element, and what comes after it.
fn element(kind: u8, bytes: &[u8]) -> Option<(&[u8], Value<'_>, &[u8])> {
    let (name, bytes) = name(bytes)?;
    let (value, rest) = bytes.split_at_checked(size(kind, bytes)?)?;
    Some((name, decoded(kind, value)?, rest))
}

/// Bytes up to a zero, and what comes after it.
fn name(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == 0)?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

/// The number of 32 bits at the beginning.
fn length(bytes: &[u8]) -> Option<usize> {
    bytes
        .first_chunk()
        .map(|head| u32::from_le_bytes(*head) as usize)
}

/// How many of `bytes` belong to a value of this kind.
fn size(kind: u8, bytes: &[u8]) -> Option<usize> {
    Some(match kind {
        // Also a time, and a timestamp.
        DOUBLE | INT64 | 0x09 | 0x11 => 8,
        // Also a script, and a symbol.
        STRING | 0x0D | 0x0E => length(bytes)?.checked_add(4)?,
        // Also a script with its scope.
        DOCUMENT | ARRAY | 0x0F => length(bytes)?,
        BINARY => length(bytes)?.checked_add(5)?,
        OBJECT_ID => 12,
        BOOLEAN => 1,
        INT32 => 4,
        // Undefined, null, the least and the greatest of all.
        0x06 | 0x0A | 0xFF | 0x7F => 0,
        // A regular expression and its options.
        0x0B => {
            let (_, options) = name(bytes)?;
            let (_, rest) = name(options)?;
            bytes.len() - rest.len()
        }
        // A pointer to a document.
        0x0C => length(bytes)?.checked_add(4 + 12)?,
        // A decimal number.
        0x13 => 16,
        _ => return None,
    })
}

/// The value that `bytes`, of the right number, are.
fn decoded(kind: u8, bytes: &[u8]) -> Option<Value<'_>> {
    Some(match kind {
        DOUBLE => Value::Double(f64::from_le_bytes(bytes.try_into().ok()?)),
        INT32 => Value::Integer(i32::from_le_bytes(bytes.try_into().ok()?).into()),
        INT64 => Value::Integer(i64::from_le_bytes(bytes.try_into().ok()?)),
        BOOLEAN => Value::Boolean(bytes != [0]),
        STRING => match bytes {
            [_, _, _, _, text @ .., 0] => Value::Text(text),
            _ => return None,
        },
        DOCUMENT | ARRAY => Value::Document(Document::first_of(bytes).ok()?),
        BINARY if bytes[4] == GENERIC => Value::Binary(&bytes[5..]),
        OBJECT_ID => Value::Id(bytes),
        _ => Value::Other,
    })
}

#[cfg(test)]
mod tests;
