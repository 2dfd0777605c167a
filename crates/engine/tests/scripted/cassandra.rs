//! A Cassandra of one member that keeps nothing: every row is there, with the columns of YCSB. It
//! speaks version 4 of the native protocol, as much of it as the driver asks for.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Asked, How, Protocol};

/// Bytes of a frame before its body.
const HEAD: usize = 9;

const ERROR: u8 = 0x00;
const STARTUP: u8 = 0x01;
const READY: u8 = 0x02;
const AUTHENTICATE: u8 = 0x03;
const OPTIONS: u8 = 0x05;
const SUPPORTED: u8 = 0x06;
const RESULT: u8 = 0x08;
const PREPARE: u8 = 0x09;
const EXECUTE: u8 = 0x0A;
const REGISTER: u8 = 0x0B;
const AUTH_RESPONSE: u8 = 0x0F;
const AUTH_SUCCESS: u8 = 0x10;

/// Kinds of results.
const VOID: i32 = 1;
const ROWS: i32 = 2;
const PREPARED: i32 = 4;
/// One that there is not.
const UNKNOWN: i32 = 99;

/// The version of the protocol in what clients say.
const VERSION: u8 = 4;

/// Codes of errors.
const NO_FRAME: i32 = 0x000A;
const BAD_CREDENTIALS: i32 = 0x0100;
const OVERLOADED: i32 = 0x1001;
const INVALID: i32 = 0x2200;

/// Flags of metadata: one table for all columns, and no columns because they are known.
const ONE_TABLE: i32 = 1;
const NO_COLUMNS: i32 = 4;

const TEXT: &[u8] = &[0, 0x0D];
const NUMBER: &[u8] = &[0, 0x09];
const TRUTH: &[u8] = &[0, 0x04];
const IDENTIFIER: &[u8] = &[0, 0x0C];
const ADDRESS: &[u8] = &[0, 0x10];
const LIST: &[u8] = &[0, 0x20, 0, 0x0D];
const SET: &[u8] = &[0, 0x22, 0, 0x0D];
const MAP: &[u8] = &[0, 0x21, 0, 0x0D, 0, 0x0D];

/// See above.
#[derive(Default)]
pub struct Cassandra {
    /// Prepared statements, by their numbers.
    statements: Mutex<Vec<String>>,
    /// The only user that it lets in, and the password; none: everybody.
    user: Option<(&'static str, &'static str)>,
    /// Whether the keyspace has no table.
    empty: bool,
    /// Operations that said at what time they are made.
    pub dated: AtomicU64,
    /// How often somebody was not let in.
    pub refused: AtomicU64,
}

impl Protocol for Cassandra {
    fn driver(&self) -> &'static str {
        "cassandra"
    }

    fn topology(&self) -> &'static str {
        "ring"
    }

    fn shares(&self) -> bool {
        true
    }

    fn whole(&self, heard: &[u8]) -> Option<usize> {
        if *heard.first()? != VERSION {
            return Some(heard.len());
        }
        let length = HEAD + number(heard.get(5..HEAD)?);
        (length <= heard.len()).then_some(length)
    }

    fn asked(&self, request: &[u8]) -> Asked {
        if request[0] != VERSION {
            let body = error(NO_FRAME, "Invalid or unsupported protocol version");
            return Asked::Around(frame(&[0; HEAD], ERROR, &body));
        }
        let (kind, body) = match request[4] {
            OPTIONS => (SUPPORTED, options()),
            STARTUP if self.user.is_some() => (AUTHENTICATE, short("PasswordAuthenticator")),
            AUTH_RESPONSE => self.logged_in(request),
            STARTUP | REGISTER => (READY, Vec::new()),
            PREPARE => self.prepare(request),
            EXECUTE => {
                let (statement, values) = self.executed(request);
                if of_the_system(&statement) {
                    (RESULT, system_rows(&statement))
                } else {
                    // Behind the length and the number of the statement, and the consistency.
                    let dated = request[HEAD + 8] & 0x20 != 0;
                    self.dated.fetch_add(u64::from(dated), Ordering::Relaxed);
                    return Asked::Operation {
                        key: values[key(&statement)].clone(),
                        inserts: statement.starts_with("INSERT"),
                    };
                }
            }
            other => panic!("{other}"),
        };
        Asked::Around(frame(request, kind, &body))
    }

    fn answer(&self, request: &[u8], how: How) -> Vec<u8> {
        let (statement, _) = self.executed(request);
        let (kind, body) = match how {
            How::Refusal => (ERROR, error(OVERLOADED, "as it was meant to be")),
            How::Nonsense => (RESULT, int(UNKNOWN)),
            How::Absent => (RESULT, records(&statement, 0)),
            How::Well if statement.starts_with("SELECT") => (RESULT, records(&statement, 1)),
            How::Well => (RESULT, int(VOID)),
        };
        frame(request, kind, &body)
    }
}

