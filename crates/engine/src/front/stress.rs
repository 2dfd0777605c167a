//! The words of cassandra-stress 3.11.2, as far as they say what load to make.
//!
//! What is not taken is refused with what to type instead; what has no effect here is told in
//! `Request::notes`. `limit=`, which older versions say for `throttle=`, is taken too.

use wire::load::Stress;

use crate::load::stress::Workload;

use self::command::{Asked, Command, Until};
use self::rate::Rate;
use self::tables::Tables;
use self::words::{Group, Groups};

mod columns;
mod command;
mod load;
mod log;
mod mode;
mod others;
mod population;
mod rate;
mod tables;
mod words;

pub use self::load::load;

/// What a command line asks for.
#[derive(Debug, PartialEq)]
struct Request {
    /// The operations and the rows.
    workload: Stress,
    /// When it is over.
    until: Until,
    /// How many threads there are, and how fast they go.
    rate: Rate,
    /// The consistency level by its name in CQL.
    consistency: Option<&'static str>,
    /// The time of all that is written, in microseconds since 1970; None for that of this host.
    timestamp: Option<i64>,
    /// The tables with the rows.
    tables: Tables,
    /// Connections to each node.
    connections: Option<u32>,
    /// Seconds between two reports.
    interval: Option<f64>,
    /// What was written without an effect, and what is done otherwise; each is one sentence.
    notes: Vec<String>,
}

/// Read the words after `--stress`; the error is one sentence.
fn parse(words: &[String]) -> Result<Request, String> {
    let mut groups = Groups::of(words)?;
    let mut notes = Vec::new();
    let asked = command::parse(groups.command(), &mut notes)?;
    let Asked { command, until, .. } = asked;

    let rate = rate::parse(groups.take("-rate"), command, until, &mut notes)?;
    let population = population::parse(groups.take("-pop"), command, until, &mut notes)?;
    let columns = columns::parse(groups.take("-col"), &mut notes)?;
    let validate = errors(groups.take("-errors"), &mut notes)?;
    let tables = tables::parse(groups.take("-schema"), &mut notes)?;
    let members = groups.take("-node");
    let port = groups.take("-port");
    let connections = mode::parse(&members, port, groups.take("-mode"), &mut notes)?;
    let interval = log::parse(groups.take("-log"), &mut notes)?;
    groups.done()?;

    let workload = Stress {
        mix: asked.mix,
        clustering: asked.clustering.to_string(),
        population,
        columns: columns.names,
        size: columns.size.to_string(),
        key_size: asked.key_size,
        add: asked.add.to_string(),
        slice: columns.slice,
        validate,
    };
    Workload::of(&workload, 1)?;
    Ok(Request {
        workload,
        until,
        rate,
        consistency: asked.consistency,
        timestamp: columns.timestamp,
        tables: Tables {
            made: matches!(command, Command::Write | Command::CounterWrite),
            truncated: asked.truncated,
            ..tables
        },
        connections,
        interval,
        notes,
    })
}

/// Whether reads are compared with what was written.
fn errors(mut group: Group, notes: &mut Vec<String>) -> Result<bool, String> {
    let skip = group.switch("skip-read-validation")?;
    let ignore = group.switch("ignore")?;
    let retries = group.value("retries=")?;
    let given = group.given();
    group.done(notes)?;
    if let Some(count) = retries.as_ref()
        && count.parse::<u32>().is_err()
    {
        return Err(words::wrong("-errors", "retries=", count, "`retries=0`"));
    }
    if given && (!ignore || retries.as_deref() != Some("0")) {
        notes.push(
            "no operation is repeated, and one that fails does not end the load; cassandra-stress \
             calls this `-errors retries=0 ignore`"
                .to_owned(),
        );
    }
    Ok(!skip)
}

#[cfg(test)]
mod tests;
