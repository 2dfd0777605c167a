//! A network in the notation of CIDR (RFC 4632).

use std::fmt::{Display, Formatter};
use std::net::Ipv4Addr;

/// All IPv4 addresses that begin with the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    first: Ipv4Addr,
    prefix: u8,
}

impl Network {
    /// Read `ADDRESS/PREFIX`; the error is one sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let refused = |what: &str| format!("`{text}` is not a network: {what}");
        let (address, prefix) = text
            .split_once('/')
            .ok_or_else(|| refused("it must look like `10.0.0.0/24`"))?;
        let address: Ipv4Addr = address
            .parse()
            .map_err(|_| refused("before the `/` stands no IPv4 address"))?;
        let prefix = (0..=32)
            .find(|number: &u8| number.to_string() == prefix)
            .ok_or_else(|| refused("after the `/` must stand a number from 0 to 32"))?;
        let network = Self {
            first: Ipv4Addr::from_bits(address.to_bits() & mask(prefix)),
            prefix,
        };
        if network.first != address {
            return Err(refused(&format!("did you mean `{network}`?")));
        }
        Ok(network)
    }

    /// Whether an address is one of its.
    pub fn contains(self, address: Ipv4Addr) -> bool {
        address.to_bits() & mask(self.prefix) == self.first.to_bits()
    }
}

impl Display for Network {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}/{}", self.first, self.prefix)
    }
}

/// As many ones as the prefix is long, then zeros.
fn mask(prefix: u8) -> u32 {
    u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_inside_when_it_begins_with_the_same_bits() {
        let inside = |network, address: &str| {
            Network::parse(network)
                .unwrap()
                .contains(address.parse().unwrap())
        };
        assert!(inside("10.1.2.0/23", "10.1.3.255"));
        assert!(!inside("10.1.2.0/23", "10.1.4.0"));
        assert!(inside("10.1.2.3/32", "10.1.2.3"));
        assert!(!inside("10.1.2.3/32", "10.1.2.2"));
        assert!(inside("0.0.0.0/0", "255.255.255.255"));
        assert!(inside("128.0.0.0/1", "200.0.0.1"));
    }

    #[test]
    fn what_is_no_network_is_refused_with_a_sentence() {
        for text in [
            "",
            "10.0.0.0",
            "10.0.0/8",
            "10.0.0.0/",
            "10.0.0.0/33",
            "10.0.0.0/-1",
            "10.0.0.0/+8",
            "10.0.0.0/08",
            "10.0.0.0/8 ",
            " 10.0.0.0/8",
            "010.0.0.0/8",
            "fd00::/8",
            "10.0.0.0/255.0.0.0",
        ] {
            let said = Network::parse(text).unwrap_err();
            assert!(said.starts_with(&format!("`{text}` is not a network: ")));
        }
        assert_eq!(
            Network::parse("10.0.0.7/24").unwrap_err(),
            "`10.0.0.7/24` is not a network: did you mean `10.0.0.0/24`?"
        );
    }
}
