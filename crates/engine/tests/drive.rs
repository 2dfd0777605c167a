//! The verb `drive`, against the server inside the engine and a small Redis.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// A directory that vanishes with its owner.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("dunnage-drive-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// A file in it.
    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The engine, to be run in `directory`, without a password in its environment.
fn engine(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dunnage-engine"));
    command
        .current_dir(directory)
        .env_remove("DUNNAGE_PASSWORD");
    command
}

fn drive(directory: &Path, words: &[&str]) -> Output {
    let mut command = engine(directory);
    command.arg("drive").args(words).output().unwrap()
}

/// What was told, once it went well.
fn well(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    said
}

fn read(directory: &Path, name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(directory.join(name)).unwrap()).unwrap()
}

/// The plan that some words make.
fn plan(words: &[&str]) -> Value {
    let output = drive(Path::new("/"), &[words, &["--dry-run"]].concat());
    well(&output);
    serde_json::from_slice(&output.stdout).unwrap()
}

fn sum(counts: &Value) -> u64 {
    let counts = counts.as_object().unwrap().values();
    counts.map(|count| count.as_u64().unwrap()).sum()
}

/// What a Redis holds: fields and their values by key.
type Records = BTreeMap<Vec<u8>, BTreeMap<Vec<u8>, Vec<u8>>>;

/// A Redis that keeps hashes, and where they are.
fn redis() -> (SocketAddr, Arc<Mutex<Records>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let records = Arc::new(Mutex::new(Records::new()));
    let kept = records.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, kept) = (stream.unwrap(), kept.clone());
            std::thread::spawn(move || serve(stream, &kept));
        }
    });
    (address, records)
}

fn serve(mut stream: TcpStream, records: &Mutex<Records>) {
    let mut requests = BufReader::new(stream.try_clone().unwrap());
    while let Some(words) = request(&mut requests) {
        let answer = answer(&words, &mut records.lock().unwrap());
        if stream.write_all(&answer).is_err() {
            return;
        }
    }
}

/// The words of the next request; None when the client has gone away.
fn request(from: &mut impl BufRead) -> Option<Vec<Vec<u8>>> {
    let count = number(from)?;
    let mut words = Vec::with_capacity(count);
    for _ in 0..count {
        let length = number(from)?;
        let mut word = vec![0; length + 2];
        from.read_exact(&mut word).ok()?;
        word.truncate(length);
        words.push(word);
    }
    Some(words)
}

/// The number in a line such as `*2` or `$10`.
fn number(from: &mut impl BufRead) -> Option<usize> {
    let mut line = String::new();
    from.read_line(&mut line).ok()?;
    line.get(1..)?.trim_end().parse().ok()
}

fn answer(words: &[Vec<u8>], records: &mut Records) -> Vec<u8> {
    match (&*words[0], &words[1..]) {
        (b"HSET", [key, fields @ ..]) => {
            let record = records.entry(key.clone()).or_default();
            for pair in fields.chunks_exact(2) {
                record.insert(pair[0].clone(), pair[1].clone());
            }
            b":1\r\n".to_vec()
        }
        (b"ZADD", _) => b":1\r\n".to_vec(),
        (b"HGETALL", [key]) => {
            let record = records.get(key).cloned().unwrap_or_default();
            let mut out = format!("*{}\r\n", 2 * record.len()).into_bytes();
            for word in record.iter().flat_map(|(name, value)| [name, value]) {
                out.extend(format!("${}\r\n", word.len()).bytes());
                out.extend_from_slice(word);
                out.extend_from_slice(b"\r\n");
            }
            out
        }
        _ => b"-ERR unknown command\r\n".to_vec(),
    }
}

/// A workload file as they come: comments, line ends of another system, properties of YCSB's
/// client.
const FILE: &str = "# Copyright of somebody\r\n#\r\n\r\n! Application example: a shop\r\n\
    recordcount=1000\r\noperationcount=1000\r\n\
    workload=com.yahoo.ycsb.workloads.CoreWorkload\r\n\r\nreadallfields = true\r\n\
    readproportion:\\\r\n    0.5\r\nupdateproportion 0.5\r\nscanproportion=0\r\n\
    insertproportion=0\r\nrequestdistribution=zipfian\r\nhistogram.buckets=1000\r\n";

