//! Replica sets: several servers that share their records, and what each says that it is.

use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::driven::{ENGINE, RECORDS, loading, running, sum, target};
use crate::scratch::Scratch;
use crate::server::{Command, Reply, Store, listener, serve};

/// The number of no member.
const NOBODY: usize = usize::MAX;

/// A replica set. Its members are up once they are begun.
struct Set {
    addresses: Vec<SocketAddr>,
    /// The number of the primary.
    primary: AtomicUsize,
    /// The number of a member that hangs up on everybody.
    dark: AtomicUsize,
    /// The number of a member that is far away.
    far: AtomicUsize,
    /// After so many writes the next member becomes the primary.
    reign: AtomicU64,
    /// So many reads are answered a second too late.
    late: AtomicU64,
    /// How often somebody asked a member who it is.
    greetings: AtomicUsize,
    store: Store,
    /// Member and command of everything that is not about who is who.
    seen: Mutex<Vec<(usize, String, Value)>>,
}

impl Set {
    /// `down` of the members refuse connections.
    fn begin(members: usize, down: &[usize]) -> Arc<Self> {
        let listeners: Vec<(TcpListener, SocketAddr)> = (0..members).map(|_| listener()).collect();
        let set = Arc::new(Self {
            addresses: listeners.iter().map(|(_, address)| *address).collect(),
            primary: AtomicUsize::new(0),
            dark: AtomicUsize::new(NOBODY),
            far: AtomicUsize::new(NOBODY),
            reign: AtomicU64::new(u64::MAX),
            late: AtomicU64::new(0),
            greetings: AtomicUsize::new(0),
            store: Store::default(),
            seen: Mutex::default(),
        });
        for (number, (listener, _)) in listeners.into_iter().enumerate() {
            let set = set.clone();
            if !down.contains(&number) {
                serve(listener, move |command| set.answer(number, command));
            }
        }
        set
    }

    fn answer(&self, number: usize, command: &Command) -> Reply {
        if self.dark.load(Ordering::Relaxed) == number {
            return Reply::Close;
        }
        let primary = self.primary.load(Ordering::Relaxed) == number;
        match command.name.as_str() {
            "hello" => {
                self.greetings.fetch_add(1, Ordering::Relaxed);
                return Reply::Document(self.hello(primary));
            }
            "ping" => {
                if self.far.load(Ordering::Relaxed) == number {
                    std::thread::sleep(Duration::from_millis(100));
                }
                return Reply::Document(json!({"ok": 1.0}));
            }
            name => {
                let seen = (number, name.to_owned(), command.body.clone());
                self.seen.lock().unwrap().push(seen);
            }
        }
        let write = command.name != "find";
        let fewer = |left: u64| left.checked_sub(1);
        let (done, seen) = (Ordering::Relaxed, Ordering::Relaxed);
        if !write && self.late.fetch_update(done, seen, fewer).is_ok() {
            std::thread::sleep(Duration::from_secs(1));
        }
        if write && self.reign.fetch_sub(1, Ordering::Relaxed) == 1 {
            // This write was the last: it is not done, and neither is any other here from now on.
            let next = (self.primary.load(Ordering::Relaxed) + 1) % self.addresses.len();
            self.primary.store(next, Ordering::Relaxed);
            return not_primary();
        }
        let elsewhere = command.body["$readPreference"].is_object();
        if primary || (!write && elsewhere) {
            self.store.answer(command)
        } else {
            not_primary()
        }
    }

    fn hello(&self, primary: bool) -> Value {
        json!({
            "isWritablePrimary": primary, "secondary": !primary, "setName": "rs0",
            "hosts": self.addresses.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "electionId": {"$id": "election0001"}, "ok": 1.0,
        })
    }

    /// A target of which the driver is told one member only.
    fn target(&self, told: usize, options: &Value) -> Value {
        target("replicas", &[self.addresses[told]], options)
    }

    /// How many commands of a name each member got since the last call.
    fn got(&self, name: &str) -> Vec<usize> {
        let mut seen = self.seen.lock().unwrap();
        let members = 0..self.addresses.len();
        let of = |member| {
            let own =
                |(number, known, _): &&(usize, String, Value)| *number == member && known == name;
            seen.iter().filter(own).count()
        };
        let counts = members.map(of).collect();
        seen.clear();
        counts
    }
}

