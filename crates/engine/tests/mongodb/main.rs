//! The driver of MongoDB, against servers that say what a test wants them to say.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::driven::{RECORDS, loading, running, sum, target};
use crate::scratch::Scratch;
use crate::server::{Reply, Store, listener, serve, unknown};

mod bson;
mod driven;
mod scram;
#[path = "../scratch/mod.rs"]
mod scratch;
mod server;
mod set;

/// A server that keeps records, and its address.
fn storing() -> (Arc<Store>, SocketAddr) {
    let store = Arc::new(Store::default());
    let (listener, address) = listener();
    let kept = store.clone();
    serve(listener, move |command| kept.answer(command));
    (store, address)
}

fn single(address: SocketAddr, options: &Value) -> Value {
    target("single", &[address], options)
}

#[test]
fn every_operation_is_answered_and_what_is_read_is_what_was_written() {
    let (store, address) = storing();
    let scratch = Scratch::new();
    let target = single(address, &json!({}));
    let loaded = scratch.result(&loading(&target));
    assert_eq!(loaded["operations"], json!({"insert": RECORDS}));
    assert_eq!(loaded["shape"], "document");
    let consistency = json!({"read": "readPreference=primary", "write": "w=1"});
    assert_eq!(loaded["consistency"], consistency);
    assert_eq!(loaded["remotes"], json!([address.to_string()]));

    let kinds = ["read", "update", "insert", "scan", "read_modify_write"];
    let run = scratch.result(&running(&target, &kinds, 500));
    assert_eq!(run["errors"], json!({}));
    assert_eq!(run["operations"].as_object().unwrap().len(), kinds.len());
    assert_eq!(sum(&run["operations"]), 500);
    let compared = ["read", "read-modify-write"].map(|kind| run["operations"][kind].as_u64());
    let compared: u64 = compared.into_iter().flatten().sum();
    assert_eq!(run["verified"], compared);

    let records = store.0.lock().unwrap();
    let inserted = run["operations"]["insert"].as_u64().unwrap();
    assert_eq!(records.len() as u64, RECORDS + inserted);
    let record = records["user6284781860667377211"].as_object().unwrap();
    assert_eq!(record.len(), 11);
    for field in 0..10 {
        let value = record[&format!("field{field}")]["$binary"].as_str();
        let value = value.unwrap();
        assert_eq!(value.len(), 100);
        let begin = format!("user6284781860667377211:field{field}:");
        assert!(value.starts_with(&begin), "{value}");
    }
}

#[test]
fn the_verb_drive_goes_to_the_collection_and_with_the_concerns_of_its_properties() {
    let store = Arc::new(Store::default());
    let (listener, address) = listener();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let (kept, seen) = (store.clone(), asked.clone());
    serve(listener, move |command| {
        if command.name != "hello" {
            seen.lock().unwrap().push(command.body.clone());
        }
        kept.answer(command)
    });
    let scratch = Scratch::new();
    let url = format!("mongodb://{address}/shop");
    let count = format!("recordcount={RECORDS}");
    let common = [
        &*url,
        "--workload",
        "c",
        "-p",
        &*count,
        "-p",
        "table=orders",
    ];
    let writes = [
        "load",
        "-p",
        "mongodb.writeConcern=majority",
        "-p",
        "mongodb.upsert=true",
    ];
    let loaded = scratch.driven(&[&common[..], &writes].concat());
    assert_eq!(loaded["operations"], json!({"insert": RECORDS}));
    assert_eq!(loaded["consistency"]["write"], "w=majority");
    assert_eq!(store.0.lock().unwrap().len() as u64, RECORDS);
    let run = scratch.driven(&[&common[..], &["--operations", "100"]].concat());
    assert_eq!(run["operations"], json!({"read": 100}));
    let asked = asked.lock().unwrap();
    let (first, last) = (asked.first().unwrap(), asked.last().unwrap());
    assert_eq!(
        (&first["update"], &first["$db"]),
        (&json!("orders"), &json!("shop"))
    );
    assert_eq!(first["updates"][0]["upsert"], true);
    assert_eq!(
        (&last["find"], &last["$db"]),
        (&json!("orders"), &json!("shop"))
    );
}

#[test]
fn the_verb_drive_finds_a_replica_set_by_its_name() {
    let words = [
        "mongodb://127.0.0.1:1/?replicaSet=rs0&readPreference=nearest",
        "--dry-run",
    ];
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_dunnage-engine"))
        .env_remove("DUNNAGE_PASSWORD")
        .arg("drive")
        .args(words)
        .args(["--workload", "a"])
        .output()
        .unwrap();
    let plan: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(plan["target"]["topology"], "replicas");
    let options = json!({"replicaSet": "rs0", "readPreference": "nearest"});
    assert_eq!(plan["target"]["options"], options);
}

