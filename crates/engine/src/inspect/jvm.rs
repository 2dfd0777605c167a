//! What a Java virtual machine says of itself: flags in force, heap, collector, processors.
//!
//! `HotSpot` is asked in its own way (the attach mechanism, which `jcmd` uses too): a file and
//! SIGQUIT make it listen on a socket, and what is written there is answered.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::process::Status;

/// How long each answer may take, on a machine that its neighbours keep busy.
const PATIENCE: Duration = Duration::from_secs(10);

/// What was answered.
#[derive(Default)]
pub struct Answers {
    /// Flags in force as `flag.MaxHeapSize`, and what the collector noted when it started.
    pub facts: BTreeMap<String, String>,
    /// Every file on the class path, as the process sees it.
    pub class_path: Vec<String>,
}

/// Ask the virtual machine that a process is. Fails unless it answers all that it is asked.
pub fn ask(process: &Path, pid: u32, status: &Status) -> io::Result<Answers> {
    // In a container it knows itself by another process id, the last of all.
    let own = status.get("NSpid").split_whitespace().last().unwrap_or("");
    let temporary = process.join("root/tmp");
    let socket = temporary.join(format!(".java_pid{own}"));
    if !socket.exists() {
        let request = temporary.join(format!(".attach_pid{own}"));
        let made = wake(pid, status, &request, &socket);
        let _ = fs::remove_file(&request);
        made?;
    }
    let mut facts = told(flags(&command(&socket, "jcmd", "VM.flags")?), "flags")?;
    let noted = collector(&command(&socket, "jcmd", "VM.info")?);
    facts.extend(told(noted, "collector")?);
    let class_path = class_path(&command(&socket, "properties", "")?);
    Ok(Answers { facts, class_path })
}

/// Facts, of which there must be some: without any nobody knows what holds.
fn told(facts: BTreeMap<String, String>, of: &str) -> io::Result<BTreeMap<String, String>> {
    if facts.is_empty() {
        return Err(io::Error::other(format!("it does not report its {of}")));
    }
    Ok(facts)
}

/// Make it listen, and wait until it does.
fn wake(pid: u32, status: &Status, request: &Path, socket: &Path) -> io::Result<()> {
    // Told not to, it does not handle the signal, and would end by it.
    if !catches_quit(status.get("SigCgt")) {
        return Err(io::Error::other(
            "it was started with an option that lets nothing attach to it",
        ));
    }
    File::create(request)?;
    kill(Pid::from_raw(pid.cast_signed()), Signal::SIGQUIT)?;
    let start = Instant::now();
    while !socket.exists() {
        if start.elapsed() > PATIENCE {
            return Err(io::Error::other("it does not answer"));
        }
        sleep(Duration::from_millis(5));
    }
    Ok(())
}

fn catches_quit(mask: &str) -> bool {
    u64::from_str_radix(mask, 16).is_ok_and(|mask| mask & (1 << (Signal::SIGQUIT as u64 - 1)) != 0)
}

/// Protocol version 1: version, command and three arguments, each ended by a zero byte; the first
/// line of the answer is a code.
fn command(socket: &Path, name: &str, argument: &str) -> io::Result<String> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(format!("1\0{name}\0{argument}\0\0\0").as_bytes())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let answer = String::from_utf8_lossy(&answer);
    match answer.split_once('\n') {
        Some(("0", text)) => Ok(text.to_owned()),
        _ => Err(io::Error::other(format!("it refuses `{name} {argument}`"))),
    }
}

/// `-XX:+UseG1GC -XX:MaxHeapSize=1` as `flag.UseG1GC` → `true`, `flag.MaxHeapSize` → `1`.
fn flags(text: &str) -> BTreeMap<String, String> {
    text.split_whitespace()
        .filter_map(|word| {
            let flag = word.strip_prefix("-XX:")?;
            let (name, value) = if let Some(name) = flag.strip_prefix('+') {
                (name, "true")
            } else if let Some(name) = flag.strip_prefix('-') {
                (name, "false")
            } else {
                flag.split_once('=')?
            };
            Some((format!("flag.{name}"), value.to_owned()))
        })
        .collect()
}

/// The rows of the section `GC Precious Log`: processors, memory, heap, workers.
fn collector(text: &str) -> BTreeMap<String, String> {
    text.lines()
        .skip_while(|line| !line.starts_with("GC Precious Log"))
        .skip(1)
        .take_while(|line| !line.trim().is_empty())
        .filter_map(|line| line.trim().split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect()
}

/// Files of the property `java.class.path`, which is written as Java's properties are.
fn class_path(text: &str) -> Vec<String> {
    let property = text
        .lines()
        .find_map(|line| line.strip_prefix("java.class.path="));
    property
        .unwrap_or_default()
        .replace('\\', "")
        .split(':')
        .filter(|path| path.starts_with('/'))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_told_by_name() {
        let found = flags("-XX:ConcGCThreads=1 -XX:+UseG1GC -XX:-UsePerfData -Dnot=one\n");
        assert_eq!(found["flag.ConcGCThreads"], "1");
        assert_eq!(found["flag.UseG1GC"], "true");
        assert_eq!(found["flag.UsePerfData"], "false");
        assert_eq!(found.len(), 3);
    }

    #[test]
    fn the_collectors_section_is_told_and_no_other() {
        let found = collector(
            "Heap:\n garbage-first heap   total 1K\n\nGC Precious Log:\n CPUs: 2 total, 2 available\n \
             Heap Max Capacity: 512M\n\nHeap Regions: E=young\n",
        );
        assert_eq!(found["cpus"], "2 total, 2 available");
        assert_eq!(found["heap max capacity"], "512M");
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn a_machine_that_answers_with_nothing_has_not_answered() {
        assert!(told(collector("GC Precious Log:\n<Skipped>\n\n"), "collector").is_err());
        assert!(told(flags("-XX:+UseG1GC"), "flags").is_ok());
    }

    #[test]
    fn the_class_path_is_read_as_a_property() {
        let text = "#now\njava.version=17\njava.class.path=/lib/a.jar\\:/lib/b.jar\n";
        assert_eq!(class_path(text), ["/lib/a.jar", "/lib/b.jar"]);
        assert!(class_path("java.class.path=\n").is_empty());
    }

    #[test]
    fn a_machine_that_would_end_by_the_signal_is_not_sent_it() {
        assert!(catches_quit("2000000181005ccf"));
        assert!(!catches_quit("0000000181005ccb"));
        assert!(!catches_quit(""));
    }
}
