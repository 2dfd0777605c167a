//! From the words of cassandra-stress to a load for the engine.

use wire::load::{Arrivals, Level, Stress};

use super::command::Until;
use super::{Request, parse};
use crate::front::address::Address;
use crate::front::ends::Ends;

/// The consistency level if nothing else is said.
const CONSISTENCY: &str = "LOCAL_ONE";
/// The one that only writes can have.
const ANY: &str = "ANY";
/// Connections to each member likewise.
const CONNECTIONS: u32 = 8;
/// The keyspace likewise.
const KEYSPACE: &str = "keyspace1";

/// A load, as the engine makes it.
#[derive(Debug)]
pub struct Load {
    /// The operations and the rows.
    pub workload: Stress,
    /// When it is over.
    pub ends: Ends,
    /// How hard it is.
    pub level: Level,
    /// Seconds of an interval of the time line, if they are said.
    pub interval: Option<f64>,
    /// Whether the tables are emptied before.
    pub truncates: bool,
}

/// The load of the words after `--stress`; the error is one sentence. What they say of the database
/// is added to the options of its address, and what is done otherwise to `notes`.
pub fn load(
    words: &[String],
    address: &mut Address,
    notes: &mut Vec<String>,
) -> Result<Load, String> {
    let request = parse(words)?;
    match address.driver {
        "cassandra" => options(&request, address)?,
        // The server inside the engine has no tables.
        "fake" => {}
        _ => {
            return Err(
                "cassandra-stress drives Cassandra; write `cassandra://` in front of the host"
                    .to_owned(),
            );
        }
    }
    let ends = match request.until {
        Until::Operations(count) => Ends {
            operations: Some(count),
            seconds: None,
        },
        Until::Seconds(seconds) => Ends {
            operations: None,
            seconds: Some(seconds as f64),
        },
    };
    let threads = request.rate.threads;
    let level = match request.rate.per_second {
        None => Level::Threads { threads },
        Some(rate) => Level::Rate {
            rate,
            connections: threads,
            arrivals: Arrivals::Constant,
        },
    };
    notes.extend(request.notes);
    Ok(Load {
        workload: request.workload,
        ends,
        level,
        interval: request.interval,
        truncates: request.tables.truncated,
    })
}

/// Add what is said of the database to the options of its address.
fn options(request: &Request, address: &mut Address) -> Result<(), String> {
    let tables = &request.tables;
    if address.options.contains_key("table") {
        return Err(
            "the tables of cassandra-stress are `standard1` and `counter1`; leave `table` out of \
             the address"
                .to_owned(),
        );
    }
    let typed = tables.keyspace.clone();
    let keyspace = said(address, "keyspace", typed, KEYSPACE.to_owned())?;
    said(address, "connections", request.connections, CONNECTIONS)?;
    let level = request.consistency.map(str::to_owned);
    let mix = &request.workload.mix;
    let reads = mix.read + mix.counter_read > 0.0;
    said(
        address,
        "write_consistency",
        level.clone(),
        CONSISTENCY.to_owned(),
    )?;
    let of_reads = level.filter(|level| level != ANY || reads);
    said(
        address,
        "read_consistency",
        of_reads,
        CONSISTENCY.to_owned(),
    )?;
    if let Some(time) = request.timestamp {
        address.options.insert("timestamp".to_owned(), time.into());
    }
    let statements = match keyspace.as_str() {
        Some(keyspace) => tables.statements(keyspace, &request.workload.columns),
        None => Vec::new(),
    };
    if !statements.is_empty() {
        address
            .options
            .insert("before".to_owned(), statements.into());
    }
    Ok(())
}

