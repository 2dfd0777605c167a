//! Every driver with ten thousand clients on one core, and its memory in loads that last longer.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use nix::sched::{CpuSet, sched_getaffinity};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::unistd::Pid;
use serde_json::json;

use self::scripted::driven::{ENGINE, drive, drive_by, errors, operations, plan, sum};
use self::scripted::{Behaviour, Cassandra, Mongodb, Protocol, Redis, Server};

#[allow(dead_code)] // What the tests of faults need.
mod scripted;

const CLIENTS: u64 = 10_000;

/// Files that are open beside connections.
const OTHERS: u64 = 200;

/// Let this process have a connection to each client.
fn allow_files() {
    let needed = CLIENTS + OTHERS;
    let (now, most) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    if now < needed {
        let allowed = setrlimit(Resource::RLIMIT_NOFILE, needed, needed.max(most));
        allowed.unwrap_or_else(|error| {
            panic!("{needed} open files are needed: {error}; type `ulimit -n {needed}` before")
        });
    }
}

/// The engine on one core, where it may have few files open unless it asks for more.
fn on_one_core() -> Command {
    let allowed = sched_getaffinity(Pid::from_raw(0)).unwrap();
    let core = (0..CpuSet::count()).find(|core| allowed.is_set(*core).unwrap());
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -S -n 256 && exec \"$@\"", "sh"]);
    command.args(["taskset", "-c", &core.unwrap().to_string(), ENGINE]);
    command
}

/// Nobody is answered before the operations of all clients are under way, and each client has no
/// more than one under way: so each had one.
fn all_are_driven(protocol: &Arc<dyn Protocol>) {
    allow_files();
    let server = Server::begin(protocol, Behaviour::Together(CLIENTS));
    let changes = json!({
        "level": {"kind": "threads", "threads": CLIENTS}, "operations": CLIENTS, "timeout": 60.0,
    });
    let result = drive_by(on_one_core(), &plan(&server, &changes)).result();
    let seen = server.seen();
    assert_eq!(errors(&result), BTreeMap::new(), "{}", result["messages"]);
    assert_eq!((operations(&result), seen.well), (CLIENTS, CLIENTS));
    assert_eq!(seen.most, CLIENTS);
    let connections = if protocol.shares() { 2 } else { CLIENTS };
    assert_eq!(seen.connections, connections);
    assert_eq!(result["connections"], connections);
}

#[test]
fn ten_thousand_clients_of_cassandra_are_all_driven_on_one_core() {
    all_are_driven(&(Arc::new(Cassandra::default()) as Arc<dyn Protocol>));
}

#[test]
fn ten_thousand_clients_of_mongodb_are_all_driven_on_one_core() {
    all_are_driven(&(Arc::new(Mongodb) as Arc<dyn Protocol>));
}

#[test]
fn ten_thousand_clients_of_redis_are_all_driven_on_one_core() {
    all_are_driven(&(Arc::new(Redis::default()) as Arc<dyn Protocol>));
}

#[test]
fn more_clients_than_files_may_be_open_are_refused_with_what_to_type() {
    let protocol: Arc<dyn Protocol> = Arc::new(Redis::default());
    let server = Server::begin(&protocol, Behaviour::Healthy);
    let changes = json!({"level": {"kind": "threads", "threads": 100}, "operations": 100});
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 128 && exec \"$@\"", "sh", ENGINE]);
    let driven = drive_by(command, &plan(&server, &changes));
    let expected = "100 connections need 164 open files, and this process may have 128; type \
                    `ulimit -n 164` before, or ask for fewer";
    assert!(driven.refusal().contains(expected), "{}", driven.said);
}

/// Operations of the shorter load; the longer one has thirty times as many.
const SHORT: u64 = 2000;

/// What the longer load may have more, in kilobytes: histograms have the length of the longest time
/// that was seen, and the allocator keeps some of what was given back.
const MORE: u64 = 4096;

/// The peaks of memory of two loads, in kilobytes, are alike.
fn alike(shorter: u64, longer: u64) {
    let alike = shorter > 0 && longer <= shorter + MORE;
    assert!(alike, "{shorter} and {longer} kB");
}

/// A load that reads and inserts, and one that does so for thirty times as many operations.
fn keeps_its_memory(protocol: &Arc<dyn Protocol>) {
    let server = Server::begin(protocol, Behaviour::Healthy);
    let peaks = [SHORT, 30 * SHORT].map(|count| {
        let changes = json!({
            "level": {"kind": "threads", "threads": 8}, "operations": count, "interval": 1.0,
        });
        let mut plan = plan(&server, &changes);
        plan["workload"]["mix"]["insert"] = json!(0.1);
        let driven = drive(&plan);
        assert_eq!(operations(&driven.result()), count);
        driven.peak
    });
    alike(peaks[0], peaks[1]);
}

#[test]
fn the_memory_of_a_load_of_cassandra_does_not_grow_with_its_length() {
    keeps_its_memory(&(Arc::new(Cassandra::default()) as Arc<dyn Protocol>));
}

#[test]
fn the_memory_of_a_load_of_mongodb_does_not_grow_with_its_length() {
    keeps_its_memory(&(Arc::new(Mongodb) as Arc<dyn Protocol>));
}

#[test]
fn the_memory_of_a_load_of_redis_does_not_grow_with_its_length() {
    keeps_its_memory(&(Arc::new(Redis::default()) as Arc<dyn Protocol>));
}

#[test]
fn memory_does_not_grow_with_a_backlog() {
    let protocol: Arc<dyn Protocol> = Arc::new(Redis::default());
    let server = Server::begin(&protocol, Behaviour::Slow(Duration::from_millis(2)));
    let level = json!({"kind": "rate", "rate": 80_000.0, "connections": 4, "arrivals": "poisson"});
    let peaks = [0.4, 4.0].map(|seconds| {
        let changes = json!({
            "level": level, "duration": seconds, "timeout": 0.2, "interval": 0.2,
        });
        let driven = drive(&plan(&server, &changes));
        let result = driven.result();
        assert!(
            sum(&result["unsent"]) as f64 >= 70_000.0 * seconds,
            "{result}"
        );
        driven.peak
    });
    alike(peaks[0], peaks[1]);
}
