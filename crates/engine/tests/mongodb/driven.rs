//! The engine, driven from outside.

use std::net::SocketAddr;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::scratch::Scratch;

/// The program.
pub const ENGINE: &str = env!("CARGO_BIN_EXE_dunnage-engine");

/// Records of every load.
pub const RECORDS: u64 = 50;

impl Scratch {
    /// Make a load.
    pub fn load(&self, plan: &Value) -> Output {
        self.load_by(Command::new(ENGINE), plan)
    }

    /// Make a load by a command to which only arguments of the engine are added.
    pub fn load_by(&self, mut command: Command, plan: &Value) -> Output {
        let path = self.0.join("plan.json");
        std::fs::write(&path, plan.to_string()).unwrap();
        command.args(["load", "--plan"]).arg(path);
        command.arg("--out").arg(&self.0).output().unwrap()
    }

    /// What came of a load that is typed after `drive`, and ends well.
    pub fn driven(&self, words: &[&str]) -> Value {
        let out = self.0.join("driven");
        // One load after another into the same directory is refused.
        let _ = std::fs::remove_dir_all(&out);
        let output = Command::new(ENGINE)
            .env_remove("DUNNAGE_PASSWORD")
            .arg("drive")
            .args(words)
            .arg("--out")
            .arg(&out)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        serde_json::from_slice(&std::fs::read(out.join("result.json")).unwrap()).unwrap()
    }

    /// What came of a load that ends well.
    pub fn result(&self, plan: &Value) -> Value {
        let output = self.load(plan);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        serde_json::from_slice(&std::fs::read(self.0.join("result.json")).unwrap()).unwrap()
    }

    /// What is said of a load that does not.
    pub fn refused(&self, plan: &Value) -> String {
        let output = self.load(plan);
        assert_eq!(output.status.code(), Some(1));
        assert!(!self.0.join("result.json").exists());
        String::from_utf8(output.stderr).unwrap()
    }
}

/// What a load goes to.
pub fn target(topology: &str, addresses: &[SocketAddr], options: &Value) -> Value {
    json!({
        "driver": "mongodb", "topology": topology, "options": options,
        "addresses": addresses.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "credentials": null, "tls": null,
    })
}

/// A load of all records, one after another.
pub fn loading(target: &Value) -> Value {
    json!({
        "version": 2, "phase": "load",
        "workload": {
            "kind": "ycsb", "records": RECORDS, "insert_start": 0, "insert_count": null,
            "mix": {"read": 1.0, "update": 0.0, "insert": 0.0, "scan": 0.0, "read_modify_write": 0.0},
            "requests": {"kind": "uniform"}, "fields": 10, "field_prefix": "field",
            "field_lengths": {"kind": "constant", "length": 100}, "read_fields": "all",
            "write_all_fields": false,
            "scan_lengths": {"kind": "uniform", "shortest": 5, "longest": 5},
            "integrity": true, "hashed_keys": true, "zero_padding": 1
        },
        "target": target,
        "level": {"kind": "threads", "threads": 1}, "policy": "queue",
        "part": {"index": 0, "of": 1}, "start": null, "warmup": 0.0, "duration": null,
        "operations": null, "interval": 0.1, "timeout": 5.0, "seed": 1
    })
}

/// A run of so many operations, in equal shares of the kinds that are named.
pub fn running(target: &Value, kinds: &[&str], operations: u64) -> Value {
    let mut plan = loading(target);
    plan["phase"] = json!("run");
    plan["operations"] = json!(operations);
    plan["workload"]["mix"]["read"] = json!(0.0);
    for kind in kinds {
        plan["workload"]["mix"][kind] = json!(1.0);
    }
    plan
}

/// The sum of counts by name.
pub fn sum(counts: &Value) -> u64 {
    let counts = counts.as_object().unwrap().values();
    counts.map(|count| count.as_u64().unwrap()).sum()
}