#[test]
fn a_record_that_is_not_there_or_is_another_is_told() {
    let (store, address) = storing();
    let scratch = Scratch::new();
    let target = single(address, &json!({}));
    for kind in ["read", "update", "scan"] {
        let run = scratch.result(&running(&target, &[kind], 20));
        assert_eq!(run["errors"], json!({kind: {"not_found": 20}}));
    }
    scratch.result(&loading(&target));
    for record in store.0.lock().unwrap().values_mut() {
        record["field3"] = json!({"$binary": "something else"});
    }
    let run = scratch.result(&running(&target, &["read"], 20));
    assert_eq!(run["errors"], json!({"read": {"mismatch": 20}}));
    assert_eq!(run["verified"], 0);
}

#[test]
fn an_insert_of_what_is_there_is_an_error_unless_it_may_replace() {
    let (_, address) = storing();
    let scratch = Scratch::new();
    scratch.result(&loading(&single(address, &json!({}))));
    let again = scratch.result(&loading(&single(address, &json!({}))));
    assert_eq!(again["errors"], json!({"insert": {"server": RECORDS}}));
    assert_eq!(again["messages"], json!(["E11000 duplicate key (11000)"]));
    let replaced = scratch.result(&loading(&single(address, &json!({"upsert": true}))));
    assert_eq!(replaced["errors"], json!({}));
}

#[test]
fn a_server_that_does_not_know_the_newer_greeting_gets_the_older_one() {
    let store = Store::default();
    let (listener, address) = listener();
    let greeted = Arc::new(Mutex::new(Vec::new()));
    let seen = greeted.clone();
    serve(listener, move |command| {
        if command.body["$db"] == "admin" {
            seen.lock().unwrap().push(command.name.clone());
        }
        match command.name.as_str() {
            "hello" => Reply::Document(unknown()),
            "isMaster" => Reply::Document(json!({"ismaster": true, "ok": 1})),
            _ => store.answer(command),
        }
    });
    let loaded = Scratch::new().result(&loading(&single(address, &json!({}))));
    assert_eq!(sum(&loaded["operations"]), RECORDS);
    assert_eq!(*greeted.lock().unwrap(), ["hello", "isMaster"]);
}

