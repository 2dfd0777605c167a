//! What belongs to the whole machine, and the network of this process's namespace.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::Path;

use nix::ifaddrs::getifaddrs;

use super::counters::{Counters, tick};
use super::kept::Kept;

const PRESSURES: [&str; 3] = ["cpu", "memory", "io"];
const NETWORK: [&str; 4] = ["received", "packets_received", "sent", "packets_sent"];

/// Files below `/proc`.
pub struct Machine {
    stat: Kept,
    memory: Kept,
    network: Kept,
    uplink: Option<String>,
    pressures: [Kept; 3],
    text: String,
}

impl Machine {
    /// The machine of a host with this address. Nothing is opened before it is read.
    pub fn new(address: &str) -> Self {
        let proc = Path::new("/proc");
        Self {
            stat: Kept::new(&proc.join("stat")),
            memory: Kept::new(&proc.join("meminfo")),
            network: Kept::new(&proc.join("self/net/dev")),
            uplink: address.parse().ok().and_then(interface_of),
            pressures: PRESSURES.map(|name| Kept::new(&proc.join("pressure").join(name))),
            text: String::new(),
        }
    }

    /// Machine-wide readings that this kernel has.
    pub fn read(&mut self) -> Counters {
        let mut counters = Counters::new();
        if self.stat.read(&mut self.text).is_ok() {
            counters.extend(processors(&self.text));
        }
        if self.memory.read(&mut self.text).is_ok()
            && let Some(bytes) = swap(&self.text)
        {
            counters.insert("swap_total".to_owned(), bytes);
        }
        for (name, file) in PRESSURES.iter().zip(&mut self.pressures) {
            if file.read(&mut self.text).is_ok()
                && let Some(seconds) = pressure(&self.text)
            {
                counters.insert(format!("pressure_{name}"), seconds);
            }
        }
        counters
    }

    /// Network counters of the uplink, and of what is inside the host.
    pub fn read_network(&mut self) -> Counters {
        match (self.network.read(&mut self.text), &self.uplink) {
            (Ok(()), Some(uplink)) => interfaces(&self.text, uplink),
            _ => Counters::new(),
        }
    }

    /// Network counters that cannot be told, and why.
    pub fn absent_network(&self) -> BTreeMap<String, String> {
        if self.uplink.is_some() {
            return BTreeMap::new();
        }
        let why = "no interface has the host's address";
        BTreeMap::from([("host.network".to_owned(), why.to_owned())])
    }
}

/// The interface that has an address.
fn interface_of(address: Ipv4Addr) -> Option<String> {
    getifaddrs().ok()?.find_map(|found| {
        let own = found.address.as_ref()?.as_sockaddr_in()?.ip();
        (own == address).then_some(found.interface_name)
    })
}

/// Machine-wide counters that this kernel does not have.
pub fn absent() -> BTreeMap<String, String> {
    PRESSURES
        .iter()
        .filter(|name| !Path::new("/proc/pressure").join(name).exists())
        .map(|name| {
            let why = "the kernel keeps no pressure information".to_owned();
            (format!("pressure_{name}"), why)
        })
        .collect()
}

/// The first line of `/proc/stat`. Guest time is part of user time already.
fn processors(stat: &str) -> Counters {
    let Some(line) = stat.lines().find_map(|line| line.strip_prefix("cpu ")) else {
        return Counters::new();
    };
    let unit = tick();
    let ticks: Vec<f64> = line
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    let at = |i: usize| ticks.get(i).copied().unwrap_or(0.0) * unit;
    [
        ("cpu_total", ticks.iter().take(8).sum::<f64>() * unit),
        ("cpu_idle", at(3)),
        ("iowait", at(4)),
        ("softirq", at(6)),
        ("steal", at(7)),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}

/// Bytes of swap space: `SwapTotal:  1024 kB` in `/proc/meminfo`.
fn swap(meminfo: &str) -> Option<f64> {
    let rest = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("SwapTotal:"))?;
    let kibibytes: f64 = rest.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024.0)
}

