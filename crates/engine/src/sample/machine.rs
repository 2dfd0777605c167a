//! What belongs to the whole machine, and the network of this process's namespace.

use std::collections::BTreeMap;
use std::path::Path;

use super::counters::{Counters, tick};
use super::kept::Kept;

const PRESSURES: [&str; 3] = ["cpu", "memory", "io"];

/// Files below `/proc`.
pub struct Machine {
    stat: Kept,
    memory: Kept,
    network: Kept,
    pressures: [Kept; 3],
    text: String,
}

impl Machine {
    /// Nothing is opened before it is read.
    pub fn new() -> Self {
        let proc = Path::new("/proc");
        Self {
            stat: Kept::new(&proc.join("stat")),
            memory: Kept::new(&proc.join("meminfo")),
            network: Kept::new(&proc.join("self/net/dev")),
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

    /// Network counters over all interfaces but loopback.
    pub fn read_network(&mut self) -> Counters {
        match self.network.read(&mut self.text) {
            Ok(()) => interfaces(&self.text),
            Err(_) => Counters::new(),
        }
    }
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

/// `/proc/net/dev`: eight columns received, then eight sent.
fn interfaces(text: &str) -> Counters {
    let mut sums = [0.0; 4];
    for (name, columns) in text.lines().filter_map(|line| line.split_once(':')) {
        if name.trim() == "lo" {
            continue;
        }
        let values: Vec<f64> = columns
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
        for (sum, column) in sums.iter_mut().zip([0, 1, 8, 9]) {
            *sum += values.get(column).copied().unwrap_or(0.0);
        }
    }
    ["received", "packets_received", "sent", "packets_sent"]
        .into_iter()
        .map(str::to_owned)
        .zip(sums)
        .collect()
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
    fn loopback_does_not_count_as_network() {
        let text = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop
    lo:    9999    99    0    0    0     0          0         0     9999    99    0    0
  eth0:    1000    10    0    0    0     0          0         0      400     4    0    0
  eth1:      50     1    0    0    0     0          0         0        6     2    0    0
";
        let found = interfaces(text);
        assert!((found["received"] - 1050.0).abs() < 1e-9);
        assert!((found["packets_received"] - 11.0).abs() < 1e-9);
        assert!((found["sent"] - 406.0).abs() < 1e-9);
        assert!((found["packets_sent"] - 6.0).abs() < 1e-9);
    }
}