#[test]
fn a_database_is_loaded_and_then_driven_by_a_workload_file() {
    let scratch = Scratch::new();
    let (address, records) = redis();
    let (url, file) = (format!("redis://{address}"), scratch.file("shop", FILE));
    let (loaded, run) = (scratch.0.join("loaded"), scratch.0.join("run"));
    let told = |out: &Path| out.display().to_string();
    let common = [&*url, "-P", &file, "-p", "recordcount=200"];
    let output = drive(
        &scratch.0,
        &[
            &common[..],
            &["load", "--threads", "3", "--out", &told(&loaded)],
        ]
        .concat(),
    );
    let said = well(&output);
    assert!(said.contains("no effect: `histogram.buckets`; "), "{said}");
    assert!(said.contains("200 operations and 0 errors"), "{said}");
    {
        let records = records.lock().unwrap();
        assert_eq!(records.len(), 200);
        let first = &records[&b"user6284781860667377211"[..]];
        assert_eq!(first.len(), 10);
        assert_eq!(first[&b"field9"[..]].len(), 100);
    }
    assert_eq!(read(&loaded, "plan.json")["phase"], "load");
    let output = drive(
        &scratch.0,
        &[
            &common[..],
            &[
                "-p",
                "operationcount=500",
                "--threads",
                "4",
                "--out",
                &told(&run),
            ],
        ]
        .concat(),
    );
    well(&output);
    let result = read(&run, "result.json");
    assert_eq!(sum(&result["operations"]), 500);
    let kinds: Vec<&String> = result["operations"].as_object().unwrap().keys().collect();
    assert_eq!(kinds, ["read", "update"]);
    assert_eq!(sum(&result["errors"]), 0, "{}", result["errors"]);
    assert_eq!(result["remotes"], json!([address.to_string()]));
    assert!(std::fs::metadata(run.join("latency.hlog")).unwrap().len() > 0);
}

#[test]
fn the_plan_of_a_load_makes_it_again() {
    let scratch = Scratch::new();
    let words = [
        "fake://?service_us=1",
        "--workload",
        "f",
        "--operations",
        "300",
        "--seed",
        "7",
    ];
    let first = scratch.0.join("first");
    let out = first.display().to_string();
    well(&drive(&scratch.0, &[&words[..], &["-o", &out]].concat()));
    assert_eq!(read(&first, "plan.json"), plan(&words));
    let second = scratch.0.join("second");
    let mut again = engine(&scratch.0);
    again.args(["load", "--plan", "first/plan.json", "--out", "second"]);
    well(&again.output().unwrap());
    let operations = |directory: &Path| read(directory, "result.json")["operations"].clone();
    assert_eq!(sum(&operations(&first)), 300);
    assert_eq!(operations(&first), operations(&second));
}

#[test]
fn bursts_ramps_and_loads_that_drop_are_made_as_they_are_typed() {
    let scratch = Scratch::new();
    let slow = "fake://?service_us=100000";
    for (words, intended, drops) in [
        (&["--burst", "400", "--rate", "100"][..], 250, false),
        (&["--ramp", "0..400"], 200, false),
        (
            &[
                "--rate",
                "200",
                "--connections",
                "2",
                "--policy",
                "drop",
                "--arrivals",
                "constant",
            ],
            200,
            true,
        ),
    ] {
        let address = if drops { slow } else { "fake://" };
        let out = scratch.0.join(intended.to_string() + words[0]);
        let told = out.display().to_string();
        let common = [address, "--workload", "c", "--time", "1s", "--out", &told];
        let said = well(&drive(&scratch.0, &[&common[..], words].concat()));
        let result = read(&out, "result.json");
        assert_eq!(result["intended"], intended, "{words:?}");
        let dropped = sum(&result["dropped"]);
        assert_eq!(dropped > 0, drops, "{result}");
        assert_eq!(
            said.contains(&format!("and {dropped} left out")),
            drops,
            "{said}"
        );
        let backlog = result["backlog"].as_u64().unwrap();
        assert_eq!(sum(&result["operations"]) + dropped + backlog, intended);
    }
}

#[test]
fn an_engine_that_may_have_been_the_limit_is_told() {
    let scratch = Scratch::new();
    let words = ["fake://", "--workload", "c", "--time", "300ms"];
    let said = well(&drive(&scratch.0, &words));
    assert!(
        said.contains("the engine itself may have been the limit"),
        "{said}"
    );
    let idle = ["--rate", "10", "--out", "idle"];
    let said = well(&drive(&scratch.0, &[&words[..], &idle].concat()));
    let result = read(&scratch.0.join("idle"), "result.json");
    assert_eq!(
        said.contains("may have been the limit"),
        result["saturated"] == true
    );
}

#[test]
fn without_a_directory_a_new_one_is_made() {
    let scratch = Scratch::new();
    let words = ["fake://", "--workload", "c", "--operations", "100"];
    let said = well(&drive(&scratch.0, &words));
    let made: Vec<_> = std::fs::read_dir(&scratch.0)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(made.len(), 1, "{made:?}");
    assert!(
        made[0].starts_with("drive-2") && made[0].ends_with('Z'),
        "{made:?}"
    );
    assert!(
        said.contains(&format!("`{}` has `result.json`", made[0])),
        "{said}"
    );
    let mut files: Vec<_> = std::fs::read_dir(scratch.0.join(&made[0]))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    files.sort_unstable();
    assert_eq!(files, ["latency.hlog", "plan.json", "result.json"]);
}

#[test]
fn a_seed_is_another_one_each_time_unless_it_is_typed() {
    let words = ["fake://", "--workload", "a"];
    assert_ne!(plan(&words)["seed"], plan(&words)["seed"]);
}

