//! What to type where a table of the load is not there.

use std::collections::BTreeSet;

use scylla::client::session::Session as Connections;
use wire::load::Workload;

use super::settings::Settings;
use super::statements::KEY;
use crate::drive::{Failure, Fault};
use crate::load::core::values::Values;

/// Copies of each record in a keyspace that is proposed, where there are as many members.
const COPIES: usize = 3;

/// A table that a load needs.
#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    keyspace: String,
    name: String,
    origin: Origin,
}

/// How a table comes to be.
#[derive(Debug, PartialEq, Eq)]
enum Origin {
    /// By a statement, with these columns.
    Statement(String),
    /// By this command of cassandra-stress, which makes it as that does and fills it. A table made
    /// otherwise would have no rows, and would be stored in another way.
    Stress(&'static str),
}

impl Table {
    /// Those that a workload needs.
    pub fn needed(settings: &Settings, workload: &Workload) -> Vec<Self> {
        let table = |name: &str, origin: Origin| Self {
            keyspace: settings.keyspace.clone(),
            name: name.to_owned(),
            origin,
        };
        match workload {
            Workload::Ycsb(workload) => {
                let values = Values::new(workload);
                let fields = values.names().iter().map(|name| format!("{name} varchar"));
                let fields = fields.collect::<Vec<_>>().join(", ");
                let columns = format!("{KEY} varchar PRIMARY KEY, {fields}");
                vec![table(&settings.table, Origin::Statement(columns))]
            }
            Workload::Stress(workload) => {
                let mix = &workload.mix;
                [
                    ("standard1", "write", mix.read + mix.write),
                    (
                        "counter1",
                        "counter_write",
                        mix.counter_read + mix.counter_write,
                    ),
                ]
                .into_iter()
                .filter(|(_, _, weight)| *weight > 0.0)
                .map(|(name, command, _)| table(name, Origin::Stress(command)))
                .collect()
            }
        }
    }
}

/// What to type where tables are absent, in a ring of so many members. With each table stands
/// whether its keyspace is there.
fn remedy(absent: &[(&Table, bool)], members: usize) -> String {
    let mut proposed = BTreeSet::new();
    let (mut statements, mut commands) = (Vec::new(), Vec::new());
    for (table, with_keyspace) in absent {
        let Table {
            keyspace,
            name,
            origin,
        } = table;
        match origin {
            Origin::Statement(columns) => {
                if !with_keyspace && proposed.insert(keyspace) {
                    let copies = members.clamp(1, COPIES);
                    statements.push(format!(
                        "CREATE KEYSPACE \"{keyspace}\" WITH replication = {{'class': \
                         'SimpleStrategy', 'replication_factor': {copies}}};"
                    ));
                }
                statements.push(format!(
                    "CREATE TABLE \"{keyspace}\".\"{name}\" ({columns});"
                ));
            }
            Origin::Stress(command) => commands.push(format!("--stress {command} n=ROWS")),
        }
    }
    if commands.is_empty() {
        format!("type in cqlsh: {}", statements.join(" "))
    } else {
        format!(
            "write its rows first, with the same address, `-col` and `-schema`: {}",
            commands.join(", then ")
        )
    }
}

/// The failure to prepare statements, told as what to type if a table is not there. `alone`: nobody
/// else makes it while this part of the load waits.
pub fn told(failure: Failure, tables: &[Table], session: &Connections, alone: bool) -> Failure {
    let state = session.get_cluster_state();
    let known = |table: &Table| {
        let keyspace = state.get_keyspace(&table.keyspace)?;
        Some(keyspace.tables.contains_key(&table.name))
    };
    let there = tables.iter().map(|table| (table, known(table)));
    let absent: Vec<_> = there
        .filter(|(_, known)| *known != Some(true))
        .map(|(table, known)| (table, known.is_some()))
        .collect();
    if failure.fault != Fault::Server || absent.is_empty() {
        return failure;
    }
    let remedy = remedy(&absent, state.get_nodes_info().len());
    let message = format!("{}; {remedy}", failure.message);
    Failure {
        message,
        lasting: alone,
        ..failure
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::plan::tests::{plan, stress, ycsb};

    fn needed(workload: Option<Workload>) -> Vec<Table> {
        let mut plan = plan();
        plan.target.topology = "ring".to_owned();
        ycsb(&mut plan).fields = 2;
        plan.workload = workload.unwrap_or(plan.workload);
        let settings = Settings::of(&plan).unwrap();
        Table::needed(&settings, &plan.workload)
    }

    #[test]
    fn a_table_of_ycsb_has_a_column_of_text_for_each_field() {
        let table = "CREATE TABLE \"ycsb\".\"usertable\" (y_id varchar PRIMARY KEY, field0 varchar, \
             field1 varchar);";
        let needed = needed(None);
        assert_eq!(needed.len(), 1);
        let told = remedy(&[(&needed[0], true)], 5);
        assert_eq!(told, format!("type in cqlsh: {table}"));
        for (members, copies) in [(1, 1), (2, 2), (5, 3)] {
            let keyspace = format!(
                "CREATE KEYSPACE \"ycsb\" WITH replication = {{'class': 'SimpleStrategy', \
                 'replication_factor': {copies}}};"
            );
            let told = remedy(&[(&needed[0], false)], members);
            assert_eq!(told, format!("type in cqlsh: {keyspace} {table}"));
        }
    }

    #[test]
    fn tables_of_cassandra_stress_are_made_and_filled_by_its_own_commands() {
        let told = |counters: f64| {
            let mut workload = stress();
            let Workload::Stress(asked) = &mut workload else {
                panic!("it was made so");
            };
            asked.mix.counter_read = counters;
            let needed = needed(Some(workload));
            let absent: Vec<_> = needed.iter().map(|table| (table, false)).collect();
            remedy(&absent, 1)
        };
        let rows = "write its rows first, with the same address, `-col` and `-schema`: --stress \
             write n=ROWS";
        assert_eq!(told(0.0), rows);
        assert_eq!(
            told(1.0),
            format!("{rows}, then --stress counter_write n=ROWS")
        );
    }
}
