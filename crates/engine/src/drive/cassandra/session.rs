//! What one logical thread does.

use std::borrow::Cow;
use std::fmt::Display;
use std::rc::Rc;

use scylla::deserialize::row::ColumnIterator;
use scylla::response::query_result::{QueryResult, QueryRowsResult};
use scylla::serialize::row::SerializeRow;
use scylla::statement::prepared::PreparedStatement;

use super::failure::of_execution;
use super::{Ready, Shared};
use crate::drive::found::Found;
use crate::drive::{Failure, Fault};
use crate::load::mix::{Fields, Kind, Operation};

/// One logical thread. It holds no connection: all threads share the driver's, on which any number
/// of requests are under way at a time.
pub struct Session {
    shared: Rc<Shared>,
}

impl Session {
    pub(super) fn new(shared: Rc<Shared>) -> Self {
        Self { shared }
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
        match operation.kind {
            Kind::Read => self.read(ready, operation, found).await,
            Kind::Update => self.update(ready, operation).await,
            Kind::Insert => self.insert(ready, operation).await,
            Kind::Scan => self.scan(ready, operation).await,
            Kind::ReadModifyWrite => {
                self.read(ready, operation, found).await?;
                self.update(ready, operation).await
            }
        }
    }

    async fn read(
        &self,
        ready: &Ready,
        operation: &Operation,
        found: &mut Found,
    ) -> Result<(), Failure> {
        let statement = match operation.read {
            Fields::Named => &ready.statements.read_named,
            fields => ready.statements.read.of(fields),
        };
        let answer = execute(ready, statement, (operation.key.as_str(),)).await?;
        let record = rows(answer, "the table has no record with this key")?;
        if found.wanted() {
            hand_back(&record, found)?;
        }
        Ok(())
    }

    async fn update(&self, ready: &Ready, operation: &Operation) -> Result<(), Failure> {
        let values = &self.shared.values;
        let written = values.written(operation);
        let mut row: Vec<Cow<'_, str>> = Vec::with_capacity(written.len() + 1);
        row.extend(written.map(|field| Cow::Owned(values.value(operation, field))));
        row.push(Cow::Borrowed(operation.key.as_str()));
        let statement = ready.statements.update.of(operation.write);
        execute(ready, statement, row).await.map(|_| ())
    }

    async fn insert(&self, ready: &Ready, operation: &Operation) -> Result<(), Failure> {
        let values = &self.shared.values;
        let written = values.written(operation);
        let mut row: Vec<Cow<'_, str>> = Vec::with_capacity(written.len() + 1);
        row.push(Cow::Borrowed(operation.key.as_str()));
        row.extend(written.map(|field| Cow::Owned(values.value(operation, field))));
        execute(ready, &ready.statements.insert, row)
            .await
            .map(|_| ())
    }

    async fn scan(&self, ready: &Ready, operation: &Operation) -> Result<(), Failure> {
        let statement = ready.statements.scan.of(operation.read);
        let most = operation.length.cast_signed();
        let answer = execute(ready, statement, (operation.key.as_str(), most)).await?;
        rows(answer, "the table has no key from this one on").map(|_| ())
    }
}

/// All rows come in one answer: there is no page to be asked for after it.
async fn execute(
    ready: &Ready,
    statement: &PreparedStatement,
    row: impl SerializeRow,
) -> Result<QueryResult, Failure> {
    ready
        .session
        .execute_unpaged(statement, row)
        .await
        .map_err(|error| of_execution(&error))
}

/// The rows of an answer, which are one at least.
fn rows(answer: QueryResult, otherwise: &str) -> Result<QueryRowsResult, Failure> {
    let rows = answer.into_rows_result().map_err(unreadable)?;
    if rows.rows_num() == 0 {
        return Err(Failure::new(Fault::NotFound, otherwise));
    }
    Ok(rows)
}

/// The columns of the first row, the only one of a read; one without a value is left out.
fn hand_back(rows: &QueryRowsResult, found: &mut Found) -> Result<(), Failure> {
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