#[test]
fn writes_that_nobody_acknowledges_are_sent_and_not_waited_for() {
    let store = Arc::new(Store::default());
    let (listener, address) = listener();
    let (kept, waited) = (store.clone(), Arc::new(AtomicU64::new(0)));
    let counted = waited.clone();
    serve(listener, move |command| {
        if command.name == "insert" {
            assert_eq!(command.body["writeConcern"], json!({"w": 0}));
            counted.fetch_add(u64::from(command.waits), Ordering::Relaxed);
        }
        kept.answer(command)
    });
    let loaded = Scratch::new().result(&loading(&single(address, &json!({"w": 0}))));
    assert_eq!(loaded["operations"], json!({"insert": RECORDS}));
    assert_eq!(loaded["consistency"]["write"], "w=0");
    let deadline = Instant::now() + Duration::from_secs(20);
    while store.0.lock().unwrap().len() as u64 != RECORDS {
        assert!(Instant::now() < deadline, "not all records came");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(waited.load(Ordering::Relaxed), 0);
}

/// The errors of a load of a server that answers every insert so.
fn errors_of(answer: Value, options: &Value) -> (Value, Value) {
    let (listener, address) = listener();
    serve(listener, move |command| match command.name.as_str() {
        "insert" => Reply::Document(answer.clone()),
        _ => Store::default().answer(command),
    });
    let loaded = Scratch::new().result(&loading(&single(address, options)));
    (
        loaded["errors"]["insert"].clone(),
        loaded["messages"].clone(),
    )
}

#[test]
fn writes_that_too_few_members_acknowledge_are_errors() {
    let concern = json!({
        "code": 100, "codeName": "UnsatisfiableWriteConcern",
        "errmsg": "Not enough data-bearing nodes",
    });
    let answer = json!({"n": 1, "writeConcernError": concern, "ok": 1.0});
    let (errors, messages) = errors_of(answer, &json!({"w": 5}));
    assert_eq!(errors, json!({"unavailable": RECORDS}));
    let said = "Not enough data-bearing nodes (UnsatisfiableWriteConcern)";
    assert_eq!(messages, json!([said]));
    let answer = json!({"ok": 0.0, "code": 2, "errmsg": "cannot use 'w' > 1 here"});
    let (errors, _) = errors_of(answer, &json!({"w": 2, "journal": true}));
    assert_eq!(errors, json!({"server": RECORDS}));
    let (errors, _) = errors_of(json!({"n": 0, "ok": 1.0}), &json!({}));
    assert_eq!(errors, json!({"protocol": RECORDS}), "nothing was inserted");
}

#[test]
fn a_scan_is_read_to_its_end_in_as_many_answers_as_it_takes() {
    let (listener, address) = listener();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = asked.clone();
    serve(listener, move |command| {
        let page = |key: &str, records: u64, id: u64| {
            let batch = vec![json!({"_id": "user1"}); usize::try_from(records).unwrap()];
            Reply::Document(json!({"cursor": {key: batch, "id": id, "ns": "x"}, "ok": 1.0}))
        };
        if command.name != "hello" {
            seen.lock().unwrap().push(command.body.clone());
        }
        match command.name.as_str() {
            "find" => page("firstBatch", 3, 1 << 40),
            "getMore" => page("nextBatch", 2, 0),
            _ => Store::default().answer(command),
        }
    });
    let target = single(address, &json!({}));
    let run = Scratch::new().result(&running(&target, &["scan"], 10));
    assert_eq!(run["operations"], json!({"scan": 10}));
    let asked = asked.lock().unwrap();
    assert_eq!(asked.len(), 20);
    assert_eq!(
        (&asked[0]["limit"], &asked[0]["batchSize"]),
        (&json!(5), &json!(6))
    );
    assert_eq!(asked[1]["getMore"], json!(1_u64 << 40));
    assert_eq!(asked[1]["collection"], "usertable");
}

/// An answer to the request 65535, which nobody made: header, flags, kind, and a document.
const ANOTHERS: &[u8] = b"\x24\0\0\0\x01\0\0\0\xff\xff\0\0\xdd\x07\0\0\0\0\0\0\0\
    \x0f\0\0\0\x10ping\0\x01\0\0\0\0";

#[test]
fn answers_that_make_no_sense_cost_their_operations_and_not_the_run() {
    let store = Store::default();
    let (listener, address) = listener();
    let finds = AtomicU64::new(0);
    serve(listener, move |command| {
        if command.name == "find" {
            match finds.fetch_add(1, Ordering::Relaxed) {
                3 => return Reply::Garbage(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
                6 => return Reply::Garbage(ANOTHERS),
                9 => return Reply::Close,
                12 => return Reply::Document(json!({"ok": 1.0})),
                _ => {}
            }
        }
        store.answer(command)
    });
    let scratch = Scratch::new();
    let target = single(address, &json!({}));
    scratch.result(&loading(&target));
    let run = scratch.result(&running(&target, &["read"], 100));
    let errors = json!({"read": {"protocol": 3, "connection": 1}});
    assert_eq!(run["errors"], errors, "{}", run["messages"]);
    assert_eq!(run["operations"], json!({"read": 96}));
}

/// A router that answers from a store, and how many operations it got.
fn router(store: &Arc<Store>) -> (SocketAddr, Arc<AtomicU64>) {
    let (listener, address) = listener();
    let got = Arc::new(AtomicU64::new(0));
    let (kept, counted) = (store.clone(), got.clone());
    serve(listener, move |command| {
        if command.name == "hello" {
            return Reply::Document(json!({
                "isWritablePrimary": true, "msg": "isdbgrid", "ok": 1.0,
            }));
        }
        counted.fetch_add(1, Ordering::Relaxed);
        kept.answer(command)
    });
    (address, got)
}

#[test]
fn the_routers_of_a_sharded_cluster_take_operations_in_turns() {
    let store = Arc::new(Store::default());
    let routers = [router(&store), router(&store)];
    let addresses = [routers[0].0, routers[1].0];
    let target = target("sharded", &addresses, &json!({}));
    let scratch = Scratch::new();
    let loaded = scratch.result(&loading(&target));
    assert_eq!(loaded["operations"], json!({"insert": RECORDS}));
    let mut told = addresses.map(|address| address.to_string());
    told.sort();
    assert_eq!(loaded["remotes"], json!(told));
    for (_, got) in &routers {
        assert_eq!(got.load(Ordering::Relaxed), RECORDS / 2);
    }
}

#[test]
fn a_router_that_does_not_answer_costs_no_connection_to_another_one() {
    let store = Arc::new(Store::default());
    let asked = Arc::new(Mutex::new(BTreeSet::new()));
    let (well, mute) = (listener(), listener());
    let addresses = [well.1, mute.1];
    let (kept, counted) = (store.clone(), asked.clone());
    let greeting = || Reply::Document(json!({"msg": "isdbgrid", "ok": 1.0}));
    serve(well.0, move |command| {
        if command.name == "hello" {
            return greeting();
        }
        counted.lock().unwrap().insert(command.connection);
        kept.answer(command)
    });
    let timeout = 0.3;
    serve(mute.0, move |command| {
        if command.name == "hello" {
            return greeting();
        }
        std::thread::sleep(Duration::from_secs_f64(2.0 * timeout));
        Reply::Close
    });
    let mut plan = loading(&target("sharded", &addresses, &json!({})));
    plan["timeout"] = json!(timeout);
    plan["workload"]["records"] = json!(10);
    let loaded = Scratch::new().result(&plan);
    assert_eq!(loaded["operations"], json!({"insert": 5}));
    assert_eq!(loaded["errors"], json!({"insert": {"timeout": 5}}));
    assert_eq!(asked.lock().unwrap().len(), 1, "one connection for all");
}

#[test]
fn what_is_no_router_is_not_driven_as_one() {
    let (_, address) = storing();
    let mut plan = loading(&target("sharded", &[address], &json!({})));
    plan["timeout"] = json!(3.0);
    let said = Scratch::new().refused(&plan);
    assert!(said.contains("is not a router (`mongos`)"), "{said}");
}
