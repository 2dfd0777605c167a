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
    // Those that found no connection in time are time-outs, and known apart.
    let unsent = sum(&result["unsent"]);
    assert!((1..=errors).contains(&unsent), "{unsent}");
    assert_eq!(histogram(&scratch.0, ".failed").len(), errors);
    assert_eq!(histogram(&scratch.0, ".slip").len(), 1000 - unsent);
}

/// The server inside the engine.
fn fake(options: &Value) -> Value {
    json!({
        "driver": "fake", "topology": "single", "addresses": ["127.0.0.1:1"], "options": options,
        "credentials": null, "tls": null,
    })
}

/// All errors of a result.
fn errors(result: &Value) -> u64 {
    let kinds = result["errors"].as_object().unwrap();
    kinds.values().map(sum).sum()
}

#[test]
fn the_backlog_of_a_burst_is_worked_off_and_no_operation_is_lost() {
    let scratch = Scratch::new();
    let level = json!({
        "kind": "burst", "rate": 1000.0, "length": 0.5, "rest": 100.0, "connections": 4,
        "arrivals": "constant",
    });
    let changes = json!({
        "level": level, "target": fake(&json!({"service_us": 2000})),
        "warmup": 0.2, "duration": 2.5,
    });
    assert!(load(&scratch.0, &changes).status.success());
    let result = result(&scratch.0);
    assert_eq!(result["intended"], 500 + 200);
    let response = histogram(&scratch.0, ".response");
    assert_eq!(response.len() + errors(&result), 700);
    // Half of the burst is answered while it lasts, and the last one of it half a second later.
    assert!(response.max() >= 490_000_000, "{}", response.max());
    assert!(histogram(&scratch.0, ".slip").max() >= 480_000_000);
    assert!(sum(&result["late"]) >= 450);
}

#[test]
fn a_ramp_intends_as_many_operations_as_its_mean_rate() {
    let scratch = Scratch::new();
    let level = json!({
        "kind": "ramp", "from": 0.0, "to": 1000.0, "connections": 4, "arrivals": "constant",
    });
    let changes = json!({"level": level, "target": fake(&json!({})), "duration": 0.7});
    assert!(load(&scratch.0, &changes).status.success());
    assert_eq!(result(&scratch.0)["intended"], 350);
    assert_eq!(histogram(&scratch.0, ".response").len(), 350);
    let changes = json!({
        "level": level, "target": fake(&json!({})), "duration": 0.7, "operations": 50,
    });
    assert!(load(&scratch.0, &changes).status.success());
    assert_eq!(result(&scratch.0)["intended"], 50);
}

#[test]
fn a_slot_that_finds_every_connection_busy_is_dropped_if_the_plan_says_so() {
    let scratch = Scratch::new();
    let level = json!({"kind": "rate", "rate": 500.0, "connections": 1, "arrivals": "constant"});
    let changes = json!({
        "level": level, "target": fake(&json!({"service_us": 10000})), "policy": "drop",
        "warmup": 0.1, "duration": 0.4,
        "workload": workload(&json!({
            "mix": {"read": 0.0, "update": 0.0, "insert": 1.0, "scan": 0.0, "read_modify_write": 0.0},
        })),
    });
    assert!(load(&scratch.0, &changes).status.success());
    let result = result(&scratch.0);
    let (answered, dropped) = (sum(&result["operations"]), sum(&result["dropped"]));
    // The server answers one in ten milliseconds, in which five are meant to start.
    assert!((1..=41).contains(&answered), "{answered}");
    let backlog = result["backlog"].as_u64().unwrap();
    assert!(backlog <= 1, "{backlog}");
    assert_eq!(result["intended"], 200);
    assert_eq!(answered + dropped + backlog, 200);
    assert_eq!((errors(&result), &result["unsent"]), (0, &json!({})));
    assert_eq!(histogram(&scratch.0, ".dropped").len(), dropped);
    assert_eq!(histogram(&scratch.0, ".response").len(), 200 - dropped);
}

