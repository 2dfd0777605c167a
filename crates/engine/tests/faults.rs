//! Every driver against servers that do what no server should: what becomes of operations is known,
//! and each of them is counted once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use self::scripted::driven::{at_least, drive, errors, operations, plan, sum, target};
use self::scripted::{Behaviour, Harm, How, Protocol, Redis, Server, every};

#[allow(dead_code)] // What the tests of scale need.
mod scripted;

/// Check something of every driver, side by side.
fn each(check: impl Fn(&Arc<dyn Protocol>) + Sync) {
    let check = &check;
    std::thread::scope(|scope| {
        let threads: Vec<_> = every()
            .into_iter()
            .map(|protocol| (protocol.driver(), scope.spawn(move || check(&protocol))))
            .collect();
        for (driver, thread) in threads {
            assert!(thread.join().is_ok(), "the driver `{driver}`");
        }
    });
}

fn milliseconds(number: u64) -> Duration {
    Duration::from_millis(number)
}

/// An open load with so many connections.
fn open(rate: f64, connections: u64) -> Value {
    json!({"kind": "rate", "rate": rate, "connections": connections, "arrivals": "constant"})
}

/// Operations of each load of the table, one after another.
const OPERATIONS: u64 = 65;
/// Each operation that reaches the server comes to harm whose number can be divided by this.
const EVERY: u64 = 20;

/// What comes of operations that come to harm.
struct Row {
    harm: Harm,
    /// What each of them is counted as.
    fault: &'static str,
    /// Whether a client with a connection of its own makes a new one after it.
    own: bool,
    /// Whether a driver whose clients share a connection makes a new one after it.
    shared: bool,
}

const TABLE: [Row; 6] = [
    row(Harm::Answer(How::Absent), "not_found", false, false),
    row(Harm::Answer(How::Refusal), "server", false, false),
    row(Harm::Answer(How::Nonsense), "protocol", true, false),
    row(Harm::Garbage, "protocol", true, true),
    row(Harm::Half, "connection", true, true),
    row(Harm::Silence, "timeout", true, false),
];

const fn row(harm: Harm, fault: &'static str, own: bool, shared: bool) -> Row {
    Row {
        harm,
        fault,
        own,
        shared,
    }
}

impl Row {
    /// Drive a server in a phase, and compare.
    fn holds(&self, protocol: &Arc<dyn Protocol>, phase: &str) {
        let server = Server::begin(protocol, Behaviour::Every(EVERY, self.harm));
        let timeout = if self.harm == Harm::Silence {
            0.5
        } else {
            10.0
        };
        let mut plan = plan(&server, &json!({"phase": phase, "timeout": timeout}));
        match phase {
            "load" => plan["workload"]["records"] = json!(OPERATIONS),
            _ => plan["operations"] = json!(OPERATIONS),
        }
        let result = drive(&plan).result();
        let (seen, told) = (server.seen(), errors(&result));
        let what = format!("{} {phase} {:?} {seen:?}", protocol.driver(), self.harm);
        // While a shared connection is made anew, operations fail that no server has seen.
        let lost = OPERATIONS - seen.asked;
        let mut expected = BTreeMap::from([(self.fault.to_owned(), seen.harmed)]);
        *expected.entry("connection".to_owned()).or_default() += lost;
        expected.retain(|_, count| *count > 0);
        assert_eq!(told, expected, "{what} {}", result["messages"]);
        assert!(seen.harmed > 0, "{what}");
        assert_eq!(operations(&result), seen.well, "{what}");
        assert_eq!(seen.well + seen.harmed + lost, OPERATIONS, "{what}");
        assert_eq!(seen.repeated, 0, "{what}");
        if protocol.shares() {
            // One more connection, to hear of changes.
            let again = seen.connections - 2;
            assert!(again <= seen.harmed, "{what}");
            assert_eq!((lost > 0, again > 0), (self.shared, self.shared), "{what}");
        } else {
            let again = if self.own { seen.harmed } else { 0 };
            assert_eq!((lost, seen.connections), (0, 1 + again), "{what}");
        }
    }
}

#[test]
fn what_comes_to_harm_is_counted_once_by_its_kind_and_never_repeated() {
    each(|protocol| {
        for row in &TABLE {
            row.holds(protocol, "run");
            if row.harm != Harm::Answer(How::Absent) {
                row.holds(protocol, "load");
            }
        }
    });
}

