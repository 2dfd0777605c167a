//! Passwords and TLS of drivers, against servers that know one user or speak no TLS.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use serde_json::{Value, json};

use self::scripted::driven::{ENGINE, drive, errors, operations, plan, target};
use self::scripted::scratch::Scratch;
use self::scripted::{Behaviour, Cassandra, Protocol, Redis, Server};
#[allow(dead_code)] // What the tests of faults and of scale need.
mod scripted;

const USER: &str = "app";
/// Every password of these tests begins with it.
const MARK: &str = "GEHEIM";
const PASSWORD: &str = "GEHEIM-1";

/// A Cassandra that knows one user, and what counts whom it refused.
fn guarded() -> (Arc<Cassandra>, Server) {
    let cassandra = Arc::new(Cassandra::guarded(USER, PASSWORD));
    let protocol: Arc<dyn Protocol> = cassandra.clone();
    let server = Server::begin(&protocol, Behaviour::Healthy);
    (cassandra, server)
}

/// A plan of ten operations by a user, whose password is in a file beside it.
fn as_user(scratch: &Scratch, server: &Server, password: &str) -> Value {
    let path = scratch.0.join("password");
    std::fs::write(&path, password).unwrap();
    let mut plan = plan(server, &json!({"operations": 10}));
    plan["target"]["credentials"] = json!({"user": USER, "password": {"file": path}});
    plan
}

#[test]
fn a_known_user_of_cassandra_is_let_in() {
    let (cassandra, server) = guarded();
    let scratch = Scratch::new();
    let result = drive(&as_user(&scratch, &server, PASSWORD)).result();
    assert_eq!((operations(&result), errors(&result).len()), (10, 0));
    assert_eq!(cassandra.refused.load(Ordering::Relaxed), 0);
}

#[test]
fn a_wrong_password_is_told_to_cassandra_once_and_the_file_to_put_it_right_is_named() {
    let (cassandra, server) = guarded();
    let scratch = Scratch::new();
    let driven = drive(&as_user(&scratch, &server, "GEHEIM-2"));
    let (said, address) = (driven.refusal(), server.address);
    let expected = format!(
        "no connection: `{address}` refuses the user `app`: Provided username app and/or password \
         are incorrect; write the right password into `{}`",
        scratch.0.join("password").display()
    );
    assert!(said.contains(&expected), "{said}");
    assert!(!said.contains(MARK), "{said}");
    assert_eq!(cassandra.refused.load(Ordering::Relaxed), 1);
}

#[test]
fn who_does_not_log_in_to_cassandra_is_told_how_to() {
    let (_, server) = guarded();
    let driven = drive(&plan(&server, &json!({"operations": 10})));
    let said = driven.refusal();
    assert!(said.contains("lets in known users only"), "{said}");
    assert!(said.contains("type: --user NAME"), "{said}");
}

#[test]
fn a_cassandra_that_speaks_no_tls_is_refused_at_once_and_never_hears_the_password() {
    let (cassandra, server) = guarded();
    let scratch = Scratch::new();
    let mut plan = as_user(&scratch, &server, PASSWORD);
    plan["target"]["tls"] = json!({"authority": null, "name": null, "insecure": true});
    let driven = drive(&plan);
    let (said, address) = (driven.refusal(), server.address);
    let begin = format!("no connection: `{address}`: no TLS with it: ");
    assert!(said.contains(&begin), "{said}");
    assert!(said.contains("driven without --tls"), "{said}");
    assert_eq!(server.seen().connections, 1);
    assert_eq!(cassandra.refused.load(Ordering::Relaxed), 0);
}

/// What answers greetings of TLS by an alert of it, and ends connections in the open; it ends with
/// this.
struct Encrypted {
    address: SocketAddr,
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Encrypted {
    /// `behind`: what takes connections in the open from the first greeting on.
    fn begin(behind: Option<SocketAddr>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let ended = Arc::new(AtomicBool::new(false));
        let over = ended.clone();
        let thread = std::thread::spawn(move || {
            let mut greeted = false;
            while let (Ok((mut stream, _)), false) =
                (listener.accept(), over.load(Ordering::Relaxed))
            {
                let mut first = [0];
                // Whoever leaves with an answer unread resets the connection.
                let length = stream.peek(&mut first).unwrap_or(0);
                // A record of a handshake.
                if length > 0 && first[0] == 22 {
                    greeted = true;
                    // The handshake failed.
                    let _ = stream.write_all(&[21, 3, 3, 0, 2, 2, 40]);
                    let _ = stream.shutdown(Shutdown::Write);
                    let _ = stream.read_to_end(&mut Vec::new());
                } else if let (true, Some(behind)) = (greeted, behind) {
                    forward(stream, behind);
                }
            }
        });
        Self {
            address,
            ended,
            thread: Some(thread),
        }
    }
}

impl Drop for Encrypted {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Carry a connection to another server, until one of both ends it.
fn forward(client: TcpStream, behind: SocketAddr) {
    let server = TcpStream::connect(behind).unwrap();
    let ways = [
        (client.try_clone().unwrap(), server.try_clone().unwrap()),
        (server, client),
    ];
    for (mut from, mut to) in ways {
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut from, &mut to);
            let _ = to.shutdown(Shutdown::Both);
        });
    }
}

