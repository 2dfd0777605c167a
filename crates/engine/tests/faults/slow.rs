//! Servers that are slower than the rate.

use std::collections::BTreeMap;

use serde_json::json;

use super::scripted::driven::{drive, errors, operations, plan, sum};
use super::scripted::{Behaviour, Server};
use super::{each, milliseconds, open};

#[test]
fn a_server_slower_than_the_rate_leaves_a_backlog_and_no_operation_is_lost() {
    let (rate, connections, seconds, timeout) = (500.0, 4, 1.0, 0.5);
    each(|protocol| {
        let server = Server::begin(protocol, Behaviour::Slow(milliseconds(4)));
        let changes = json!({
            "level": open(rate, connections), "duration": seconds, "timeout": timeout,
        });
        let driven = drive(&plan(&server, &changes));
        let result = driven.result();
        let (name, seen) = (protocol.driver(), server.seen());
        let (answered, told) = (operations(&result), errors(&result));
        assert_eq!(result["intended"], 500, "{name}");
        // One in four milliseconds, and those that had begun.
        assert!(answered <= 250 + connections, "{name} {answered}");
        let backlog = result["backlog"].as_u64().unwrap();
        assert!(backlog + answered <= 500, "{name} {backlog} {answered}");
        assert!(backlog >= 200, "{name} {backlog}");
        // The backlog is worked off until the time-out, and the rest is one.
        let wrong: u64 = told.values().sum();
        assert!(wrong >= 500 - 375 - connections, "{name} {wrong}");
        assert_eq!(told.keys().collect::<Vec<_>>(), ["timeout"], "{name}");
        assert_eq!(driven.times(".response").len() + wrong, 500, "{name}");
        assert_eq!(driven.times(".failed").len(), wrong, "{name}");
        let unsent = sum(&result["unsent"]);
        assert!(unsent <= wrong, "{name} {unsent}");
        assert_eq!(driven.times(".slip").len(), 500 - unsent, "{name}");
        assert!(seen.asked <= 500 - unsent, "{name} {seen:?}");
        assert!(sum(&result["late"]) > 0, "{name}");
    });
}

#[test]
fn as_many_are_under_way_as_there_are_connections_and_the_rest_is_dropped_if_asked_for() {
    let (rate, connections) = (500.0, 2);
    each(|protocol| {
        let server = Server::begin(protocol, Behaviour::Slow(milliseconds(10)));
        let changes = json!({
            "level": open(rate, connections), "duration": 0.6, "policy": "drop",
        });
        let driven = drive(&plan(&server, &changes));
        let result = driven.result();
        let (name, seen) = (protocol.driver(), server.seen());
        let (answered, dropped) = (operations(&result), sum(&result["dropped"]));
        let backlog = result["backlog"].as_u64().unwrap();
        assert_eq!(errors(&result), BTreeMap::new(), "{name}");
        assert_eq!(result["intended"], 300, "{name}");
        assert_eq!(answered + dropped + backlog, 300, "{name}");
        assert!((1..=60 + connections).contains(&answered), "{name}");
        assert!(backlog <= connections, "{name} {backlog}");
        assert_eq!(driven.times(".dropped").len(), dropped, "{name}");
        assert_eq!(driven.times(".response").len(), seen.asked, "{name}");
        assert_eq!(seen.well, seen.asked, "{name}");
        assert_eq!(seen.most, connections, "{name}");
    });
}

#[test]
fn the_backlog_of_a_burst_is_worked_off_at_the_speed_of_the_server() {
    let connections = 4;
    let level = json!({
        "kind": "burst", "rate": 1000.0, "length": 0.1, "rest": 0.0, "connections": connections,
        "arrivals": "constant",
    });
    let changes = json!({"level": level, "duration": 3.0, "interval": 0.05});
    each(|protocol| {
        let server = Server::begin(protocol, Behaviour::Slow(milliseconds(4)));
        let result = drive(&plan(&server, &changes)).result();
        let name = protocol.driver();
        assert_eq!(errors(&result), BTreeMap::new(), "{name}");
        assert_eq!(result["intended"], 100, "{name}");
        // The window goes on to its end, long after the backlog is gone.
        assert_eq!(
            (operations(&result), &result["backlog"]),
            (100, &json!(0)),
            "{name}"
        );
        assert_eq!(result["seconds"], 3.0, "{name}");
        let ended: Vec<(f64, u64)> = result["windows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|window| {
                let [start, length] = ["start", "length"].map(|key| window[key].as_f64().unwrap());
                (start + length, window["operations"].as_u64().unwrap())
            })
            .collect();
        // One in four milliseconds: 25 while the burst lasts, and the last one 0.4 s after its
        // beginning at the earliest.
        let within = |end: &&(f64, u64)| end.0 < 0.101;
        let in_burst: u64 = ended.iter().filter(within).map(|(_, count)| count).sum();
        assert!(in_burst <= 25 + connections, "{name} {in_burst}");
        let gone = ended.iter().rev().find(|(_, count)| *count > 0).unwrap();
        assert!(gone.0 >= 0.4, "{name} {ended:?}");
    });
}
