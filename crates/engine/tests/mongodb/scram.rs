//! Logging in: a server that knows a user's password by SCRAM-SHA-256 (RFC 5802).

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::Mutex;

use data_encoding::BASE64;
use ring::{digest, hmac, pbkdf2};
use serde_json::{Value, json};

use crate::driven::{RECORDS, loading, sum, target};
use crate::scratch::Scratch;
use crate::server::{Command, Reply, Store, listener, serve};

const SALT: &[u8] = b"salt of the server";
const ROUNDS: u32 = 4096;
const SECRET: &str = "pencil-4711";

/// Where a connection is in its conversation.
#[derive(Default, Clone)]
struct State {
    messages: String,
    done: bool,
}

/// A server that lets nobody in who does not know `password`. It ends the conversation by an empty
/// exchange, as servers do that do not know how to skip it.
fn guarded(password: &'static str) -> SocketAddr {
    let (listener, address) = listener();
    let store = Store::default();
    let states: Mutex<BTreeMap<u32, State>> = Mutex::default();
    serve(listener, move |command| {
        let mut states = states.lock().unwrap();
        let state = states.entry(command.connection).or_default();
        match command.name.as_str() {
            "hello" => store.answer(command),
            "saslStart" => Reply::Document(begin(command, state)),
            "saslContinue" => Reply::Document(go_on(command, state, password)),
            _ if state.done => store.answer(command),
            _ => Reply::Document(refusal(13, "command requires authentication")),
        }
    });
    address
}

fn refusal(code: i32, message: &str) -> Value {
    json!({"ok": 0.0, "code": code, "errmsg": message})
}

fn step(payload: &str, done: bool) -> Value {
    json!({"conversationId": 7, "payload": {"$binary": payload}, "done": done, "ok": 1.0})
}

fn begin(command: &Command, state: &mut State) -> Value {
    let body = &command.body;
    assert_eq!(
        (&body["mechanism"], &body["$db"]),
        (&json!("SCRAM-SHA-256"), &json!("people"))
    );
    let bare = body["payload"]["$binary"].as_str().unwrap();
    let bare = bare.strip_prefix("n,,").unwrap();
    let nonce = bare.strip_prefix("n=some=2Cone,r=").unwrap();
    let first = format!("r={nonce}+server,s={},i={ROUNDS}", BASE64.encode(SALT));
    state.messages = format!("{bare},{first}");
    step(&first, false)
}

fn go_on(command: &Command, state: &mut State, password: &str) -> Value {
    assert_eq!(command.body["conversationId"], 7);
    let said = command.body["payload"]["$binary"].as_str().unwrap();
    if said.is_empty() {
        state.done = true;
        return step("", true);
    }
    let (without, proof) = said.split_once(",p=").unwrap();
    let all = format!("{},{without}", state.messages);
    let mut salted = [0; 32];
    let rounds = NonZeroU32::new(ROUNDS).unwrap();
    let algorithm = pbkdf2::PBKDF2_HMAC_SHA256;
    pbkdf2::derive(algorithm, rounds, SALT, password.as_bytes(), &mut salted);
    let sign = |key: &[u8], text: &[u8]| {
        let key = hmac::Key::new(hmac::HMAC_SHA256, key);
        hmac::sign(&key, text).as_ref().to_vec()
    };
    let stored = digest::digest(&digest::SHA256, &sign(&salted, b"Client Key"));
    let signature = sign(stored.as_ref(), all.as_bytes());
    // What the client signs with follows from its proof; only its hash is known here.
    let proof = BASE64.decode(proof.as_bytes()).unwrap();
    let key: Vec<u8> = proof.iter().zip(&signature).map(|(a, b)| a ^ b).collect();
    if digest::digest(&digest::SHA256, &key).as_ref() != stored.as_ref() {
        return refusal(18, "Authentication failed.");
    }
    let answer = sign(&sign(&salted, b"Server Key"), all.as_bytes());
    step(&format!("v={}", BASE64.encode(&answer)), false)
}

