//! Loads that are told to end by a signal.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, ChildStderr, ExitStatus, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::{Scratch, engine, read, sum};

/// The exit code of a load that ended early, with results.
const EARLY: Option<i32> = Some(3);

/// An engine at work, and what it says. It does not outlive its owner.
struct Running {
    child: Child,
    says: BufReader<ChildStderr>,
}

impl Running {
    /// Begin to drive.
    fn new(scratch: &Scratch, words: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut child = engine(&scratch.0)
            .arg("drive")
            .args(words)
            .envs(variables.iter().copied())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let says = BufReader::new(child.stderr.take().unwrap());
        Self { child, says }
    }

    /// Begin to drive into `out`, and wait until the load has begun.
    fn begun(scratch: &Scratch, words: &[&str], out: &str) -> Self {
        let mut running = Self::new(scratch, &[words, &["--out", out]].concat(), &[]);
        let directory = scratch.0.join(out);
        let logs = ["latency.hlog", "probe-01/latency.hlog"];
        while !logs.iter().any(|log| directory.join(log).exists()) {
            assert_eq!(running.child.try_wait().unwrap(), None, "it has ended");
            std::thread::sleep(Duration::from_millis(5));
        }
        running
    }

    fn tell(&self, signal: Signal) {
        let process = Pid::from_raw(i32::try_from(self.child.id()).unwrap());
        kill(process, signal).unwrap();
    }

    /// The next line that it says.
    fn said(&mut self) -> String {
        let mut line = String::new();
        self.says.read_line(&mut line).unwrap();
        line
    }

    /// All that it says until its end, and how that was.
    fn over(mut self) -> (ExitStatus, String) {
        let mut all = String::new();
        self.says.read_to_string(&mut all).unwrap();
        (self.child.wait().unwrap(), all)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A load of an hour.
const HOUR: [&str; 5] = ["fake://?service_us=100", "--workload", "a", "--time", "1h"];

#[test]
fn the_first_signal_ends_a_load_with_its_results() {
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let scratch = Scratch::new();
        let running = Running::begun(&scratch, &HOUR, "run");
        running.tell(signal);
        let (status, said) = running.over();
        assert_eq!(status.code(), EARLY, "{said}");
        assert!(said.contains("the load ends"), "{said}");
        assert!(said.contains("ended early by a signal"), "{said}");
        let (result, summary) = (
            read(&scratch.0.join("run"), "result.json"),
            read(&scratch.0.join("run"), "summary.json"),
        );
        assert_eq!(result["ended_early"], true);
        assert_eq!(summary["ended_early"], true);
        let counted = summary["operations"]["all"]["count"].as_u64().unwrap();
        assert_eq!(counted, sum(&result["operations"]));
        assert!(result["seconds"].as_f64().unwrap() < 3600.0);
    }
}

#[test]
fn loading_ends_early_too() {
    let scratch = Scratch::new();
    let records = ["-p", "recordcount=100000000"];
    let words = [&["fake://?service_us=100", "load"][..], &records].concat();
    let running = Running::begun(&scratch, &words, "load");
    running.tell(Signal::SIGINT);
    let (status, said) = running.over();
    assert_eq!(status.code(), EARLY, "{said}");
    let summary = read(&scratch.0.join("load"), "summary.json");
    assert_eq!(summary["phase"], "load");
    let inserted = summary["operations"]["all"]["count"].as_u64().unwrap();
    assert!(inserted < 100_000_000);
}

#[test]
fn an_open_load_that_ends_early_counts_no_slot_beyond() {
    let scratch = Scratch::new();
    let words = [&HOUR[..], &["--rate", "500"]].concat();
    let running = Running::begun(&scratch, &words, "run");
    running.tell(Signal::SIGINT);
    let (status, said) = running.over();
    assert_eq!(status.code(), EARLY, "{said}");
    let result = read(&scratch.0.join("run"), "result.json");
    let [intended, backlog] = ["intended", "backlog"].map(|key| result[key].as_u64().unwrap());
    assert_eq!(sum(&result["operations"]) + backlog, intended);
    // One slot of the beginning, and those of each 2 ms.
    let most = 2.0 + 500.0 * result["seconds"].as_f64().unwrap();
    assert!(intended as f64 <= most, "{intended} of {most}");
}

#[test]
fn an_open_load_beyond_what_can_be_answered_ends_when_it_is_told_to() {
    let scratch = Scratch::new();
    let slow = ["fake://?service_us=1000", "--workload", "c", "--time", "1h"];
    let much = ["--rate", "50000", "--timeout", "200ms"];
    let running = Running::begun(&scratch, &[&slow[..], &much].concat(), "run");
    // Half a second of it is 25,000 operations, of which 500 can be answered.
    std::thread::sleep(Duration::from_millis(500));
    running.tell(Signal::SIGINT);
    let (status, said) = running.over();
    assert_eq!(status.code(), EARLY, "{said}");
    let (result, summary) = (
        read(&scratch.0.join("run"), "result.json"),
        read(&scratch.0.join("run"), "summary.json"),
    );
    let [intended, backlog] = ["intended", "backlog"].map(|key| result[key].as_u64().unwrap());
    let answered = sum(&result["operations"]);
    let all = &summary["operations"]["all"];
    // Time-outs before the end are errors, too; the server makes none, as it keeps up with what is
    // under way.
    assert_eq!(answered + backlog, intended, "{result}");
    // What was not answered 200 ms after the end, at one a millisecond, was given up.
    let after = all["response"]["count"].as_u64().unwrap() - answered;
    assert!(after <= 200 + 64, "{after} were answered after the end");
    assert!(sum(&result["unsent"]) + 200 + 2 * 64 >= backlog, "{result}");
}

#[test]
fn a_load_that_does_not_begin_leaves_nothing_of_another_one() {
    let scratch = Scratch::new();
    let search = [
        "fake://?service_us=100",
        "--workload",
        "c",
        "--time",
        "100ms",
    ];
    let probes = [
        "--search",
        "sustained",
        "--search-probes",
        "1",
        "--out",
        "run",
    ];
    let well = crate::drive(&scratch.0, &[&search[..], &probes].concat());
    assert!(well.status.success());
    scratch.file("run/notes.txt", "mine");
    let nobody = [
        "redis://127.0.0.1:1",
        "--workload",
        "c",
        "--time",
        "1s",
        "--out",
        "run",
    ];
    let refused = crate::drive(&scratch.0, &nobody);
    assert!(!refused.status.success());
    let mut names = left(&scratch.0.join("run"));
    names.sort();
    assert_eq!(names, ["notes.txt", "plan.json"]);
}

#[test]
fn the_second_signal_ends_a_load_at_once_and_without_a_result() {
    for (signal, code) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143)] {
        let scratch = Scratch::new();
        let never = ["fake://?service_us=3600000000", "--workload", "c"];
        let words = [&never[..], &["--time", "1h", "--timeout", "1h"]].concat();
        let mut running = Running::begun(&scratch, &words, "run");
        running.tell(signal);
        // It waits for an answer now.
        let said = running.said();
        assert!(said.contains("another signal ends it at once"), "{said}");
        running.tell(signal);
        let (status, said) = running.over();
        assert_eq!(status.code(), Some(code), "{said}");
        assert!(said.contains("there is no result"), "{said}");
        for name in ["result.json", "summary.json"] {
            assert!(!scratch.0.join("run").join(name).exists(), "{name}");
        }
    }
}

