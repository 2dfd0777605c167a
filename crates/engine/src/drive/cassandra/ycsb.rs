//! What one logical thread does with records of YCSB.

use std::iter;

use scylla::client::session::Session as Connections;

use super::session::{execute, hand_back, rows};
use super::settings::Settings;
use super::statements::Statements;
use crate::drive::Failure;
use crate::drive::found::Found;
use crate::load::core::values::Values;
use crate::load::operation::{Fields, Kind, Operation};
use crate::load::parts::Parts;

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

    /// Carry out one operation; `fields` is a buffer.
    pub async fn perform(
        &self,
        session: &Connections,
        operation: &Operation,
        fields: &mut Parts,
        found: &mut Found,
    ) -> Result<(), Failure> {
        match operation.kind {
            Kind::Read => self.read(session, operation, found).await,
            Kind::Update => self.update(session, operation, fields).await,
            Kind::Insert => self.insert(session, operation, fields).await,
            Kind::Scan => self.scan(session, operation).await,
            Kind::ReadModifyWrite => {
                self.read(session, operation, found).await?;
                self.update(session, operation, fields).await
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

    async fn update(
        &self,
        session: &Connections,
        operation: &Operation,
        fields: &mut Parts,
    ) -> Result<(), Failure> {
        let row = self
            .written(operation, fields)
            .chain([operation.key.as_str()]);
        let statement = self.statements.update.of(operation.write);
        execute(session, statement, row.collect::<Vec<_>>()).await?;
        Ok(())
    }

    async fn insert(
        &self,
        session: &Connections,
        operation: &Operation,
        fields: &mut Parts,
    ) -> Result<(), Failure> {
        let key = iter::once(operation.key.as_str());
        let row = key.chain(self.written(operation, fields));
        let statement = &self.statements.insert;
        execute(session, statement, row.collect::<Vec<_>>()).await?;
        Ok(())
    }

    /// What an operation writes into fields, made in `fields`.
    fn written<'a>(
        &self,
        operation: &Operation,
        fields: &'a mut Parts,
    ) -> impl Iterator<Item = &'a str> {
        fields.clear();
        for field in self.values.written(operation) {
            fields.add(|out| self.values.write(operation, field, out));
        }
        let fields: &'a Parts = fields;
        let text = |value| str::from_utf8(value).expect("every character is ASCII");
        fields.iter().map(text)
    }

    async fn scan(&self, session: &Connections, operation: &Operation) -> Result<(), Failure> {
        let statement = self.statements.scan.of(operation.read);
        let most = operation.length.cast_signed();
        let answer = execute(session, statement, (operation.key.as_str(), most)).await?;
        rows(answer, "the table has no key from this one on").map(|_| ())
    }
}
