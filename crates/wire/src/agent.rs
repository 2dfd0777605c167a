//! The conversation with an agent: messages over one stream, for a host that is reached by a
//! channel.
//!
//! A message is two lengths (32 bits, big-endian), then a header of JSON, then bytes: what a file
//! holds, or what a program is given or wrote. An [`Ask`] goes to the agent, a [`Said`] comes back.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of the conversation. 1: first.
pub const AGENT_VERSION: u32 = 1;

/// A message to an agent, which answers each by one with the same number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ask {
    /// From 1; no two of one stream that are not answered yet have the same.
    pub id: u64,
    /// What is asked for.
    #[serde(flatten)]
    pub what: Wanted,
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "ask")]
pub enum Wanted {
    /// The first message of a stream: from now on it is told of ends.
    Hello {
        /// Always [`AGENT_VERSION`].
        version: u32,
    },
    /// Run a program to its end. The bytes are its standard input.
    Run {
        /// The program and its arguments.
        argv: Vec<String>,
        /// Control group for it, below the agent's own; where the agent divides that.
        unit: String,
        /// After so many it is killed.
        seconds: f64,
    },
    /// Start a program.
    Start {
        /// The program and its arguments.
        argv: Vec<String>,
        /// As in `Run`.
        unit: String,
        /// Variables besides those that every program has.
        env: BTreeMap<String, String>,
        /// File to append all output to.
        log: String,
    },
    /// Send a signal to a process that was started; nothing happens if it has ended.
    Signal {
        /// Its number.
        process: u64,
        /// Such as `TERM`.
        name: String,
    },
    /// Write a file, making its directories. The bytes are its content.
    Put {
        /// Its path.
        path: String,
        /// What may be done with it, as `chmod` has it.
        mode: u32,
    },
    /// Read a file.
    Get {
        /// Its path.
        path: String,
    },
    /// Remove a file, or a directory with all in it, if it is there.
    Remove {
        /// Its path.
        path: String,
    },
    /// Tell the time, and thereby that somebody still asks.
    Time,
    /// End: kill what was started and remove the agent's directory.
    End,
}

/// A message from an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Said {
    /// The number of what it answers; 0 where nobody asked.
    pub id: u64,
    /// The answer.
    #[serde(flatten)]
    pub what: Told,
}

/// A process that was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Known {
    /// Its number.
    pub process: u64,
    /// Its exit code, below zero for a signal; none while it lives.
    pub code: Option<i32>,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "told")]
pub enum Told {
    /// To `Hello`.
    Hello {
        /// Always [`AGENT_VERSION`].
        version: u32,
        /// Every process that was started.
        processes: Vec<Known>,
    },
    /// To `Run`. The bytes are what it wrote to standard output, then to standard error.
    Ran {
        /// Exit code, below zero for a signal; 127 where it could not be started.
        code: i32,
        /// How many of the bytes are of standard output.
        stdout: u64,
    },
    /// To `Run`: its time was over, and it was killed.
    Late,
    /// To `Start`.
    Started {
        /// Its number: of no other process of this agent.
        process: u64,
        /// Its process id as the host sees it; 0 where it could not be started.
        pid: u32,
    },
    /// Nobody asked: a process that was started has ended.
    Ended {
        /// Its number.
        process: u64,
        /// Exit code, below zero for a signal.
        code: i32,
    },
    /// It was done.
    Done,
    /// To `Get`. The bytes are what the file holds.
    Content,
    /// To `Get`: there is no such file.
    Missing,
    /// To `Time`.
    Time {
        /// Unix time in seconds.
        time: f64,
    },
    /// It could not be done.
    Failed {
        /// Why.
        why: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_flat_object() {
        let ask = Ask {
            id: 7,
            what: Wanted::Signal {
                process: 3,
                name: "TERM".into(),
            },
        };
        let text = serde_json::to_string(&ask).unwrap();
        assert_eq!(text, r#"{"id":7,"ask":"signal","process":3,"name":"TERM"}"#);
        assert_eq!(serde_json::from_str::<Ask>(&text).unwrap(), ask);
    }

    #[test]
    fn a_process_that_lives_has_no_code() {
        let text = r#"{"id":1,"told":"hello","version":1,"processes":[{"process":4,"code":null}]}"#;
        let said: Said = serde_json::from_str(text).unwrap();
        let known = Known {
            process: 4,
            code: None,
        };
        let what = Told::Hello {
            version: AGENT_VERSION,
            processes: vec![known],
        };
        assert_eq!(said.what, what);
    }
}
