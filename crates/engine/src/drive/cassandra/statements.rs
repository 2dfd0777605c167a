//! The statements of YCSB's Cassandra binding, prepared once for all sessions.
//!
//! A record is a row: the key in `y_id`, the fields in columns of their own, all of them text.

use scylla::client::session::Session;
use scylla::statement::Consistency;
use scylla::statement::prepared::PreparedStatement;

use super::failure::of_preparation;
use super::settings::Settings;
use crate::drive::Failure;
use crate::load::mix::Fields;

/// The column of the key.
const KEY: &str = "y_id";

/// A statement for all fields, and one for each field alone.
pub struct Family {
    all: PreparedStatement,
    each: Vec<PreparedStatement>,
}

impl Family {
    /// The statement for one field, or for all.
    pub fn of(&self, fields: Fields) -> &PreparedStatement {
        match fields {
            Fields::All | Fields::Named => &self.all,
            Fields::One(field) => &self.each[field as usize],
        }
    }
}

/// Everything that operations need.
pub struct Statements {
    /// Reads one record.
    pub read: Family,
    /// Reads all fields of one record by their names.
    pub read_named: PreparedStatement,
    /// Writes fields of a record.
    pub update: Family,
    /// Writes a whole record.
    pub insert: PreparedStatement,
    /// Reads records in the order of their keys' tokens.
    pub scan: Family,
}

impl Statements {
    /// Prepare them on the members that `session` knows.
    pub async fn prepare(
        session: &Session,
        settings: &Settings,
        fields: &[String],
    ) -> Result<Self, Failure> {
        let text = Text {
            table: format!("\"{}\".\"{}\"", settings.keyspace, settings.table),
            fields,
        };
        let (read, write) = (settings.read, settings.write);
        Ok(Self {
            read: family(session, read, fields, |field| text.read(field)).await?,
            read_named: prepared(session, read, text.read(Some(&fields.join(", ")))).await?,
            update: family(session, write, fields, |field| text.update(field)).await?,
            insert: prepared(session, write, text.insert()).await?,
            scan: family(session, read, fields, |field| text.scan(field)).await?,
        })
    }
}

async fn family(
    session: &Session,
    consistency: Consistency,
    fields: &[String],
    text: impl Fn(Option<&str>) -> String,
) -> Result<Family, Failure> {
    let mut each = Vec::with_capacity(fields.len());
    for field in fields {
        each.push(prepared(session, consistency, text(Some(field))).await?);
    }
    Ok(Family {
        all: prepared(session, consistency, text(None)).await?,
        each,
    })
}

/// One statement that is asked with this consistency.
pub async fn prepared(
    session: &Session,
    consistency: Consistency,
    text: String,
) -> Result<PreparedStatement, Failure> {
    let mut statement = session
        .prepare(text)
        .await
        .map_err(|error| of_preparation(&error))?;
    statement.set_consistency(consistency);
    // As YCSB's driver does: the columns are known since the preparation.
    statement.set_use_cached_result_metadata(true);
    Ok(statement)
}

/// What statements look like in CQL.
struct Text<'a> {
    table: String,
    fields: &'a [String],
}

impl Text<'_> {
    fn read(&self, field: Option<&str>) -> String {
        let table = &self.table;
        format!(
            "SELECT {} FROM {table} WHERE {KEY} = ? LIMIT 1",
            columns(field)
        )
    }

    fn update(&self, field: Option<&str>) -> String {
        let assignments = match field {
            Some(field) => format!("{field} = ?"),
            None => format!("{} = ?", self.fields.join(" = ?, ")),
        };
        format!("UPDATE {} SET {assignments} WHERE {KEY} = ?", self.table)
    }

    fn insert(&self) -> String {
        let (table, columns) = (&self.table, self.fields.join(", "));
        let marks = ", ?".repeat(self.fields.len());
        format!("INSERT INTO {table} ({KEY}, {columns}) VALUES (?{marks})")
    }

    fn scan(&self, field: Option<&str>) -> String {
        let table = &self.table;
        let columns = columns(field);
        format!("SELECT {columns} FROM {table} WHERE token({KEY}) >= token(?) LIMIT ?")
    }
}

fn columns(field: Option<&str>) -> &str {
    field.unwrap_or("*")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_those_of_ycsb() {
        let fields = ["field0".to_owned(), "field1".to_owned()];
        let text = Text {
            table: "\"ycsb\".\"usertable\"".to_owned(),
            fields: &fields,
        };
        assert_eq!(
            text.read(None),
            "SELECT * FROM \"ycsb\".\"usertable\" WHERE y_id = ? LIMIT 1"
        );
        assert_eq!(
            text.read(Some("field1")),
            "SELECT field1 FROM \"ycsb\".\"usertable\" WHERE y_id = ? LIMIT 1"
        );
        assert_eq!(
            text.read(Some("field0, field1")),
            "SELECT field0, field1 FROM \"ycsb\".\"usertable\" WHERE y_id = ? LIMIT 1"
        );
        assert_eq!(
            text.update(Some("field1")),
            "UPDATE \"ycsb\".\"usertable\" SET field1 = ? WHERE y_id = ?"
        );
        assert_eq!(
            text.update(None),
            "UPDATE \"ycsb\".\"usertable\" SET field0 = ?, field1 = ? WHERE y_id = ?"
        );
        assert_eq!(
            text.insert(),
            "INSERT INTO \"ycsb\".\"usertable\" (y_id, field0, field1) VALUES (?, ?, ?)"
        );
        assert_eq!(
            text.scan(None),
            "SELECT * FROM \"ycsb\".\"usertable\" WHERE token(y_id) >= token(?) LIMIT ?"
        );
    }
}