impl Cassandra {
    /// One that lets in nobody but a user with a password.
    pub fn guarded(user: &'static str, password: &'static str) -> Self {
        Self {
            user: Some((user, password)),
            ..Self::default()
        }
    }

    /// One whose keyspace has no table.
    pub fn empty() -> Self {
        Self {
            empty: true,
            ..Self::default()
        }
    }

    /// What is said to a user and a password.
    fn logged_in(&self, request: &[u8]) -> (u8, Vec<u8>) {
        let (user, password) = self.user.unwrap();
        if request[HEAD + 4..] == *format!("\0{user}\0{password}").as_bytes() {
            return (AUTH_SUCCESS, int(-1));
        }
        self.refused.fetch_add(1, Ordering::Relaxed);
        let said = format!("Provided username {user} and/or password are incorrect");
        (ERROR, error(BAD_CREDENTIALS, &said))
    }

    fn prepare(&self, request: &[u8]) -> (u8, Vec<u8>) {
        let statement = String::from_utf8(request[HEAD + 4..].to_vec()).unwrap();
        // What another server has that speaks the same.
        if statement.contains("scylla_") {
            return (ERROR, error(INVALID, "there is no such table"));
        }
        if self.empty && !of_the_system(&statement) {
            return (ERROR, error(INVALID, "table usertable does not exist"));
        }
        let mut statements = self.statements.lock().unwrap();
        let known = statements.iter().position(|known| *known == statement);
        let id = known.unwrap_or_else(|| {
            statements.push(statement.clone());
            statements.len() - 1
        });
        (RESULT, prepared(id, &statement))
    }

    /// The statement that a request executes, and its values.
    fn executed(&self, request: &[u8]) -> (String, Vec<Vec<u8>>) {
        let body = &request[HEAD..];
        assert_eq!(&body[..2], [0, 4], "the length of a statement's number");
        let statement = self.statements.lock().unwrap()[number(&body[2..6])].clone();
        // Two bytes of consistency, and flags, of which the first one says that there are values.
        let mut values = Vec::new();
        if body[8] & 1 != 0 {
            let count = u16::from_be_bytes([body[9], body[10]]);
            let mut at = 11;
            for _ in 0..count {
                let end = at + 4 + number(&body[at..at + 4]);
                values.push(body[at + 4..end].to_vec());
                at = end;
            }
        }
        (statement, values)
    }
}

/// Whether a statement asks for what the server tells of itself.
fn of_the_system(statement: &str) -> bool {
    statement.contains(" FROM system")
}

/// Which of a statement's values is the key.
fn key(statement: &str) -> usize {
    if statement.starts_with("UPDATE") {
        statement.matches('?').count() - 1
    } else {
        0
    }
}

fn prepared(id: usize, statement: &str) -> Vec<u8> {
    let variables = variables(statement);
    let by_key = statement.starts_with("INSERT") || statement.contains("WHERE y_id = ?");
    let mut body = int(PREPARED);
    body.extend([0, 4]);
    body.extend(u32::try_from(id).unwrap().to_be_bytes());
    body.extend(int(ONE_TABLE));
    body.extend(count(variables.len()));
    body.extend(int(i32::from(by_key)));
    if by_key {
        body.extend(u16::try_from(key(statement)).unwrap().to_be_bytes());
    }
    body.extend(table());
    for kind in variables {
        body.extend(short("value"));
        body.extend(kind);
    }
    body.extend(metadata(&columns(statement)));
    body
}

/// The types of a statement's variables.
fn variables(statement: &str) -> Vec<&'static [u8]> {
    let marks = statement.matches('?').count();
    let mut kinds = vec![if of_the_system(statement) { LIST } else { TEXT }; marks];
    if statement.ends_with("LIMIT ?") {
        kinds[marks - 1] = NUMBER;
    }
    kinds
}

