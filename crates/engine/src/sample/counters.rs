//! What the files of a control group say, in version 1 and 2.

use std::collections::BTreeMap;

/// Counter → value.
pub type Counters = BTreeMap<String, f64>;

/// One file of a control group.
pub struct Source {
    /// Hierarchy in version 1.
    pub controller: &'static str,
    /// Name of the file.
    pub file: &'static str,
    /// The counters that it tells.
    pub counters: &'static [&'static str],
    /// Puts what the file says into the counters.
    pub parse: fn(&str, &mut Counters),
}

/// Version 1. The sums of memory hold all groups below; disks are told by [`super::disks`].
pub const VERSION_1: &[Source] = &[
    Source {
        controller: "cpuacct",
        file: "cpuacct.usage",
        counters: &["cpu"],
        parse: |text, counters| insert(counters, "cpu", text.trim().parse::<f64>().ok(), 1e-9),
    },
    Source {
        controller: "cpuacct",
        file: "cpuacct.stat",
        counters: &["cpu_user", "cpu_system"],
        parse: |text, counters| {
            insert(counters, "cpu_user", value(text, "user"), tick());
            insert(counters, "cpu_system", value(text, "system"), tick());
        },
    },
    Source {
        controller: "cpu",
        file: "cpu.stat",
        counters: &["throttled"],
        parse: |text, counters| insert(counters, "throttled", value(text, "throttled_time"), 1e-9),
    },
    Source {
        controller: "memory",
        file: "memory.stat",
        counters: &["memory_resident", "memory_cache", "swap"],
        parse: |text, counters| {
            insert(counters, "memory_resident", value(text, "total_rss"), 1.0);
            insert(counters, "memory_cache", value(text, "total_cache"), 1.0);
            insert(counters, "swap", value(text, "total_swap"), 1.0);
        },
    },
];

/// Version 2, where every file counts all groups below.
pub const VERSION_2: &[Source] = &[
    Source {
        controller: "cpu",
        file: "cpu.stat",
        counters: &["cpu", "cpu_user", "cpu_system", "throttled"],
        parse: |text, counters| {
            insert(counters, "cpu", value(text, "usage_usec"), 1e-6);
            insert(counters, "cpu_user", value(text, "user_usec"), 1e-6);
            insert(counters, "cpu_system", value(text, "system_usec"), 1e-6);
            insert(counters, "throttled", value(text, "throttled_usec"), 1e-6);
        },
    },
    Source {
        controller: "memory",
        file: "memory.stat",
        counters: &["memory_resident", "memory_cache"],
        parse: |text, counters| {
            insert(counters, "memory_resident", value(text, "anon"), 1.0);
            insert(counters, "memory_cache", value(text, "file"), 1.0);
        },
    },
    Source {
        controller: "memory",
        file: "memory.swap.current",
        counters: &["swap"],
        parse: |text, counters| insert(counters, "swap", text.trim().parse::<f64>().ok(), 1.0),
    },
    Source {
        controller: "io",
        file: "io.stat",
        counters: &["disk_read", "disk_written"],
        parse: |text, counters| {
            insert(counters, "disk_read", sum_of_keys(text, "rbytes="), 1.0);
            insert(counters, "disk_written", sum_of_keys(text, "wbytes="), 1.0);
        },
    },
];

/// Seconds in one of the ticks in which the kernel tells user and system time to programs.
pub fn tick() -> f64 {
    match nix::unistd::sysconf(nix::unistd::SysconfVar::CLK_TCK) {
        Ok(Some(per_second)) => 1.0 / per_second as f64,
        _ => 0.01,
    }
}

fn insert(counters: &mut Counters, name: &str, value: impl Into<Option<f64>>, unit: f64) {
    if let Some(value) = value.into() {
        counters.insert(name.to_owned(), value * unit);
    }
}

/// The number after `name` on its line.
pub fn value(text: &str, name: &str) -> Option<f64> {
    text.lines().find_map(|line| {
        line.strip_prefix(name)?
            .strip_prefix(' ')?
            .trim()
            .parse()
            .ok()
    })
}

/// `8:0 rbytes=4096 wbytes=0 …` of every device. Adding zero makes the empty sum, -0, a plain one.
fn sum_of_keys(text: &str, key: &str) -> f64 {
    text.split_whitespace()
        .filter_map(|word| word.strip_prefix(key)?.parse::<f64>().ok())
        .sum::<f64>()
        + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(sources: &[Source], file: &str, text: &str) -> Counters {
        let mut counters = Counters::new();
        for source in sources.iter().filter(|source| source.file == file) {
            (source.parse)(text, &mut counters);
            let known = |name: &String| source.counters.contains(&name.as_str());
            assert!(counters.keys().all(known), "{counters:?}");
        }
        counters
    }

    fn counters(pairs: &[(&str, f64)]) -> Counters {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), *value))
            .collect()
    }

    #[test]
    fn version_1_tells_cpu_time_in_nanoseconds_and_ticks() {
        let found = read(VERSION_1, "cpuacct.usage", "2500000000\n");
        assert_eq!(found, counters(&[("cpu", 2.5)]));
        let found = read(VERSION_1, "cpuacct.stat", "user 150\nsystem 25\n");
        assert_eq!(found, counters(&[("cpu_user", 1.5), ("cpu_system", 0.25)]));
        let text = "nr_periods 9\nnr_throttled 4\nthrottled_time 1500000000\n";
        assert_eq!(
            read(VERSION_1, "cpu.stat", text),
            counters(&[("throttled", 1.5)])
        );
    }

    #[test]
    fn version_1_tells_memory_with_all_groups_below() {
        let text = "cache 1\nrss 2\nswap 3\ntotal_cache 10\ntotal_rss 20\ntotal_rss_huge 99\n\
                    total_swap 30\n";
        assert_eq!(
            read(VERSION_1, "memory.stat", text),
            counters(&[
                ("memory_resident", 20.0),
                ("memory_cache", 10.0),
                ("swap", 30.0)
            ])
        );
    }

    #[test]
    fn a_kernel_that_does_not_account_swap_gives_no_counter() {
        let found = read(VERSION_1, "memory.stat", "total_cache 10\ntotal_rss 20\n");
        assert!(!found.contains_key("swap"));
    }

    #[test]
    fn version_2_tells_cpu_time_in_microseconds() {
        let text = "usage_usec 3000000\nuser_usec 2000000\nsystem_usec 1000000\nnr_periods 0\n\
                    throttled_usec 500000\n";
        assert_eq!(
            read(VERSION_2, "cpu.stat", text),
            counters(&[
                ("cpu", 3.0),
                ("cpu_user", 2.0),
                ("cpu_system", 1.0),
                ("throttled", 0.5)
            ])
        );
    }

    #[test]
    fn version_2_tells_memory_swap_and_disks() {
        let text = "anon 4096\nfile 8192\nfile_mapped 1\nanon_thp 0\n";
        assert_eq!(
            read(VERSION_2, "memory.stat", text),
            counters(&[("memory_resident", 4096.0), ("memory_cache", 8192.0)])
        );
        assert_eq!(
            read(VERSION_2, "memory.swap.current", "12\n"),
            counters(&[("swap", 12.0)])
        );
        let text = "8:0 rbytes=10 wbytes=20 rios=1 wios=2\n259:0 rbytes=5 wbytes=0 rios=1\n";
        assert_eq!(
            read(VERSION_2, "io.stat", text),
            counters(&[("disk_read", 15.0), ("disk_written", 20.0)])
        );
    }
}
