//! A Redis that keeps nothing: every hash is there, with the fields of YCSB.

use std::sync::OnceLock;

use super::{Asked, How, Protocol};

/// See above.
#[derive(Default)]
pub struct Redis {
    /// What it answers to `CLUSTER SLOTS`.
    pub slots: OnceLock<Vec<u8>>,
}

impl Protocol for Redis {
    fn driver(&self) -> &'static str {
        "redis"
    }

    fn whole(&self, heard: &[u8]) -> Option<usize> {
        words(heard).map(|(_, length)| length)
    }

    fn asked(&self, request: &[u8]) -> Asked {
        let (words, _) = words(request).unwrap();
        match (words[0], words.get(1)) {
            (command @ (b"HSET" | b"HGETALL"), Some(key)) => Asked::Operation {
                key: key.to_vec(),
                inserts: command == b"HSET",
            },
            (b"PING", _) => Asked::Around(b"+PONG\r\n".to_vec()),
            (b"AUTH", _) => Asked::Around(b"+OK\r\n".to_vec()),
            (b"CLUSTER", _) => Asked::Around(self.slots.get().unwrap().clone()),
            // The index beside the records.
            (b"ZADD", _) => Asked::Around(b":1\r\n".to_vec()),
            (other, _) => panic!("{}", String::from_utf8_lossy(other)),
        }
    }

    fn answer(&self, request: &[u8], how: How) -> Vec<u8> {
        let (words, _) = words(request).unwrap();
        match (how, words[0]) {
            (How::Refusal, _) => b"-ERR as it was meant to be\r\n".to_vec(),
            (How::Nonsense, _) => b"$-1\r\n".to_vec(),
            (How::Absent, _) => b"*0\r\n".to_vec(),
            (How::Well, b"HSET") => b":10\r\n".to_vec(),
            (How::Well, _) => record(),
        }
    }
}

/// The fields of a record, and their values.
fn record() -> Vec<u8> {
    let fields = (0..10).map(|field| format!("$6\r\nfield{field}\r\n$100\r\n{:x<100}\r\n", ""));
    let fields: String = fields.collect();
    format!("*20\r\n{fields}").into_bytes()
}

/// The words of the request that `bytes` begin with, and its length; None while it is not whole.
fn words(bytes: &[u8]) -> Option<(Vec<&[u8]>, usize)> {
    let (count, mut at) = number(bytes, 0)?;
    let mut words = Vec::with_capacity(count);
    for _ in 0..count {
        let (length, begin) = number(bytes, at)?;
        words.push(bytes.get(begin..begin + length)?);
        at = begin + length + 2;
    }
    (at <= bytes.len()).then_some((words, at))
}

/// The number in the line at `at`, such as `*2` or `$10`, and where the next one begins.
fn number(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let rest = bytes.get(at..)?;
    let end = rest.windows(2).position(|two| two == b"\r\n")?;
    let digits = std::str::from_utf8(&rest[1..end]).unwrap();
    Some((digits.parse().unwrap(), at + end + 2))
}
