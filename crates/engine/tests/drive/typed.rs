//! What is typed, and the plan that it makes.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::{Scratch, drive, engine, plan, well};

#[test]
fn a_seed_is_another_one_each_time_unless_it_is_typed() {
    let words = ["fake://", "--workload", "a"];
    assert_ne!(plan(&words)["seed"], plan(&words)["seed"]);
}

#[test]
fn the_built_in_workloads_are_files_that_anybody_can_read() {
    for letter in ["a", "b", "c", "d", "e", "f"] {
        let file = format!("{}/workloads/workload{letter}", env!("CARGO_MANIFEST_DIR"));
        let seed = ["--seed", "1"];
        let built_in = plan(&[&["fake://", "--workload", letter][..], &seed].concat());
        let of_file = plan(&[&["fake://", "-P", &file][..], &seed].concat());
        assert_eq!(built_in, of_file, "{letter}");
        assert_eq!(built_in["workload"]["records"], 1000);
        assert_eq!(built_in["operations"], 1000);
    }
}

#[test]
fn what_is_wrong_is_one_sentence_and_nothing_is_made() {
    let scratch = Scratch::new();
    let file = scratch.file("mine", "recordcount=1000\nrecordcout=1000\n");
    for (code, words, what) in [
        (
            2,
            vec!["fake://", "-P", &file],
            "`mine`, line 2) (did you mean `recordcount`?)",
        ),
        (
            2,
            vec!["redis://me:s3cret@h", "--workload", "a"],
            "the address has a password",
        ),
        (
            2,
            vec!["redis://h", "-p", "redis.password=s3cret"],
            "`-p redis.password=` has a password",
        ),
        (
            2,
            vec!["redis://h", "--password", "s3cret"],
            "`--password` has a password",
        ),
        (2, vec!["fake://", "-P", "workloada"], "--workload a"),
        (2, vec!["fake://"], "type --time 30s"),
        (
            2,
            vec!["redis://h?pass=s3cret", "--workload", "a"],
            "the option `pass` of the address has a password",
        ),
        (
            2,
            vec!["redis://h?colour=blue", "--workload", "a", "--dry-run"],
            "has no option `colour`; there are `read_from`, `shape`, `wait`",
        ),
        (
            2,
            vec!["fake://?colour=blue", "--workload", "a"],
            "has no option `colour`",
        ),
        (
            1,
            vec![
                "redis://127.0.0.1:1",
                "--workload",
                "a",
                "--timeout",
                "200ms",
            ],
            "no connection to `127.0.0.1:1` within 5 s",
        ),
    ] {
        let output = drive(&scratch.0, &words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let told = said.replace(&format!("{}/", scratch.0.display()), "");
        assert_eq!(output.status.code(), Some(code), "{words:?}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(told.contains(what), "{told}");
        assert!(!said.contains("s3cret"), "{said}");
        let left: Vec<_> = std::fs::read_dir(&scratch.0).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }
}

#[test]
fn a_password_is_named_by_its_place_in_the_plan() {
    let scratch = Scratch::new();
    let words = ["cassandra://me@h", "--workload", "a", "--dry-run"];
    let mut command = engine(&scratch.0);
    command
        .arg("drive")
        .args(words)
        .env("DUNNAGE_PASSWORD", "s3cret");
    let output = command.output().unwrap();
    well(&output);
    let plan: Value = serde_json::from_slice(&output.stdout).unwrap();
    let expected = json!({"user": "me", "password": {"variable": "DUNNAGE_PASSWORD"}});
    assert_eq!(plan["target"]["credentials"], expected);
    scratch.file("password", "s3cret\n");
    scratch.file("properties", "cassandra.password=s3cret\n");
    for (place, expected) in [
        (
            "--password-file=password",
            json!({"file": scratch.0.join("password")}),
        ),
        (
            "-Pproperties",
            json!({"property": {
                "file": scratch.0.join("properties"), "name": "cassandra.password",
            }}),
        ),
    ] {
        let output = drive(&scratch.0, &[&words[..], &[place]].concat());
        well(&output);
        let plan: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(plan["target"]["credentials"]["password"], expected);
        let all = [output.stdout, output.stderr].concat();
        assert!(!String::from_utf8_lossy(&all).contains("s3cret"));
    }
    let missing = drive(&scratch.0, &words);
    let said = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(said.contains("no password for the user `me`"), "{said}");
}

#[test]
fn every_command_of_the_guide_makes_a_plan() {
    let scratch = Scratch::new();
    scratch.file("my.properties", "recordcount=1000\n");
    scratch.file("password", "s3cret\n");
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides/drive.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_dunnage-engine"));
    let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
    let mut found = 0;
    for line in guide.lines() {
        let begins = ["dunnage-engine drive ", "DUNNAGE_PASSWORD="];
        if !begins.iter().any(|begin| line.starts_with(begin)) {
            continue;
        }
        let mut shell = Command::new("sh");
        shell.env_remove("DUNNAGE_PASSWORD").env("PATH", &path);
        // All that follows `--stress` belongs to it.
        let dry = line.replacen(" drive ", " drive --dry-run ", 1);
        let output = shell.current_dir(&scratch.0).args(["-c", &dry]).output();
        let said = well(&output.unwrap());
        assert_eq!(said, "", "{line}");
        found += 1;
    }
    assert!(found > 10, "{found}");
}

#[test]
fn help_shows_each_word_and_examples() {
    let output = drive(Path::new("/"), &["--help"]);
    well(&output);
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/drive.txt");
    let expected = std::fs::read_to_string(&golden).unwrap();
    let found = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        found,
        expected,
        "type: dunnage-engine drive --help > {}",
        golden.display()
    );
}
