//! Searches for the highest rate.

use std::time::Duration;

use serde_json::Value;

use crate::{Scratch, drive, read, well};

/// The summary of a search on a server that answers 400 operations a second at most.
fn searched(scratch: &Scratch, objective: &str, probes: &str) -> (Value, String) {
    let words = [
        "fake://?service_us=2500",
        "--workload",
        "c",
        "--connections",
        "16",
        "--time",
        "500ms",
        "--search-start",
        "200",
        "--search-probes",
        probes,
        "--out",
        "search",
    ];
    let output = drive(&scratch.0, &[&words[..], &["--search", objective]].concat());
    let said = well(&output);
    (read(&scratch.0.join("search"), "summary.json"), said)
}

#[test]
fn no_rate_is_found_beyond_what_the_server_can_do() {
    let scratch = Scratch::new();
    let (summary, said) = searched(&scratch, "sustained", "8");
    let search = &summary["search"];
    let probes = search["probes"].as_array().unwrap();
    assert!((1..=8).contains(&probes.len()), "{search}");
    let refused = |probe: &&Value| !probe["refusals"].as_array().unwrap().is_empty();
    assert!(probes.iter().any(|probe| refused(&probe)), "{search}");
    // More than this would be missing more operations than may be.
    let most = 450.0;
    for probe in probes.iter().filter(|probe| !refused(probe)) {
        assert!(probe["rate"].as_f64().unwrap() < most, "{search}");
    }
    let rate = search["rate"].as_f64().expect("a rate is found");
    assert!(rate > 0.0, "{search}");
    assert_eq!(summary["level"]["rate"].as_f64(), Some(rate));
    for number in 1..=probes.len() {
        let directory = scratch.0.join(format!("search/probe-{number:02}"));
        let plan = read(&directory, "plan.json");
        assert_eq!(plan["level"]["rate"], probes[number - 1]["rate"]);
        assert!(read(&directory, "result.json")["intended"].is_u64());
    }
    assert_eq!(said.matches(" a second").count(), probes.len(), "{said}");
}

#[test]
fn a_rate_is_found_although_each_answer_takes_long() {
    let scratch = Scratch::new();
    let address = crate::redis::far(Duration::from_millis(100));
    let url = format!("redis://{address}");
    let words = [
        &*url,
        "--workload",
        "c",
        "-p",
        "recordcount=100",
        "--connections",
        "64",
    ];
    let search = [
        "--search",
        "sustained",
        "--search-start",
        "150",
        "--search-probes",
        "6",
    ];
    let out = ["--arrivals", "constant", "--seed", "1", "--out", "search"];
    well(&drive(&scratch.0, &[&words[..], &search, &out].concat()));
    let summary = read(&scratch.0.join("search"), "summary.json");
    // 64 connections carry 640 a second, whose answers are all 100 ms behind. A busy machine carries
    // less than that.
    let search = &summary["search"];
    let rate = search["rate"].as_f64().expect("a rate is found");
    assert!((75.0..=660.0).contains(&rate), "{search}");
    assert_ne!(
        (rate > 550.0, search["ended"].as_str()),
        (true, Some("found")),
        "the server could do more: {search}"
    );
}

#[test]
fn a_rate_that_misses_the_objective_is_not_sustained() {
    let scratch = Scratch::new();
    let (summary, said) = searched(&scratch, "p50<1ms", "4");
    let search = &summary["search"];
    assert_eq!(search["objective"]["response.p50"], 0.001);
    assert_eq!(search["rate"], Value::Null);
    for probe in search["probes"].as_array().unwrap() {
        let refusals = probe["refusals"].to_string();
        assert!(refusals.contains("`response.p50` was "), "{refusals}");
    }
    assert!(said.contains("not sustained"), "{said}");
}

#[test]
fn the_highest_throughput_is_that_of_the_server_and_more_threads_bring_no_more() {
    let scratch = Scratch::new();
    let words = [
        "fake://?service_us=2500",
        "--workload",
        "c",
        "--time",
        "500ms",
        "--out",
        "search",
    ];
    let goal = ["--search", "throughput"];
    let said = well(&drive(&scratch.0, &[&words[..], &goal].concat()));
    let summary = read(&scratch.0.join("search"), "summary.json");
    let found = &summary["saturation"];
    assert_eq!(summary["search"], Value::Null);
    // It answers 400 a second at most, and what is under way when a window begins.
    let throughput = found["throughput"].as_f64().expect("there is one");
    assert!(throughput > 0.0 && throughput < 450.0, "{found}");
    assert_eq!(summary["throughput"], found["throughput"]);
    assert_eq!(summary["level"]["threads"], found["threads"]);
    let probes = found["probes"].as_array().unwrap();
    assert!(probes.len() >= 3, "{found}");
    for (number, probe) in probes.iter().enumerate() {
        assert_eq!(probe["threads"].as_u64(), Some(1 << number));
        let directory = scratch.0.join(format!("search/probe-{:02}", number + 1));
        let plan = read(&directory, "plan.json");
        assert_eq!(plan["level"]["threads"], probe["threads"]);
    }
    assert_eq!(said.matches(" a second").count(), probes.len(), "{said}");
}
