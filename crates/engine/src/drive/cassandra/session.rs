//! What one logical thread does.

use std::fmt::Display;
use std::rc::Rc;

use scylla::client::session::Session as Connections;
use scylla::deserialize::row::ColumnIterator;
use scylla::response::query_result::{QueryResult, QueryRowsResult};
use scylla::serialize::row::SerializeRow;
use scylla::statement::prepared::PreparedStatement;

use super::failure::of_execution;
use super::{Shared, Work};
use crate::drive::found::Found;
use crate::drive::{Failure, Fault, other_workload};
use crate::load::parts::Parts;
use crate::load::stress::row::Row;
use crate::load::work::Operation;

/// One logical thread. It holds no connection: all threads share the driver's, on which any number
/// of requests are under way at a time.
pub struct Session {
    shared: Rc<Shared>,
    /// Of a record of YCSB that is written.
    fields: Parts,
    /// A row of cassandra-stress that is written or asked for.
    row: Row,
}

impl Session {
    pub(super) fn new(shared: Rc<Shared>) -> Self {
        Self {
            shared,
            fields: Parts::default(),
            row: Row::default(),
        }
    }

    /// Connect to every member and prepare the statements, unless another session did.
    pub async fn connect(&mut self) -> Result<(), Failure> {
        self.shared.ready().await.map(|_| ())
    }

    /// Carry out one operation. Broken connections are made anew by the driver, at its own pace.
    pub async fn perform(
        &mut self,
        operation: &Operation,
        found: &mut Found,
    ) -> Result<(), Failure> {
        let ready = self.shared.ready().await?;
        match (&ready.work, operation) {
            (Work::Ycsb(records), Operation::Ycsb(operation)) => {
                let fields = &mut self.fields;
                let session = &ready.session;
                records.perform(session, operation, fields, found).await
            }
            (Work::Stress(tables), Operation::Stress(operation)) => {
                let row = &mut self.row;
                tables.perform(&ready.session, operation, row, found).await
            }
            _ => Err(other_workload()),
        }
    }
}

/// All rows come in one answer: there is no page to be asked for after it.
pub async fn execute(
    session: &Connections,
    statement: &PreparedStatement,
    row: impl SerializeRow,
) -> Result<QueryResult, Failure> {
    session
        .execute_unpaged(statement, row)
        .await
        .map_err(|error| of_execution(&error))
}

/// The rows of an answer, which are one at least.
pub fn rows(answer: QueryResult, otherwise: &str) -> Result<QueryRowsResult, Failure> {
    let rows = answer.into_rows_result().map_err(unreadable)?;
    if rows.rows_num() == 0 {
        return Err(Failure::new(Fault::NotFound, otherwise));
    }
    Ok(rows)
}

/// The columns of the first row, the only one of a read; one without a value is left out.
pub fn hand_back(rows: &QueryRowsResult, found: &mut Found) -> Result<(), Failure> {
    let record = rows
        .maybe_first_row::<ColumnIterator>()
        .map_err(unreadable)?;
    for column in record.into_iter().flatten() {
        let column = column.map_err(unreadable)?;
        if let Some(value) = column.slice {
            found.add(column.spec.name().as_bytes(), value.as_slice());
        }
    }
    Ok(())
}

fn unreadable(error: impl Display) -> Failure {
    Failure::new(Fault::Protocol, error.to_string())
}
