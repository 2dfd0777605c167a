//! Loads that are made to their end.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::redis::{far, listening, redis};
use crate::{Scratch, drive, engine, plan, read, sum, well};

/// A workload file as they come: comments, line ends of another system, properties of YCSB's
/// client.
const FILE: &str = "# Copyright of somebody\r\n#\r\n\r\n! Application example: a shop\r\n\
    recordcount=1000\r\noperationcount=1000\r\n\
    workload=com.yahoo.ycsb.workloads.CoreWorkload\r\n\r\nreadallfields = true\r\n\
    readproportion:\\\r\n    0.5\r\nupdateproportion 0.5\r\nscanproportion=0\r\n\
    insertproportion=0\r\nrequestdistribution=zipfian\r\nhistogram.buckets=1000\r\n";

#[test]
fn a_database_is_loaded_and_then_driven_by_a_workload_file() {
    let scratch = Scratch::new();
    let (address, records) = redis();
    let (url, file) = (format!("redis://{address}"), scratch.file("shop", FILE));
    let (loaded, run) = (scratch.0.join("loaded"), scratch.0.join("run"));
    let told = |out: &Path| out.display().to_string();
    let common = [&*url, "-P", &file, "-p", "recordcount=200"];
    let output = drive(
        &scratch.0,
        &[
            &common[..],
            &["load", "--threads", "3", "--out", &told(&loaded)],
        ]
        .concat(),
    );
    let said = well(&output);
    assert!(said.contains("no effect: `histogram.buckets`; "), "{said}");
    assert!(said.contains("200 operations and 0 errors"), "{said}");
    {
        let records = records.lock().unwrap();
        assert_eq!(records.len(), 200);
        let first = &records[&b"user6284781860667377211"[..]];
        assert_eq!(first.len(), 10);
        assert_eq!(first[&b"field9"[..]].len(), 100);
    }
    assert_eq!(read(&loaded, "plan.json")["phase"], "load");
    let output = drive(
        &scratch.0,
        &[
            &common[..],
            &[
                "-p",
                "operationcount=500",
                "--threads",
                "4",
                "--out",
                &told(&run),
            ],
        ]
        .concat(),
    );
    well(&output);
    let result = read(&run, "result.json");
    assert_eq!(sum(&result["operations"]), 500);
    let kinds: Vec<&String> = result["operations"].as_object().unwrap().keys().collect();
    assert_eq!(kinds, ["read", "update"]);
    assert_eq!(sum(&result["errors"]), 0, "{}", result["errors"]);
    assert_eq!(result["remotes"], json!([address.to_string()]));
    assert!(std::fs::metadata(run.join("latency.hlog")).unwrap().len() > 0);
}

#[test]
fn the_plan_of_a_load_makes_it_again() {
    let scratch = Scratch::new();
    let words = [
        "fake://?service_us=1",
        "--workload",
        "f",
        "--operations",
        "300",
        "--seed",
        "7",
    ];
    let first = scratch.0.join("first");
    let out = first.display().to_string();
    well(&drive(&scratch.0, &[&words[..], &["-o", &out]].concat()));
    assert_eq!(read(&first, "plan.json"), plan(&words));
    let second = scratch.0.join("second");
    let mut again = engine(&scratch.0);
    again.args(["load", "--plan", "first/plan.json", "--out", "second"]);
    well(&again.output().unwrap());
    let operations = |directory: &Path| read(directory, "result.json")["operations"].clone();
    assert_eq!(sum(&operations(&first)), 300);
    assert_eq!(operations(&first), operations(&second));
}

#[test]
fn each_client_does_the_same_again_with_the_same_seed_while_records_are_inserted() {
    let heard = [1, 2].map(|_| {
        let scratch = Scratch::new();
        let (address, heard) = listening();
        let url = format!("redis://{address}");
        let mix = [
            "readproportion=0.3",
            "updateproportion=0.4",
            "insertproportion=0.3",
        ];
        let others = [
            "scanproportion=0",
            "recordcount=20",
            "requestdistribution=zipfian",
        ];
        let properties = mix.iter().chain(&others).flat_map(|one| ["-p", one]);
        let words = [&*url, "--workload", "a", "--threads", "4", "--seed", "7"];
        let ends = ["--operations", "800"];
        let all: Vec<&str> = words.into_iter().chain(properties).chain(ends).collect();
        well(&drive(&scratch.0, &all));
        let mut streams = heard.lock().unwrap().clone();
        streams.sort();
        streams
    });
    let [first, second] = heard;
    assert_eq!((first.len(), second.len()), (4, 4));
    for (one, other) in first.iter().zip(&second) {
        let both = one.len().min(other.len());
        assert!(both > 50, "{both}");
        assert!(one[..both] == other[..both], "a client did something else");
    }
}

