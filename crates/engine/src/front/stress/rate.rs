//! How many threads there are, and how fast they go: `-rate`.

use super::command::{Command, Until};
use super::words::{Group, wrong};

/// How fast a load goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Clients that each have one operation on the way.
    pub threads: u32,
    /// How many operations are meant to start in a second; None: each starts as soon as the one
    /// before is answered.
    pub per_second: Option<f64>,
}

/// Threads of `write` and `counter_write` if none are written down.
const THREADS: u32 = 200;

/// Why threads are not searched for, and what to type instead.
const SEARCH: &str = "cassandra-stress then takes more and more threads, each number of them a load \
     of its own; write `-rate threads=32`, once for each number";

/// Read `-rate`; the error is one sentence.
pub fn parse(
    mut group: Group,
    command: Command,
    until: Until,
    notes: &mut Vec<String>,
) -> Result<Rate, String> {
    let threads = group.value("threads=")?;
    let throttle = group.value("throttle=")?;
    let limit = group.value("limit=")?;
    let fixed = group.value("fixed=")?;
    for name in ["auto", "threads>=", "threads<="] {
        group.refuse(name, SEARCH)?;
    }
    group.done(notes)?;

    let throttle = match (throttle, limit) {
        (Some(_), Some(_)) => {
            return Err(
                "`-rate` has `throttle=` twice, once as `limit=`; write it once".to_owned(),
            );
        }
        (Some(text), None) => Some(("throttle=", text)),
        (None, Some(text)) => Some(("limit=", text)),
        (None, None) => None,
    };
    let writes = matches!(command, Command::Write | Command::CounterWrite);
    let counted = matches!(until, Until::Operations(_));
    let threads = match threads {
        Some(text) => count(&text)?,
        None if writes && counted && throttle.is_none() && fixed.is_none() => THREADS,
        None => return Err(format!("`-rate` has no `threads=`: {SEARCH}")),
    };
    let throttled = throttle.map_or(Ok(None), |(name, text)| per_second(name, &text))?;
    let fixed = fixed.map_or(Ok(None), |text| per_second("fixed=", &text))?;
    if throttled.is_some() && fixed.is_some() {
        return Err("`-rate` cannot have both `throttle=` and `fixed=`; write one".to_owned());
    }
    if throttled.is_some() {
        notes.push(
            "with `throttle=`, which older versions call `limit=`, cassandra-stress tells service \
             times alone; the schedule is that of `fixed=`, and response times are told too"
                .to_owned(),
        );
    }
    Ok(Rate {
        threads,
        per_second: throttled.or(fixed),
    })
}

fn count(text: &str) -> Result<u32, String> {
    let count = text.parse().ok().filter(|count: &u32| *count > 0);
    count.ok_or_else(|| wrong("-rate", "threads=", text, "`threads=32`"))
}

/// The rate that is kept, in operations per second: cassandra-stress starts an operation each so
/// many whole nanoseconds. None for `0/s`, which is no limit.
fn per_second(name: &str, text: &str) -> Result<Option<f64>, String> {
    const SECOND: u32 = 1_000_000_000;
    let rate: u32 = text
        .to_ascii_lowercase()
        .strip_suffix("/s")
        .and_then(|count| count.parse().ok())
        .filter(|rate: &u32| *rate <= SECOND)
        .ok_or_else(|| wrong("-rate", name, text, &format!("`{name}5000/s`")))?;
    let interval = SECOND.checked_div(rate);
    Ok(interval.map(|interval| f64::from(SECOND) / f64::from(interval)))
}
