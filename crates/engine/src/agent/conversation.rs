//! One stream: questions are answered as they come, and programs run beside each other.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use wire::agent::{AGENT_VERSION, Ask, Said, Told, Wanted};

use super::processes::{Processes, Speaker};
use super::units::Doors;
use super::{files, frame, program};
use crate::moment::unix_time;

/// Answer until the stream ends.
pub fn converse(stream: UnixStream, processes: &Arc<Processes>) -> io::Result<()> {
    let (speaker, said) = channel();
    let to = stream.try_clone()?;
    thread::spawn(move || write_all(to, &said));
    let mut from = stream;
    while let Some((ask, bytes)) = frame::read::<Ask>(&mut from)? {
        processes.hear();
        match ask.what {
            Wanted::Run {
                argv,
                unit,
                seconds,
            } => {
                let speaker = speaker.clone();
                let doors = processes.doors(&unit);
                thread::spawn(move || {
                    let (what, content) = ran(&argv, doors, bytes, seconds);
                    say(&speaker, ask.id, what, content);
                });
            }
            what => {
                let ends = what == Wanted::End;
                let (what, content) = answer(what, &bytes, processes, &speaker);
                say(&speaker, ask.id, what, content);
                if ends {
                    kill(Pid::this(), Signal::SIGTERM)?;
                }
            }
        }
    }
    Ok(())
}

/// Write messages as they come, until nobody can say anything more or nobody listens.
fn write_all(mut to: UnixStream, said: &Receiver<(Said, Vec<u8>)>) -> io::Result<()> {
    for (message, content) in said {
        frame::write(&mut to, &message, &content)?;
    }
    Ok(())
}

/// Whoever does not listen any more asks again by the next stream.
fn say(speaker: &Speaker, id: u64, what: Told, content: Vec<u8>) {
    speaker.send((Said { id, what }, content)).ok();
}

fn ran(argv: &[String], doors: io::Result<Doors>, input: Vec<u8>, seconds: f64) -> (Told, Vec<u8>) {
    match doors.and_then(|doors| program::run(argv, doors, input, seconds)) {
        Ok(Some(ran)) => {
            let told = Told::Ran {
                code: ran.code,
                stdout: ran.stdout.len() as u64,
            };
            (told, [ran.stdout, ran.stderr].concat())
        }
        Ok(None) => (Told::Late, Vec::new()),
        Err(error) => (failed(&error), Vec::new()),
    }
}

/// The answer to what takes no time of its own.
fn answer(
    what: Wanted,
    bytes: &[u8],
    processes: &Arc<Processes>,
    speaker: &Speaker,
) -> (Told, Vec<u8>) {
    let told = match what {
        Wanted::Hello { version } if version != AGENT_VERSION => {
            let what = format!("the conversation has version {version}, not {AGENT_VERSION}");
            Err(io::Error::other(what))
        }
        Wanted::Hello { version } => Ok(Told::Hello {
            version,
            processes: processes.tell(speaker),
        }),
        Wanted::Start {
            argv,
            unit,
            env,
            log,
        } => processes
            .start(&argv, &unit, &env, Path::new(&log))
            .map(|(process, pid)| Told::Started { process, pid }),
        Wanted::Signal { process, name } => processes.signal(process, &name).map(|()| Told::Done),
        Wanted::Put { path, mode } => {
            files::put(Path::new(&path), mode, bytes).map(|()| Told::Done)
        }
        Wanted::Remove { path } => files::remove(Path::new(&path)).map(|()| Told::Done),
        Wanted::Time => Ok(Told::Time { time: unix_time() }),
        Wanted::End => Ok(Told::Done),
        Wanted::Get { path } => match files::get(Path::new(&path)) {
            Ok(Some(content)) => return (Told::Content, content),
            Ok(None) => Ok(Told::Missing),
            Err(error) => Err(error),
        },
        Wanted::Run { .. } => Err(io::Error::other("programs are run beside the conversation")),
    };
    (told.unwrap_or_else(|error| failed(&error)), Vec::new())
}

