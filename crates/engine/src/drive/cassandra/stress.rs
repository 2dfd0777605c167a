//! What one logical thread does with the tables of cassandra-stress.
//!
//! The statements are those of its version 3.11.2. Rows are in `standard1`: the key in `key`, the
//! columns as blobs, written by `UPDATE`. Counters are in `counter1` under the same keys.

use std::cell::RefCell;

use scylla::client::session::Session as Connections;
use scylla::statement::prepared::PreparedStatement;
use scylla::value::{Counter, CqlValue};

use super::session::{execute, hand_back, rows};
use super::settings::Settings;
use super::statements::prepared;
use crate::drive::found::Found;
use crate::drive::{Failure, other_workload};
use crate::load::stress::distribution::Draws;
use crate::load::stress::random::JavaRandom;
use crate::load::stress::row::{Row, Rows};
use crate::load::stress::{Kind, Operation, Workload};

/// Both tables: what their rows hold, and the statements for them.
pub struct Tables {
    rows: Rows,
    /// What is added to counters, for all threads, so that those of a sequence follow one another.
    adds: RefCell<Draws>,
    /// Counters of a row.
    counters: usize,
    /// Those that the workload needs, by kind.
    statements: [Option<PreparedStatement>; 4],
}

impl Tables {
    /// Prepare the statements that a workload needs: either table need not be there without.
    pub async fn prepare(
        session: &Connections,
        settings: &Settings,
        workload: &Workload,
    ) -> Result<Self, Failure> {
        let text = Text {
            keyspace: &settings.keyspace,
            columns: &workload.layout.columns,
            slice: workload.slice,
        };
        let mut statements = [const { None }; 4];
        for (kind, _) in workload
            .mix
            .weights
            .iter()
            .filter(|(_, weight)| *weight > 0.0)
        {
            let consistency = if kind.writes() {
                settings.write
            } else {
                settings.read
            };
            let mut statement = prepared(session, consistency, text.of(*kind)).await?;
            if *kind == Kind::Write {
                statement.set_timestamp(settings.timestamp);
            }
            statements[*kind as usize] = Some(statement);
        }
        Ok(Self {
            rows: Rows::new(&workload.layout),
            adds: RefCell::new(Draws::new(workload.add.clone())),
            counters: workload.layout.columns.len(),
            statements,
        })
    }

    /// Carry out one operation; `row` is a buffer.
    pub async fn perform(
        &self,
        session: &Connections,
        operation: &Operation,
        row: &mut Row,
        found: &mut Found,
    ) -> Result<(), Failure> {
        let kind = operation.kind;
        let statement = self.statements[kind as usize].as_ref();
        let statement = statement.ok_or_else(other_workload)?;
        if kind == Kind::Write {
            self.rows.whole(operation.seed, row);
            let mut values: Vec<&[u8]> = row.columns().collect();
            values.push(row.key());
            return execute(session, statement, values).await.map(|_| ());
        }
        self.rows.key(operation.seed, row);
        if kind == Kind::CounterWrite {
            let values = self.added(operation.adds, row);
            return execute(session, statement, values).await.map(|_| ());
        }
        let answer = execute(session, statement, (row.key(),)).await?;
        let record = rows(answer, "the table has no row with this key")?;
        if kind == Kind::Read && found.wanted() {
            hand_back(&record, found)?;
        }
        Ok(())
    }

    /// What is added to each counter, and the key.
    fn added(&self, seed: i64, row: &Row) -> Vec<CqlValue> {
        let mut random = JavaRandom::new(seed);
        let mut adds = self.adds.borrow_mut();
        let counters =
            (0..self.counters).map(|_| CqlValue::Counter(Counter(adds.draw(&mut random))));
        let key = CqlValue::Blob(row.key().to_vec());
        counters.chain([key]).collect()
    }
}

/// What statements look like in CQL.
struct Text<'a> {
    keyspace: &'a str,
    columns: &'a [String],
    slice: bool,
}

impl Text<'_> {
    fn of(&self, kind: Kind) -> String {
        let keyspace = self.keyspace;
        match kind {
            Kind::Read => {
                let columns = if self.slice {
                    "*".to_owned()
                } else {
                    self.each(|name| format!("\"{name}\""))
                };
                format!("SELECT {columns} FROM \"{keyspace}\".\"standard1\" WHERE KEY=?")
            }
            Kind::Write => {
                let columns = self.each(|name| format!("\"{name}\" = ?"));
                format!("UPDATE \"{keyspace}\".\"standard1\" SET {columns} WHERE KEY=?")
            }
            Kind::CounterRead => {
                format!("SELECT * FROM \"{keyspace}\".\"counter1\" WHERE KEY=?")
            }
            Kind::CounterWrite => {
                let columns = self.each(|name| format!("\"{name}\"=\"{name}\"+?"));
                format!("UPDATE \"{keyspace}\".\"counter1\" SET {columns} WHERE KEY=?")
            }
        }
    }

    fn each(&self, text: impl Fn(&String) -> String) -> String {
        let all: Vec<String> = self.columns.iter().map(text).collect();
        all.join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_those_of_cassandra_stress() {
        let columns = ["C0".to_owned(), "C1".to_owned()];
        let mut text = Text {
            keyspace: "keyspace1",
            columns: &columns,
            slice: false,
        };
        assert_eq!(
            text.of(Kind::Read),
            r#"SELECT "C0","C1" FROM "keyspace1"."standard1" WHERE KEY=?"#
        );
        assert_eq!(
            text.of(Kind::Write),
            r#"UPDATE "keyspace1"."standard1" SET "C0" = ?,"C1" = ? WHERE KEY=?"#
        );
        assert_eq!(
            text.of(Kind::CounterRead),
            r#"SELECT * FROM "keyspace1"."counter1" WHERE KEY=?"#
        );
        assert_eq!(
            text.of(Kind::CounterWrite),
            r#"UPDATE "keyspace1"."counter1" SET "C0"="C0"+?,"C1"="C1"+? WHERE KEY=?"#
        );
        text.slice = true;
        assert_eq!(
            text.of(Kind::Read),
            r#"SELECT * FROM "keyspace1"."standard1" WHERE KEY=?"#
        );
    }
}
