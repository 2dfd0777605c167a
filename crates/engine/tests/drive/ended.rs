//! Loads that are told to end by a signal.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
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
        let mut command = engine(&scratch.0);
        command.arg("drive").args(words);
        Self::of(command.envs(variables.iter().copied()))
    }

    /// Begin what a command says.
    fn of(command: &mut Command) -> Self {
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let says = BufReader::new(child.stderr.take().unwrap());
        Self { child, says }
    }

    /// Begin to drive into `out`, and wait until the load has begun.
    fn begun(scratch: &Scratch, words: &[&str], out: &str) -> Self {
        let running = Self::new(scratch, &[words, &["--out", out]].concat(), &[]);
        running.until_begun(scratch, out)
    }

    /// Wait until the load into `out` has begun.
    fn until_begun(mut self, scratch: &Scratch, out: &str) -> Self {
        let running = &mut self;
        let directory = scratch.0.join(out);
        let logs = ["latency.hlog", "probe-01/latency.hlog"];
        while !logs.iter().any(|log| directory.join(log).exists()) {
            assert_eq!(running.child.try_wait().unwrap(), None, "it has ended");
            std::thread::sleep(Duration::from_millis(5));
        }
        self
    }

    /// Whether it has a signal in a mask of its status, such as `SigCgt` of those that it heeds.
    fn has(&self, mask: &str, signal: Signal) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let mut lines = status.lines();
        let found = lines.find_map(|line| line.strip_prefix(mask)?.strip_prefix(':'));
        let found = u64::from_str_radix(found.unwrap().trim(), 16).unwrap();
        found >> (signal as i32 - 1) & 1 == 1
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
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
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
fn a_load_that_has_nothing_left_to_do_ends_when_it_is_told_to() {
    let scratch = Scratch::new();
    let burst = ["--burst", "1000", "--burst-time", "100ms", "--time", "1h"];
    let words = [&["fake://", "--workload", "c"][..], &burst].concat();
    let running = Running::begun(&scratch, &words, "run");
    // By then the burst is over, and each of its operations answered.
    std::thread::sleep(Duration::from_millis(500));
    running.tell(Signal::SIGINT);
    let (status, said) = running.over();
    assert_eq!(status.code(), EARLY, "{said}");
    let result = read(&scratch.0.join("run"), "result.json");
    assert_eq!(result["intended"], 100);
    assert_eq!(sum(&result["operations"]), 100);
    assert!(result["seconds"].as_f64().unwrap() < 3600.0);
}

#[test]
fn a_load_that_is_to_outlive_its_terminal_does_not_heed_its_end() {
    let scratch = Scratch::new();
    let program = engine(&scratch.0).get_program().to_owned();
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "trap '' HUP; exec \"$@\"", "sh"])
        .arg(program);
    shell.current_dir(&scratch.0).arg("drive").args(HOUR);
    let running = Running::of(shell.args(["--out", "run"])).until_begun(&scratch, "run");
    assert!(running.has("SigIgn", Signal::SIGHUP) && !running.has("SigCgt", Signal::SIGHUP));
    running.tell(Signal::SIGINT);
    let (status, said) = running.over();
    assert_eq!(status.code(), EARLY, "{said}");
}

#[test]
fn that_nobody_reads_its_messages_does_not_end_a_search() {
    let scratch = Scratch::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = engine(&scratch.0);
    command.args(["drive", "fake://?service_us=100", "--workload", "c"]);
    command.args(["--time", "100ms", "--search", "sustained"]);
    command.args(["--search-probes", "2", "--out", "run"]);
    let status = command.stdout(Stdio::null()).stderr(writer).status();
    assert!(status.unwrap().success());
    let summary = read(&scratch.0.join("run"), "summary.json");
    assert_eq!(summary["search"]["probes"].as_array().unwrap().len(), 2);
}

/// A load that nobody can make.
const NOBODY: [&str; 5] = ["redis://127.0.0.1:1", "--workload", "c", "--time", "1s"];

#[test]
fn a_directory_that_has_a_result_is_refused_and_nothing_of_it_is_lost() {
    let scratch = Scratch::new();
    let search = ["fake://?service_us=100", "--workload", "c", "--out", "run"];
    let probes = [
        "--time",
        "100ms",
        "--search",
        "sustained",
        "--search-probes",
        "1",
    ];
    let words = [&search[..], &probes].concat();
    let well = crate::drive(&scratch.0, &words);
    assert!(well.status.success());
    let before = left(&scratch.0.join("run"));
    for words in [words, [&NOBODY[..], &["--out", "run"]].concat()] {
        let refused = crate::drive(&scratch.0, &words);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{said}");
        let remedy = "type --out with another directory, or first: rm -r run/probe-01 \
                      run/summary.json";
        assert!(said.contains(remedy), "{said}");
        assert_eq!(left(&scratch.0.join("run")), before);
    }
}

#[test]
fn a_load_that_does_not_begin_leaves_nothing() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.0.join("run")).unwrap();
    scratch.file("run/notes.txt", "mine");
    for out in ["run", "other"] {
        let refused = crate::drive(&scratch.0, &[&NOBODY[..], &["--out", out]].concat());
        assert_eq!(refused.status.code(), Some(1));
    }
    assert_eq!(left(&scratch.0), ["run"]);
    assert_eq!(left(&scratch.0.join("run")), ["notes.txt"]);
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
fn a_signal_while_the_load_is_worked_out_leaves_nothing() {
    let scratch = Scratch::new();
    // The sum over so many records takes minutes.
    let records = ["-p", "recordcount=2000000000", "--time", "10s"];
    let words = [&["fake://", "--workload", "d"][..], &records].concat();
    let running = Running::new(&scratch, &words, &[]);
    while !running.has("SigCgt", Signal::SIGHUP) {
        std::thread::sleep(Duration::from_millis(5));
    }
    running.tell(Signal::SIGINT);
    let (status, said) = running.over();
    assert_eq!(status.code(), Some(130), "{said}");
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

/// Names of what is in a directory, in order.
fn left(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}
