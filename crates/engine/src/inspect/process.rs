//! What `/proc/PID/status` and `/proc/PID/stat` say.

use std::collections::BTreeMap;

/// The rows of `/proc/PID/status`.
pub struct Status(BTreeMap<String, String>);

impl Status {
    /// Read `Name:\tvalue` lines.
    pub fn parse(text: &str) -> Self {
        let rows = text.lines().filter_map(|line| line.split_once(':'));
        Self(
            rows.map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
                .collect(),
        )
    }

    /// A row's value, or nothing.
    pub fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// Effective user and group.
    pub fn user(&self) -> String {
        let effective = |name| self.get(name).split_whitespace().nth(1).unwrap_or("");
        format!("{}:{}", effective("Uid"), effective("Gid"))
    }
}

/// Where it may run, how it is scheduled and what it may do.
pub fn limits(status: &Status, stat: &str) -> BTreeMap<String, String> {
    let (nice, scheduler) = scheduling(stat).unwrap_or_default();
    // How much is another in every process; that anything is locked is not.
    let locked = match status.get("VmLck") {
        "" | "0 kB" => "none",
        _ => "some",
    };
    [
        ("cpus_allowed", status.get("Cpus_allowed_list")),
        ("capabilities", status.get("CapEff")),
        ("no_new_privileges", status.get("NoNewPrivs")),
        ("locked_memory", locked),
        ("nice", nice),
        ("scheduler", scheduler),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .collect()
}

/// Niceness and policy: fields 19 and 41, counted from behind the name, which may hold anything.
fn scheduling(stat: &str) -> Option<(&str, &str)> {
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split_whitespace().collect();
    let policy = match *fields.get(38)? {
        "0" => "other",
        "1" => "fifo",
        "2" => "round-robin",
        "3" => "batch",
        "5" => "idle",
        "6" => "deadline",
        unknown => unknown,
    };
    Some((fields.get(16)?, policy))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUS: &str = "Name:\tredis\nUid:\t0\t999\t0\t0\nGid:\t0\t998\t0\t0\nSeccomp:\t2\n\
                          CapEff:\t00000000a80425fb\nNoNewPrivs:\t0\nCpus_allowed_list:\t0-1\n";
    const STAT: &str = "12 (a (b) c) S 1 12 12 0 -1 4194560 1 0 0 0 0 0 0 0 20 -5 1 0 100 1 1 1 1 \
                        1 1 1 1 0 0 0 0 0 0 0 17 1 0 3 0 0 0";

    #[test]
    fn a_process_runs_as_its_effective_user() {
        assert_eq!(Status::parse(STATUS).user(), "999:998");
    }

    #[test]
    fn memory_is_locked_when_any_of_it_is() {
        for (row, told) in [
            ("", "none"),
            ("VmLck:\t       0 kB\n", "none"),
            ("VmLck:\t 1050492 kB\n", "some"),
        ] {
            let status = Status::parse(&format!("{STATUS}{row}"));
            assert_eq!(limits(&status, STAT)["locked_memory"], told);
        }
    }

    #[test]
    fn scheduling_is_read_behind_a_name_with_brackets() {
        let found = limits(&Status::parse(STATUS), STAT);
        assert_eq!(found["nice"], "-5");
        assert_eq!(found["scheduler"], "batch");
        assert_eq!(found["cpus_allowed"], "0-1");
    }
}
