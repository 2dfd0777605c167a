//! The verb `load`, driven from outside against the server inside the engine.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use serde_json::{Value, json};

/// A directory that vanishes with its owner.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("dunnage-engine-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn plan(changes: &Value) -> Value {
    let mut plan = json!({
        "version": 1, "phase": "run",
        "workload": {
            "records": 1000,
            "mix": {"read": 0.5, "update": 0.5, "insert": 0.0, "scan": 0.0, "read_modify_write": 0.0},
            "request_distribution": "zipfian", "fields": 10, "field_length": 100,
            "read_all_fields": true, "write_all_fields": false, "max_scan_length": 100,
            "hashed_keys": true, "zero_padding": 1
        },
        "target": {"driver": "fake", "topology": "single", "addresses": ["127.0.0.1:1"], "options": {}},
        "level": {"kind": "threads", "threads": 2}, "part": {"index": 0, "of": 1},
        "warmup": 0.0, "duration": 0.5, "operations": null, "interval": 0.1, "timeout": 5.0, "seed": 1
    });
    for (key, value) in changes.as_object().unwrap() {
        plan[key] = value.clone();
    }
    plan
}

fn load(directory: &Path, changes: &Value) -> Output {
    let path = directory.join("plan.json");
    std::fs::write(&path, plan(changes).to_string()).unwrap();
    let engine = env!("CARGO_BIN_EXE_dunnage-engine");
    Command::new(engine)
        .arg("load")
        .arg("--plan")
        .arg(path)
        .arg("--out")
        .arg(directory)
        .output()
        .unwrap()
}

fn result(directory: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(directory.join("result.json")).unwrap()).unwrap()
}

/// The sum of all intervals whose tag ends in `kind` and that belong to the measured window.
fn histogram(directory: &Path, kind: &str) -> Histogram<u64> {
    let log = std::fs::read(directory.join("latency.hlog")).unwrap();
    let mut total = Histogram::<u64>::new(3).unwrap();
    for entry in IntervalLogIterator::new(&log) {
        let LogEntry::Interval(interval) = entry.unwrap() else {
            continue;
        };
        let tag = interval.tag().unwrap().as_str();
        if tag.ends_with(kind) && !tag.starts_with("warmup.") {
            let encoded = decode(interval.encoded_histogram());
            let part: Histogram<u64> = Deserializer::new().deserialize(&mut &encoded[..]).unwrap();
            total.add(&part).unwrap();
        }
    }
    total
}

/// Base 64 to bytes; the few lines save a dependency of the tests.
fn decode(text: &str) -> Vec<u8> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for letter in text.bytes().filter(|letter| *letter != b'=') {
        let value = ALPHABET.iter().position(|known| *known == letter).unwrap();
        bits = (bits << 6 | value as u32) & 0xFFFF;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    bytes
}

fn sum(counts: &Value) -> u64 {
    counts
        .as_object()
        .unwrap()
        .values()
        .map(|count| count.as_u64().unwrap())
        .sum()
}

#[test]
fn a_stall_shows_in_response_times_and_hardly_in_service_times() {
    let scratch = Scratch::new();
    let output = load(
        &scratch.0,
        &json!({
            "level": {"kind": "rate", "rate": 1000.0, "connections": 2, "arrivals": "constant"},
            "target": {
                "driver": "fake", "topology": "single", "addresses": ["127.0.0.1:1"],
                "options": {"service_us": 20, "stall_every_s": 2.0, "stall_s": 0.5},
            },
            "warmup": 1.9, "duration": 2.0,
        }),
    );
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let response = histogram(&scratch.0, ".response");
    let service = histogram(&scratch.0, ".service");
    assert_eq!(response.len(), 2000, "every intended operation is there");
    assert!(response.value_at_quantile(0.99) >= 475_000_000);
    assert!(response.max() >= 498_000_000);
    // Two operations were under way when the server stood still. A busy machine may hold this
    // process too, and each time no more than two are under way.
    assert!(held(&response) >= 350);
    assert!(held(&service) * 10 <= held(&response));
}

/// How many took more than 150 ms.
fn held(times: &Histogram<u64>) -> u64 {
    times
        .iter_recorded()
        .filter(|step| step.value_iterated_to() > 150_000_000)
        .map(|step| step.count_since_last_iteration())
        .sum()
}

#[test]
fn a_server_slower_than_the_rate_is_reported_as_backlog_and_nothing_is_dropped() {
    let scratch = Scratch::new();
    let output = load(
        &scratch.0,
        &json!({
            "level": {"kind": "rate", "rate": 1000.0, "connections": 4, "arrivals": "constant"},
            "target": {
                "driver": "fake", "topology": "single", "addresses": ["127.0.0.1:1"],
                "options": {"service_us": 2000},
            },
            "duration": 1.0, "timeout": 0.5,
        }),
    );
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let result = result(&scratch.0);
    let answered = sum(&result["operations"]);
    assert_eq!(result["intended"], 1000);
    assert!(answered <= 500);
    assert_eq!(result["backlog"].as_u64().unwrap() + answered, 1000);
    let errors: u64 = result["errors"]
        .as_object()
        .unwrap()
        .values()
        .map(sum)
        .sum();
    let recorded = histogram(&scratch.0, ".response").len();
    assert_eq!(
        recorded + errors,
        1000,
        "every operation has an answer or an error"
    );
}