#[test]
fn the_built_in_workloads_are_files_that_anybody_can_read() {
    for letter in ["a", "b", "c", "d", "e", "f"] {
        let file = format!("{}/workloads/workload{letter}", env!("CARGO_MANIFEST_DIR"));
        let seed = ["--seed", "1"];
        let built_in = plan(&[&["fake://", "--workload", letter][..], &seed].concat());
        let of_file = plan(&[&["fake://", "-P", &file][..], &seed].concat());
        assert_eq!(built_in, of_file, "{letter}");
        assert_eq!(built_in["workload"]["records"], 1000);
        assert_eq!(built_in["operations"], 1000);
    }
}

#[test]
fn what_is_wrong_is_one_sentence_and_nothing_is_made() {
    let scratch = Scratch::new();
    let file = scratch.file("mine", "recordcount=1000\nrecordcout=1000\n");
    for (words, what) in [
        (
            vec!["fake://", "-P", &file],
            "`mine`, line 2) (did you mean `recordcount`?)",
        ),
        (
            vec!["redis://me:s3cret@h", "--workload", "a"],
            "the address has a password",
        ),
        (
            vec!["redis://h", "-p", "redis.password=s3cret"],
            "`-p redis.password=` has a password",
        ),
        (
            vec!["redis://h", "--password", "s3cret"],
            "`--password` has a password",
        ),
        (vec!["fake://", "-P", "workloada"], "--workload a"),
        (vec!["fake://"], "type --time 30s"),
        (
            vec!["fake://?colour=blue", "--workload", "a"],
            "has no option `colour`",
        ),
        (
            vec![
                "redis://127.0.0.1:1",
                "--workload",
                "a",
                "--timeout",
                "200ms",
            ],
            "no connection to `127.0.0.1:1` within 5 s",
        ),
    ] {
        let output = drive(&scratch.0, &words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let told = said.replace(&format!("{}/", scratch.0.display()), "");
        assert!(!output.status.success(), "{words:?}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(told.contains(what), "{told}");
        assert!(!said.contains("s3cret"), "{said}");
        let left: Vec<_> = std::fs::read_dir(&scratch.0).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }
}

#[test]
fn a_password_is_named_by_its_place_in_the_plan() {
    let scratch = Scratch::new();
    let words = ["cassandra://me@h", "--workload", "a", "--dry-run"];
    let mut command = engine(&scratch.0);
    command
        .arg("drive")
        .args(words)
        .env("DUNNAGE_PASSWORD", "s3cret");
    let output = command.output().unwrap();
    well(&output);
    let plan: Value = serde_json::from_slice(&output.stdout).unwrap();
    let expected = json!({"user": "me", "password": {"variable": "DUNNAGE_PASSWORD"}});
    assert_eq!(plan["target"]["credentials"], expected);
    scratch.file("password", "s3cret\n");
    scratch.file("properties", "cassandra.password=s3cret\n");
    for (place, expected) in [
        (
            "--password-file=password",
            json!({"file": scratch.0.join("password")}),
        ),
        (
            "-Pproperties",
            json!({"property": {
                "file": scratch.0.join("properties"), "name": "cassandra.password",
            }}),
        ),
    ] {
        let output = drive(&scratch.0, &[&words[..], &[place]].concat());
        well(&output);
        let plan: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(plan["target"]["credentials"]["password"], expected);
        let all = [output.stdout, output.stderr].concat();
        assert!(!String::from_utf8_lossy(&all).contains("s3cret"));
    }
    let missing = drive(&scratch.0, &words);
    let said = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(said.contains("no password for the user `me`"), "{said}");
}

#[test]
fn every_command_of_the_guide_makes_a_plan() {
    let scratch = Scratch::new();
    scratch.file("my.properties", "recordcount=1000\n");
    scratch.file("password", "s3cret\n");
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides/drive.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_dunnage-engine"));
    let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
    let mut found = 0;
    for line in guide.lines() {
        let begins = ["dunnage-engine drive ", "DUNNAGE_PASSWORD="];
        if !begins.iter().any(|begin| line.starts_with(begin)) {
            continue;
        }
        let mut shell = Command::new("sh");
        shell.env_remove("DUNNAGE_PASSWORD").env("PATH", &path);
        let dry = format!("{line} --dry-run");
        let output = shell.current_dir(&scratch.0).args(["-c", &dry]).output();
        let said = well(&output.unwrap());
        assert_eq!(said, "", "{line}");
        found += 1;
    }
    assert!(found > 10, "{found}");
}

#[test]
fn help_shows_each_word_and_examples() {
    let output = drive(Path::new("/"), &["--help"]);
    well(&output);
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/drive.txt");
    let expected = std::fs::read_to_string(&golden).unwrap();
    let found = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        found,
        expected,
        "type: dunnage-engine drive --help > {}",
        golden.display()
    );
}
