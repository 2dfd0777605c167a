//! When a load begins and ends, and what it leaves then.

use serde_json::json;

use crate::driven::{fake, histogram, load, result, sum, told_to_stop};
use crate::scratch::Scratch;

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
fn a_load_that_is_told_to_stop_leaves_no_result() {
    let scratch = Scratch::new();
    assert!(!told_to_stop(&scratch.0, &json!({"duration": 60.0})));
    assert!(!scratch.0.join("result.json").exists());
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
