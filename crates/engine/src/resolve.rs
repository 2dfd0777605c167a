//! `resolve`: tell the addresses of names, as `load` finds them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use tokio::task::{LocalSet, spawn_local};

use crate::drive::resolve::lookup;

/// A name that just began to exist is waited for so long.
const LIMIT: Duration = Duration::from_secs(10);
/// Time between two questions.
const AGAIN: Duration = Duration::from_millis(100);

/// Arguments of `resolve`.
#[derive(clap::Args)]
pub struct Arguments {
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
    let found = LocalSet::new().block_on(&runtime, all(&arguments.names))?;
    println!("{}", serde_json::to_string(&found)?);
    Ok(())
}

/// All names at once, so that each has the whole time.
async fn all(names: &[String]) -> io::Result<BTreeMap<&str, BTreeSet<Ipv4Addr>>> {
    let questions: Vec<_> = names
        .iter()
        .map(|name| (name, spawn_local(persistently(LIMIT, asked(name.clone())))))
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

fn asked(name: String) -> impl AsyncFn() -> Result<BTreeSet<Ipv4Addr>, String> {
    async move || only_ipv4(lookup(&name).await?)
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
