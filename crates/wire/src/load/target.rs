//! What the operations of a load go to.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the operations go to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// `cassandra`, `mongodb`, `redis`, or `fake` for a server inside the engine that answers by
    /// itself.
    pub driver: String,
    /// How the members belong together; for `cassandra`: `ring`; for `redis`: `single`, `replicas`
    /// or `cluster`; for `mongodb`: `single`, `replicas` (a replica set) or `sharded` (the addresses
    /// are routers).
    pub topology: String,
    /// `host:port` of each member as clients are told, the first being the one to begin with.
    pub addresses: Vec<String>,
    /// Driver options. For `cassandra`: `keyspace` (default `ycsb`), `table` (`usertable`),
    /// `read_consistency`, `write_consistency` (`ONE`; `QUORUM`, `LOCAL_QUORUM`, …), `connections`
    /// (to each member, 1), `coordinator` (`replica`: each request goes to a member that has the
    /// record; or `any`; `replica`), `before` (statements in CQL that the first part executes
    /// before the load), `datacenter` (whose members are asked; that of
    /// the first address), and `timestamp` (of all rows of
    /// cassandra-stress that are written, in microseconds since 1970; that of this host). For `redis`: `wait` (replicas that acknowledge
    /// each write), `shape` (`hash` as YCSB keeps records, or plain `string`, which cannot be scanned; `hash`),
    /// `read_from` (`primary` or `replica`; in the topology `replicas` those are the addresses
    /// after the first; `primary`). For `mongodb`, by the names in its connection strings: `w` (1; a
    /// number of members or `majority`), `journal` (false), `readPreference` (`primary`),
    /// `readConcernLevel` (that of the server), `replicaSet` (any), `authSource` (`admin`), and
    /// `database` (`ycsb`), `collection` (`usertable`), `upsert` (false; whether an insert may
    /// replace a record).
    pub options: BTreeMap<String, serde_json::Value>,
    /// As whom to log in; null: not at all.
    pub credentials: Option<Credentials>,
    /// How connections are encrypted; null: not at all.
    pub tls: Option<Tls>,
}

/// As whom to log in. The plan never holds the password itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Credentials {
    /// The user; null where the database has one password and no users.
    pub user: Option<String>,
    /// Where the password is.
    pub password: Secret,
}

/// Where a secret is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Secret {
    /// The path of a file that holds it, and nothing else but a line end.
    File(String),
    /// The name of an environment variable of the engine.
    Variable(String),
    /// A property of a Java property file, such as one of YCSB's.
    Property {
        /// The path of the file.
        file: String,
        /// The name of the property.
        name: String,
    },
}

/// How connections are encrypted, and what is demanded of the server's certificate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// The path of a file with the certificates (PEM) of those to trust; null: those that this host
    /// trusts.
    pub authority: Option<String>,
    /// The name that the certificate must be for; null: the host in the address, and for members
    /// that others tell of, what they tell.
    pub name: Option<String>,
    /// Whether any certificate will do.
    pub insecure: bool,
}
