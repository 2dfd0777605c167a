//! What a plan asks of this driver.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::Duration;

use scylla::statement::Consistency;
use serde_json::Value;
use wire::load::LoadPlan;

use crate::drive::no_option;
use crate::load::share;

/// Consistency levels by their names in CQL.
const LEVELS: [(&str, Consistency); 9] = [
    ("ANY", Consistency::Any),
    ("ONE", Consistency::One),
    ("TWO", Consistency::Two),
    ("THREE", Consistency::Three),
    ("QUORUM", Consistency::Quorum),
    ("ALL", Consistency::All),
    ("LOCAL_ONE", Consistency::LocalOne),
    ("LOCAL_QUORUM", Consistency::LocalQuorum),
    ("EACH_QUORUM", Consistency::EachQuorum),
];

/// All options.
const OPTIONS: [&str; 9] = [
    "keyspace",
    "table",
    "read_consistency",
    "write_consistency",
    "connections",
    "coordinator",
    "datacenter",
    "before",
    "timestamp",
];

/// Requests that can be under way on one connection: streams of the native protocol.
const MOST: u64 = 32_768;

/// What a plan asks of this driver, checked.
#[derive(Debug)]
pub struct Settings {
    /// `host:port` of members, the first being the one to begin with.
    pub addresses: Vec<String>,
    /// The keyspace with the table.
    pub keyspace: String,
    /// The table with the records.
    pub table: String,
    /// Of reads and scans.
    pub read: Consistency,
    /// Of updates and inserts.
    pub write: Consistency,
    /// Connections to each member.
    pub connections: NonZeroUsize,
    /// Statements in CQL, which are executed before any other: by the first part of a load alone.
    pub before: Vec<String>,
    /// The time of all rows of cassandra-stress that are written, in microseconds since 1970; None
    /// for that at which each is sent.
    pub timestamp: Option<i64>,
    /// Whether a member that has the record is asked for it; else any.
    pub by_replica: bool,
    /// Whose members are asked; None for that of the first address.
    pub datacenter: Option<String>,
    /// For making a connection.
    pub timeout: Duration,
}

impl Settings {
    /// Those of a plan; the error is one sentence.
    pub fn of(asked: &LoadPlan) -> Result<Self, String> {
        let target = &asked.target;
        if target.topology != "ring" {
            return Err(format!(
                "the driver `cassandra` has no topology `{}`; there is `ring`",
                target.topology
            ));
        }
        let mut settings = Self {
            addresses: target.addresses.clone(),
            keyspace: "ycsb".to_owned(),
            table: "usertable".to_owned(),
            read: Consistency::One,
            write: Consistency::One,
            connections: NonZeroUsize::MIN,
            before: Vec::new(),
            timestamp: None,
            by_replica: true,
            datacenter: None,
            timeout: Duration::from_secs_f64(asked.timeout),
        };
        for (key, value) in &target.options {
            match key.as_str() {
                "keyspace" => settings.keyspace = name(key, value)?,
                "table" => settings.table = name(key, value)?,
                "read_consistency" => settings.read = consistency(key, value)?,
                "write_consistency" => settings.write = consistency(key, value)?,
                "connections" => settings.connections = count(key, value)?,
                "before" => {
                    let all = statements(key, value)?;
                    settings.before = if asked.part.index == 0 {
                        all
                    } else {
                        Vec::new()
                    };
                }
                "timestamp" => settings.timestamp = Some(time(key, value)?),
                "datacenter" => settings.datacenter = Some(datacenter(key, value)?),
                "coordinator" => settings.by_replica = by_replica(key, value)?,
                unknown => return Err(no_option("cassandra", unknown, &OPTIONS)),
            }
        }
        if settings.read == Consistency::Any {
            return Err("the option `read_consistency` cannot be `ANY`".to_owned());
        }
        let clients = share::in_flight(asked.level, asked.part);
        match too_many(clients, settings.connections) {
            Some(refusal) => Err(refusal),
            None => Ok(settings),
        }
    }