/// The columns that a statement asks for; none where it writes.
fn columns(statement: &str) -> Vec<String> {
    let Some(rest) = statement.strip_prefix("SELECT ") else {
        return Vec::new();
    };
    let (names, _) = rest.split_once(" FROM ").unwrap();
    if names == "*" {
        let fields = (0..10).map(|field| format!("field{field}"));
        return std::iter::once("y_id".to_owned()).chain(fields).collect();
    }
    names.split(", ").map(str::to_owned).collect()
}

/// The type of a column.
fn kind(column: &str) -> &'static [u8] {
    match column {
        "host_id" => IDENTIFIER,
        "rpc_address" => ADDRESS,
        "tokens" => SET,
        "replication" => MAP,
        "durable_writes" => TRUTH,
        "position" => NUMBER,
        "field_names" | "field_types" => LIST,
        _ => TEXT,
    }
}

/// What the member and its keyspace have in a column.
fn value(column: &str) -> Vec<u8> {
    match column {
        "host_id" => vec![7; 16],
        "rpc_address" => vec![127, 0, 0, 1],
        "tokens" => [count(1), long("0")].concat(),
        "replication" => [
            count(2),
            long("class"),
            long("SimpleStrategy"),
            long("replication_factor"),
            long("1"),
        ]
        .concat(),
        "durable_writes" => vec![1],
        "keyspace_name" => b"ycsb".to_vec(),
        other => other.as_bytes().to_vec(),
    }
}

/// What the server tells of itself.
fn system_rows(statement: &str) -> Vec<u8> {
    let columns = columns(statement);
    let there = ["system.local", "system_schema.keyspaces"];
    let rows = usize::from(there.iter().any(|table| statement.contains(table)));
    let mut body = [int(ROWS), metadata(&columns), count(rows)].concat();
    for _ in 0..rows {
        for column in &columns {
            let value = value(column);
            body.extend(count(value.len()));
            body.extend(value);
        }
    }
    body
}

/// So many rows of the table, whose columns are known since the statement was prepared.
fn records(statement: &str, rows: usize) -> Vec<u8> {
    let columns = columns(statement).len();
    let mut body = [int(ROWS), int(NO_COLUMNS), count(columns), count(rows)].concat();
    for _ in 0..rows * columns {
        body.extend(count(100));
        body.extend([b'x'; 100]);
    }
    body
}

/// What is said of the columns of a result.
fn metadata(columns: &[String]) -> Vec<u8> {
    if columns.is_empty() {
        return [int(NO_COLUMNS), count(0)].concat();
    }
    let mut body = [int(ONE_TABLE), count(columns.len()), table()].concat();
    for column in columns {
        body.extend(short(column));
        body.extend(kind(column));
    }
    body
}

fn table() -> Vec<u8> {
    [short("ycsb"), short("usertable")].concat()
}

/// Which versions there are.
fn options() -> Vec<u8> {
    let one = 1_u16.to_be_bytes().to_vec();
    [one.clone(), short("CQL_VERSION"), one, short("3.4.7")].concat()
}

fn error(code: i32, message: &str) -> Vec<u8> {
    [int(code), short(message)].concat()
}

/// A frame that answers a request.
fn frame(request: &[u8], kind: u8, body: &[u8]) -> Vec<u8> {
    let head = [0x84, 0, request[2], request[3], kind];
    [&head[..], &count(body.len()), body].concat()
}

fn int(number: i32) -> Vec<u8> {
    number.to_be_bytes().to_vec()
}

fn count(number: usize) -> Vec<u8> {
    int(i32::try_from(number).unwrap())
}

/// A text with its length in two bytes.
fn short(text: &str) -> Vec<u8> {
    let length = u16::try_from(text.len()).unwrap().to_be_bytes();
    [&length[..], text.as_bytes()].concat()
}

/// A text with its length in four bytes.
fn long(text: &str) -> Vec<u8> {
    [count(text.len()), text.as_bytes().to_vec()].concat()
}

/// A number of four bytes.
fn number(bytes: &[u8]) -> usize {
    u32::from_be_bytes(bytes.try_into().unwrap()) as usize
}
