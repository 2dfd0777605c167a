//! Searches for the highest rate.

use serde_json::Value;

use crate::{Scratch, drive, read, well};

/// The summary of a search on a server that answers 400 operations a second at most.
fn searched(scratch: &Scratch, objective: &str) -> (Value, String) {
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
        "8",
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
    let (summary, said) = searched(&scratch, "sustained");
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
    if let Some(rate) = search["rate"].as_f64() {
        assert_eq!(summary["level"]["rate"].as_f64(), Some(rate));
    }
    for number in 1..=probes.len() {
        let directory = scratch.0.join(format!("search/probe-{number:02}"));
        let plan = read(&directory, "plan.json");
        assert_eq!(plan["level"]["rate"], probes[number - 1]["rate"]);
        assert!(read(&directory, "result.json")["intended"].is_u64());
    }
    assert_eq!(said.matches(" a second").count(), probes.len(), "{said}");
}

#[test]
fn a_rate_that_misses_the_objective_is_not_sustained() {
    let scratch = Scratch::new();
    let (summary, said) = searched(&scratch, "p50<1ms");
    let search = &summary["search"];
    assert_eq!(search["objective"]["response.p50"], 0.001);
    assert_eq!(search["rate"], Value::Null);
    for probe in search["probes"].as_array().unwrap() {
        let refusals = probe["refusals"].to_string();
        assert!(refusals.contains("`response.p50` was "), "{refusals}");
    }
    assert!(said.contains("not sustained"), "{said}");
}
