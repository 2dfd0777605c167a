//! A server that answers as a test wants it to answer.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::bson::{decode, encode};

/// What a client asked for.
pub struct Command {
    /// The command's name, which is that of its first element.
    pub name: String,
    /// The whole document.
    pub body: Value,
    /// Number of the connection, from 0.
    pub connection: u32,
    /// Whether the client waits for an answer.
    pub waits: bool,
}

/// What the server does then.
pub enum Reply {
    /// Answer with a document.
    Document(Value),
    /// Answer with bytes that are no message.
    Garbage(&'static [u8]),
    /// Close the connection.
    Close,
}

/// A listener on a port of its own, and its address.
pub fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// Answer every command of every connection.
pub fn serve(listener: TcpListener, answer: impl Fn(&Command) -> Reply + Send + Sync + 'static) {
    let answer = Arc::new(answer);
    let connections = AtomicU32::new(0);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, answer) = (stream.unwrap(), answer.clone());
            let connection = connections.fetch_add(1, Ordering::Relaxed);
            std::thread::spawn(move || converse(stream, connection, &*answer));
        }
    });
}

fn converse(mut stream: TcpStream, connection: u32, answer: &dyn Fn(&Command) -> Reply) {
    stream.set_nodelay(true).unwrap();
    while let Some((number, command)) = receive(&mut stream, connection) {
        match answer(&command) {
            Reply::Document(document) if command.waits => {
                let body = encode(&document);
                let length = u32::try_from(body.len() + 21).unwrap();
                let head = [length, 1, number, 2013, 0].map(u32::to_le_bytes).concat();
                if stream
                    .write_all(&[&head[..], &[0], &body].concat())
                    .is_err()
                {
                    return;
                }
            }
            Reply::Document(_) => {}
            Reply::Garbage(bytes) => {
                let _ = stream.write_all(bytes);
            }
            Reply::Close => return,
        }
    }
}

/// The next message and its number; None at the end of the connection.
fn receive(stream: &mut TcpStream, connection: u32) -> Option<(u32, Command)> {
    let mut head = [0; 21];
    stream.read_exact(&mut head).ok()?;
    let field = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().unwrap());
    assert_eq!((field(8), field(12), head[20]), (0, 2013, 0));
    let mut body = vec![0; field(0) as usize - head.len()];
    stream.read_exact(&mut body).ok()?;
    let (name, body) = decode(&body);
    let command = Command {
        name,
        body,
        connection,
        waits: field(16) == 0,
    };
    assert!(matches!(field(16), 0 | 2), "the flags are known");
    Some((field(4), command))
}

/// Records by their keys.
#[derive(Default)]
pub struct Store(pub Mutex<BTreeMap<String, Value>>);

impl Store {
    /// How a server without replication answers.
    pub fn answer(&self, command: &Command) -> Reply {
        Reply::Document(match command.name.as_str() {
            "hello" => json!({"isWritablePrimary": true, "ok": 1.0}),
            "insert" => self.insert(&command.body["documents"][0]),
            "update" => self.update(&command.body["updates"][0]),
            "find" => self.find(&command.body),
            _ => unknown(),
        })
    }

    fn insert(&self, record: &Value) -> Value {
        let key = record["_id"].as_str().unwrap().to_owned();
        let mut records = self.0.lock().unwrap();
        if records.contains_key(&key) {
            let error = json!({"index": 0, "code": 11000, "errmsg": "E11000 duplicate key"});
            return json!({"n": 0, "writeErrors": [error], "ok": 1.0});
        }
        records.insert(key, record.clone());
        json!({"n": 1, "ok": 1.0})
    }

    fn update(&self, update: &Value) -> Value {
        let key = update["q"]["_id"].as_str().unwrap();
        let mut records = self.0.lock().unwrap();
        if update["upsert"] == true {
            records.insert(key.to_owned(), update["u"].clone());
            return json!({"n": 1, "ok": 1.0});
        }
        let Some(record) = records.get_mut(key) else {
            return json!({"n": 0, "nModified": 0, "ok": 1.0});
        };
        for (name, value) in update["u"]["$set"].as_object().unwrap() {
            record[name] = value.clone();
        }
        json!({"n": 1, "nModified": 1, "ok": 1.0})
    }

    fn find(&self, asked: &Value) -> Value {
        let records = self.0.lock().unwrap();
        let key = &asked["filter"]["_id"];
        let limit = usize::try_from(asked["limit"].as_u64().unwrap()).unwrap();
        let batch: Vec<Value> = if let Some(key) = key.as_str() {
            records.get(key).cloned().into_iter().collect()
        } else {
            let first = key["$gte"].as_str().unwrap();
            let found = records.range(first.to_owned()..).take(limit);
            found.map(|(_, record)| record.clone()).collect()
        };
        json!({"cursor": {"firstBatch": batch, "id": 0, "ns": "ycsb.usertable"}, "ok": 1.0})
    }
}

/// How a server answers a command that it does not know.
pub fn unknown() -> Value {
    json!({"ok": 0.0, "code": 59, "codeName": "CommandNotFound", "errmsg": "no such command"})
}
