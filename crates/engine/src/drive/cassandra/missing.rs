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
    /// Its columns, as they are made.
    columns: String,
}

impl Table {
    /// Those that a workload needs.
    pub fn needed(settings: &Settings, workload: &Workload) -> Vec<Self> {
        let table = |name: &str, key: &str, columns: Vec<String>| Self {
            keyspace: settings.keyspace.clone(),
            name: name.to_owned(),
            columns: format!("{key} PRIMARY KEY, {}", columns.join(", ")),
        };
        match workload {
            Workload::Ycsb(workload) => {
                let values = Values::new(workload);
                let fields = values.names().iter().map(|name| format!("{name} varchar"));
                let key = format!("{KEY} varchar");
                vec![table(&settings.table, &key, fields.collect())]
            }
            Workload::Stress(workload) => {
                let mix = &workload.mix;
                [
                    ("standard1", "blob", mix.read + mix.write),
                    ("counter1", "counter", mix.counter_read + mix.counter_write),
                ]
                .into_iter()
                .filter(|(_, _, weight)| *weight > 0.0)
                .map(|(name, kind, _)| {
                    let columns = workload.columns.iter();
                    let columns = columns.map(|column| format!("\"{column}\" {kind}"));
                    table(name, "key blob", columns.collect())
                })
                .collect()
            }
        }
    }

    /// What to type to make it, in a ring of so many members.
    fn made(&self, with_keyspace: bool, members: usize) -> String {
        let Self {
            keyspace,
            name,
            columns,
        } = self;
        let table = format!("CREATE TABLE \"{keyspace}\".\"{name}\" ({columns});");
        if with_keyspace {
            let copies = members.clamp(1, COPIES);
            format!(
                "CREATE KEYSPACE \"{keyspace}\" WITH replication = {{'class': 'SimpleStrategy', \
                 'replication_factor': {copies}}}; {table}"
            )
        } else {
            table
        }
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
    let absent: Vec<_> = there.filter(|(_, known)| *known != Some(true)).collect();
    if failure.fault != Fault::Server || absent.is_empty() {
        return failure;
    }
    let mut proposed = BTreeSet::new();
    let members = state.get_nodes_info().len();
    let made = absent.iter().map(|(table, known)| {
        let with_keyspace = known.is_none() && proposed.insert(&table.keyspace);
        table.made(with_keyspace, members)
    });
    let made = made.collect::<Vec<_>>().join(" ");
    let message = format!("{}; type in cqlsh: {made}", failure.message);
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
        assert_eq!(needed[0].made(false, 5), table);
        for (members, copies) in [(1, 1), (2, 2), (5, 3)] {
            let keyspace = format!(
                "CREATE KEYSPACE \"ycsb\" WITH replication = {{'class': 'SimpleStrategy', \
                 'replication_factor': {copies}}}; "
            );
            assert_eq!(needed[0].made(true, members), keyspace + table);
        }
    }

    #[test]
    fn cassandra_stress_needs_the_tables_of_its_operations() {
        let mut workload = stress();
        let Workload::Stress(asked) = &mut workload else {
            panic!("it was made so");
        };
        asked.columns = vec!["C0".to_owned(), "C1".to_owned()];
        let rows = "CREATE TABLE \"ycsb\".\"standard1\" (key blob PRIMARY KEY, \"C0\" blob, \"C1\" \
             blob);";
        let counters = rows
            .replace("standard1", "counter1")
            .replace("\" blob", "\" counter");
        asked.mix.counter_write = 1.0;
        let made = |workload: &Workload| -> Vec<String> {
            let needed = needed(Some(workload.clone()));
            needed.iter().map(|table| table.made(false, 1)).collect()
        };
        assert_eq!(made(&workload), [rows, counters.as_str()]);
    }
}
