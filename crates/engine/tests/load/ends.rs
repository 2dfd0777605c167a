//! When a load begins and ends, and what it leaves then.

use serde_json::json;

use crate::driven::{
    errors, fake, histogram, in_time, load, result, soon, sum, told_to_stop, workload,
};
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
    let start = soon(|start| {
        let changes = json!({"start": start, "warmup": 0.1, "duration": 0.1});
        in_time(&load(&scratch.0, &changes)).then_some(start)
    });
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

#[test]
fn a_load_whose_disk_is_full_ends_at_once_and_says_so() {
    let open = json!({"kind": "rate", "rate": 1e5, "connections": 2, "arrivals": "constant"});
    for level in [open, json!({"kind": "threads", "threads": 2})] {
        let scratch = Scratch::new();
        std::os::unix::fs::symlink("/dev/full", scratch.0.join("latency.hlog")).unwrap();
        let target = fake(&json!({"service_us": 1000}));
        let changes = json!({"duration": 3600.0, "target": target, "level": level});
        let output = load(&scratch.0, &changes);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{said}");
        assert!(
            said.contains("`latency.hlog` cannot be written: "),
            "{said}"
        );
        assert!(said.contains("--out DIRECTORY"), "{said}");
        assert!(!scratch.0.join("result.json").exists());
    }
}

#[test]
fn the_window_of_a_load_phase_ends_with_its_last_operation_even_if_that_went_wrong() {
    let scratch = Scratch::new();
    // The last one fails, half a second after the one before.
    let changes = json!({
        "phase": "load", "duration": null, "workload": workload(&json!({"records": 2})),
        "level": {"kind": "threads", "threads": 1},
        "target": fake(&json!({"service_us": 500_000, "fail_every": 2})),
    });
    assert!(load(&scratch.0, &changes).status.success());
    let result = result(&scratch.0);
    assert_eq!((sum(&result["operations"]), errors(&result)), (1, 1));
    let windows = result["windows"].as_array().unwrap();
    let failed: u64 = windows
        .iter()
        .map(|window| window["errors"].as_u64().unwrap())
        .sum();
    assert_eq!(failed, 1, "it is in the time line: {result}");
    let last = windows.last().unwrap();
    let end = last["start"].as_f64().unwrap() + last["length"].as_f64().unwrap();
    assert!(
        (end - result["seconds"].as_f64().unwrap()).abs() < 0.01,
        "{result}"
    );
}

#[test]
fn a_load_phase_ends_with_its_last_record_whatever_its_time() {
    for level in [
        json!({"kind": "threads", "threads": 2}),
        json!({"kind": "rate", "rate": 2000.0, "connections": 4, "arrivals": "constant"}),
    ] {
        let scratch = Scratch::new();
        let changes = json!({
            "phase": "load", "duration": 3600.0, "level": level, "target": fake(&json!({})),
            "workload": workload(&json!({"records": 100})),
        });
        assert!(load(&scratch.0, &changes).status.success());
        let result = result(&scratch.0);
        assert_eq!(sum(&result["operations"]), 100, "{result}");
        assert_eq!(result["backlog"], 0, "{result}");
        let windows = result["windows"].as_array().unwrap();
        let last = windows.last().unwrap();
        assert!(last["operations"].as_u64().unwrap() > 0, "{result}");
        let end = last["start"].as_f64().unwrap() + last["length"].as_f64().unwrap();
        let seconds = result["seconds"].as_f64().unwrap();
        assert!((end - seconds).abs() < 0.01, "{result}");
    }
}

#[test]
fn a_number_of_operations_is_exact_with_arrivals_by_chance() {
    let scratch = Scratch::new();
    let level = json!({"kind": "rate", "rate": 2000.0, "connections": 8, "arrivals": "poisson"});
    let changes = json!({
        "operations": 500, "duration": null, "warmup": 0.1, "level": level, "target": fake(&json!({})),
    });
    assert!(load(&scratch.0, &changes).status.success());
    let result = result(&scratch.0);
    assert_eq!(result["intended"], 500);
    assert_eq!(histogram(&scratch.0, ".response").len(), 500);
}