/// Seconds in which some task waited: `some avg10=… total=MICROSECONDS`.
fn pressure(text: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.starts_with("some "))?;
    let total: f64 = line.rsplit_once("total=")?.1.trim().parse().ok()?;
    Some(total / 1e6)
}

/// `/proc/net/dev`: eight columns received, then eight sent. What is not the uplink is inner.
fn interfaces(text: &str, uplink: &str) -> Counters {
    let mut counters = Counters::new();
    for name in NETWORK {
        counters.insert(name.to_owned(), 0.0);
        counters.insert(format!("inner_{name}"), 0.0);
    }
    for (name, columns) in text.lines().filter_map(|line| line.split_once(':')) {
        let name = name.trim();
        if name == "lo" {
            continue;
        }
        let place = if name == uplink { "" } else { "inner_" };
        let values: Vec<f64> = columns
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
        for (counter, column) in NETWORK.iter().zip([0, 1, 8, 9]) {
            *counters.entry(format!("{place}{counter}")).or_default() +=
                values.get(column).copied().unwrap_or(0.0);
        }
    }
    counters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_told_in_seconds() {
        let found = processors("cpu  100 50 200 1000 30 5 15 10 70 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n");
        assert!((found["cpu_total"] - 14.1).abs() < 1e-9);
        assert!((found["cpu_idle"] - 10.0).abs() < 1e-9);
        assert!((found["iowait"] - 0.3).abs() < 1e-9);
        assert!((found["softirq"] - 0.15).abs() < 1e-9);
        assert!((found["steal"] - 0.1).abs() < 1e-9);
    }

    #[test]
    fn pressure_is_the_time_in_which_some_task_waited() {
        let text = "some avg10=0.01 avg60=0.31 avg300=0.32 total=20514964\n\
                    full avg10=0.00 avg60=0.05 avg300=0.15 total=19075891\n";
        assert!((pressure(text).unwrap() - 20.514_964).abs() < 1e-9);
        assert_eq!(pressure("nothing"), None);
    }

    #[test]
    fn swap_space_is_told_in_bytes() {
        let text = "MemTotal:        4026828 kB\nSwapTotal:          2048 kB\n";
        assert_eq!(swap(text), Some(2_097_152.0));
        assert_eq!(swap("MemTotal: 1 kB\n"), None);
    }

    #[test]
    fn a_byte_counts_once_at_the_uplink_and_devices_behind_it_are_inner() {
        let text = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop
    lo:    9999    99    0    0    0     0          0         0     9999    99    0    0
  eth0:    1000    10    0    0    0     0          0         0      400     4    0    0
docker0:     50     1    0    0    0     0          0         0        6     2    0    0
veth1:       60     2    0    0    0     0          0         0        7     3    0    0
";
        let found = interfaces(text, "eth0");
        let expected = [
            ("received", 1000.0),
            ("packets_received", 10.0),
            ("sent", 400.0),
            ("packets_sent", 4.0),
            ("inner_received", 110.0),
            ("inner_packets_received", 3.0),
            ("inner_sent", 13.0),
            ("inner_packets_sent", 5.0),
        ];
        assert_eq!(found.len(), expected.len());
        for (name, value) in expected {
            assert!((found[name] - value).abs() < 1e-9, "{name}");
        }
    }

    #[test]
    fn the_uplink_is_the_interface_that_has_the_address() {
        assert_eq!(interface_of(Ipv4Addr::LOCALHOST).as_deref(), Some("lo"));
        assert_eq!(interface_of(Ipv4Addr::new(192, 0, 2, 1)), None);
        let nobody = Machine::new("192.0.2.1").absent_network();
        assert!(nobody.contains_key("host.network"));
        assert!(Machine::new("127.0.0.1").absent_network().is_empty());
    }
}