#[test]
fn an_answer_too_many_is_not_taken_for_the_answer_to_another_operation() {
    each(|protocol| {
        let server = Server::begin(protocol, Behaviour::Every(EVERY, Harm::Twice));
        let result = drive(&plan(&server, &json!({"operations": OPERATIONS}))).result();
        let (seen, told) = (server.seen(), errors(&result));
        let what = format!("{} {told:?} {seen:?}", protocol.driver());
        let wrong: u64 = told.values().sum();
        assert_eq!(operations(&result) + wrong, OPERATIONS, "{what}");
        if protocol.shares() {
            // The driver may see it before it sends the next request, which then finds nobody.
            assert!(wrong >= seen.harmed, "{what}");
            let known = ["connection", "protocol"];
            assert!(told.keys().all(|fault| known.contains(&&**fault)), "{what}");
        } else {
            let expected = BTreeMap::from([("protocol".to_owned(), seen.harmed)]);
            assert_eq!(told, expected, "{what}");
        }
        assert!(seen.harmed > 0, "{what}");
    });
}

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
        // A busy machine may hold the engine too, and each time no more than this are under way.
        let held = [&response, &service].map(|times| at_least(times, 0.15));
        assert!(held[1] * 10 <= held[0], "{name} {held:?}");
        let late = sum(&result["late"]);
        assert!(late as f64 >= rate * stall * 0.9, "{name} {late}");
        assert!(server.seen().most <= connections, "{name}");
    });
}

