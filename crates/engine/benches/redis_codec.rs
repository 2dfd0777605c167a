//! The engine's own codec of Redis' protocol beside `redis-protocol`, alone and as `fred` uses it.
//!
//! ```text
//! redis_codec ROUNDS OPERATIONS
//! ```
//!
//! Each task is carried out by all codecs in turns, in an order that alternates. For each turn it
//! prints a line of JSON: the task, the codec, how many operations, seconds, and the CPU seconds of
//! this thread. An answer is copied into the codec's buffer first, as the kernel does.

use std::hint::black_box;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use nix::time::{ClockId, clock_gettime};
use redis_protocol::resp2::decode::{decode_bytes_mut, decode_range};
use redis_protocol::resp2::encode::{encode_borrowed, extend_encode};
use redis_protocol::resp2::types::{BorrowedFrame, BytesFrame};

#[path = "../src/drive/redis/resp.rs"]
#[allow(dead_code)]
mod resp;

const KEY: &[u8] = b"user000000001234";
const ROOM: usize = 4096;

/// Does one thing once; the number it returns depends on the result.
type Operation = Box<dyn FnMut() -> usize>;

/// One thing that a client does, and the codecs that can do it.
struct Task {
    name: &'static str,
    codecs: Vec<(&'static str, Operation)>,
}

fn main() {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse());
    let (Some(Ok(rounds)), Some(Ok(operations)), None) =
        (numbers.next(), numbers.next(), numbers.next())
    else {
        eprintln!("usage: redis_codec ROUNDS OPERATIONS");
        std::process::exit(2);
    };
    let value = "x".repeat(1000);
    let mut tasks = vec![
        request("request to read", vec![b"GET", KEY]),
        request("request to write 1 KB", vec![b"SET", KEY, value.as_bytes()]),
        answer("answer to a write", b"+OK\r\n".to_vec()),
        answer("answer of 1 KB", array(&[value.as_bytes()])[4..].to_vec()),
        answer("answer of ten fields of 100 bytes", fields()),
    ];
    for task in &mut tasks {
        same(task);
        for round in 0..rounds {
            turn(task, operations, round % 2 == 1);
        }
    }
}

/// All codecs once.
fn turn(task: &mut Task, operations: u64, backwards: bool) {
    let mut order: Vec<usize> = (0..task.codecs.len()).collect();
    if backwards {
        order.reverse();
    }
    for each in order {
        let (codec, operation) = &mut task.codecs[each];
        let (began, cpu) = (Instant::now(), own_cpu());
        for _ in 0..operations {
            black_box(operation());
        }
        let (seconds, cpu) = (began.elapsed().as_secs_f64(), own_cpu().saturating_sub(cpu));
        let line = serde_json::json!({
            "task": task.name, "codec": codec, "operations": operations,
            "seconds": seconds, "cpu": cpu.as_secs_f64(),
        });
        println!("{line}");
    }
}

/// CPU time of this thread so far.
fn own_cpu() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)
        .expect("the kernel has this clock")
        .into()
}

/// All codecs must come to the same result before anything is measured.
fn same(task: &mut Task) {
    let results: Vec<usize> = task.codecs.iter_mut().map(|(_, once)| once()).collect();
    assert!(
        results.iter().all(|result| *result == results[0]),
        "{}: {results:?}",
        task.name
    );
}

/// Writing one command; the result is its length.
fn request(name: &'static str, words: Vec<&[u8]>) -> Task {
    let words: Vec<Bytes> = words.into_iter().map(Bytes::copy_from_slice).collect();
    let (ours, ranges, fred) = (words.clone(), words.clone(), words);
    let mut out = Vec::with_capacity(ROOM);
    let mut room = vec![0; ROOM];
    let mut buffer = BytesMut::with_capacity(ROOM);
    let codecs: Vec<(&'static str, Operation)> = vec![
        (
            "engine",
            Box::new(move || {
                out.clear();
                resp::command(&mut out, ours.len());
                for word in &ours {
                    resp::word(&mut out, word);
                }
                black_box(&out).len()
            }),
        ),
        (
            "redis-protocol",
            Box::new(move || {
                let frames: Vec<_> = ranges
                    .iter()
                    .map(|word| BorrowedFrame::BulkString(word))
                    .collect();
                let length = encode_borrowed(&mut room, &BorrowedFrame::Array(&frames), true);
                black_box(&room);
                length.expect("there is room")
            }),
        ),
        (
            "fred's codec",
            Box::new(move || {
                buffer.clear();
                // A key is made for each request; long values are handed over as they are.
                let frames = fred.iter().map(|word| {
                    BytesFrame::BulkString(if word.len() == KEY.len() {
                        Bytes::copy_from_slice(word)
                    } else {
                        word.clone()
                    })
                });
                let frame = BytesFrame::Array(frames.collect());
                extend_encode(&mut buffer, &frame, true).expect("it grows");
                black_box(&buffer).len()
            }),
        ),
    ];
    Task { name, codecs }
}

/// Finding the end of one answer, and whether it is an error; the result is its length.
fn answer(name: &'static str, bytes: Vec<u8>) -> Task {
    let (ours, ranges, fred) = (bytes.clone(), bytes.clone(), bytes);
    let (mut own, mut room) = (vec![0; ROOM], vec![0; ROOM]);
    let mut scanner = resp::Scanner::default();
    let mut buffer = BytesMut::with_capacity(ROOM);
    let codecs: Vec<(&'static str, Operation)> = vec![
        (
            "engine",
            Box::new(move || {
                own[..ours.len()].copy_from_slice(black_box(&ours));
                let reply = scanner.scan(&own[..ours.len()]).expect("it is an answer");
                let reply = reply.expect("it is whole");
                assert!(reply.head != resp::Head::Error);
                reply.length
            }),
        ),
        (
            "redis-protocol",
            Box::new(move || {
                room[..ranges.len()].copy_from_slice(black_box(&ranges));
                let frame = decode_range(&room[..ranges.len()]).expect("it is an answer");
                let (frame, length) = frame.expect("it is whole");
                assert!(!matches!(
                    frame,
                    redis_protocol::resp2::types::RangeFrame::Error(_)
                ));
                length
            }),
        ),
        (
            "fred's codec",
            Box::new(move || {
                buffer.extend_from_slice(black_box(&fred));
                let frame = decode_bytes_mut(&mut buffer).expect("it is an answer");
                let (frame, length, _) = frame.expect("it is whole");
                assert!(!matches!(frame, BytesFrame::Error(_)));
                length
            }),
        ),
    ];
    Task { name, codecs }
}

/// A hash of ten fields as a server sends it.
fn fields() -> Vec<u8> {
    let names: Vec<String> = (0..10).map(|number| format!("field{number}")).collect();
    let value = [b'x'; 100];
    let words: Vec<&[u8]> = names
        .iter()
        .flat_map(|name| [name.as_bytes(), &value[..]])
        .collect();
    array(&words)
}

/// An array of strings of the protocol.
fn array(words: &[&[u8]]) -> Vec<u8> {
    let mut out = Vec::new();
    resp::command(&mut out, words.len());
    for word in words {
        resp::word(&mut out, word);
    }
    out
}