fn not_primary() -> Reply {
    Reply::Document(json!({
        "ok": 0.0, "code": 10107, "codeName": "NotWritablePrimary", "errmsg": "not primary",
    }))
}

#[test]
fn the_primary_is_found_by_any_member_and_takes_everything() {
    let set = Set::begin(3, &[]);
    let scratch = Scratch::new();
    let target = set.target(2, &json!({"replicaSet": "rs0"}));
    let loaded = scratch.result(&loading(&target));
    assert_eq!(loaded["operations"], json!({"insert": RECORDS}));
    assert_eq!(set.got("insert"), [50, 0, 0]);
    let run = scratch.result(&running(&target, &["read"], 40));
    assert_eq!(run["verified"], 40);
    assert_eq!(set.got("find"), [40, 0, 0]);
}

#[test]
fn reads_go_to_secondaries_in_turns_if_they_are_to_and_say_so() {
    let set = Set::begin(3, &[]);
    let scratch = Scratch::new();
    let target = set.target(0, &json!({"readPreference": "secondary"}));
    let loaded = scratch.result(&loading(&target));
    assert_eq!(sum(&loaded["operations"]), RECORDS);
    assert_eq!(set.got("insert"), [50, 0, 0]);
    let run = scratch.result(&running(&target, &["read"], 40));
    assert_eq!(run["verified"], 40);
    let modes: Vec<Value> = set
        .seen
        .lock()
        .unwrap()
        .iter()
        .map(|(_, _, body)| body["$readPreference"]["mode"].clone())
        .collect();
    assert_eq!(modes, vec![json!("secondary"); 40]);
    assert_eq!(set.got("find"), [0, 20, 20]);
    let mut told: Vec<String> = set.addresses.iter().map(ToString::to_string).collect();
    told.sort();
    assert_eq!(run["remotes"], json!(told));
    assert_eq!(run["consistency"]["read"], "readPreference=secondary");
}

#[test]
fn a_secondary_that_was_away_takes_reads_again_when_it_is_back() {
    let set = Set::begin(3, &[]);
    let scratch = Scratch::new();
    let target = set.target(0, &json!({"readPreference": "secondary"}));
    scratch.result(&loading(&target));
    set.got("insert");
    let mut plan = running(&target, &["read"], 0);
    plan["operations"] = json!(null);
    plan["duration"] = json!(8.0);
    plan["level"] = json!({
        "kind": "rate", "rate": 300.0, "connections": 2, "arrivals": "constant",
    });
    let seen = |member: usize| {
        let seen = set.seen.lock().unwrap();
        seen.iter().filter(|(number, ..)| *number == member).count()
    };
    let (run, before, away) = std::thread::scope(|scope| {
        let run = scope.spawn(|| scratch.result(&plan));
        let deadline = Instant::now() + Duration::from_secs(20);
        let until = |member: usize, count: usize| {
            while seen(member) < count {
                assert!(Instant::now() < deadline, "no read comes");
                std::thread::sleep(Duration::from_millis(5));
            }
        };
        until(2, 50);
        set.dark.store(2, Ordering::Relaxed);
        // What it was asked for before is counted by then.
        until(1, seen(1) + 100);
        let before = seen(2);
        until(1, seen(1) + 200);
        let away = seen(2);
        set.dark.store(NOBODY, Ordering::Relaxed);
        (run.join().unwrap(), before, away)
    });
    assert_eq!(away, before, "the other one takes all reads");
    assert!(seen(2) > away, "it is back");
    let kinds: Vec<&String> = run["errors"]["read"].as_object().unwrap().keys().collect();
    assert_eq!(kinds, ["connection"], "{}", run["messages"]);
}

#[test]
fn the_nearest_member_is_asked_whoever_it_is() {
    let set = Set::begin(2, &[]);
    let scratch = Scratch::new();
    let target = set.target(0, &json!({"readPreference": "nearest"}));
    scratch.result(&loading(&target));
    set.got("insert");
    for (far, expected) in [(0, [0, 40]), (1, [40, 0])] {
        set.far.store(far, Ordering::Relaxed);
        let run = scratch.result(&running(&target, &["read"], 40));
        assert_eq!(run["verified"], 40);
        assert_eq!(set.got("find"), expected, "member {far} is far away");
    }
}