#[test]
fn operations_that_fail_have_latencies_of_their_own() {
    let scratch = Scratch::new();
    let level = json!({"kind": "rate", "rate": 500.0, "connections": 2, "arrivals": "constant"});
    let target = fake(&json!({"service_us": 100, "fail_every": 10}));
    let changes = json!({"level": level, "target": target, "duration": 0.4});
    assert!(load(&scratch.0, &changes).status.success());
    let failed = errors(&result(&scratch.0));
    assert!(failed > 0);
    assert_eq!(histogram(&scratch.0, ".failed").len(), failed);
    assert_eq!(histogram(&scratch.0, ".response").len(), 200 - failed);
    // One that is given up has waited for as long as the plan says.
    let target = fake(&json!({"service_us": 300_000}));
    let changes = json!({"target": target, "timeout": 0.1, "duration": 0.6});
    assert!(load(&scratch.0, &changes).status.success());
    let failed = histogram(&scratch.0, ".failed");
    assert!(!failed.is_empty());
    assert!(failed.min() >= 99_000_000, "{}", failed.min());
}

#[test]
fn two_engines_begin_as_one_and_have_all_slots_between_them() {
    let unix = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    let start = unix.as_secs_f64() + 3.0;
    let level = json!({"kind": "rate", "rate": 501.0, "connections": 4, "arrivals": "poisson"});
    let parts: Vec<_> = [0, 1]
        .map(|index| {
            let changes = json!({
                "level": level, "part": {"index": index, "of": 2}, "start": start,
                "target": fake(&json!({})), "warmup": 0.1, "duration": 0.4,
            });
            std::thread::spawn(move || {
                let scratch = Scratch::new();
                assert!(load(&scratch.0, &changes).status.success());
                (result(&scratch.0), histogram(&scratch.0, ".response").len())
            })
        })
        .into_iter()
        .map(|part| part.join().unwrap())
        .collect();
    assert_eq!(parts[0].0["began"], parts[1].0["began"]);
    let began = parts[0].0["began"].as_f64().unwrap();
    assert!((began - start - 0.1).abs() < 1e-6, "{began} {start}");
    let intended: u64 = parts
        .iter()
        .map(|(part, _)| part["intended"].as_u64().unwrap())
        .sum();
    let recorded: u64 = parts.iter().map(|(_, recorded)| recorded).sum();
    let scratch = Scratch::new();
    let changes = json!({
        "level": level, "target": fake(&json!({})), "warmup": 0.1, "duration": 0.4,
    });
    assert!(load(&scratch.0, &changes).status.success());
    assert_eq!(result(&scratch.0)["intended"], intended);
    assert_eq!(histogram(&scratch.0, ".response").len(), recorded);
}

#[test]
fn an_engine_without_a_pause_says_that_it_may_have_been_the_limit() {
    let scratch = Scratch::new();
    assert!(
        load(&scratch.0, &json!({"target": fake(&json!({}))}))
            .status
            .success()
    );
    let result = result(&scratch.0);
    assert_eq!(result["saturated"], true, "{result}");
}

#[test]
fn a_load_that_is_told_to_end_in_its_warm_up_leaves_no_result() {
    let scratch = Scratch::new();
    let level = json!({"kind": "rate", "rate": 100.0, "connections": 2, "arrivals": "constant"});
    for level in [level, json!({"kind": "threads", "threads": 2})] {
        let changes = json!({
            "level": level, "warmup": 60.0, "duration": 1.0, "until_told": true,
        });
        assert!(!told_to_stop(&scratch.0, &changes));
        assert!(!scratch.0.join("result.json").exists());
    }
}

#[test]
fn a_window_that_is_over_before_its_beginning_is_noticed_is_measured() {
    // Deadlines tick once a millisecond, and one of these warm-ups ends well before a tick.
    for warmup in [0.0301, 0.0304, 0.0307] {
        let scratch = Scratch::new();
        let changes = json!({
            "warmup": warmup, "duration": null, "operations": 3,
            "target": fake(&json!({"service_us": 10})),
        });
        let output = load(&scratch.0, &changes);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        let result = result(&scratch.0);
        assert_eq!(sum(&result["operations"]), 3);
        assert!(result["cpu_user"].as_f64().unwrap() >= 0.0);
    }
}

