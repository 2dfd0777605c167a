//! The engine, driven by plans against the server inside it, and what it left.

use std::path::Path;
use std::process::{Command, Output};
use std::time::{SystemTime, UNIX_EPOCH};

use data_encoding::BASE64;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use serde_json::{Value, json};

/// A plan against the server inside the engine, with some of it changed.
pub fn plan(changes: &Value) -> Value {
    let mut plan = json!({
        "version": 2, "phase": "run",
        "workload": {
            "kind": "ycsb", "records": 1000, "insert_start": 0, "insert_count": null,
            "mix": {"read": 0.5, "update": 0.5, "insert": 0.0, "scan": 0.0, "read_modify_write": 0.0},
            "requests": {"kind": "zipfian"}, "fields": 10, "field_prefix": "field",
            "field_lengths": {"kind": "constant", "length": 100}, "read_fields": "all",
            "write_all_fields": false,
            "scan_lengths": {"kind": "uniform", "shortest": 1, "longest": 100},
            "integrity": false, "hashed_keys": true, "zero_padding": 1
        },
        "target": {
            "driver": "fake", "topology": "single", "addresses": ["127.0.0.1:1"], "options": {},
            "credentials": null, "tls": null
        },
        "level": {"kind": "threads", "threads": 2}, "policy": "queue",
        "part": {"index": 0, "of": 1}, "start": null, "warmup": 0.0, "duration": 0.5, "operations": null, "interval": 0.1, "timeout": 5.0, "seed": 1
    });
    for (key, value) in changes.as_object().unwrap() {
        plan[key] = value.clone();
    }
    plan
}

/// The plan's workload with some of it changed.
pub fn workload(changes: &Value) -> Value {
    let mut workload = plan(&json!({}))["workload"].clone();
    for (key, value) in changes.as_object().unwrap() {
        workload[key] = value.clone();
    }
    workload
}

/// The server inside the engine.
pub fn fake(options: &Value) -> Value {
    json!({
        "driver": "fake", "topology": "single", "addresses": ["127.0.0.1:1"], "options": options,
        "credentials": null, "tls": null,
    })
}

/// Make the load of such a plan.
pub fn load(directory: &Path, changes: &Value) -> Output {
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

/// What `make` makes of a load that begins in so many seconds, which is a Unix time; None where an
/// engine was connected too late for it. A busy machine may need a later start.
pub fn soon<T>(make: impl Fn(f64) -> Option<T>) -> T {
    let later = |seconds: f64| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        make(now.as_secs_f64() + seconds)
    };
    let mut starts = [3.0, 12.0, 48.0].into_iter();
    starts
        .find_map(later)
        .expect("an engine is connected within 48 s")
}

/// Whether a load was made; if not, it was connected too late for its start.
pub fn in_time(output: &Output) -> bool {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() || said.contains("give a later `start`"),
        "{said}"
    );
    output.status.success()
}

/// Begin a load, send TERM when it is at work, and return whether it ended well.
pub fn told_to_stop(directory: &Path, changes: &Value) -> bool {
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

/// What a load left.
pub fn result(directory: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(directory.join("result.json")).unwrap()).unwrap()
}

/// The sum of all intervals whose tag ends in `kind` and that belong to the measured window.
pub fn histogram(directory: &Path, kind: &str) -> Histogram<u64> {
    let log = std::fs::read(directory.join("latency.hlog")).unwrap();
    let mut total = Histogram::<u64>::new(3).unwrap();
    for entry in IntervalLogIterator::new(&log) {
        let LogEntry::Interval(interval) = entry.unwrap() else {
            continue;
        };
        let tag = interval.tag().unwrap().as_str();
        if tag.ends_with(kind) && !tag.starts_with("warmup.") {
            let encoded = BASE64
                .decode(interval.encoded_histogram().as_bytes())
                .unwrap();
            let part: Histogram<u64> = Deserializer::new().deserialize(&mut &encoded[..]).unwrap();
            total.add(&part).unwrap();
        }
    }
    total
}

/// The sum of counts by kind.
pub fn sum(counts: &Value) -> u64 {
    counts
        .as_object()
        .unwrap()
        .values()
        .map(|count| count.as_u64().unwrap())
        .sum()
}

/// All errors of a result.
pub fn errors(result: &Value) -> u64 {
    let kinds = result["errors"].as_object().unwrap();
    kinds.values().map(sum).sum()
}