#[test]
fn one_client_asks_for_all_who_is_who_when_many_had_no_answer() {
    let clients = 20;
    let set = Set::begin(3, &[]);
    let scratch = Scratch::new();
    let target = set.target(0, &json!({}));
    scratch.result(&loading(&target));
    set.greetings.store(0, Ordering::Relaxed);
    set.late.store(clients, Ordering::Relaxed);
    let mut plan = running(&target, &["read"], 200);
    plan["level"]["threads"] = json!(clients);
    plan["timeout"] = json!(0.4);
    let run = scratch.result(&plan);
    let late = sum(&run["errors"]["read"]);
    assert!(late >= clients, "{run}");
    // A connection for each client, and another one after a time-out; if each of them asked all
    // members besides, these were five times as many.
    let greetings = set.greetings.load(Ordering::Relaxed) as u64;
    let connections = clients + late;
    assert!(greetings >= connections, "{greetings}");
    assert!(greetings < 2 * connections, "{greetings} of {connections}");
}

#[test]
fn another_primary_is_found_when_the_first_one_steps_down() {
    let set = Set::begin(3, &[]);
    set.reign.store(20, Ordering::Relaxed);
    let loaded = Scratch::new().result(&loading(&set.target(0, &json!({}))));
    assert_eq!(loaded["errors"], json!({"insert": {"server": 1}}));
    assert_eq!(
        loaded["messages"],
        json!(["not primary (NotWritablePrimary)"])
    );
    assert_eq!(loaded["operations"], json!({"insert": RECORDS - 1}));
    assert_eq!(set.got("insert"), [20, 30, 0]);
}

#[test]
fn a_load_does_not_begin_without_a_primary_or_without_those_that_reads_go_to() {
    let scratch = Scratch::new();
    let refused = |set: &Set, options: &Value| {
        let mut plan = loading(&set.target(0, options));
        plan["timeout"] = json!(3.0);
        scratch.refused(&plan)
    };
    let headless = Set::begin(2, &[]);
    headless.primary.store(NOBODY, Ordering::Relaxed);
    let said = refused(&headless, &json!({}));
    assert!(said.contains("the replica set has no primary"), "{said}");
    let alone = Set::begin(1, &[]);
    let said = refused(&alone, &json!({"readPreference": "secondary"}));
    assert!(
        said.contains("no member for `readPreference=secondary`"),
        "{said}"
    );
    let halved = Set::begin(3, &[2]);
    let said = refused(&halved, &json!({"replicaSet": "rs1"}));
    let other = "is a member of the replica set `rs0`, not of `rs1`";
    assert!(said.contains(other), "{said}");
    let missing = halved.addresses[2].to_string();
    let said = refused(&halved, &json!({"readPreference": "secondary"}));
    assert!(said.contains(&missing), "{said}");
    assert!(
        scratch
            .load(&loading(&halved.target(0, &json!({}))))
            .status
            .success()
    );
}

#[test]
fn a_server_of_no_replica_set_is_not_driven_as_one() {
    let (listener, address) = listener();
    serve(listener, |command| Store::default().answer(command));
    let mut plan = loading(&target("replicas", &[address], &json!({})));
    plan["timeout"] = json!(3.0);
    let said = Scratch::new().refused(&plan);
    assert!(said.contains("is not a member of a replica set"), "{said}");
}

#[test]
fn clients_with_more_connections_than_files_may_be_open_are_refused_with_what_to_type() {
    let set = Set::begin(3, &[]);
    let mut plan = running(
        &set.target(0, &json!({"readPreference": "secondary"})),
        &["read"],
        40,
    );
    plan["level"]["threads"] = json!(40);
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", "ulimit -n 128 && exec \"$@\"", "sh", ENGINE]);
    let output = Scratch::new().load_by(limited, &plan);
    let said = String::from_utf8(output.stderr).unwrap();
    // One to the primary and one to each of the others.
    let expected = "120 connections need 184 open files, and this process may have 128; type \
                    `ulimit -n 184` before, or ask for fewer";
    assert!(said.contains(expected), "{said}");
    assert_eq!(output.status.code(), Some(1), "{said}");
}
