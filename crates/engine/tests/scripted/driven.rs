//! The engine, driven from outside, and what it left.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use data_encoding::BASE64;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use serde_json::{Value, json};

use super::scratch::Scratch;
use super::{Protocol, Server};

/// The program.
pub const ENGINE: &str = env!("CARGO_BIN_EXE_dunnage-engine");

/// A load that lasts longer than this hangs.
const LONGEST: Duration = Duration::from_secs(120);

/// Time between two looks at the engine.
const LOOK: Duration = Duration::from_millis(10);

/// The target of a protocol at some addresses.
pub fn target(protocol: &dyn Protocol, topology: &str, addresses: &[String]) -> Value {
    json!({
        "driver": protocol.driver(), "topology": topology, "addresses": addresses, "options": {},
        "credentials": null, "tls": null,
    })
}

/// A plan that reads records of a server, with some of it changed.
pub fn plan(server: &Server, changes: &Value) -> Value {
    let protocol = &*server.protocol;
    let target = target(protocol, protocol.topology(), &[server.address.to_string()]);
    let mut plan = json!({
        "version": 2, "phase": "run",
        "workload": {
            "kind": "ycsb", "records": 1000, "insert_start": 0, "insert_count": null,
            "mix": {"read": 1.0, "update": 0.0, "insert": 0.0, "scan": 0.0, "read_modify_write": 0.0},
            "requests": {"kind": "uniform"}, "fields": 10, "field_prefix": "field",
            "field_lengths": {"kind": "constant", "length": 100}, "read_fields": "all",
            "write_all_fields": false,
            "scan_lengths": {"kind": "uniform", "shortest": 1, "longest": 100},
            "integrity": false, "hashed_keys": true, "zero_padding": 1
        },
        "target": target, "level": {"kind": "threads", "threads": 1}, "policy": "queue",
        "part": {"index": 0, "of": 1}, "start": null, "warmup": 0.0, "duration": null,
        "operations": null, "interval": 0.1, "timeout": 10.0, "seed": 1
    });
    for (key, value) in changes.as_object().unwrap() {
        plan[key] = value.clone();
    }
    plan
}

/// A load that is over.
pub struct Driven {
    scratch: Scratch,
    status: ExitStatus,
    /// What it wrote to standard error.
    pub said: String,
    /// The most memory of its own that it was seen to have resident, in kilobytes.
    pub peak: u64,
}

/// Make the load of a plan.
pub fn drive(plan: &Value) -> Driven {
    drive_by(Command::new(ENGINE), plan)
}

/// Make the load of a plan by a command to which only arguments of the engine are added.
pub fn drive_by(mut command: Command, plan: &Value) -> Driven {
    let scratch = Scratch::new();
    let path = scratch.0.join("plan.json");
    std::fs::write(&path, plan.to_string()).unwrap();
    command.args(["load", "--plan"]).arg(path);
    command.arg("--out").arg(&scratch.0);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut engine = command.spawn().unwrap();
    let (status, peak) = watch(&mut engine);
    let mut said = String::new();
    let mut stderr = engine.stderr.take().unwrap();
    stderr.read_to_string(&mut said).unwrap();
    Driven {
        scratch,
        status,
        said,
        peak,
    }
}

/// How the engine ended, and the peak of its own memory in kilobytes.
fn watch(engine: &mut Child) -> (ExitStatus, u64) {
    let pages = PathBuf::from(format!("/proc/{}/smaps_rollup", engine.id()));
    let begun = Instant::now();
    let mut peak = 0;
    loop {
        peak = peak.max(own_memory(&pages).unwrap_or(0));
        if let Some(ended) = engine.try_wait().unwrap() {
            return (ended, peak);
        }
        if begun.elapsed() > LONGEST {
            engine.kill().unwrap();
            engine.wait().unwrap();
            panic!("the engine did not end within {LONGEST:?}");
        }
        std::thread::sleep(LOOK);
    }
}

/// What a process has for itself, counted page by page, in kilobytes; None when it has ended.
///
/// Of the files that it maps, as much is resident as the kernel finds room for.
fn own_memory(pages: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(pages).ok()?;
    let told = text
        .lines()
        .find_map(|line| line.strip_prefix("Anonymous:"))?;
    told.trim().strip_suffix(" kB")?.trim().parse().ok()
}

impl Driven {
    /// The result of a load that ended well.
    pub fn result(&self) -> Value {
        assert!(self.status.success(), "{}", self.said);
        let text = std::fs::read(self.scratch.0.join("result.json")).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    /// The one sentence of a load that did not, and left no result.
    pub fn refusal(&self) -> &str {
        assert_eq!(self.status.code(), Some(1), "{}", self.said);
        assert_eq!(self.said.trim_end().lines().count(), 1, "{}", self.said);
        assert!(!self.scratch.0.join("result.json").exists());
        &self.said
    }

    /// The times of the measured window whose tag ends so.
    pub fn times(&self, tag: &str) -> Histogram<u64> {
        let log = std::fs::read(self.scratch.0.join("latency.hlog")).unwrap();
        let mut total = Histogram::new(3).unwrap();
        for entry in IntervalLogIterator::new(&log) {
            let LogEntry::Interval(interval) = entry.unwrap() else {
                continue;
            };
            let of = interval.tag().unwrap().as_str();
            if of.ends_with(tag) && !of.starts_with("warmup.") {
                let text = interval.encoded_histogram();
                let encoded = BASE64.decode(text.as_bytes()).unwrap();
                let part: Histogram<u64> =
                    Deserializer::new().deserialize(&mut &encoded[..]).unwrap();
                total.add(&part).unwrap();
            }
        }
        total
    }
}

/// How many times are at least so many seconds, but for the rounding of a histogram.
pub fn at_least(times: &Histogram<u64>, seconds: f64) -> u64 {
    let nanoseconds = (seconds * 1e9 * 0.999) as u64;
    times
        .iter_recorded()
        .filter(|step| step.value_iterated_to() >= nanoseconds)
        .map(|step| step.count_since_last_iteration())
        .sum()
}

/// The sum of times in seconds.
pub fn seconds_of(times: &Histogram<u64>) -> f64 {
    times.mean() * times.len() as f64 / 1e9
}

/// Operations of a result, of all kinds.
pub fn operations(result: &Value) -> u64 {
    sum(&result["operations"])
}

/// Errors of a result by their fault, over all kinds of operations.
pub fn errors(result: &Value) -> BTreeMap<String, u64> {
    let mut errors = BTreeMap::new();
    for faults in result["errors"].as_object().unwrap().values() {
        for (fault, count) in faults.as_object().unwrap() {
            *errors.entry(fault.clone()).or_default() += count.as_u64().unwrap();
        }
    }
    errors
}

/// The sum of counts by name.
pub fn sum(counts: &Value) -> u64 {
    let counts = counts.as_object().unwrap().values();
    counts.map(|count| count.as_u64().unwrap()).sum()
}
