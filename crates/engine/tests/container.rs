//! The verbs that members in containers need: `start`, `resolve` and `rest`.

use std::fs::{self, Permissions};
use std::net::Ipv4Addr;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use scratch::Scratch;

mod scratch;

impl Scratch {
    fn file(&self, text: &str) -> PathBuf {
        let path = self.0.join("server.conf");
        fs::write(&path, text).unwrap();
        path
    }
}

/// An address of this machine by which others reach it.
fn own() -> Ipv4Addr {
    getifaddrs()
        .unwrap()
        .filter(|interface| !interface.flags.contains(InterfaceFlags::IFF_LOOPBACK))
        .find_map(|interface| Some(interface.address?.as_sockaddr_in()?.ip()))
        .expect("this test needs an IPv4 address beside those of loopback")
}

fn engine(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dunnage-engine"));
    command.args(words);
    command
}

/// Start the member `db-1` within the network that is this machine's address alone.
fn start(files: &[&PathBuf], program: &[&str]) -> Command {
    let network = format!("{}/32", own());
    let mut command = engine(&["start", "--member", "db-1", "--within", &network]);
    for file in files {
        command.arg("--file").arg(file);
    }
    command.arg("--").args(program);
    command
}

/// The one sentence of a failure.
fn sentence(output: &Output) -> String {
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(said.trim_end().lines().count(), 1, "{said}");
    said
}

#[test]
fn the_program_finds_the_address_in_its_files_and_words_and_is_the_process_that_was_started() {
    let scratch = Scratch::new();
    let file = scratch.file("bind @late:db-1@\nseeds @late:db-1@,@late:db-10@\n");
    fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
    let before = fs::metadata(&file).unwrap();
    let script =
        "echo $$ $COLOUR $1 $2; grep ^Sig[BIC] /proc/self/status; ls /proc/self/fd; exit 7";
    let words = ["sh", "-c", script, "sh", "--host=@late:db-1@", "@late:b@"];
    let mut plain = Command::new(words[0]);
    plain.args(&words[1..]).env("COLOUR", "blue");
    let plain = String::from_utf8(plain.output().unwrap().stdout).unwrap();
    let child = start(&[&file], &words)
        .env("COLOUR", "blue")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let number = child.id();
    let output = child.wait_with_output().unwrap();

    let (address, after) = (own(), fs::metadata(&file).unwrap());
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        format!("bind {address}\nseeds {address},@late:db-10@\n")
    );
    assert_eq!(
        (after.mode(), after.uid()),
        (before.mode(), before.uid()),
        "mode and owner are kept"
    );
    assert_ne!(after.ino(), before.ino(), "it was replaced as a whole");
    assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 1);
    assert_eq!(output.status.code(), Some(7));
    let told = String::from_utf8(output.stdout).unwrap();
    let (first, rest) = told.split_once('\n').unwrap();
    assert_eq!(first, format!("{number} blue --host={address} @late:b@"));
    assert_eq!(
        rest,
        plain.split_once('\n').unwrap().1,
        "signals and open files"
    );
}

#[test]
fn a_file_that_nothing_can_be_put_beside_is_filled_in_where_it_is() {
    let scratch = Scratch::new();
    let file = scratch.file("a long line before\nbind @late:db-1@\n");
    fs::create_dir(scratch.0.join("server.conf.filled")).unwrap();
    let before = fs::metadata(&file).unwrap();
    assert!(start(&[&file], &["true"]).status().unwrap().success());
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        format!("a long line before\nbind {}\n", own())
    );
    assert_eq!(fs::metadata(&file).unwrap().ino(), before.ino());
}

#[test]
fn behind_a_link_the_file_itself_is_filled_in() {
    let scratch = Scratch::new();
    let file = scratch.file("@late:db-1@");
    let link = scratch.0.join("link");
    std::os::unix::fs::symlink("server.conf", &link).unwrap();
    assert!(start(&[&link], &["true"]).status().unwrap().success());
    assert_eq!(fs::read_to_string(&file).unwrap(), own().to_string());
    assert!(link.is_symlink());
}

#[test]
fn what_cannot_be_read_or_run_is_told_by_name() {
    let scratch = Scratch::new();
    let (missing, begun) = (scratch.0.join("missing"), scratch.0.join("begun"));
    let program = ["touch", begun.to_str().unwrap()];
    let said = sentence(&start(&[&missing], &program).output().unwrap());
    assert!(
        said.contains(&format!("`{}`: No such file", missing.display())),
        "{said}"
    );
    assert!(!begun.exists(), "the program was not run");

    let said = sentence(&start(&[], &["no-such-program"]).output().unwrap());
    assert!(said.contains("`no-such-program`: No such file"), "{said}");
}

#[test]
fn a_network_that_is_none_is_refused_with_one_sentence() {
    let words = [
        "start", "--member", "a", "--within", "10.0.0/8", "--", "true",
    ];
    let said = sentence(&engine(&words).output().unwrap());
    assert!(said.contains("`10.0.0/8` is not a network"), "{said}");
}

#[test]
fn names_are_resolved_to_the_addresses_that_a_load_would_use() {
    let output = engine(&["resolve", "localhost", "192.0.2.7"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(
        serde_json::from_slice::<Value>(&output.stdout).unwrap(),
        json!({"localhost": ["127.0.0.1"], "192.0.2.7": ["192.0.2.7"]})
    );
}

#[test]
fn a_name_that_does_not_resolve_is_named_and_nothing_is_printed() {
    let output = engine(&["resolve", "192.0.2.7", "nowhere.invalid"])
        .output()
        .unwrap();
    let said = sentence(&output);
    assert!(
        said.contains("not resolved within 10 s: `nowhere.invalid`: "),
        "{said}"
    );
    assert!(output.stdout.is_empty());
}

/// A `rest` that does not outlive the test.
struct Resting(Child);

impl Drop for Resting {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn rest_lasts_until_it_is_told_to_end_and_ends_well() {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let mut rest = Resting(engine(&["rest"]).spawn().unwrap());
        let number = Pid::from_raw(rest.0.id().cast_signed());
        let began = Instant::now();
        // It has blocked the others by then.
        while !ignores(number, Signal::SIGCHLD) {
            assert!(began.elapsed() < Duration::from_secs(20));
            sleep(Duration::from_millis(5));
        }
        assert!(rest.0.try_wait().unwrap().is_none());
        kill(number, signal).unwrap();
        assert_eq!(rest.0.wait().unwrap().code(), Some(0), "{signal}");
    }
}

/// Whether a process ignores a signal, as the kernel tells it.
fn ignores(process: Pid, signal: Signal) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .map(|mask| u64::from_str_radix(mask.trim(), 16).unwrap());
    mask.unwrap() & (1 << (signal as u64 - 1)) != 0
}