    /// The consistency levels of `read` and `write`, by their names in CQL.
    pub fn consistency(&self) -> BTreeMap<String, String> {
        let name = |asked: Consistency| {
            let known = LEVELS.iter().find(|(_, level)| *level == asked);
            known.map(|(name, _)| (*name).to_owned())
        };
        [("read", name(self.read)), ("write", name(self.write))]
            .into_iter()
            .filter_map(|(what, level)| Some((what.to_owned(), level?)))
            .collect()
    }
}

/// Why so many clients cannot share so many connections to a member, if they cannot: all of them
/// may want the same member.
fn too_many(clients: u64, connections: NonZeroUsize) -> Option<String> {
    let needed = clients.div_ceil(MOST);
    (needed > connections.get() as u64).then(|| {
        format!(
            "{clients} clients need {needed} connections to each member, on each of which {MOST} \
             requests can be under way; add `?connections={needed}` to the address"
        )
    })
}

fn datacenter(key: &str, value: &Value) -> Result<String, String> {
    value
        .as_str()
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .ok_or_else(|| format!("the option `{key}` must be the name of a datacentre"))
}

fn by_replica(key: &str, value: &Value) -> Result<bool, String> {
    match value.as_str() {
        Some("replica") => Ok(true),
        Some("any") => Ok(false),
        _ => Err(format!("the option `{key}` must be `replica` or `any`")),
    }
}

/// A name that is safe between quotation marks in a statement.
fn name(key: &str, value: &Value) -> Result<String, String> {
    value
        .as_str()
        .filter(|name| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        })
        .map(str::to_owned)
        .ok_or_else(|| format!("the option `{key}` must be a name of letters, digits and `_`"))
}

fn consistency(key: &str, value: &Value) -> Result<Consistency, String> {
    LEVELS
        .iter()
        .find(|(name, _)| value.as_str() == Some(name))
        .map(|(_, level)| *level)
        .ok_or_else(|| {
            let names = LEVELS.map(|(name, _)| format!("`{name}`")).join(", ");
            format!("the option `{key}` must be one of {names}")
        })
}

fn count(key: &str, value: &Value) -> Result<NonZeroUsize, String> {
    value
        .as_u64()
        .and_then(|number| usize::try_from(number).ok())
        .and_then(NonZeroUsize::new)
        .ok_or_else(|| format!("the option `{key}` must be a number of at least 1"))
}

fn statements(key: &str, value: &Value) -> Result<Vec<String>, String> {
    let texts = value.as_array().map(|all| all.iter().map(Value::as_str));
    texts
        .and_then(|texts| texts.map(|text| text.map(str::to_owned)).collect())
        .ok_or_else(|| format!("the option `{key}` must be a list of statements"))
}

