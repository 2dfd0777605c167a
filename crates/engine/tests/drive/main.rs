//! The verb `drive`, against the server inside the engine and a small Redis.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use scratch::Scratch;

mod driven;
mod ended;
mod printed;
mod redis;
#[path = "../scratch/mod.rs"]
mod scratch;
mod searched;
mod stress;
mod together;
mod typed;

impl Scratch {
    /// A file in it.
    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }
}

/// The engine, to be run in `directory`, without a password in its environment.
fn engine(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dunnage-engine"));
    command
        .current_dir(directory)
        .env_remove("DUNNAGE_PASSWORD");
    command
}

fn drive(directory: &Path, words: &[&str]) -> Output {
    let mut command = engine(directory);
    command.arg("drive").args(words).output().unwrap()
}

/// What was told, once it went well.
fn well(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    said
}

fn read(directory: &Path, name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(directory.join(name)).unwrap()).unwrap()
}

/// The plan that some words make.
fn plan(words: &[&str]) -> Value {
    let output = drive(Path::new("/"), &[words, &["--dry-run"]].concat());
    well(&output);
    serde_json::from_slice(&output.stdout).unwrap()
}

fn sum(counts: &Value) -> u64 {
    let counts = counts.as_object().unwrap().values();
    counts.map(|count| count.as_u64().unwrap()).sum()
}
