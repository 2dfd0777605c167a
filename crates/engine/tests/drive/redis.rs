//! A Redis that keeps hashes.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What a Redis holds: fields and their values by key.
pub type Records = BTreeMap<Vec<u8>, BTreeMap<Vec<u8>, Vec<u8>>>;

/// A Redis that keeps hashes, and where they are.
pub fn redis() -> (SocketAddr, Arc<Mutex<Records>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let records = Arc::new(Mutex::new(Records::new()));
    let kept = records.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, kept) = (stream.unwrap(), kept.clone());
            std::thread::spawn(move || serve(stream, &kept));
        }
    });
    (address, records)
}

/// What came on each connection: commands without their keys, and what they write.
pub type Heard = Arc<Mutex<Vec<Vec<Vec<Vec<u8>>>>>>;

/// A Redis that keeps nothing and remembers what it heard.
pub fn listening() -> (SocketAddr, Heard) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let heard = Heard::default();
    let kept = heard.clone();
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            kept.lock().unwrap().push(Vec::new());
            let (mut stream, kept) = (stream.unwrap(), kept.clone());
            std::thread::spawn(move || {
                let mut requests = BufReader::new(stream.try_clone().unwrap());
                while let Some(mut words) = request(&mut requests) {
                    let answer = answer(&words, &mut Records::new());
                    if words[0] == b"PING" {
                        // By which a client greets.
                        if stream.write_all(&answer).is_err() {
                            return;
                        }
                        continue;
                    }
                    // A score follows from the key.
                    words.drain(1..if words[0] == b"ZADD" { 4 } else { 2 });
                    kept.lock().unwrap()[number].push(words);
                    if stream.write_all(&answer).is_err() {
                        return;
                    }
                }
            });
        }
    });
    (address, heard)
}

/// A Redis with a record for every key, each of whose answers comes so much later.
pub fn far(delay: Duration) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                let mut requests = BufReader::new(stream.try_clone().unwrap());
                while let Some(words) = request(&mut requests) {
                    std::thread::sleep(delay);
                    let answer: &[u8] = if words[0] == b"PING" {
                        b"+PONG\r\n"
                    } else {
                        b"*2\r\n$1\r\na\r\n$1\r\nb\r\n"
                    };
                    if stream.write_all(answer).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

fn serve(mut stream: TcpStream, records: &Mutex<Records>) {
    let mut requests = BufReader::new(stream.try_clone().unwrap());
    while let Some(words) = request(&mut requests) {
        let answer = answer(&words, &mut records.lock().unwrap());
        if stream.write_all(&answer).is_err() {
            return;
        }
    }
}

/// The words of the next request; None when the client has gone away.
fn request(from: &mut impl BufRead) -> Option<Vec<Vec<u8>>> {
    let count = number(from)?;
    let mut words = Vec::with_capacity(count);
    for _ in 0..count {
        let length = number(from)?;
        let mut word = vec![0; length + 2];
        from.read_exact(&mut word).ok()?;
        word.truncate(length);
        words.push(word);
    }
    Some(words)
}

/// The number in a line such as `*2` or `$10`.
fn number(from: &mut impl BufRead) -> Option<usize> {
    let mut line = String::new();
    from.read_line(&mut line).ok()?;
    line.get(1..)?.trim_end().parse().ok()
}

fn answer(words: &[Vec<u8>], records: &mut Records) -> Vec<u8> {
    match (&*words[0], &words[1..]) {
        (b"HSET", [key, fields @ ..]) => {
            let record = records.entry(key.clone()).or_default();
            for pair in fields.chunks_exact(2) {
                record.insert(pair[0].clone(), pair[1].clone());
            }
            b":1\r\n".to_vec()
        }
        (b"PING", _) => b"+PONG\r\n".to_vec(),
        (b"ZADD", _) => b":1\r\n".to_vec(),
        (b"HGETALL", [key]) => {
            let record = records.get(key).cloned().unwrap_or_default();
            let mut out = format!("*{}\r\n", 2 * record.len()).into_bytes();
            for word in record.iter().flat_map(|(name, value)| [name, value]) {
                out.extend(format!("${}\r\n", word.len()).bytes());
                out.extend_from_slice(word);
                out.extend_from_slice(b"\r\n");
            }
            out
        }
        _ => b"-ERR unknown command\r\n".to_vec(),
    }
}