fn time(key: &str, value: &Value) -> Result<i64, String> {
    value
        .as_i64()
        .filter(|time| *time >= 0)
        .ok_or_else(|| format!("the option `{key}` must be in microseconds since 1970"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::plan::tests::plan;
    use wire::load::{Level, Part};

    fn settings(options: &serde_json::Value) -> Result<Settings, String> {
        let mut plan = plan();
        plan.target.driver = "cassandra".to_owned();
        plan.target.topology = "ring".to_owned();
        plan.target.options = serde_json::from_value(options.clone()).unwrap();
        Settings::of(&plan)
    }

    #[test]
    fn a_datacentre_has_a_name() {
        let found = settings(&serde_json::json!({"datacenter": "west"})).unwrap();
        assert_eq!(found.datacenter.as_deref(), Some("west"));
        let said = settings(&serde_json::json!({"datacenter": ""})).unwrap_err();
        assert!(said.contains("the name of a datacentre"), "{said}");
    }

    #[test]
    fn all_options_are_known() {
        for option in OPTIONS {
            let found = settings(&serde_json::json!({option: {}}));
            assert!(!found.unwrap_err().contains("no option"), "{option}");
        }
    }

    #[test]
    fn without_options_they_are_those_of_ycsb_0_17() {
        let found = settings(&serde_json::json!({})).unwrap();
        assert_eq!(
            (found.keyspace.as_str(), found.table.as_str()),
            ("ycsb", "usertable")
        );
        assert_eq!(
            (found.read, found.write),
            (Consistency::One, Consistency::One)
        );
        assert_eq!(found.connections.get(), 1);
        assert!(found.by_replica);
    }

    #[test]
    fn options_are_taken_by_name() {
        let found = settings(&serde_json::json!({
            "keyspace": "k", "table": "t", "connections": 2, "coordinator": "any",
            "read_consistency": "LOCAL_ONE", "write_consistency": "ALL",
        }))
        .unwrap();
        assert_eq!((found.keyspace.as_str(), found.table.as_str()), ("k", "t"));
        assert_eq!(
            (found.read, found.write),
            (Consistency::LocalOne, Consistency::All)
        );
        let told = found.consistency();
        assert_eq!((&*told["read"], &*told["write"]), ("LOCAL_ONE", "ALL"));
        assert_eq!(found.connections.get(), 2);
        assert!(!found.by_replica);
    }

    #[test]
    fn more_clients_than_connections_can_carry_are_refused_with_what_to_type() {
        let connections = |number| NonZeroUsize::new(number).unwrap();
        assert_eq!(too_many(32_768, connections(1)), None);
        let said = too_many(32_769, connections(1)).unwrap();
        assert!(said.contains("32769 clients need 2 connections"), "{said}");
        assert!(said.contains("`?connections=2`"), "{said}");
        assert_eq!(too_many(32_769, connections(2)), None);
        let mut plan = plan();
        plan.target.topology = "ring".to_owned();
        plan.level = Level::Threads { threads: 32_769 };
        assert!(Settings::of(&plan).is_err());
        // The clients of all parts together.
        plan.part = Part { index: 0, of: 2 };
        assert!(Settings::of(&plan).is_ok());
    }

    #[test]
    fn statements_before_a_load_are_for_its_first_part_alone() {
        let mut plan = plan();
        plan.target.topology = "ring".to_owned();
        let options = serde_json::json!({"before": ["TRUNCATE a", "TRUNCATE b"], "timestamp": 7});
        plan.target.options = serde_json::from_value(options).unwrap();
        let first = Settings::of(&plan).unwrap();
        assert_eq!((first.before.len(), first.timestamp), (2, Some(7)));
        plan.part = wire::load::Part { index: 1, of: 2 };
        assert_eq!(Settings::of(&plan).unwrap().before, [""; 0]);
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_a_sentence() {
        let refused = |options| settings(&options).unwrap_err();
        let said = refused(serde_json::json!({"consistency": "ONE"}));
        let expected = "the driver `cassandra` has no option `consistency`; there are `keyspace`";
        assert!(said.starts_with(expected), "{said}");
        assert!(refused(serde_json::json!({"read_consistency": "quorum"})).contains("`QUORUM`"));
        assert!(
            refused(serde_json::json!({"read_consistency": "ANY"})).contains("cannot be `ANY`")
        );
        assert!(refused(serde_json::json!({"table": "t; DROP"})).contains("letters, digits"));
        assert!(refused(serde_json::json!({"before": "DROP"})).contains("a list of statements"));
        assert!(refused(serde_json::json!({"timestamp": -1})).contains("microseconds"));
        assert!(refused(serde_json::json!({"connections": 0})).contains("at least 1"));
        let said = refused(serde_json::json!({"coordinator": "all"}));
        assert!(said.contains("`replica` or `any`"), "{said}");
        let mut plan = plan();
        plan.target.topology = "star".to_owned();
        assert!(Settings::of(&plan).unwrap_err().contains("there is `ring`"));
    }
}
