//! What one logical thread does with records of YCSB.

use std::borrow::Cow;

use scylla::client::session::Session as Connections;

use super::session::{execute, hand_back, rows};
use super::settings::Settings;
use super::statements::Statements;
use crate::drive::Failure;
use crate::drive::found::Found;
use crate::load::core::values::Values;
use crate::load::mix::{Fields, Kind, Operation};

/// Records of YCSB: what they hold, and the statements for them.
pub struct Records {
    values: Values,
    statements: Statements,
}

impl Records {
    /// Prepare all statements.
    pub async fn prepare(
        session: &Connections,
        settings: &Settings,
        values: Values,
    ) -> Result<Self, Failure> {
        let statements = Statements::prepare(session, settings, values.names()).await?;
        Ok(Self { values, statements })
    }

    /// Carry out one operation.
    pub async fn perform(
        &self,
        session: &Connections,
        operation: &Operation,
        found: &mut Found,
    ) -> Result<(), Failure> {
        match operation.kind {
            Kind::Read => self.read(session, operation, found).await,
            Kind::Update => self.update(session, operation).await,
            Kind::Insert => self.insert(session, operation).await,
            Kind::Scan => self.scan(session, operation).await,
            Kind::ReadModifyWrite => {
                self.read(session, operation, found).await?;
                self.update(session, operation).await
            }
        }
    }

    async fn read(
        &self,
        session: &Connections,
        operation: &Operation,
        found: &mut Found,
    ) -> Result<(), Failure> {
        let statement = match operation.read {
            Fields::Named => &self.statements.read_named,
            fields => self.statements.read.of(fields),
        };
        let answer = execute(session, statement, (operation.key.as_str(),)).await?;
        let record = rows(answer, "the table has no record with this key")?;
        if found.wanted() {
            hand_back(&record, found)?;
        }
        Ok(())
    }

    async fn update(&self, session: &Connections, operation: &Operation) -> Result<(), Failure> {
        let values = &self.values;
        let written = values.written(operation);
        let mut row: Vec<Cow<'_, str>> = Vec::with_capacity(written.len() + 1);
        row.extend(written.map(|field| Cow::Owned(values.value(operation, field))));
        row.push(Cow::Borrowed(operation.key.as_str()));
        let statement = self.statements.update.of(operation.write);
        execute(session, statement, row).await.map(|_| ())
    }

    async fn insert(&self, session: &Connections, operation: &Operation) -> Result<(), Failure> {
        let values = &self.values;
        let written = values.written(operation);
        let mut row: Vec<Cow<'_, str>> = Vec::with_capacity(written.len() + 1);
        row.push(Cow::Borrowed(operation.key.as_str()));
        row.extend(written.map(|field| Cow::Owned(values.value(operation, field))));
        execute(session, &self.statements.insert, row)
            .await
            .map(|_| ())
    }

    async fn scan(&self, session: &Connections, operation: &Operation) -> Result<(), Failure> {
        let statement = self.statements.scan.of(operation.read);
        let most = operation.length.cast_signed();
        let answer = execute(session, statement, (operation.key.as_str(), most)).await?;
        rows(answer, "the table has no key from this one on").map(|_| ())
    }
}