#[test]
fn what_is_done_before_the_warm_up_ended_is_no_load() {
    let scratch = Scratch::new();
    let changes = json!({"phase": "load", "duration": null, "warmup": 60.0});
    let output = load(&scratch.0, &changes);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("all operations were done before the warm-up ended"),
        "{said}"
    );
    assert!(!output.status.success());
}

#[test]
fn an_open_load_that_is_told_to_end_takes_no_slot_beyond() {
    let scratch = Scratch::new();
    let level = json!({"kind": "rate", "rate": 2.0, "connections": 64, "arrivals": "constant"});
    let changes = json!({"level": level, "duration": 60.0, "until_told": true});
    assert!(told_to_stop(&scratch.0, &changes));
    let result = result(&scratch.0);
    let intended = result["intended"].as_u64().unwrap();
    let seconds = result["seconds"].as_f64().unwrap();
    assert!(
        intended as f64 <= 2.0 * seconds + 1.0,
        "{intended} in {seconds}"
    );
    let backlog = result["backlog"].as_u64().unwrap();
    assert_eq!(sum(&result["operations"]) + backlog, intended);
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

/// The plan's workload with some of it changed.
fn workload(changes: &Value) -> Value {
    let mut workload = plan(&json!({}))["workload"].clone();
    for (key, value) in changes.as_object().unwrap() {
        workload[key] = value.clone();
    }
    workload
}

#[test]
fn each_record_that_is_read_is_compared_with_what_was_written() {
    let scratch = Scratch::new();
    let changes = json!({
        "operations": 1000, "duration": null,
        "workload": workload(&json!({"integrity": true})),
        "target": {
            "driver": "fake", "topology": "single", "addresses": ["127.0.0.1:1"],
            "options": {"corrupt_every": 10},
        },
    });
    let output = load(&scratch.0, &changes);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let result = result(&scratch.0);
    let mismatches = result["errors"]["read"]["mismatch"].as_u64().unwrap();
    let verified = result["verified"].as_u64().unwrap();
    assert_eq!(result["operations"]["read"], verified);
    assert_eq!(mismatches, (verified + mismatches) / 10);
    assert_eq!(sum(&result["operations"]) + mismatches, 1000);
    let message = result["messages"][0].as_str().unwrap();
    assert!(message.contains("the field `field0` of `user"), "{message}");
}

#[test]
fn what_starts_late_is_counted_and_nothing_is_late_in_a_closed_loop() {
    let scratch = Scratch::new();
    let target = json!({
        "driver": "fake", "topology": "single", "addresses": ["127.0.0.1:1"],
        "options": {"service_us": 10000},
    });
    let level = json!({"kind": "rate", "rate": 500.0, "connections": 1, "arrivals": "constant"});
    let changes = json!({"target": target, "level": level, "duration": 0.4, "timeout": 0.1});
    assert!(load(&scratch.0, &changes).status.success());
    let open = result(&scratch.0);
    // One connection answers a hundred operations a second: all but the first ones wait for it.
    let late = sum(&open["late"]);
    assert!((1..200).contains(&late), "{late}");
    assert_eq!(
        (&open["dropped"], &open["verified"]),
        (&json!({}), &json!(null))
    );
    assert!(
        load(&scratch.0, &json!({"target": target}))
            .status
            .success()
    );
    assert_eq!(result(&scratch.0)["late"], json!({}));
}

#[test]
fn the_result_says_how_records_are_kept_and_whether_the_engine_was_the_limit() {
    let scratch = Scratch::new();
    let target = json!({
        "driver": "fake", "topology": "single", "addresses": ["127.0.0.1:1"],
        "options": {"service_us": 20000},
    });
    assert!(
        load(&scratch.0, &json!({"target": target}))
            .status
            .success()
    );
    let result = result(&scratch.0);
    assert_eq!(result["shape"], "none");
    assert_eq!(result["consistency"], json!({}));
    let number = |key: &str| result[key].as_f64().unwrap();
    let (busiest, seconds) = (number("cpu_busiest_thread"), number("seconds"));
    // A host that does not let the engine run is a limit, too.
    let saturated = busiest > 0.95 * seconds || number("limited") > 0.05 * seconds;
    assert_eq!(result["saturated"], saturated);
}

#[test]
fn whichever_of_time_and_operations_is_reached_first_ends_the_load() {
    for level in [
        json!({"kind": "threads", "threads": 2}),
        json!({"kind": "rate", "rate": 1000.0, "connections": 4, "arrivals": "constant"}),
    ] {
        let scratch = Scratch::new();
        let ended = |operations: u64, duration: f64| {
            let changes = json!({
                "operations": operations, "duration": duration, "level": level,
                "target": {
                    "driver": "fake", "topology": "single", "addresses": ["127.0.0.1:1"],
                    "options": {"service_us": 500},
                },
            });
            assert!(load(&scratch.0, &changes).status.success());
            result(&scratch.0)
        };
        let first = ended(100, 60.0);
        assert_eq!(
            sum(&first["operations"]) + first["backlog"].as_u64().unwrap(),
            100
        );
        assert!(first["seconds"].as_f64().unwrap() < 30.0);
        let second = ended(1_000_000_000, 0.25);
        assert_eq!(second["seconds"], 0.25);
    }
}

#[test]
fn a_load_begins_at_its_start_and_one_that_is_too_late_does_not_begin() {
    let scratch = Scratch::new();
    let now = std::time::SystemTime::now();
    let unix = now.duration_since(std::time::UNIX_EPOCH).unwrap();
    let start = unix.as_secs_f64() + 3.0;
    let changes = json!({"start": start, "warmup": 0.1, "duration": 0.1});
    assert!(load(&scratch.0, &changes).status.success());
    let began = result(&scratch.0)["began"].as_f64().unwrap();
    // The difference is exact to a microsecond.
    assert!(began >= start + 0.1 - 1e-6, "{began} {start}");
    let output = load(&scratch.0, &json!({"start": start}));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(said.contains("give a later `start`"), "{said}");
    assert!(!scratch.0.join("result.json").exists());
}

#[test]
fn the_operations_of_a_plan_are_printed_without_a_database() {
    let scratch = Scratch::new();
    let path = scratch.0.join("plan.json");
    let target = json!({
        "driver": "redis", "topology": "single", "addresses": ["nowhere.invalid:1"], "options": {},
    });
    std::fs::write(&path, plan(&json!({"target": target})).to_string()).unwrap();
    let engine = env!("CARGO_BIN_EXE_dunnage-engine");
    let printed = |arguments: &[&str]| {
        let mut command = Command::new(engine);
        command.arg("operations").arg("--plan").arg(&path);
        command.args(arguments).output().unwrap()
    };
    let output = printed(&["--count", "50"]);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(text.lines().count(), 50);
    assert!(text.lines().all(|line| line.split('\t').count() == 6));
    assert_eq!(output.stdout, printed(&["--count", "50"]).stdout);
    assert!(!printed(&[]).status.success());
}

#[test]
fn whoever_has_seen_enough_operations_may_stop_reading() {
    let scratch = Scratch::new();
    let path = scratch.0.join("plan.json");
    std::fs::write(&path, plan(&json!({})).to_string()).unwrap();
    let mut printing = Command::new(env!("CARGO_BIN_EXE_dunnage-engine"))
        .args(["operations", "--count", "1000000000", "--plan"])
        .arg(&path)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0];
    let mut printed = printing.stdout.take().unwrap();
    printed.read_exact(&mut first).unwrap();
    drop(printed);
    let output = printing.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

/// A Redis that answers every request with a record of one field, as if all were reads.
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