#[test]
fn a_closed_loop_on_a_server_that_freezes_for_good_has_an_error_of_each_thread() {
    each(|protocol| {
        let freezes = Behaviour::Stall(60, Duration::from_secs(100));
        let server = Server::begin(protocol, freezes);
        let changes = json!({
            "level": {"kind": "threads", "threads": 4}, "duration": 0.5, "timeout": 1.0,
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
    });
}

#[test]
fn an_answer_that_comes_after_the_end_of_a_closed_loop_is_unfinished() {
    each(|protocol| {
        let server = Server::begin(protocol, Behaviour::Stall(60, milliseconds(1500)));
        let changes = json!({"level": {"kind": "threads", "threads": 4}, "duration": 0.5});
        let driven = drive(&plan(&server, &changes));
        let (result, seen) = (driven.result(), server.seen());
        let what = format!("{} {seen:?} {result}", protocol.driver());
        assert_eq!(errors(&result), BTreeMap::new(), "{what}");
        let unfinished = sum(&result["unfinished"]);
        assert_eq!(unfinished, 4, "{what}");
        let times = driven.times(".unfinished");
        assert_eq!(at_least(&times, 0.9), unfinished, "{what}");
        assert_eq!(operations(&result) + unfinished, seen.asked, "{what}");
    });
}

#[test]
fn an_operation_that_is_given_up_in_a_stall_is_a_time_out_and_the_next_one_has_its_own_answer() {
    let (rate, connections, seconds) = (200.0, 4, 1.5);
    each(|protocol| {
        let server = Server::begin(protocol, Behaviour::Stall(60, milliseconds(700)));
        let changes = json!({
            "level": open(rate, connections), "duration": seconds, "timeout": 0.2,
        });
        let driven = drive(&plan(&server, &changes));
        let result = driven.result();
        let told = errors(&result);
        let what = format!("{} {told:?} {}", protocol.driver(), result["messages"]);
        let given_up = told.get("timeout").copied().unwrap_or(0);
        assert_eq!(told.len(), 1, "{what}");
        // Each connection gives up one after another, three times in this stall, if it is not late.
        assert!(given_up >= 2 * connections, "{what}");
        let intended = (rate * seconds) as u64;
        let (answered, failed) = (driven.times(".response"), driven.times(".failed"));
        assert_eq!(answered.len() + given_up, intended, "{what}");
        assert_eq!(failed.len(), given_up, "{what}");
        assert!(failed.min() >= 199_000_000, "{what}");
        // Whoever waited for a connection meanwhile was answered after the stall.
        assert!(at_least(&answered, 0.4) > 0, "{what}");
    });
}

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
fn a_server_that_never_answers_costs_every_operation_its_time_and_the_load_ends() {
    let (rate, connections) = (100.0, 2);
    each(|protocol| {
        let server = Server::begin(protocol, Behaviour::Every(1, Harm::Silence));
        let changes = json!({
            "level": open(rate, connections), "duration": 0.8, "timeout": 0.2,
        });
        let driven = drive(&plan(&server, &changes));
        let result = driven.result();
        let name = protocol.driver();
        assert_eq!(operations(&result), 0, "{name}");
        assert_eq!(result["intended"], 80, "{name}");
        let expected = BTreeMap::from([("timeout".to_owned(), 80)]);
        assert_eq!(errors(&result), expected, "{name}");
        assert_eq!(driven.times(".response").len(), 0, "{name}");
        assert_eq!(driven.times(".failed").len(), 80, "{name}");
        // In 0.8 s, and the 0.2 s after it, each connection gives up no more than five.
        let sent = 80 - sum(&result["unsent"]);
        assert!((connections..=5 * connections).contains(&sent), "{sent}");
        assert!(server.seen().asked <= sent, "{name}");
    });
}

#[test]
fn a_server_that_ends_all_connections_and_refuses_others_for_a_while_is_driven_again_after_it() {
    let (rate, connections) = (100.0, 2);
    each(|protocol| {
        let server = Server::begin(protocol, Behaviour::Refuse(50, milliseconds(300)));
        let changes = json!({"level": open(rate, connections), "duration": 2.5});
        let driven = drive(&plan(&server, &changes));
        let result = driven.result();
        let (seen, told) = (server.seen(), errors(&result));
        let what = format!("{} {told:?} {seen:?}", protocol.driver());
        assert_eq!(told.keys().collect::<Vec<_>>(), ["connection"], "{what}");
        let (answered, failed) = (driven.times(".response"), driven.times(".failed"));
        assert_eq!(answered.len() + failed.len(), 250, "{what}");
        assert_eq!(failed.len(), told["connection"], "{what}");
        assert_eq!(answered.len(), seen.well, "{what}");
        assert!(answered.len() >= 100, "{what}");
        if protocol.shares() {
            assert!(seen.connections >= 3, "{what}");
        } else {
            assert_eq!(seen.connections, 2 * connections, "{what}");
        }
    });
}

#[test]
fn a_load_does_not_begin_where_nobody_answers_or_what_answers_is_no_database() {
    each(|protocol| {
        std::thread::scope(|scope| {
            let greets = protocol.driver() != "redis";
            for behaviour in [None, Some(Behaviour::Mute), Some(Behaviour::Babble)] {
                // A client of Redis does not greet, and may begin.
                if behaviour.is_none() || greets {
                    scope.spawn(move || does_not_begin(protocol, behaviour));
                }
            }
        });
    });
}

/// A load of a server that behaves so, or of nobody.
fn does_not_begin(protocol: &Arc<dyn Protocol>, behaviour: Option<Behaviour>) {
    let server = Server::begin(protocol, behaviour.unwrap_or(Behaviour::Healthy));
    let mut plan = plan(&server, &json!({"operations": 10, "timeout": 0.5}));
    let mut address = server.address.to_string();
    if behaviour.is_none() {
        drop(server);
        // Nobody has this port.
        "127.0.0.1:1".clone_into(&mut address);
        plan["target"] = target(&**protocol, protocol.topology(), &[address.clone()]);
    }
    let driven = drive(&plan);
    let said = driven.refusal();
    let expected = format!("no connection to `{address}` within 5 s: ");
    assert!(said.contains(&expected), "{} {said}", protocol.driver());
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
            "operations": 40, "timeout": 0.25, "level": {"kind": "threads", "threads": 2},
        }),
    );
    plan["target"]["topology"] = json!("cluster");
    let result = drive(&plan).result();
    let (told, seen) = (errors(&result), healthy.seen());
    assert_eq!(told.keys().collect::<Vec<_>>(), ["timeout"], "{told:?}");
    assert_eq!(operations(&result) + told["timeout"], 40);
    assert_eq!(operations(&result), seen.well);
    // Half of the records are there, give or take what chance does.
    assert!(seen.well >= 8, "{seen:?} {told:?}");
}
