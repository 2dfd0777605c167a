//! A MongoDB that keeps nothing: every record is there, with the fields of YCSB.

use serde_json::{Value, json};

use super::bson::{decode, encode};
use super::{Asked, How, Protocol};

/// Bytes of a message before its document.
const HEAD: usize = 21;

/// See above.
pub struct Mongodb;

impl Protocol for Mongodb {
    fn driver(&self) -> &'static str {
        "mongodb"
    }

    fn whole(&self, heard: &[u8]) -> Option<usize> {
        let length = u32::from_le_bytes(*heard.first_chunk()?) as usize;
        (length <= heard.len()).then_some(length)
    }

    fn asked(&self, request: &[u8]) -> Asked {
        let (name, body) = decode(&request[HEAD..]);
        let key = match name.as_str() {
            "hello" => {
                let hello = json!({"isWritablePrimary": true, "ok": 1.0});
                return Asked::Around(message(request, &hello));
            }
            "find" => &body["filter"]["_id"],
            "insert" => &body["documents"][0]["_id"],
            other => panic!("{other}"),
        };
        Asked::Operation {
            key: key.as_str().unwrap().as_bytes().to_vec(),
            inserts: name == "insert",
        }
    }

    fn answer(&self, request: &[u8], how: How) -> Vec<u8> {
        let (name, body) = decode(&request[HEAD..]);
        let answer = match (how, name.as_str()) {
            (How::Refusal, _) => {
                json!({"ok": 0.0, "code": 8000, "errmsg": "as it was meant to be"})
            }
            (How::Nonsense, _) => json!({"ok": 1.0}),
            (How::Absent, _) => page(&[]),
            (How::Well, "insert") => json!({"n": 1, "ok": 1.0}),
            (How::Well, _) => page(&[record(&body["filter"]["_id"])]),
        };
        message(request, &answer)
    }
}

fn record(key: &Value) -> Value {
    let mut record = json!({"_id": key});
    for field in 0..10 {
        record[format!("field{field}")] = json!({"$binary": "x".repeat(100)});
    }
    record
}

fn page(records: &[Value]) -> Value {
    json!({"cursor": {"firstBatch": records, "id": 0, "ns": "ycsb.usertable"}, "ok": 1.0})
}

/// A message that answers a request.
fn message(request: &[u8], document: &Value) -> Vec<u8> {
    let body = encode(document);
    let length = u32::try_from(body.len() + HEAD).unwrap().to_le_bytes();
    let rest = [2013_u32, 0].map(u32::to_le_bytes).concat();
    [
        &length[..],
        &[1, 0, 0, 0],
        &request[4..8],
        &rest,
        &[0],
        &body,
    ]
    .concat()
}
