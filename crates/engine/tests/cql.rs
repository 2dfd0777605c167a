//! The verb `cql`, against a server that says what a test wants it to say.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Output};

use serde_json::{Value, json};

const STARTUP: u8 = 0x01;
const QUERY: u8 = 0x07;
const ERROR: u8 = 0x00;
const READY: u8 = 0x02;
const RESULT: u8 = 0x08;

/// A server for one connection: says hello, then answers each statement with the next of
/// `answers`; after the last it falls silent.
fn server(answers: Vec<(u8, Vec<u8>)>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        expect(&mut stream, STARTUP);
        send(&mut stream, READY, &[]);
        for (kind, body) in answers {
            expect(&mut stream, QUERY);
            send(&mut stream, kind, &body);
        }
        // Until the client goes away.
        let _ = stream.read_to_end(&mut Vec::new());
    });
    address
}

fn expect(stream: &mut TcpStream, kind: u8) {
    let mut head = [0; 9];
    stream.read_exact(&mut head).unwrap();
    assert_eq!((head[0], head[4]), (4, kind));
    let length = u32::from_be_bytes(head[5..].try_into().unwrap());
    stream.read_exact(&mut vec![0; length as usize]).unwrap();
}

fn send(stream: &mut TcpStream, kind: u8, body: &[u8]) {
    let length = u32::try_from(body.len()).unwrap().to_be_bytes();
    let frame = [&[0x84, 0, 0, 0, kind], &length[..], body].concat();
    stream.write_all(&frame).unwrap();
}

fn short(text: &str) -> Vec<u8> {
    let length = u16::try_from(text.len()).unwrap().to_be_bytes();
    [&length[..], text.as_bytes()].concat()
}

/// A column's name, type and value.
type Column<'a> = (&'a str, &'a [u8], Option<&'a [u8]>);

/// The body of a result with one row.
fn row(columns: &[Column<'_>]) -> Vec<u8> {
    let number = |value: usize| i32::try_from(value).unwrap().to_be_bytes();
    let mut body = [number(2), number(1), number(columns.len())].concat();
    body.extend(short("system"));
    body.extend(short("local"));
    for (name, kind, _) in columns {
        body.extend(short(name));
        body.extend(*kind);
    }
    body.extend(number(1));
    for (_, _, value) in columns {
        body.extend(value.map_or((-1_i32).to_be_bytes(), |value| number(value.len())));
        body.extend(value.unwrap_or_default());
    }
    body
}

fn cql(address: &str, timeout: &str, statements: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dunnage-engine"))
        .args(["cql", "--address", address, "--timeout", timeout])
        .args(statements)
        .output()
        .unwrap()
}

/// The one sentence of a failure.
fn sentence(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(said.trim_end().lines().count(), 1, "{said}");
    said
}

#[test]
fn each_answer_is_a_line_with_columns_and_rows_as_json() {
    let four = 4_i32.to_be_bytes();
    let set = [&1_i32.to_be_bytes()[..], &four, b"rack"].concat();
    let map = [
        &1_i32.to_be_bytes()[..],
        &four,
        b"size",
        &four,
        &7_i32.to_be_bytes(),
    ]
    .concat();
    let answers = vec![
        (
            RESULT,
            row(&[
                ("text", &[0, 0x0D], Some(b"ring \"one\"")),
                ("int", &[0, 0x09], Some(&(-5_i32).to_be_bytes())),
                ("bigint", &[0, 0x02], Some(&i64::MAX.to_be_bytes())),
                ("double", &[0, 0x07], Some(&0.25_f64.to_be_bytes())),
                ("nan", &[0, 0x07], Some(&f64::NAN.to_be_bytes())),
                ("boolean", &[0, 0x04], Some(&[1])),
                ("blob", &[0, 0x03], Some(&[0, 255])),
                ("inet", &[0, 0x10], Some(&[10, 0, 0, 1])),
                ("uuid", &[0, 0x0C], Some(&[0x11; 16])),
                (
                    "timestamp",
                    &[0, 0x0B],
                    Some(&1_500_000_000_123_i64.to_be_bytes()),
                ),
                ("date", &[0, 0x11], Some(&(1_u32 << 31).to_be_bytes())),
                ("set", &[0, 0x22, 0, 0x0D], Some(&set)),
                ("map", &[0, 0x21, 0, 0x0D, 0, 0x09], Some(&map)),
                ("null", &[0, 0x0D], None),
            ]),
        ),
        (RESULT, 1_i32.to_be_bytes().to_vec()),
    ];
    let output = cql(&server(answers).to_string(), "10", &["SELECT", "INSERT"]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let lines: Vec<Value> = output
        .stdout
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(
        lines[0]["rows"],
        json!([[
            "ring \"one\"", -5, i64::MAX, 0.25, "NaN", true, "0x00ff", "10.0.0.1",
            "11111111-1111-1111-1111-111111111111", "2017-07-14T02:40:00.123Z", "1970-01-01",
            ["rack"], {"size": 7}, null
        ]])
    );
    assert_eq!(lines[0]["columns"][0], "text");
    assert_eq!(lines[1], json!({"columns": [], "rows": []}));
}

#[test]
fn an_error_of_the_server_is_told_in_its_words_and_nothing_is_asked_after_it() {
    let mut body = 0x2200_i32.to_be_bytes().to_vec();
    body.extend(short("unconfigured table nowhere"));
    let address = server(vec![(ERROR, body)]).to_string();
    let output = cql(&address, "10", &["SELECT * FROM nowhere", "SELECT"]);
    assert_eq!(
        sentence(&output),
        format!("dunnage-engine: `{address}`: unconfigured table nowhere\n")
    );
    assert!(output.stdout.is_empty());
}

#[test]
fn a_server_that_says_nothing_is_not_waited_for() {
    let address = server(Vec::new()).to_string();
    let said = sentence(&cql(&address, "0.2", &["SELECT"]));
    assert!(said.contains("no answer within 0.2 s"), "{said}");
}

#[test]
fn nobody_at_the_address_is_told_with_the_address() {
    let said = sentence(&cql("127.0.0.1:1", "10", &["SELECT"]));
    assert!(said.contains("`127.0.0.1:1`: Connection refused"), "{said}");
}

#[test]
fn a_server_that_wants_a_password_is_told_so() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        expect(&mut stream, STARTUP);
        send(&mut stream, 0x03, &short("PasswordAuthenticator"));
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let said = sentence(&cql(&address, "10", &["SELECT"]));
    assert!(said.contains("the server asks for a password"), "{said}");
}
