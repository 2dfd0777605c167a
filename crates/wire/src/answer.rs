//! What a server answers to a statement.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// `dunnage-engine cql` prints one as a line for each statement. A statement that returns no rows
/// has neither columns nor rows.
///
/// Text, numbers and booleans are themselves; lists, sets, tuples and vectors are arrays; maps and
/// user-defined types are objects (a map's keys as text); null is null. Text is also what `uuid`,
/// `inet`, `timestamp` (`2026-11-22T01:02:03.004Z`), `date`, `time`, `duration`, `decimal`,
/// `varint`, blobs (`0x00ff`), and numbers that JSON lacks (`NaN`) are told as.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// Their names.
    pub columns: Vec<String>,
    /// A value for each column.
    pub rows: Vec<Vec<Value>>,
}
