//! The commands for one record, in either shape, and what their answers hold.

use super::resp::{Head, Reply, command, number_word, texts, word, word_by};
use super::shape::Shape;
use crate::drive::found::Found;
use crate::drive::{Failure, Fault};
use crate::load::core::values::Values;
use crate::load::hash::java;
use crate::load::operation::{Fields, Operation};

/// The sorted set of all keys, with their hash codes as scores, beside hashes.
pub const INDEX: &[u8] = b"_indices";

/// Writes commands; made once per load.
pub struct Requests {
    values: Values,
    shape: Shape,
    wait: Option<(u32, u32)>,
}

impl Requests {
    /// `wait`: replicas that acknowledge each write, and for how many milliseconds they may take.
    pub fn new(values: Values, shape: Shape, wait: Option<(u32, u32)>) -> Self {
        Self {
            values,
            shape,
            wait,
        }
    }

    /// How records are kept.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Read fields of one record.
    pub fn read(&self, out: &mut Vec<u8>, key: &[u8], fields: Fields) {
        let all = self.values.names();
        let asked = fields.range(all.len());
        match self.shape {
            Shape::Hash if fields == Fields::All => {
                command(out, 2);
                word(out, b"HGETALL");
                word(out, key);
            }
            Shape::Hash => {
                let names = &all[asked];
                command(out, 2 + names.len());
                word(out, b"HMGET");
                word(out, key);
                for name in names {
                    word(out, name.as_bytes());
                }
            }
            Shape::String { field: Some(field) } if asked.len() < all.len() => {
                command(out, 4);
                word(out, b"GETRANGE");
                word(out, key);
                word(out, (asked.start * field).to_string().as_bytes());
                word(out, (asked.end * field - 1).to_string().as_bytes());
            }
            Shape::String { .. } => {
                command(out, 2);
                word(out, b"GET");
                word(out, key);
            }
        }
    }

    /// Write the operation's fields. Returns the number of replies.
    pub fn write(&self, out: &mut Vec<u8>, operation: &Operation) -> usize {
        let key = operation.key.as_bytes();
        let all = self.values.names();
        let written = self.values.written(operation);
        let write = |field, out: &mut Vec<u8>| self.values.write(operation, field, out);
        match self.shape {
            Shape::Hash => {
                command(out, 2 + 2 * written.len());
                word(out, b"HSET");
                word(out, key);
                for field in written {
                    word(out, all[field].as_bytes());
                    word_by(out, |out| write(field, out));
                }
            }
            Shape::String { field: Some(field) } if written.len() < all.len() => {
                command(out, 4);
                word(out, b"SETRANGE");
                word(out, key);
                word(out, (written.start * field).to_string().as_bytes());
                word_by(out, |out| written.for_each(|field| write(field, out)));
            }
            Shape::String { .. } => {
                command(out, 3);
                word(out, b"SET");
                word(out, key);
                word_by(out, |out| written.for_each(|field| write(field, out)));
            }
        }
        1
    }

    /// Whether a record that a read was answered with is there: a hash that is not is empty, or
    /// nothing but nulls for the fields asked for; a string that is not is null, or an empty part.
    pub fn found(&self, reply: &Reply) -> Result<(), Failure> {
        let there = match (self.shape, reply.head) {
            (Shape::Hash, Head::Array(elements)) => elements.unwrap_or(0) > reply.nulls,
            (Shape::String { .. }, Head::Bulk(length)) => length.unwrap_or(0) > 0,
            _ => return Err(Failure::new(Fault::Protocol, "a record was expected")),
        };
        if there {
            Ok(())
        } else {
            Err(Failure::new(Fault::NotFound, "the record is not there"))
        }
    }

    /// The fields in the answer to a read of `fields`, for those who compare them.
    pub fn hand_back(
        &self,
        answer: &[u8],
        fields: Fields,
        found: &mut Found,
    ) -> Result<(), Failure> {
        let texts =
            texts(answer).ok_or_else(|| Failure::new(Fault::Protocol, "a record was expected"))?;
        let all = self.values.names();
        let names = &all[fields.range(all.len())];
        match self.shape {
            Shape::Hash if fields == Fields::All => {
                for pair in texts.chunks_exact(2) {
                    if let [Some(name), Some(value)] = pair {
                        found.add(name, value);
                    }
                }
            }
            Shape::Hash => {
                for (name, text) in names.iter().zip(texts) {
                    if let Some(value) = text {
                        found.add(name.as_bytes(), value);
                    }
                }
            }
            Shape::String { field } => {
                let record = texts.into_iter().flatten().next().unwrap_or_default();
                let length = field.unwrap_or(record.len());
                for (place, name) in names.iter().enumerate() {
                    // The last one has all that is left, so that too much is seen.
                    let end = if place + 1 == names.len() {
                        record.len()
                    } else {
                        record.len().min((place + 1) * length)
                    };
                    let begin = end.min(place * length);
                    found.add(name.as_bytes(), &record[begin..end]);
                }
            }
        }
        Ok(())
    }

    /// Put the key into the index. Returns the number of replies.
    pub fn index(out: &mut Vec<u8>, key: &[u8]) -> usize {
        command(out, 4);
        word(out, b"ZADD");
        word(out, INDEX);
        number_word(out, i64::from(java(key)));
        word(out, key);
        1
    }

    /// Ask the index for the keys of a scan.
    pub fn scan(out: &mut Vec<u8>, operation: &Operation) {
        command(out, 7);
        word(out, b"ZRANGEBYSCORE");
        word(out, INDEX);
        number_word(out, i64::from(java(operation.key.as_bytes())));
        word(out, b"+inf");
        word(out, b"LIMIT");
        word(out, b"0");
        number_word(out, i64::from(operation.length));
    }

    /// Replicas that must acknowledge each write.
    pub fn replicas(&self) -> i64 {
        self.wait.map_or(0, |(replicas, _)| i64::from(replicas))
    }

    /// Wait until the replicas have every write of this connection so far, if that is asked for.
    /// Returns the number of replies.
    pub fn wait(&self, out: &mut Vec<u8>) -> usize {
        let Some((replicas, milliseconds)) = self.wait else {
            return 0;
        };
        command(out, 3);
        word(out, b"WAIT");
        number_word(out, i64::from(replicas));
        number_word(out, i64::from(milliseconds));
        1
    }
}

#[cfg(test)]
mod tests;