#[test]
fn who_speaks_in_the_open_to_a_cassandra_that_takes_only_tls_is_told_so_at_once() {
    let encrypted = Encrypted::begin(None);
    let address = encrypted.address.to_string();
    let cassandra = Cassandra::default();
    let (_, server) = guarded();
    let mut plan = plan(&server, &json!({"operations": 10}));
    plan["target"] = target(&cassandra, "ring", std::slice::from_ref(&address));
    let driven = drive(&plan);
    let said = driven.refusal();
    let expected =
        format!("no connection: `{address}` speaks TLS, and ends connections in the open");
    assert!(said.contains(&expected), "{said}");
    assert!(said.contains("type: --tls"), "{said}");
}

#[test]
fn a_cassandra_that_takes_tls_too_and_loses_connections_once_is_driven_in_the_open() {
    let protocol: Arc<dyn Protocol> = Arc::new(Cassandra::default());
    let server = Server::begin(&protocol, Behaviour::Healthy);
    let both = Encrypted::begin(Some(server.address));
    let mut plan = plan(&server, &json!({"operations": 10}));
    plan["target"] = target(&*protocol, "ring", &[both.address.to_string()]);
    let result = drive(&plan).result();
    assert_eq!((operations(&result), errors(&result).len()), (10, 0));
}

/// A load that is typed, with a file of properties that has the password of its binding.
fn typed(directory: &Path, server: &Server, words: &[&str]) -> Output {
    let driver = server.protocol.driver();
    let properties = format!(
        "{driver}.password={PASSWORD}\nworkload=site.ycsb.workloads.CoreWorkload\nrecordcount=100\nreadproportion=1\nupdateproportion=0\n"
    );
    let file = directory.join("ycsb.properties");
    std::fs::write(&file, properties).unwrap();
    let address = format!("{driver}://{USER}@{}", server.address);
    let mut command = Command::new(ENGINE);
    command
        .current_dir(directory)
        .env_remove("DUNNAGE_PASSWORD");
    command.args(["drive", &address, "-P"]).arg(file);
    command
        .args(["--operations", "20", "--out", "run"])
        .args(words);
    command.output().unwrap()
}

/// Every file in a directory and below it.
fn files(directory: &Path, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            found.push((name, std::fs::read(path).unwrap()));
        }
    }
}

#[test]
fn a_password_in_a_property_file_is_in_nothing_that_is_left_or_printed() {
    let (_, cassandra) = guarded();
    let redis: Arc<dyn Protocol> = Arc::new(Redis::default());
    let redis = Server::begin(&redis, Behaviour::Healthy);
    for server in [&cassandra, &redis] {
        for words in [
            ["--format", "text"],
            ["--format", "json"],
            ["--format", "ycsb"],
        ] {
            let scratch = Scratch::new();
            let output = typed(&scratch.0, server, &words);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{said}");
            assert!(!output.stdout.is_empty());
            let mut left = vec![
                ("what is printed".to_owned(), output.stdout),
                ("what is said".to_owned(), output.stderr),
            ];
            files(&scratch.0, &mut left);
            let mut names: Vec<&str> = left.iter().map(|(name, _)| &**name).collect();
            names.sort_unstable();
            let expected = [
                "latency.hlog",
                "plan.json",
                "result.json",
                "summary.json",
                "what is printed",
                "what is said",
                "ycsb.properties",
            ];
            assert_eq!(names, expected);
            let holding = left.iter().filter(|(_, content)| {
                content
                    .windows(MARK.len())
                    .any(|part| part == MARK.as_bytes())
            });
            let holding: Vec<&str> = holding.map(|(name, _)| &**name).collect();
            assert_eq!(holding, ["ycsb.properties"], "{}", server.protocol.driver());
        }
    }
}

#[test]
fn two_thousand_clients_in_a_stall_cost_a_shared_connection_which_says_why() {
    let protocol: Arc<dyn Protocol> = Arc::new(Cassandra::default());
    let stall = Behaviour::Stall(1, std::time::Duration::from_secs(60));
    let server = Server::begin(&protocol, stall);
    let changes = json!({
        "level": {"kind": "threads", "threads": 2000}, "timeout": 0.5, "duration": 5.0,
    });
    let result = drive(&plan(&server, &changes)).result();
    let told = errors(&result);
    // Those that were given up, and those that were under way when the driver ended the connection.
    assert!(told["timeout"] >= 1024, "{told:?}");
    assert!(told["connection"] > 0, "{told:?}");
    let messages = result["messages"].to_string();
    assert!(
        messages.contains("ask for a longer `timeout`"),
        "{messages}"
    );
}