#[test]
fn bursts_ramps_and_loads_that_drop_are_made_as_they_are_typed() {
    let scratch = Scratch::new();
    let slow = "fake://?service_us=100000";
    for (words, intended, drops) in [
        (&["--burst", "400", "--rate", "100"][..], 250, false),
        (&["--ramp", "0..400"], 200, false),
        (
            &[
                "--rate",
                "200",
                "--connections",
                "2",
                "--policy",
                "drop",
                "--arrivals",
                "constant",
            ],
            200,
            true,
        ),
    ] {
        let address = if drops { slow } else { "fake://" };
        let out = scratch.0.join(intended.to_string() + words[0]);
        let told = out.display().to_string();
        let common = [address, "--workload", "c", "--time", "1s", "--out", &told];
        let said = well(&drive(&scratch.0, &[&common[..], words].concat()));
        let result = read(&out, "result.json");
        assert_eq!(result["intended"], intended, "{words:?}");
        let dropped = sum(&result["dropped"]);
        assert_eq!(dropped > 0, drops, "{result}");
        assert_eq!(
            said.contains(&format!("and {dropped} left out")),
            drops,
            "{said}"
        );
        let backlog = result["backlog"].as_u64().unwrap();
        assert_eq!(sum(&result["operations"]) + dropped + backlog, intended);
    }
}

/// The summary of a load at so many operations a second.
fn at_rate(url: &str, rate: &str, words: &[&str]) -> Value {
    let scratch = Scratch::new();
    let common = [url, "--workload", "c", "--rate", rate, "--out", "run"];
    well(&drive(&scratch.0, &[&common, words].concat()));
    read(&scratch.0.join("run"), "summary.json")
}

#[test]
fn more_than_a_server_answers_is_over_capacity_and_answers_that_take_long_are_not() {
    // It answers 400 a second.
    let slow = "fake://?service_us=2500";
    let much = at_rate(slow, "800", &["--time", "2s"]);
    // On a busy machine the engine may have been the limit.
    assert_ne!(much["over_capacity"], much["saturated"], "{much}");
    assert!(much["slope"].as_f64().unwrap() > 0.1, "{much}");
    let dropping = at_rate(slow, "800", &["--time", "2s", "--policy", "drop"]);
    assert_eq!(dropping["over_capacity"], false, "{dropping}");
    assert_eq!(dropping["slope"], Value::Null);
    assert!(dropping["achieved"].as_f64().unwrap() < 0.8, "{dropping}");
    // One in twenty operations is under way when the time is over.
    let url = format!("redis://{}", far(Duration::from_millis(300)));
    let words = [
        "-p",
        "recordcount=100",
        "--time",
        "6s",
        "--interval",
        "100ms",
    ];
    let away = at_rate(&url, "100", &words);
    assert!(away["achieved"].as_f64().unwrap() < 0.97, "{away}");
    assert_eq!(away["over_capacity"], false, "{away}");
}

#[test]
fn an_engine_that_may_have_been_the_limit_is_told() {
    let scratch = Scratch::new();
    let words = ["fake://", "--workload", "c", "--time", "300ms"];
    let too_much = ["--rate", "5000000", "--timeout", "100ms"];
    let said = well(&drive(&scratch.0, &[&words[..], &too_much].concat()));
    assert!(
        said.contains("the engine itself may have been the limit"),
        "{said}"
    );
    let rests = [
        "fake://?service_us=20000",
        "--workload",
        "c",
        "--time",
        "300ms",
    ];
    let said = well(&drive(
        &scratch.0,
        &[&rests[..], &["--out", "idle"]].concat(),
    ));
    assert!(!said.contains("may have been the limit"), "{said}");
    let result = read(&scratch.0.join("idle"), "result.json");
    assert_eq!(result["saturated"], false, "{result}");
}

#[test]
fn without_a_directory_a_new_one_is_made() {
    let scratch = Scratch::new();
    let words = ["fake://", "--workload", "c", "--operations", "100"];
    let said = well(&drive(&scratch.0, &words));
    let made: Vec<_> = std::fs::read_dir(&scratch.0)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(made.len(), 1, "{made:?}");
    assert!(
        made[0].starts_with("drive-2") && made[0].ends_with('Z'),
        "{made:?}"
    );
    assert!(
        said.contains(&format!("`{}` has `summary.json`", made[0])),
        "{said}"
    );
    let mut files: Vec<_> = std::fs::read_dir(scratch.0.join(&made[0]))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    files.sort_unstable();
    let expected = ["latency.hlog", "plan.json", "result.json", "summary.json"];
    assert_eq!(files, expected);
}

#[test]
fn a_load_of_which_no_operation_went_well_says_so() {
    let scratch = Scratch::new();
    let words = ["--workload", "c", "--operations", "9", "--out", "run"];
    let output = drive(
        &scratch.0,
        &[&["fake://?fail_every=1"][..], &words].concat(),
    );
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("not one operation went well"), "{said}");
    let summary = read(&scratch.0.join("run"), "summary.json");
    assert_eq!(summary["operations"]["all"]["errors"]["server"], 9);
}
