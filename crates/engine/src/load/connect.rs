//! Connecting everybody before a load begins.

use std::io;
use std::time::Duration;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::task::spawn_local;
use wire::load::LoadPlan;

use super::share;
use crate::drive::{Driver, Failure, Fault, Session};

/// Seconds that one session may take to connect at least: it is no operation, and its server may
/// have just started.
const LONGEST: f64 = 5.0;
/// Time between two attempts of one session.
const PAUSE: Duration = Duration::from_millis(100);
/// Sessions that connect at a time: fewer than the new connections that a server keeps waiting.
const AT_A_TIME: u64 = 32;
/// Files that the engine has open beside the connections of its sessions.
const OTHER_FILES: u64 = 64;

/// As many sessions as this part has logical threads, all connected, in the order of their numbers.
/// The error is one sentence.
pub async fn connect(plan: &LoadPlan, driver: &Driver) -> io::Result<Vec<Session>> {
    let count = share::in_flight(plan.level, plan.part);
    let allowed = allow_files()?;
    let enough = |connections: u64| match too_few_files(count * connections, allowed) {
        Some(refusal) => Err(io::Error::other(refusal)),
        None => Ok(()),
    };
    enough(u64::from(!driver.sessions_share()))?;
    let within = plan.timeout.max(LONGEST);
    let failed = |failure: Failure| {
        let (address, reason) = (&plan.target.addresses[0], failure.message);
        // It is the database that answered so.
        let answered = matches!(failure.fault, Fault::Server | Fault::Unavailable);
        io::Error::other(if failure.lasting && failure.fault == Fault::Connection {
            format!("no connection: {reason}")
        } else if failure.lasting {
            format!("no load of `{address}`: {reason}")
        } else if answered {
            format!("no load of `{address}` could begin within {within} s: {reason}")
        } else {
            format!(
                "no connection to `{address}` within {within} s: {reason}; start the server, or give \
                 the address at which it listens, as HOST:PORT"
            )
        })
    };
    let patience = Duration::from_secs_f64(within);
    // Alone, because it makes what all share.
    let first = connected(driver.session(), patience).await;
    let mut sessions = vec![first.map_err(failed)?];
    // In a cluster each has several: one to each member that it needs.
    enough(sessions[0].connections())?;
    let mut left = count.saturating_sub(1);
    while left > 0 {
        let group = left.min(AT_A_TIME);
        left -= group;
        let under_way: Vec<_> = (0..group)
            .map(|_| spawn_local(connected(driver.session(), patience)))
            .collect();
        for session in under_way {
            sessions.push(session.await?.map_err(failed)?);
        }
    }
    Ok(sessions)
}

/// A session that tried until it was connected; the error is why it is not. What trying again would
/// not change ends it at once: a password that is wrong is not sent twice.
async fn connected(mut session: Session, patience: Duration) -> Result<Session, Failure> {
    let mut reason = Failure::new(Fault::Connection, "no answer, or not on all connections");
    let attempts = async {
        while let Err(failure) = session.connect().await {
            reason = failure;
            if reason.lasting {
                return false;
            }
            session.disconnect();
            tokio::time::sleep(PAUSE).await;
        }
        true
    };
    match tokio::time::timeout(patience, attempts).await {
        Ok(true) => Ok(session),
        Ok(false) | Err(_) => Err(reason),
    }
}

/// Let this process open as many files as it ever may, and return how many these are.
fn allow_files() -> nix::Result<u64> {
    let (now, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    if now < most {
        setrlimit(Resource::RLIMIT_NOFILE, most, most)?;
    }
    Ok(most)
}

/// Why there cannot be so many connections where only so many files may be open, if there cannot;
/// with what to type.
fn too_few_files(connections: u64, allowed: u64) -> Option<String> {
    let needed = connections + OTHER_FILES;
    (needed > allowed).then(|| {
        format!(
            "{connections} connections need {needed} open files, and this process may have {allowed}; \
             type `ulimit -n {needed}` before, or ask for fewer"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_connections_than_files_are_refused_with_what_to_type() {
        assert_eq!(too_few_files(10_000, 10_064), None);
        let said = too_few_files(10_000, 1024).unwrap();
        let expected = "10000 connections need 10064 open files, and this process may have 1024; \
                        type `ulimit -n 10064` before, or ask for fewer";
        assert_eq!(said, expected);
        assert_eq!(too_few_files(0, 1024), None);
    }

    #[test]
    fn as_many_files_may_be_open_as_the_process_ever_may_have() {
        let allowed = allow_files().unwrap();
        let (now, most) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
        assert_eq!((now, allowed), (most, most));
    }
}
