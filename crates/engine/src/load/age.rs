//! How long this process has lived.

use std::io;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use nix::unistd::{SysconfVar, sysconf};

/// Seconds since the kernel started this process. The kernel tells its start to a hundredth, and
/// rounds it down.
pub fn age() -> io::Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let ticks = started(&stat).ok_or_else(|| io::Error::other("/proc/self/stat has no start"))?;
    let rate = sysconf(SysconfVar::CLK_TCK)?
        .filter(|rate| *rate > 0)
        .ok_or_else(|| io::Error::other("the kernel does not tell how long its ticks are"))?;
    let now = Duration::from(clock_gettime(ClockId::CLOCK_BOOTTIME)?);
    Ok(now.as_secs_f64() - ticks / rate as f64)
}

/// Ticks from the start of the machine to that of a process: field 22 of proc(5), counted from
/// behind the name, which may hold anything.
fn started(stat: &str) -> Option<f64> {
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_lived_since_its_start_and_grows_older() {
        let first = age().unwrap();
        assert!(first >= 0.0, "{first}");
        assert!(age().unwrap() >= first);
    }

    #[test]
    fn the_name_of_a_process_may_hold_anything() {
        let fields: Vec<String> = (3..=24).map(|field| field.to_string()).collect();
        let stat = format!("7 (a) b (c) ) {}", fields.join(" "));
        assert_eq!(started(&stat), Some(22.0));
        assert_eq!(started("7 (a) S 1"), None);
    }
}
