//! Servers that are given by name, and one that is not there.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};

use serde_json::json;

use crate::driven::{load, result, sum, workload};
use crate::scratch::Scratch;

/// A Redis that answers every request with a record of one field, as if all were reads.
fn redis() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                let mut request = [0; 4096];
                while let Ok(length @ 1..) = stream.read(&mut request) {
                    let answer: &[u8] = if request[..length].ends_with(b"PING\r\n") {
                        b"+PONG\r\n"
                    } else {
                        b"*2\r\n$6\r\nfield0\r\n$1\r\nx\r\n"
                    };
                    let _ = stream.write_all(answer);
                }
            });
        }
    });
    address
}

#[test]
fn without_a_first_connection_one_sentence_says_so_and_there_is_no_result() {
    let scratch = Scratch::new();
    let target = json!({
        "driver": "redis", "topology": "single", "addresses": ["127.0.0.1:1"], "options": {},
    });
    let output = load(&scratch.0, &json!({"target": target, "timeout": 0.2}));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert_eq!(said.trim_end().lines().count(), 1);
    assert!(
        said.contains("no connection to `127.0.0.1:1` within 5 s"),
        "{said}"
    );
    assert!(!scratch.0.join("result.json").exists());
}

#[test]
fn a_server_given_by_name_is_driven_and_reported_by_its_address() {
    let scratch = Scratch::new();
    let server = redis();
    let target = json!({
        "driver": "redis", "topology": "single", "options": {},
        "addresses": [format!("localhost:{}", server.port())],
    });
    let reads = json!({
        "read": 1.0, "update": 0.0, "insert": 0.0, "scan": 0.0, "read_modify_write": 0.0,
    });
    let output = load(
        &scratch.0,
        &json!({
            "target": target, "operations": 100, "duration": null,
            "workload": workload(&json!({"mix": reads})),
        }),
    );
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let result = result(&scratch.0);
    assert_eq!(sum(&result["operations"]), 100);
    assert_eq!(sum(&result["errors"]), 0);
    assert_eq!(result["remotes"], json!([server.to_string()]));
}

#[test]
fn a_server_given_by_name_that_refuses_is_told_with_name_and_address() {
    let scratch = Scratch::new();
    let target = json!({
        "driver": "redis", "topology": "single", "addresses": ["localhost:1"], "options": {},
    });
    let output = load(&scratch.0, &json!({"target": target, "timeout": 0.2}));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("no connection to `localhost:1` within 5 s: `localhost:1` (127.0.0.1:1): "),
        "{said}"
    );
}
