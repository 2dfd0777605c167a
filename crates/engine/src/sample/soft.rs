//! Soft interrupts, by the network namespaces in which their packets arrived.
//!
//! The kernel charges them to whatever task was interrupted. Its tracepoints tell when one begins
//! and ends, and of each packet by which device it arrived.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::fd::AsFd;

use wire::samples::SoftInterrupts;

use crate::bpf::calls::{Attached, Scratch, Sums, attach};
use crate::bpf::types::Types;
use programs::{FURTHER, KEPT, Maps, NO_PACKET, OTHER_KINDS, Way};

mod programs;

/// Owners of time that can be told apart, networks above all. That of further ones is
/// [`FURTHER`]'s.
const OWNERS: u32 = 4096;

const BEGIN: &str = "softirq_entry";
const END: &str = "softirq_exit";
const PACKET: &str = "netif_receive_skb";

/// Either of the last two stands for both others.
const PERFMON: (u32, &str) = (38, "CAP_PERFMON");
const BPF: (u32, &str) = (39, "CAP_BPF");
const ADMINISTRATOR: u32 = 21;

/// How soft interrupts are counted.
pub fn method() -> String {
    format!("elapsed time, by BPF programs at the tracepoints `{BEGIN}`, `{END}` and `{PACKET}`")
}

/// Counts, from its making on.
pub struct Soft {
    names: BTreeMap<u32, String>,
    sums: Sums,
    /// What the kernel calls, and where that keeps things.
    _programs: ([Attached; 3], Scratch),
}

impl Soft {
    /// Begin to count for these networks: name → numbers of network namespaces.
    ///
    /// An error says what this process or this kernel lacks.
    pub fn begin(networks: &BTreeMap<String, Vec<u32>>) -> io::Result<Self> {
        let lacking = lacking(&fs::read_to_string("/proc/self/status")?);
        if !lacking.is_empty() {
            let what = format!("the process lacks {}", lacking.join(" and "));
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
        }
        let types = Types::of_kernel()?;
        let way = Way {
            device: types.offset("sk_buff", &["dev"])?,
            network: types.offset("net_device", &["nd_net", "net"])?,
            number: types.offset("net", &["ns", "inum"])?,
        };
        let refused =
            |error: io::Error| io::Error::other(format!("the kernel takes no programs: {error}"));
        let scratch = Scratch::new(KEPT).map_err(refused)?;
        let sums = Sums::new(OWNERS).map_err(refused)?;
        sums.reserve(FURTHER).map_err(refused)?;
        let maps = Maps {
            kept: scratch.as_fd(),
            sums: sums.as_fd(),
        };
        let called = |code: &[u8], tracepoint| {
            let of = types.typedef(&format!("btf_trace_{tracepoint}"))?;
            attach(code, of).map_err(refused)
        };
        // Where the start of a soft interrupt is seen, its end is too.
        let programs = [
            called(&programs::end(maps), END)?,
            called(&programs::packet(maps, way), PACKET)?,
            called(&programs::begin(maps), BEGIN)?,
        ];
        let names = networks
            .iter()
            .flat_map(|(name, numbers)| numbers.iter().map(|number| (*number, name.clone())))
            .collect();
        Ok(Self {
            names,
            sums,
            _programs: (programs, scratch),
        })
    }

    /// What was charged so far.
    pub fn read(&self) -> io::Result<SoftInterrupts> {
        Ok(divided(&self.names, self.sums.read()?))
    }
}

/// Seconds by name, from nanoseconds by owner. What is of no name is elsewhere.
fn divided(names: &BTreeMap<u32, String>, sums: Vec<(u32, u64)>) -> SoftInterrupts {
    let networks = names.values().map(|name| (name.clone(), 0.0)).collect();
    let mut found = SoftInterrupts {
        networks,
        elsewhere: 0.0,
        no_packet: 0.0,
        other_kinds: 0.0,
    };
    for (owner, nanoseconds) in sums {
        let sum = match (owner, names.get(&owner)) {
            (NO_PACKET, _) => &mut found.no_packet,
            (OTHER_KINDS, _) => &mut found.other_kinds,
            (_, Some(name)) => found.networks.entry(name.clone()).or_default(),
            (_, None) => &mut found.elsewhere,
        };
        *sum += nanoseconds as f64 / 1e9;
    }
    found
}

/// Which capabilities a process needs to count, and does not have, from its `/proc/PID/status`.
fn lacking(status: &str) -> Vec<&'static str> {
    let effective = status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))
        .and_then(|set| u64::from_str_radix(set.trim(), 16).ok())
        .unwrap_or_default();
    let has = |number: u32| effective >> number & 1 == 1;
    [BPF, PERFMON]
        .into_iter()
        .filter(|(number, _)| !has(*number) && !has(ADMINISTRATOR))
        .map(|(_, name)| name)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_the_sum_of_its_networks_and_what_nobody_asked_for_is_elsewhere() {
        let names = BTreeMap::from([
            (11, "db-1".to_owned()),
            (12, "db-1".to_owned()),
            (13, "client-1".to_owned()),
        ]);
        let sums = vec![
            (11, 1_500_000_000),
            (12, 500_000_000),
            (99, 250_000_000),
            (FURTHER, 125_000_000),
            (NO_PACKET, 3_000_000_000),
            (OTHER_KINDS, 4_000_000_000),
        ];
        let found = divided(&names, sums);
        let expected = SoftInterrupts {
            networks: BTreeMap::from([("client-1".to_owned(), 0.0), ("db-1".to_owned(), 2.0)]),
            elsewhere: 0.375,
            no_packet: 3.0,
            other_kinds: 4.0,
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn what_a_process_lacks_is_named_and_an_administrator_lacks_nothing() {
        let status = |set: u64| format!("Name:\tx\nCapEff:\t{set:016x}\nCapBnd:\t0\n");
        assert_eq!(lacking(&status(0)), ["CAP_BPF", "CAP_PERFMON"]);
        assert_eq!(lacking(&status(1 << 38)), ["CAP_BPF"]);
        assert_eq!(lacking(&status(1 << 39)), ["CAP_PERFMON"]);
        assert!(lacking(&status(1 << 38 | 1 << 39)).is_empty());
        assert!(lacking(&status(1 << 21)).is_empty());
        assert_eq!(lacking("").len(), 2);
    }
}
