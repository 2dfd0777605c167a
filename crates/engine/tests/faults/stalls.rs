//! Servers that say nothing for a while, or for good.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::scripted::driven::{at_least, drive, errors, operations, plan, seconds_of, sum};
use super::scripted::{Behaviour, Protocol, Redis, Server};
use super::{each, milliseconds, open};

#[test]
fn a_stall_is_in_the_response_times_of_all_that_were_due_in_it_and_hardly_in_service_times() {
    let (rate, connections, stall, seconds) = (400.0, 4, 0.5, 2.0);
    each(|protocol| {
        let behaviour = Behaviour::Stall(200, Duration::from_secs_f64(stall));
        let server = Server::begin(protocol, behaviour);
        let changes = json!({"level": open(rate, connections), "duration": seconds});
        let driven = drive(&plan(&server, &changes));
        let result = driven.result();
        let name = protocol.driver();
        let intended = (rate * seconds) as u64;
        assert_eq!(errors(&result), BTreeMap::new(), "{name}");
        assert!(result["silent_from"].is_null(), "{name}");
        assert_eq!(result["intended"], intended, "{name}");
        let backlog = result["backlog"].as_u64().unwrap();
        assert_eq!(operations(&result) + backlog, intended, "{name}");
        let (response, service) = (driven.times(".response"), driven.times(".service"));
        assert_eq!((response.len(), service.len()), (intended, intended));
        assert!(at_least(&response, stall) > 0, "{name}");
        // What is due when the stall has so long to go waits for as long at least. The operation
        // that begins it was due a little before.
        for left in [0.05, 0.1, 0.2, 0.3, 0.4] {
            let due = (rate * (stall - left) * 0.95) as u64 - connections;
            let waited = at_least(&response, left);
            assert!(waited >= due, "{name} {left}: {waited} of {due}");
        }
        // However long a busy machine holds the engine, no more than `connections` are served at a
        // time: 8 s in all, and a hold adds more to response times.
        let [waited, worked] = [&response, &service].map(seconds_of);
        assert!(worked * 4.0 <= waited, "{name} {worked} {waited}");
        let late = sum(&result["late"]);
        assert!(late as f64 >= rate * stall * 0.9, "{name} {late}");
        assert!(server.seen().most <= connections, "{name}");
    });
}

#[test]
fn a_closed_loop_on_a_server_that_freezes_for_good_has_an_error_of_each_thread() {
    each(|protocol| {
        let freezes = Behaviour::Stall(9, Duration::from_secs(100));
        let server = Server::begin(protocol, freezes);
        // It freezes early in the load, and no operation is given up before the load's end.
        let changes = json!({
            "level": {"kind": "threads", "threads": 4}, "duration": 1.0, "timeout": 2.5,
        });
        let driven = drive(&plan(&server, &changes));
        let (result, seen) = (driven.result(), server.seen());
        let told = errors(&result);
        let what = format!("{} {told:?} {seen:?}", protocol.driver());
        assert_eq!(told, BTreeMap::from([("timeout".to_owned(), 4)]), "{what}");
        assert_eq!(driven.times(".failed").len(), 4, "{what}");
        assert_eq!(
            operations(&result),
            driven.times(".service").len(),
            "{what}"
        );
        assert_eq!(operations(&result) + 4, seen.asked, "{what}");
        let silent_from = result["silent_from"].as_f64().unwrap();
        assert!((0.0..1.0).contains(&silent_from), "{what} {silent_from}");
    });
}

#[test]
fn an_answer_that_comes_after_the_end_of_a_closed_loop_is_unfinished() {
    each(|protocol| {
        // The stall begins early in the load, and lasts well beyond its end.
        let server = Server::begin(protocol, Behaviour::Stall(9, milliseconds(3000)));
        let changes = json!({"level": {"kind": "threads", "threads": 4}, "duration": 1.0});
        let driven = drive(&plan(&server, &changes));
        let (result, seen) = (driven.result(), server.seen());
        let what = format!("{} {seen:?} {result}", protocol.driver());
        assert_eq!(errors(&result), BTreeMap::new(), "{what}");
        let unfinished = sum(&result["unfinished"]);
        assert_eq!(unfinished, 4, "{what}");
        let times = driven.times(".unfinished");
        assert_eq!(at_least(&times, 1.9), unfinished, "{what}");
        assert_eq!(operations(&result) + unfinished, seen.asked, "{what}");
    });
}

#[test]
fn an_operation_that_is_given_up_in_a_stall_is_a_time_out_and_the_next_one_has_its_own_answer() {
    let (rate, connections, seconds) = (200.0, 4, 4.0);
    each(|protocol| {
        let server = Server::begin(protocol, Behaviour::Stall(60, milliseconds(2000)));
        let changes = json!({
            "level": open(rate, connections), "duration": seconds, "timeout": 0.4,
        });
        let driven = drive(&plan(&server, &changes));
        let result = driven.result();
        let told = errors(&result);
        let what = format!("{} {told:?} {}", protocol.driver(), result["messages"]);
        let given_up = told.get("timeout").copied().unwrap_or(0);
        assert_eq!(told.len(), 1, "{what}");
        // Each connection gives up one after another, five times in this stall, if nothing holds the
        // engine.
        assert!(given_up >= 2 * connections, "{what}");
        let intended = (rate * seconds) as u64;
        let (answered, failed) = (driven.times(".response"), driven.times(".failed"));
        assert_eq!(answered.len() + given_up, intended, "{what}");
        assert_eq!(failed.len(), given_up, "{what}");
        assert!(failed.min() >= 399_000_000, "{what}");
        // Whoever waited for a connection meanwhile was answered after the stall.
        assert!(at_least(&answered, 0.5) > 0, "{what}");
    });
}

#[test]
fn a_member_of_a_redis_cluster_that_stands_still_holds_up_its_own_records_only() {
    let spoken = Arc::new(Redis::default());
    let protocol: Arc<dyn Protocol> = spoken.clone();
    let still = Server::begin(&protocol, Behaviour::Stall(1, Duration::from_secs(100)));
    let healthy = Server::begin(&protocol, Behaviour::Healthy);
    let half = |first: u16, last: u16, server: &Server| {
        let port = server.address.port();
        format!("*3\r\n:{first}\r\n:{last}\r\n*2\r\n$9\r\n127.0.0.1\r\n:{port}\r\n")
    };
    let halves = half(0, 8191, &still) + &half(8192, 16383, &healthy);
    spoken.slots.set(format!("*2\r\n{halves}").into()).unwrap();
    let mut plan = plan(
        &still,
        &json!({
            "operations": 24, "timeout": 1.0, "level": {"kind": "threads", "threads": 2},
        }),
    );
    plan["target"]["topology"] = json!("cluster");
    let result = drive(&plan).result();
    let (told, seen) = (errors(&result), healthy.seen());
    assert_eq!(told.keys().collect::<Vec<_>>(), ["timeout"], "{told:?}");
    assert_eq!(operations(&result) + told["timeout"], 24);
    assert_eq!(operations(&result), seen.well);
    // Half of the records are there, give or take what chance does.
    assert!(seen.well >= 4, "{seen:?} {told:?}");
}
