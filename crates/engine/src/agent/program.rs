//! Programs that are run to their end, or started.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{SigSet, Signal, killpg};
use nix::unistd::Pid;

use super::units::Doors;

/// What a shell answers when a program cannot be started.
pub const CANNOT_START: i32 = 127;

/// What every program starts with, so that nothing of the agent's own leaks into it.
const ENVIRONMENT: [(&str, &str); 3] = [
    (
        "PATH",
        "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    ),
    ("HOME", "/root"),
    ("LANG", "C.UTF-8"),
];

/// How a program ended that was run to its end.
pub struct Ran {
    /// Exit code, below zero for a signal.
    pub code: i32,
    /// What it wrote to standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error.
    pub stderr: Vec<u8>,
}

/// Run a program to its end; none where its time was over, and it was killed.
pub fn run(argv: &[String], doors: Doors, input: Vec<u8>, seconds: f64) -> io::Result<Option<Ran>> {
    let mut command = prepared(argv, doors)?;
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Ok(Some(not_started(argv, &error))),
    };
    let group = group(&child);
    let (mut stdin, stdout, stderr) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let fed = thread::spawn(move || stdin.take().map(|mut pipe| pipe.write_all(&input)));
    let [stdout, stderr] = [reader(stdout), reader(stderr)];
    let (ended, waiting) = channel::<()>();
    let limit = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    let watch = thread::spawn(move || {
        let late = waiting.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
        if late {
            killpg(group, Signal::SIGKILL).ok();
        }
        late
    });
    // Their ends first: what it left behind may still write.
    let (stdout, stderr) = (read(stdout)?, read(stderr)?);
    let code = code(child.wait()?);
    drop(ended);
    fed.join().ok();
    let late = watch.join().unwrap_or(false);
    Ok((!late).then_some(Ran {
        code,
        stdout,
        stderr,
    }))
}

/// Start a program whose output goes to the end of a file.
///
/// What keeps it from being started is written there, as a shell would.
pub fn start(
    argv: &[String],
    doors: Doors,
    variables: &BTreeMap<String, String>,
    log: &Path,
) -> io::Result<Option<Child>> {
    if let Some(parent) = log.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut out = OpenOptions::new().append(true).create(true).open(log)?;
    let mut command = prepared(argv, doors)?;
    command
        .envs(variables)
        .stdin(Stdio::null())
        .stdout(out.try_clone()?)
        .stderr(out.try_clone()?);
    match command.spawn() {
        Ok(child) => Ok(Some(child)),
        Err(error) => {
            out.write_all(&not_started(argv, &error).stderr)?;
            Ok(None)
        }
    }
}

/// An exit code, below zero for a signal.
pub fn code(status: ExitStatus) -> i32 {
    let signal = status.signal().map(|signal| -signal);
    status.code().or(signal).unwrap_or(CANNOT_START)
}

/// The group of all that a child starts.
pub fn group(child: &Child) -> Pid {
    Pid::from_raw(child.id().cast_signed())
}

fn prepared(argv: &[String], doors: Doors) -> io::Result<Command> {
    let what = "there is no program to run";
    let (program, words) = argv.split_first().ok_or_else(|| io::Error::other(what))?;
    let mut command = Command::new(program);
    command
        .args(words)
        .env_clear()
        .envs(ENVIRONMENT)
        .current_dir("/")
        .process_group(0);
    let begin = move || {
        // The agent takes its signals itself; programs shall be reached by theirs.
        SigSet::empty().thread_set_mask()?;
        doors.enter()
    };
    // SAFETY: only `sigprocmask` and `write` are called after the fork, and nothing is allocated.
    unsafe { command.pre_exec(begin) };
    Ok(command)
}

fn not_started(argv: &[String], error: &io::Error) -> Ran {
    let program = argv.first().map_or("", String::as_str);
    Ran {
        code: CANNOT_START,
        stdout: Vec::new(),
        stderr: format!("dunnage-engine: {program}: {error}\n").into_bytes(),
    }
}

type Reading = thread::JoinHandle<io::Result<Vec<u8>>>;

fn reader(pipe: Option<impl Read + Send + 'static>) -> Reading {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            pipe.read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    })
}

fn read(reading: Reading) -> io::Result<Vec<u8>> {
    let panicked = |_| Err(io::Error::other("an output could not be read"));
    reading.join().unwrap_or_else(panicked)
}

#[cfg(test)]
mod tests {
    use super::super::units::Units;
    use super::*;

    fn nowhere() -> Doors {
        Units::default().doors("command").unwrap()
    }

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_program_is_given_its_input_and_tells_both_outputs_and_its_code() {
        let script = "read line; echo got $line; echo bad >&2; exit 3";
        let argv = ["sh", "-c", script].map(str::to_owned);
        let ran = run(&argv, nowhere(), b"this\n".to_vec(), 10.0)
            .unwrap()
            .unwrap();
        assert_eq!((ran.code, &ran.stdout[..]), (3, &b"got this\n"[..]));
        assert_eq!(ran.stderr, b"bad\n");
    }

    #[test]
    fn a_program_over_its_time_is_killed_with_all_that_it_started() {
        let argv = ["sh", "-c", "sleep 60 & sleep 60"].map(str::to_owned);
        assert!(run(&argv, nowhere(), Vec::new(), 0.1).unwrap().is_none());
    }

    #[test]
    fn a_program_that_is_not_there_ends_as_in_a_shell() {
        let ran = run(&words("dunnage-has-none"), nowhere(), Vec::new(), 1.0);
        let ran = ran.unwrap().unwrap();
        assert_eq!(ran.code, CANNOT_START);
        assert!(String::from_utf8_lossy(&ran.stderr).contains("dunnage-has-none: No such file"));
        assert!(run(&[], nowhere(), Vec::new(), 1.0).is_err());
    }

    #[test]
    fn a_program_that_is_killed_has_a_code_below_zero() {
        let argv = ["sh", "-c", "kill -KILL $$"].map(str::to_owned);
        let ran = run(&argv, nowhere(), Vec::new(), 10.0).unwrap().unwrap();
        assert_eq!(ran.code, -9);
    }

    #[test]
    fn a_program_is_reached_by_signals_that_are_blocked_here() {
        let mut told = SigSet::empty();
        told.add(Signal::SIGTERM);
        told.thread_block().unwrap();
        let argv = ["sh", "-c", "kill -TERM $$; sleep 60"].map(str::to_owned);
        let ran = run(&argv, nowhere(), Vec::new(), 10.0).unwrap().unwrap();
        told.thread_unblock().unwrap();
        assert_eq!(ran.code, -15);
    }

    #[test]
    fn nothing_of_our_own_environment_is_given() {
        let ran = run(&words("env"), nowhere(), Vec::new(), 10.0)
            .unwrap()
            .unwrap();
        let told = String::from_utf8(ran.stdout).unwrap();
        let names: Vec<_> = told
            .lines()
            .filter_map(|line| line.split('=').next())
            .collect();
        assert_eq!(names, ["HOME", "LANG", "PATH"]);
    }
}
