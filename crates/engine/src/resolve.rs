//! `resolve`: tell the addresses of names, as `load` finds them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use tokio::task::{LocalSet, spawn_local};

use crate::drive::resolve::{lookup, lookup_by};

/// A name that just began to exist is waited for so long.
const LIMIT: Duration = Duration::from_secs(10);
/// Time between two questions.
const AGAIN: Duration = Duration::from_millis(100);

/// Arguments of `resolve`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Address of the name server to ask, instead of this host's hosts file and name servers.
    #[arg(long)]
    server: Option<Ipv4Addr>,
    /// Names of hosts, or IPv4 addresses, which stand for themselves.
    #[arg(required = true)]
    names: Vec<String>,
}

/// Print one JSON object: for each name its IPv4 addresses, in the order of their numbers. The
/// error names everything that did not resolve.
pub fn resolve(arguments: &Arguments) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let found = LocalSet::new().block_on(&runtime, all(arguments))?;
    println!("{}", serde_json::to_string(&found)?);
    Ok(())
}

/// All names at once, so that each has the whole time.
async fn all(arguments: &Arguments) -> io::Result<BTreeMap<&str, BTreeSet<Ipv4Addr>>> {
    let server = arguments.server;
    let questions: Vec<_> = arguments
        .names
        .iter()
        .map(|name| {
            (
                name,
                spawn_local(persistently(LIMIT, asked(server, name.clone()))),
            )
        })
        .collect();
    let (mut found, mut failed) = (BTreeMap::new(), Vec::new());
    for (name, question) in questions {
        match question.await? {
            Ok(addresses) => {
                found.insert(name.as_str(), addresses);
            }
            Err(reason) => failed.push(format!("`{name}`: {reason}")),
        }
    }
    if failed.is_empty() {
        return Ok(found);
    }
    Err(io::Error::other(format!(
        "not resolved within {} s: {}",
        LIMIT.as_secs(),
        failed.join("; ")
    )))
}

fn asked(
    server: Option<Ipv4Addr>,
    name: String,
) -> impl AsyncFn() -> Result<BTreeSet<Ipv4Addr>, String> {
    async move || {
        only_ipv4(match server {
            Some(server) => lookup_by(server, &name).await?,
            None => lookup(&name).await?,
        })
    }
}

fn only_ipv4(addresses: Vec<IpAddr>) -> Result<BTreeSet<Ipv4Addr>, String> {
    let found: BTreeSet<Ipv4Addr> = addresses
        .into_iter()
        .filter_map(|address| match address {
            IpAddr::V4(four) => Some(four),
            IpAddr::V6(_) => None,
        })
        .collect();
    if found.is_empty() {
        return Err("there is no IPv4 address".to_owned());
    }
    Ok(found)
}

/// Ask until there is an answer; the error is the last reason why there was none.
async fn persistently<Found>(
    limit: Duration,
    ask: impl AsyncFn() -> Result<Found, String>,
) -> Result<Found, String> {
    let mut reason = "no answer".to_owned();
    let answered = async {
        loop {
            match ask().await {
                Ok(found) => return found,
                Err(what) => reason = what,
            }
            tokio::time::sleep(AGAIN).await;
        }
    };
    let answer = tokio::time::timeout(limit, answered).await;
    answer.map_err(|_| reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::net::UdpSocket;
    use std::thread;

    fn wait<Output>(future: impl Future<Output = Output>) -> Output {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().build().unwrap().block_on(future)
    }

    #[test]
    fn a_name_that_appears_a_moment_later_is_found() {
        let asked = Cell::new(0);
        let found = wait(persistently(LIMIT, async || {
            asked.set(asked.get() + 1);
            (asked.get() > 2).then_some("found").ok_or(String::new())
        }));
        assert_eq!((found, asked.get()), (Ok("found"), 3));
    }

    #[test]
    fn the_last_reason_is_told_even_if_the_last_question_is_not_answered() {
        let asked = Cell::new(0);
        let found: Result<(), String> =
            wait(persistently(Duration::from_millis(300), async || {
                asked.set(asked.get() + 1);
                if asked.get() > 1 {
                    std::future::pending::<()>().await;
                }
                Err("no such name".to_owned())
            }));
        assert_eq!(found, Err("no such name".to_owned()));
    }

    #[test]
    fn one_name_server_alone_can_be_asked() {
        // Port 53 of an address of the loopback that nobody else uses; only root may listen there.
        let place = Ipv4Addr::new(127, 0, 53, (std::process::id() % 250 + 1) as u8);
        let Ok(server) = UdpSocket::bind((place, 53)) else {
            assert!(!nix::unistd::geteuid().is_root(), "root may listen there");
            return;
        };
        thread::spawn(move || {
            let mut question = [0; 512];
            while let Ok((length, client)) = server.recv_from(&mut question) {
                server
                    .send_to(&answer(&question[..length]), client)
                    .unwrap();
            }
        });
        let ask = asked(Some(place), "db.cluster.local.".to_owned());
        let found = wait(persistently(LIMIT, ask)).unwrap();
        assert_eq!(found, BTreeSet::from([Ipv4Addr::new(10, 0, 0, 9)]));
    }

    /// The answer 10.0.0.9 to any question of one name, RFC 1035.
    fn answer(question: &[u8]) -> Vec<u8> {
        let name = question[12..].iter().position(|&byte| byte == 0).unwrap();
        let asked = &question[..12 + name + 5];
        let is_a = asked[asked.len() - 3] == 1;
        let mut answer = asked.to_vec();
        answer[2..12].copy_from_slice(&[0x81, 0x80, 0, 1, 0, u8::from(is_a), 0, 0, 0, 0]);
        if is_a {
            answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 10, 0, 0, 9]);
        }
        answer
    }

    #[test]
    fn addresses_are_sorted_by_number_and_those_of_ipv6_left_out() {
        let texts = ["10.0.0.10", "::1", "10.0.0.9"];
        let found = only_ipv4(texts.map(|text| text.parse().unwrap()).to_vec()).unwrap();
        assert_eq!(
            serde_json::to_string(&found).unwrap(),
            r#"["10.0.0.9","10.0.0.10"]"#
        );
        assert!(only_ipv4(vec!["::1".parse().unwrap()]).is_err());
    }
}
