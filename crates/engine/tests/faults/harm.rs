//! Single operations that come to harm.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;

use super::each;
use super::scripted::driven::{drive, errors, operations, plan};
use super::scripted::{Behaviour, Harm, How, Protocol, Server};

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
        // Long enough that nothing else is given up on a busy machine.
        let timeout = if self.harm == Harm::Silence {
            2.0
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
