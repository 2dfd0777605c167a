//! Loads in the words of cassandra-stress, on the server inside the engine.

use serde_json::{Value, json};

use crate::{Scratch, drive, read, sum, well};

/// What is typed before the words.
const BEFORE: [&str; 3] = ["--seed", "3", "--stress"];

/// The result of a load in these words, and what was told of it.
fn made(address: &str, words: &[&str]) -> (Value, String) {
    let scratch = Scratch::new();
    let out = scratch.0.join("out");
    let told = out.display().to_string();
    let common = [address, "--out", &told];
    let said = well(&drive(&scratch.0, &[&common[..], &BEFORE, words].concat()));
    (read(&out, "result.json"), said)
}

#[test]
fn a_mixture_is_counted_by_the_names_of_cassandra_stress() {
    let words = "mixed ratio(read=1,write=1,counter_read=1,counter_write=1) n=400 no-warmup \
         clustering=fixed(1) -rate threads=4 -errors retries=0 ignore";
    let words: Vec<&str> = words.split_whitespace().collect();
    let (result, said) = made("fake://", &words);
    assert_eq!(sum(&result["operations"]), 400);
    let kinds: Vec<&String> = result["operations"].as_object().unwrap().keys().collect();
    assert_eq!(kinds, ["counter_read", "counter_write", "read", "write"]);
    assert_eq!(result["verified"], result["operations"]["read"]);
    assert_eq!(result["errors"], json!({}));
    assert!(!said.contains("cassandra-stress"), "{said}");
}

#[test]
fn rows_that_are_another_are_counted_and_none_if_nothing_is_compared() {
    let words = ["read", "n=100", "-rate", "threads=2"];
    let (result, said) = made("fake://?corrupt_every=10", &words);
    assert_eq!(result["errors"], json!({"read": {"mismatch": 10}}));
    assert_eq!(result["verified"], 90);
    assert!(said.contains("nothing is made before"), "{said}");
    let more = ["-errors", "skip-read-validation"];
    let (result, _) = made("fake://?corrupt_every=10", &[&words[..], &more].concat());
    assert_eq!(
        (&result["errors"], &result["verified"]),
        (&json!({}), &Value::Null)
    );
}

#[test]
fn a_fixed_rate_counts_from_intended_times_and_a_sequence_may_end_a_load() {
    let words = ["write", "n=100", "-rate", "threads=2", "fixed=1000/s"];
    // The server needs twice as long for each as there is.
    let (result, _) = made("fake://?service_us=2000", &words);
    assert_eq!(result["intended"], 100);
    let over = sum(&result["operations"]) + result["backlog"].as_u64().unwrap();
    assert_eq!(over, 100);
    assert!(result["late"]["write"].as_u64().unwrap() > 0);
    let words = ["write", "n=100", "-pop", "seq=1..30", "no-wrap"];
    let (result, _) = made("fake://", &words);
    assert_eq!(result["operations"], json!({"write": 30}));
}