/// A plan with a user whose password is in a file beside it.
fn plan(scratch: &Scratch, address: SocketAddr, password: &str) -> Value {
    let path = scratch.0.join("password");
    std::fs::write(&path, format!("{password}\n")).unwrap();
    let mut target = target("single", &[address], &json!({"authSource": "people"}));
    target["credentials"] = json!({"user": "some,one", "password": {"file": path}});
    let mut plan = loading(&target);
    plan["level"]["threads"] = json!(4);
    plan["timeout"] = json!(2.0);
    plan
}

#[test]
fn every_connection_logs_in_and_the_password_is_told_nowhere() {
    let address = guarded(SECRET);
    let scratch = Scratch::new();
    let plan = plan(&scratch, address, SECRET);
    let output = scratch.load(&plan);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    std::fs::remove_file(scratch.0.join("password")).unwrap();
    let result = std::fs::read(scratch.0.join("result.json")).unwrap();
    let result: Value = serde_json::from_slice(&result).unwrap();
    assert_eq!(sum(&result["operations"]), RECORDS);
    assert_eq!(result["errors"], json!({}));
    let mut artefacts = vec![output.stdout, output.stderr];
    for file in std::fs::read_dir(&scratch.0).unwrap() {
        artefacts.push(std::fs::read(file.unwrap().path()).unwrap());
    }
    assert_eq!(artefacts.len(), 5, "two streams, plan, result and log");
    for artefact in artefacts {
        let text = String::from_utf8_lossy(&artefact);
        assert!(!text.contains(SECRET), "{text}");
    }
}

#[test]
fn a_password_in_a_file_or_a_property_is_in_nothing_that_a_typed_load_leaves_or_prints() {
    for form in ["text", "json", "ycsb"] {
        let address = guarded(SECRET);
        let scratch = Scratch::new();
        let file = |name: &str, text: String| {
            let path = scratch.0.join(name);
            std::fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        let password = file("password", format!("{SECRET}\n"));
        // So YCSB's binding is told of a password; the place in the address goes first.
        let url = format!("mongodb://some:{SECRET}@nowhere/ycsb");
        let properties = format!("mongodb.url={url}\nrecordcount={RECORDS}\n");
        let properties = file("ycsb.properties", properties);
        let out = scratch.0.join("run");
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_dunnage-engine"))
            .env_remove("DUNNAGE_PASSWORD")
            .args([
                "drive",
                &format!("mongodb://{address}?authSource=people"),
                "load",
            ])
            .args([
                "--user",
                "some,one",
                "--password-file",
                &password,
                "-P",
                &properties,
            ])
            .args(["--format", form, "--out"])
            .arg(&out)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        assert!(said.contains("mongodb.url"), "{said}");
        let mut artefacts = vec![output.stdout, output.stderr];
        for file in std::fs::read_dir(&out).unwrap() {
            artefacts.push(std::fs::read(file.unwrap().path()).unwrap());
        }
        assert_eq!(
            artefacts.len(),
            6,
            "two streams, plan, result, summary and log"
        );
        for artefact in artefacts {
            let text = String::from_utf8_lossy(&artefact);
            assert!(!text.contains(SECRET), "{form}: {text}");
        }
    }
}

#[test]
fn a_wrong_password_ends_the_load_with_what_the_server_said() {
    let scratch = Scratch::new();
    let said = scratch.refused(&plan(&scratch, guarded(SECRET), "pencil-4712"));
    assert!(said.contains("Authentication failed."), "{said}");
    assert!(!said.contains("pencil"), "{said}");
}

#[test]
fn who_does_not_log_in_is_told_by_the_server() {
    let scratch = Scratch::new();
    let mut plan = plan(&scratch, guarded(SECRET), SECRET);
    plan["target"]["credentials"] = json!(null);
    let loaded = scratch.result(&plan);
    assert_eq!(loaded["errors"], json!({"insert": {"server": RECORDS}}));
}

#[test]
fn a_server_that_does_not_know_the_password_itself_is_not_believed() {
    let (listener, address) = listener();
    serve(listener, |command| {
        let mut state = State::default();
        match command.name.as_str() {
            "saslStart" => Reply::Document(begin(command, &mut state)),
            "saslContinue" => Reply::Document(step("v=AAAA", true)),
            _ => Store::default().answer(command),
        }
    });
    let scratch = Scratch::new();
    let said = scratch.refused(&plan(&scratch, address, SECRET));
    assert!(
        said.contains("does not show that it knows the password"),
        "{said}"
    );
}