/// The option `name`: what the words say, or else the address, or else what is usual.
fn said<T: Into<serde_json::Value>>(
    address: &mut Address,
    name: &str,
    typed: Option<T>,
    usual: T,
) -> Result<serde_json::Value, String> {
    let known = address.options.get(name).cloned();
    let value = match (typed, known) {
        (Some(_), Some(_)) => {
            return Err(format!(
                "the address has `{name}`, and so have the words after `--stress`; leave it out of \
                 the address"
            ));
        }
        (Some(typed), None) => typed.into(),
        (None, Some(known)) => known,
        (None, None) => usual.into(),
    };
    address.options.insert(name.to_owned(), value.clone());
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn made(url: &str, line: &str) -> Result<(Load, serde_json::Value), String> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let mut address = Address::parse(url)?;
        let load = load(&words, &mut address, &mut Vec::new())?;
        Ok((load, json!(address.options)))
    }

    fn options(url: &str, line: &str) -> serde_json::Value {
        made(url, line)
            .unwrap_or_else(|what| panic!("{line}: {what}"))
            .1
    }

    #[test]
    fn a_write_makes_the_tables_of_cassandra_stress_before() {
        let found = options("cassandra://h", "write n=9 -col n=fixed(2) timestamp=5");
        let keyspace = "CREATE KEYSPACE IF NOT EXISTS \"keyspace1\" WITH replication = {'class': \
             'org.apache.cassandra.locator.SimpleStrategy', 'replication_factor': '1'} AND \
             durable_writes = true";
        let standard = "CREATE TABLE IF NOT EXISTS \"keyspace1\".standard1 (key blob PRIMARY KEY, \
             \"C0\" blob, \"C1\" blob) WITH COMPACT STORAGE AND compression = {}";
        let counter = "CREATE TABLE IF NOT EXISTS \"keyspace1\".counter1 (key blob PRIMARY KEY, \
             \"C0\" counter, \"C1\" counter) WITH COMPACT STORAGE AND compression = {}";
        let expected = json!({
            "before": [keyspace, standard, counter], "connections": 8, "keyspace": "keyspace1",
            "read_consistency": "LOCAL_ONE", "write_consistency": "LOCAL_ONE", "timestamp": 5,
        });
        assert_eq!(found, expected);
    }

    #[test]
    fn the_schema_is_in_the_statements() {
        let line = "counter_write n=9 truncate=once -col n=fixed(1) -schema keyspace=k \
             replication(strategy=NetworkTopologyStrategy,dc1=3) compression=LZ4Compressor \
             compaction(strategy=LeveledCompactionStrategy,sstable_size_in_mb=10)";
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        let found = options("cassandra://h", &line);
        let stored = "WITH COMPACT STORAGE AND compression = {'class': 'LZ4Compressor'} AND \
             compaction = {'class': 'LeveledCompactionStrategy', 'sstable_size_in_mb': '10'}";
        let expected = json!([
            "CREATE KEYSPACE IF NOT EXISTS \"k\" WITH replication = {'class': \
             'org.apache.cassandra.locator.NetworkTopologyStrategy', 'dc1': '3'} AND \
             durable_writes = true",
            format!(
                "CREATE TABLE IF NOT EXISTS \"k\".standard1 (key blob PRIMARY KEY, \"C0\" blob) \
                 {stored}"
            ),
            format!(
                "CREATE TABLE IF NOT EXISTS \"k\".counter1 (key blob PRIMARY KEY, \"C0\" \
                 counter) {stored}"
            ),
            "TRUNCATE \"k\".standard1",
            "TRUNCATE \"k\".counter1",
        ]);
        assert_eq!(found["before"], expected);
        let read = options("cassandra://h", "read n=9 -rate threads=1");
        assert_eq!(read.get("before"), None);
    }

    #[test]
    fn the_address_and_the_words_say_nothing_twice() {
        let url = "cassandra://h/k?connections=3&read_consistency=ONE";
        let found = options(url, "read n=9 -rate threads=1");
        assert_eq!(
            (&found["keyspace"], &found["connections"]),
            (&json!("k"), &json!(3))
        );
        assert_eq!(found["read_consistency"], "ONE");
        assert_eq!(found["write_consistency"], "LOCAL_ONE");
        for (url, words) in [
            ("cassandra://h/k", "write n=9 -schema keyspace=k"),
            (
                "cassandra://h?connections=3",
                "write n=9 -mode connectionsPerHost=3",
            ),
            ("cassandra://h?write_consistency=ONE", "write n=9 cl=ONE"),
            ("cassandra://h?table=t", "write n=9"),
        ] {
            let said = made(url, words).unwrap_err();
            assert!(said.contains("the address"), "{said}");
        }
    }

    #[test]
    fn the_level_any_is_for_writes_alone() {
        let found = options("cassandra://h", "write n=9 cl=any");
        assert_eq!(found["write_consistency"], "ANY");
        assert_eq!(found["read_consistency"], "LOCAL_ONE");
        let found = options("cassandra://h", "mixed n=9 cl=any -rate threads=1");
        // The driver refuses it.
        assert_eq!(found["read_consistency"], "ANY");
    }

    #[test]
    fn threads_are_a_closed_loop_and_either_rate_has_intended_times() {
        let level = |words: &str| made("fake://", words).unwrap().0;
        let found = level("write n=9 -rate threads=3");
        assert_eq!(found.level, Level::Threads { threads: 3 });
        assert_eq!((found.ends.operations, found.ends.seconds), (Some(9), None));
        for rate in ["fixed=8/s", "throttle=8/s", "limit=8/s"] {
            let found = level(&format!("read duration=2m -rate threads=3 {rate}"));
            let expected = Level::Rate {
                rate: 8.0,
                connections: 3,
                arrivals: Arrivals::Constant,
            };
            assert_eq!(found.level, expected, "{rate}");
            assert_eq!(
                (found.ends.operations, found.ends.seconds),
                (None, Some(120.0))
            );
        }
    }

    #[test]
    fn other_databases_are_refused() {
        let said = made("redis://h", "write n=9").unwrap_err();
        assert!(said.contains("write `cassandra://`"), "{said}");
    }
}