#[test]
fn a_signal_while_connecting_leaves_nothing() {
    let scratch = Scratch::new();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("redis://{}", silent.local_addr().unwrap());
    let words = [
        &*address,
        "--workload",
        "c",
        "--time",
        "1s",
        "--timeout",
        "1h",
    ];
    let running = Running::new(&scratch, &words, &[("DUNNAGE_PASSWORD", "any")]);
    // It waits for an answer to its password.
    let connection = silent.accept().unwrap();
    running.tell(Signal::SIGINT);
    let (status, said) = running.over();
    drop(connection);
    assert_eq!(status.code(), Some(130), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert_eq!(left(&scratch.0), [""; 0]);
}

#[test]
fn a_load_that_waits_for_its_start_ends_at_once() {
    let scratch = Scratch::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("redis://{}", listener.local_addr().unwrap());
    let start = ["--start", "2100-01-01T00:00:00Z"];
    let words = [&[&*address, "--workload", "c", "--time", "1s"][..], &start].concat();
    let running = Running::new(&scratch, &words, &[]);
    // Signals are heeded before anything is connected to.
    let connection = listener.accept().unwrap();
    running.tell(Signal::SIGTERM);
    let (status, said) = running.over();
    drop(connection);
    assert_eq!(status.code(), Some(143), "{said}");
    assert_eq!(left(&scratch.0), [""; 0]);
}

#[test]
fn a_search_that_is_told_to_end_says_so() {
    let scratch = Scratch::new();
    let words = [
        "fake://?service_us=100",
        "--workload",
        "a",
        "--time",
        "300ms",
    ];
    let words = [&words[..], &["--search", "sustained"]].concat();
    let running = Running::begun(&scratch, &words, "search");
    // Before the first load is over there is nothing to tell.
    while !scratch.0.join("search/probe-01/result.json").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    running.tell(Signal::SIGINT);
    let (status, said) = running.over();
    assert_eq!(status.code(), EARLY, "{said}");
    let summary = read(&scratch.0.join("search"), "summary.json");
    assert_eq!(summary["search"]["ended"], "told to end");
    let probes = summary["search"]["probes"].as_array().unwrap();
    assert_eq!(probes.len(), 1, "{probes:?}");
}

/// Names of what is in a directory.
fn left(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}
