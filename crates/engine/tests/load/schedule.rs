//! Rates: what is late, what is left, and what each engine has of a schedule.

use hdrhistogram::Histogram;
use serde_json::json;

use crate::driven::{
    errors, fake, histogram, in_time, load, result, soon, sum, told_to_stop, workload,
};
use crate::scratch::Scratch;

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
    // However long a busy machine holds this process, no more than two are served at a time: 4 s in
    // all. What was due in the stall waited for 125 s in all.
    let [waited, worked] = [&response, &service].map(seconds_of);
    assert!(waited >= 120.0, "{waited}");
    assert!(worked * 10.0 <= waited, "{worked} {waited}");
}

/// The sum of times in seconds.
fn seconds_of(times: &Histogram<u64>) -> f64 {
    times.mean() * times.len() as f64 / 1e9
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
fn two_engines_begin_as_one_and_have_all_slots_between_them() {
    let level = json!({"kind": "rate", "rate": 501.0, "connections": 4, "arrivals": "poisson"});
    let (start, parts) = soon(|start| {
        let parts = [0, 1].map(|index| {
            let changes = json!({
                "level": level, "part": {"index": index, "of": 2}, "start": start,
                "target": fake(&json!({})), "warmup": 0.1, "duration": 0.4,
            });
            std::thread::spawn(move || {
                let scratch = Scratch::new();
                let made = in_time(&load(&scratch.0, &changes));
                made.then(|| (result(&scratch.0), histogram(&scratch.0, ".response").len()))
            })
        });
        let parts = parts.map(|part| part.join().unwrap());
        let parts: Option<Vec<_>> = parts.into_iter().collect();
        Some((start, parts?))
    });
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
