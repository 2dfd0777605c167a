//! Servers that never answer, or are not there.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::json;

use super::scripted::driven::{drive, errors, operations, plan, sum, target};
use super::scripted::{Behaviour, Cassandra, Harm, Protocol, Server};
use super::{each, milliseconds, open};

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
        let changes = json!({"level": open(rate, connections), "duration": 4.0});
        let driven = drive(&plan(&server, &changes));
        let result = driven.result();
        let (seen, told) = (server.seen(), errors(&result));
        let what = format!("{} {told:?} {seen:?}", protocol.driver());
        assert_eq!(told.keys().collect::<Vec<_>>(), ["connection"], "{what}");
        let (answered, failed) = (driven.times(".response"), driven.times(".failed"));
        assert_eq!(answered.len() + failed.len(), 400, "{what}");
        assert_eq!(failed.len(), told["connection"], "{what}");
        assert_eq!(answered.len(), seen.well, "{what}");
        assert!(result["silent_from"].is_null(), "{what}");
        // The first 49 are from before; it is driven again, however late that is.
        assert!(answered.len() > 60, "{what}");
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
            for behaviour in [None, Some(Behaviour::Mute), Some(Behaviour::Babble)] {
                scope.spawn(move || does_not_begin(protocol, behaviour));
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
fn a_cassandra_without_the_table_is_refused_with_the_statement_that_makes_it() {
    let protocol: Arc<dyn Protocol> = Arc::new(Cassandra::empty());
    let server = Server::begin(&protocol, Behaviour::Healthy);
    let driven = drive(&plan(&server, &json!({"operations": 10})));
    let said = driven.refusal();
    let fields: Vec<_> = (0..10)
        .map(|number| format!("field{number} varchar"))
        .collect();
    let expected = format!(
        "no load of `{}`: table usertable does not exist; type in cqlsh: CREATE TABLE \
         \"ycsb\".\"usertable\" (y_id varchar PRIMARY KEY, {});",
        server.address,
        fields.join(", ")
    );
    assert!(said.contains(&expected), "{said}");
    // Another part of the load may be about to make it.
    let part = json!({
        "operations": 10, "timeout": 3.0, "part": {"index": 1, "of": 2},
        "level": {"kind": "threads", "threads": 2},
    });
    let driven = drive(&plan(&server, &part));
    let said = driven.refusal();
    assert!(said.contains("within 5 s: table usertable"), "{said}");
    assert!(said.contains("type in cqlsh: CREATE TABLE"), "{said}");
}

#[test]
fn a_datacentre_that_no_member_is_in_is_refused_with_those_that_there_are() {
    let protocol: Arc<dyn Protocol> = Arc::new(Cassandra::default());
    let server = Server::begin(&protocol, Behaviour::Healthy);
    let mut plan = plan(&server, &json!({"operations": 10}));
    plan["target"]["options"] = json!({"datacenter": "elsewhere"});
    let driven = drive(&plan);
    let said = driven.refusal();
    let expected = "no member is in the datacentre `elsewhere`; type ?datacenter= with one of \
                    `data_center`";
    assert!(said.contains(expected), "{said}");
    plan["target"]["options"] = json!({"datacenter": "data_center"});
    assert_eq!(operations(&drive(&plan).result()), 10);
}

#[test]
fn what_is_sent_to_cassandra_is_dated_by_the_client_as_by_the_drivers_of_the_originals() {
    let cassandra = Arc::new(Cassandra::default());
    let protocol: Arc<dyn Protocol> = cassandra.clone();
    let server = Server::begin(&protocol, Behaviour::Healthy);
    let mut plan = plan(&server, &json!({"operations": 10}));
    plan["workload"]["mix"]["read"] = json!(0.0);
    plan["workload"]["mix"]["update"] = json!(1.0);
    assert_eq!(operations(&drive(&plan).result()), 10);
    assert_eq!(cassandra.dated.load(Ordering::Relaxed), 10);
}
