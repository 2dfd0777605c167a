//! From CQL's values to JSON.

use chrono::{DateTime, SecondsFormat, Utc};
use scylla_cql::frame::response::result::RawMetadataAndRawRows;
use scylla_cql::value::{CqlValue, Row};
use serde_json::{Map, Number, Value};
use wire::answer::Answer;

use super::said;

/// The rows of an answer; the error says what could not be read.
pub fn answer(rows: RawMetadataAndRawRows) -> Result<Answer, String> {
    let rows = rows.deserialize_metadata().map_err(said)?;
    let columns = rows.metadata().col_specs().iter();
    let columns = columns.map(|column| column.name().to_owned()).collect();
    let rows = rows
        .rows_iter::<Row>()
        .map_err(said)?
        .map(|row| {
            let columns = row.map_err(said)?.columns;
            Ok(columns.iter().map(Option::as_ref).map(optional).collect())
        })
        .collect::<Result<_, String>>()?;
    Ok(Answer { columns, rows })
}

/// A value as the schema of [`Answer`] describes it.
fn json(value: &CqlValue) -> Value {
    match value {
        CqlValue::Ascii(text) | CqlValue::Text(text) => text.as_str().into(),
        CqlValue::Boolean(truth) => (*truth).into(),
        CqlValue::TinyInt(number) => (*number).into(),
        CqlValue::SmallInt(number) => (*number).into(),
        CqlValue::Int(number) => (*number).into(),
        CqlValue::BigInt(number) => (*number).into(),
        CqlValue::Counter(number) => number.0.into(),
        CqlValue::Float(number) => float(f64::from(*number)),
        CqlValue::Double(number) => float(*number),
        CqlValue::Blob(bytes) => hexadecimal(bytes).into(),
        CqlValue::Uuid(id) => id.to_string().into(),
        CqlValue::Timeuuid(id) => id.to_string().into(),
        CqlValue::Inet(address) => address.to_string().into(),
        CqlValue::Timestamp(time) => time_of(time.0).into(),
        CqlValue::List(values) | CqlValue::Set(values) | CqlValue::Vector(values) => {
            values.iter().map(json).collect()
        }
        CqlValue::Tuple(values) => values.iter().map(Option::as_ref).map(optional).collect(),
        CqlValue::Map(pairs) => Value::Object(
            pairs
                .iter()
                .map(|(key, value)| (text(key), json(value)))
                .collect(),
        ),
        CqlValue::UserDefinedType { fields, .. } => Value::Object(
            fields
                .iter()
                .map(|(name, value)| (name.clone(), optional(value.as_ref())))
                .collect::<Map<_, _>>(),
        ),
        CqlValue::Empty => Value::Null,
        // The others print as in a statement, times and dates between apostrophes.
        other => other.to_string().trim_matches('\'').into(),
    }
}

fn optional(value: Option<&CqlValue>) -> Value {
    value.map_or(Value::Null, json)
}

/// A key of a map: text as it is, anything else as it is written in JSON.
fn text(key: &CqlValue) -> String {
    match json(key) {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

fn float(number: f64) -> Value {
    Number::from_f64(number).map_or_else(|| number.to_string().into(), Value::Number)
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
    std::iter::once("0x".to_owned()).chain(digits).collect()
}

/// A time that no calendar has is told in milliseconds.
fn time_of(milliseconds: i64) -> String {
    DateTime::<Utc>::from_timestamp_millis(milliseconds).map_or_else(
        || milliseconds.to_string(),
        |time| time.to_rfc3339_opts(SecondsFormat::Millis, true),
    )
}
