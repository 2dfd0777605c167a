//! The address that this network namespace has in a network.

use std::collections::BTreeSet;
use std::io;
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;

use super::network::Network;

/// Time between two looks.
const EVERY: Duration = Duration::from_millis(20);

/// The one address within `network` of those that `look` tells of; it is waited for until `limit`.
pub fn own(
    network: Network,
    limit: Duration,
    look: impl Fn() -> io::Result<BTreeSet<Ipv4Addr>>,
) -> io::Result<Ipv4Addr> {
    let due = Instant::now() + limit;
    loop {
        let all = look()?;
        let mut within = all.iter().filter(|address| network.contains(**address));
        match (within.next(), within.next()) {
            (Some(one), None) => return Ok(*one),
            (Some(one), Some(other)) => {
                let what = format!("`{network}` has two addresses of this host: {one} and {other}");
                return Err(io::Error::other(what));
            }
            (None, _) if Instant::now() < due => std::thread::sleep(EVERY),
            (None, _) => {
                return Err(io::Error::other(format!(
                    "no address in `{network}` came within {} s; this host has {}",
                    limit.as_secs_f64(),
                    listed(&all)
                )));
            }
        }
    }
}

fn listed(addresses: &BTreeSet<Ipv4Addr>) -> String {
    if addresses.is_empty() {
        return "none but those of loopback".to_owned();
    }
    let texts: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    texts.join(", ")
}

/// The IPv4 addresses of this network namespace, without those of loopback.
pub fn addresses() -> io::Result<BTreeSet<Ipv4Addr>> {
    Ok(getifaddrs()?
        .filter(|interface| !interface.flags.contains(InterfaceFlags::IFF_LOOPBACK))
        .filter_map(|interface| Some(interface.address?.as_sockaddr_in()?.ip()))
        .filter(|address| !address.is_loopback())
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn found(network: &str, addresses: &[&str]) -> Result<Ipv4Addr, String> {
        let all: BTreeSet<Ipv4Addr> = addresses.iter().map(|text| text.parse().unwrap()).collect();
        let network = Network::parse(network).unwrap();
        let limit = Duration::from_millis(50);
        own(network, limit, || Ok(all.clone())).map_err(|error| error.to_string())
    }

    #[test]
    fn the_one_address_inside_is_found_among_others() {
        let found = found("10.0.1.0/24", &["10.0.0.2", "10.0.1.2", "192.0.2.1"]);
        assert_eq!(found, Ok("10.0.1.2".parse().unwrap()));
    }

    #[test]
    fn an_address_that_comes_later_is_waited_for() {
        let looks = Cell::new(0);
        let network = Network::parse("10.0.0.0/8").unwrap();
        let look = || {
            looks.set(looks.get() + 1);
            let there = (looks.get() > 3).then_some(Ipv4Addr::new(10, 0, 0, 2));
            Ok(there.into_iter().collect())
        };
        let address = own(network, Duration::from_secs(60), look).unwrap();
        assert_eq!((address, looks.get()), (Ipv4Addr::new(10, 0, 0, 2), 4));
    }

    #[test]
    fn without_an_address_inside_those_that_there_are_are_told() {
        assert_eq!(
            found("10.0.2.0/24", &["10.0.0.2", "10.0.1.2"]).unwrap_err(),
            "no address in `10.0.2.0/24` came within 0.05 s; this host has 10.0.0.2, 10.0.1.2"
        );
        let said = found("10.0.2.0/24", &[]).unwrap_err();
        assert!(said.ends_with("has none but those of loopback"), "{said}");
    }

    #[test]
    fn two_addresses_inside_are_refused_and_both_told() {
        assert_eq!(
            found("10.0.0.0/8", &["10.0.0.2", "10.0.1.2"]).unwrap_err(),
            "`10.0.0.0/8` has two addresses of this host: 10.0.0.2 and 10.0.1.2"
        );
    }

    #[test]
    fn loopback_is_not_among_the_addresses_of_this_host() {
        assert!(addresses().unwrap().iter().all(|each| !each.is_loopback()));
    }
}
