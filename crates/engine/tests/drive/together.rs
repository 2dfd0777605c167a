//! Several engines that make one load.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::redis::redis;
use crate::{Scratch, drive, read, sum, well};

/// Unix time in so many seconds from now.
fn later(seconds: f64) -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    now.as_secs_f64() + seconds
}

/// The summaries and results of engines that each make a part of what the words say; None where one
/// was connected too late for its start.
fn together(words: &[&str], parts: usize) -> Option<Vec<(Value, Value)>> {
    let scratch = Scratch::new();
    std::thread::scope(|scope| {
        let running: Vec<_> = (1..=parts)
            .map(|part| {
                let name = format!("part-{part}");
                let part = format!("{part}/{parts}");
                let scratch = &scratch;
                scope.spawn(move || {
                    let own = ["--part", &part, "--out", &name];
                    let output = drive(&scratch.0, &[words, &own].concat());
                    let said = String::from_utf8_lossy(&output.stderr);
                    if said.contains("give a later `start`") {
                        return None;
                    }
                    well(&output);
                    let out = scratch.0.join(&name);
                    Some((read(&out, "summary.json"), read(&out, "result.json")))
                })
            })
            .collect();
        running
            .into_iter()
            .map(|part| part.join().unwrap())
            .collect()
    })
}

#[test]
fn engines_begin_at_one_instant_and_insert_each_record_once() {
    // A busy machine may need a later start.
    let made = [3.0, 12.0, 48.0].into_iter().find_map(|seconds| {
        let (address, records) = redis();
        let url = format!("redis://{address}");
        let start = later(seconds);
        let told = start.to_string();
        let words = [&*url, "load", "-p", "recordcount=301", "--threads", "6"];
        let words = [&words[..], &["--seed", "7", "--start", &told]].concat();
        Some((start, records, together(&words, 3)?))
    });
    let (start, records, parts) = made.expect("all are connected within 48 s");
    // No key is missing, and none was inserted twice.
    assert_eq!(records.lock().unwrap().len(), 301);
    let inserted: Vec<u64> = parts
        .iter()
        .map(|(_, result)| sum(&result["operations"]))
        .collect();
    assert_eq!(inserted.iter().sum::<u64>(), 301);
    assert!(inserted.iter().all(|count| [100, 101].contains(count)));
    for (number, (summary, result)) in parts.iter().enumerate() {
        assert_eq!(result["part"]["index"], number);
        let began = result["began"].as_f64().unwrap();
        assert!((began - start).abs() < 1e-6, "{began} {start}");
        // The time that waking took is told, and nobody begins before.
        let started = summary["started"].as_f64().unwrap();
        assert!(started >= start - 1e-6, "{started} {start}");
    }
}

#[test]
fn an_engine_that_is_connected_too_late_begins_nothing() {
    let scratch = Scratch::new();
    let words = ["fake://", "--workload", "c", "--time", "1s"];
    for start in ["1000", "2020-01-01T00:00:00Z"] {
        let output = drive(&scratch.0, &[&words[..], &["--start", start]].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("give a later `start`"), "{said}");
        assert_eq!(std::fs::read_dir(&scratch.0).unwrap().count(), 0);
    }
}