fn failed(error: &io::Error) -> Told {
    Told::Failed {
        why: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use super::super::units::Units;
    use super::*;

    fn nothing() -> Arc<Processes> {
        Arc::new(Processes::new(Units::default()))
    }

    /// A stream to a conversation of its own.
    fn joined(processes: &Arc<Processes>) -> UnixStream {
        let (near, far) = UnixStream::pair().unwrap();
        near.set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        let processes = Arc::clone(processes);
        thread::spawn(move || converse(far, &processes));
        near
    }

    fn asked(stream: &mut UnixStream, id: u64, what: Wanted, bytes: &[u8]) -> (Said, Vec<u8>) {
        frame::write(stream, &Ask { id, what }, bytes).unwrap();
        frame::read(stream).unwrap().unwrap()
    }

    fn script(text: &str) -> Vec<String> {
        ["sh", "-c", text].map(str::to_owned).into()
    }

    #[test]
    fn what_is_started_outlives_its_stream_and_the_next_one_is_told() {
        let log = std::env::temp_dir().join(format!("conversation-{}", std::process::id()));
        let processes = nothing();
        let mut first = joined(&processes);
        let version = AGENT_VERSION;
        let (said, _) = asked(&mut first, 1, Wanted::Hello { version }, &[]);
        assert_eq!(said.id, 1);
        let start = Wanted::Start {
            argv: script("echo begun; read line; exit 4"),
            unit: "load".into(),
            env: BTreeMap::new(),
            log: log.to_string_lossy().into_owned(),
        };
        // Its input is empty, so it ends at once; of that the stream is told, maybe first.
        frame::write(&mut first, &Ask { id: 2, what: start }, &[]).unwrap();
        let mut told = Vec::new();
        for _ in 0..2 {
            let (said, _): (Said, _) = frame::read(&mut first).unwrap().unwrap();
            told.push(said.what);
        }
        let ended = |code| Told::Ended { process: 1, code };
        assert!(told.contains(&ended(4)), "{told:?}");
        drop(first);
        let mut second = joined(&processes);
        let (said, _) = asked(&mut second, 1, Wanted::Hello { version }, &[]);
        let known = wire::agent::Known {
            process: 1,
            code: Some(4),
        };
        let processes = vec![known];
        assert_eq!(said.what, Told::Hello { version, processes });
        let path = log.to_string_lossy().into_owned();
        let (_, content) = asked(&mut second, 2, Wanted::Get { path: path.clone() }, &[]);
        assert_eq!(content, b"begun\n");
        asked(&mut second, 3, Wanted::Remove { path: path.clone() }, &[]);
        let (said, _) = asked(&mut second, 4, Wanted::Get { path }, &[]);
        assert_eq!(said.what, Told::Missing);
    }

    #[test]
    fn a_command_is_answered_with_both_outputs_and_another_one_meanwhile() {
        let processes = nothing();
        let mut stream = joined(&processes);
        let slow = Wanted::Run {
            argv: script("cat; echo bad >&2; sleep 0.2"),
            unit: "command".into(),
            seconds: 10.0,
        };
        frame::write(&mut stream, &Ask { id: 1, what: slow }, b"in").unwrap();
        let (said, _) = asked(&mut stream, 2, Wanted::Time, &[]);
        assert!(matches!(said.what, Told::Time { .. }), "{said:?}");
        let (said, bytes): (Said, _) = frame::read(&mut stream).unwrap().unwrap();
        assert_eq!((said.id, said.what), (1, Told::Ran { code: 0, stdout: 2 }));
        assert_eq!(bytes, b"inbad\n");
        let late = Wanted::Run {
            argv: script("sleep 60"),
            unit: "command".into(),
            seconds: 0.05,
        };
        assert_eq!(asked(&mut stream, 3, late, &[]).0.what, Told::Late);
    }

    #[test]
    fn what_cannot_be_done_says_why() {
        let processes = nothing();
        let mut stream = joined(&processes);
        for (what, why) in [
            (Wanted::Hello { version: 99 }, "version 99"),
            (Wanted::Get { path: "/".into() }, "directory"),
        ] {
            let (said, _) = asked(&mut stream, 1, what, &[]);
            let Told::Failed { why: told } = said.what else {
                panic!("{said:?}");
            };
            assert!(told.contains(why), "{told}");
        }
        let name = "TERM".to_owned();
        let nobody = Wanted::Signal { process: 9, name };
        assert_eq!(asked(&mut stream, 2, nobody, &[]).0.what, Told::Done);
    }
}