#[test]
fn a_number_of_operations_is_exact_and_over_all_parts() {
    for index in 0..3 {
        let scratch = Scratch::new();
        let output = load(
            &scratch.0,
            &json!({
                "operations": 1000, "duration": null, "part": {"index": index, "of": 3},
                "level": {"kind": "threads", "threads": 12},
                "target": {
                    "driver": "fake", "topology": "single", "addresses": ["127.0.0.1:1"],
                    "options": {"service_us": 10},
                },
            }),
        );
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let expected = if index == 2 { 334 } else { 333 };
        assert_eq!(sum(&result(&scratch.0)["operations"]), expected);
        assert_eq!(histogram(&scratch.0, ".service").len(), expected);
    }
}

#[test]
fn the_parts_of_a_load_phase_insert_every_record() {
    let inserted: u64 = (0..3)
        .map(|index| {
            let scratch = Scratch::new();
            let part = json!({"index": index, "of": 3});
            let level = json!({"kind": "threads", "threads": 3});
            let changes = json!({"phase": "load", "duration": null, "part": part, "level": level});
            assert!(load(&scratch.0, &changes).status.success());
            sum(&result(&scratch.0)["operations"])
        })
        .sum();
    assert_eq!(inserted, 1000);
}

#[test]
fn the_time_line_has_the_warm_up_first_and_adds_up_to_the_counts() {
    let scratch = Scratch::new();
    let target = json!({
        "driver": "fake", "topology": "single", "addresses": ["127.0.0.1:1"],
        "options": {"service_us": 200, "fail_every": 10},
    });
    assert!(
        load(&scratch.0, &json!({"warmup": 0.25, "target": target}))
            .status
            .success()
    );
    let result = result(&scratch.0);
    let windows = result["windows"].as_array().unwrap();
    let start = |number: usize| windows[number]["start"].as_f64().unwrap();
    assert_eq!(windows.len(), 8);
    assert!((start(0) + 0.25).abs() < 1e-9 && (start(1) + 0.2).abs() < 1e-9);
    assert!(start(3).abs() < 1e-9);
    let total = |key: &str| {
        windows[3..]
            .iter()
            .map(|w| w[key].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!(total("operations"), sum(&result["operations"]));
    let errors: u64 = result["errors"]
        .as_object()
        .unwrap()
        .values()
        .map(sum)
        .sum();
    assert_eq!(total("errors"), errors);
    assert!(errors > 0);
    assert_eq!(
        result["messages"],
        json!(["ERR this one was meant to fail"])
    );
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

/// A Redis that answers whatever it is asked with a record of one field.
fn redis() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                let mut request = [0; 4096];
                while stream.read(&mut request).is_ok_and(|length| length > 0) {
                    let _ = stream.write_all(b"*2\r\n$6\r\nfield0\r\n$1\r\nx\r\n");
                }
            });
        }
    });
    address
}

#[test]
fn a_server_given_by_name_is_driven_and_reported_by_its_address() {
    let scratch = Scratch::new();
    let server = redis();
    let target = json!({
        "driver": "redis", "topology": "single", "options": {},
        "addresses": [format!("localhost:{}", server.port())],
    });
    let output = load(
        &scratch.0,
        &json!({"target": target, "operations": 100, "duration": null}),
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

/// Begin a load, send TERM when it is at work, and return whether it ended well.
fn told_to_stop(directory: &Path, changes: &Value) -> bool {
    let path = directory.join("plan.json");
    std::fs::write(&path, plan(changes).to_string()).unwrap();
    let mut engine = Command::new(env!("CARGO_BIN_EXE_dunnage-engine"))
        .arg("load")
        .arg("--plan")
        .arg(path)
        .arg("--out")
        .arg(directory)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // The first line of progress says that it is at work.
    let mut line = String::new();
    let mut told = std::io::BufReader::new(engine.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut told, &mut line).unwrap();
    assert!(line.contains("elapsed"), "{line}");
    let process = nix::unistd::Pid::from_raw(i32::try_from(engine.id()).unwrap());
    nix::sys::signal::kill(process, nix::sys::signal::Signal::SIGTERM).unwrap();
    engine.wait().unwrap().success()
}

#[test]
fn a_load_that_is_told_to_stop_leaves_no_result() {
    let scratch = Scratch::new();
    assert!(!told_to_stop(&scratch.0, &json!({"duration": 60.0})));
    assert!(!scratch.0.join("result.json").exists());
}

#[test]
fn without_latencies_everything_is_counted_and_the_log_is_empty() {
    let scratch = Scratch::new();
    assert!(
        load(&scratch.0, &json!({"latencies": false}))
            .status
            .success()
    );
    assert!(sum(&result(&scratch.0)["operations"]) > 0);
    assert_eq!(histogram(&scratch.0, "service").len(), 0);
}

#[test]
fn a_load_that_lasts_until_it_is_told_has_counted_all_until_then() {
    let scratch = Scratch::new();
    let changes = json!({"duration": 60.0, "until_told": true});
    assert!(told_to_stop(&scratch.0, &changes));
    let result = result(&scratch.0);
    let seconds = result["seconds"].as_f64().unwrap();
    assert!((0.5..30.0).contains(&seconds), "{seconds}");
    let windows = result["windows"].as_array().unwrap();
    let counted: u64 = windows
        .iter()
        .map(|window| window["operations"].as_u64().unwrap())
        .sum();
    assert_eq!(counted, sum(&result["operations"]));
    let length: f64 = windows
        .iter()
        .map(|window| window["length"].as_f64().unwrap())
        .sum();
    assert!((length - seconds).abs() < 0.01, "{length} of {seconds}");
}
