//! What is counted, compared and told of a load.

use std::io::Read;
use std::process::Command;

use serde_json::json;

use crate::driven::{errors, fake, histogram, load, plan, result, sum, workload};
use crate::scratch::Scratch;

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
fn an_engine_without_a_pause_says_that_it_may_have_been_the_limit() {
    let scratch = Scratch::new();
    let level = json!({"kind": "rate", "rate": 5e6, "connections": 2, "arrivals": "constant"});
    let changes = json!({"level": level, "target": fake(&json!({})), "timeout": 0.1});
    assert!(load(&scratch.0, &changes).status.success());
    let result = result(&scratch.0);
    assert_eq!(result["saturated"], true, "{result}");
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
    // One that was under way at the end may have failed after it.
    assert!((total("errors")..=total("errors") + 2).contains(&errors));
    assert!(errors > 0);
    assert_eq!(
        result["messages"],
        json!(["ERR this one was meant to fail"])
    );
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
fn the_result_says_how_records_are_kept_and_that_an_engine_at_rest_was_not_the_limit() {
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
    assert_eq!(result["saturated"], false, "{result}");
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
