//! What the operations of a load are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the operations of a load are. Defaults stand where plans are made; here everything is
/// explicit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Workload {
    /// The core workload of YCSB.
    Ycsb(Ycsb),
    /// The workload of cassandra-stress 3.11.2.
    Stress(Stress),
}

/// The core workload of YCSB 0.17.0, by the names of its properties.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ycsb {
    /// `recordcount`. Key numbers do not wrap beyond 2³¹ − 1, as YCSB's do.
    pub records: u64,
    /// `insertstart`, 0 in the core workloads: number of the first key that a load phase inserts,
    /// and the lowest one that requests ask for unless they are `latest` or `exponential`.
    pub insert_start: u64,
    /// `insertcount`: how many keys from there; null: all up to `records`.
    pub insert_count: Option<u64>,
    /// Weights of the operations.
    pub mix: Mix,
    /// `requestdistribution`: which keys are asked for.
    pub requests: Requests,
    /// `fieldcount`, 10 in the core workloads.
    pub fields: u32,
    /// `fieldnameprefix`, `field` in the core workloads; a number from 0 follows it.
    pub field_prefix: String,
    /// `fieldlengthdistribution`, in bytes; 100 for each field in the core workloads.
    pub field_lengths: FieldLengths,
    /// `readallfields` and `readallfieldsbyname`.
    pub read_fields: ReadFields,
    /// `writeallfields`: of updates; inserts always write all.
    pub write_all_fields: bool,
    /// `scanlengthdistribution`, in records.
    pub scan_lengths: ScanLengths,
    /// `dataintegrity`: values follow from key and field, and each one that is read is compared; a
    /// read that finds another value is an error of kind `mismatch`. Scans are not compared.
    pub integrity: bool,
    /// `insertorder=hashed` when true (the default of YCSB), else `ordered`.
    pub hashed_keys: bool,
    /// `zeropadding`, 1 in the core workloads.
    pub zero_padding: u32,
}

/// Weights of operation types; only their ratios matter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mix {
    /// `readproportion`.
    pub read: f64,
    /// `updateproportion`.
    pub update: f64,
    /// `insertproportion`.
    pub insert: f64,
    /// `scanproportion`.
    pub scan: f64,
    /// `readmodifywriteproportion`.
    pub read_modify_write: f64,
}

/// YCSB's `requestdistribution`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum Requests {
    /// All keys alike.
    Uniform,
    /// One key after another, over and over.
    Sequential,
    /// Scrambled Zipfian with YCSB's constant 0.99.
    Zipfian,
    /// Skewed to the latest inserted.
    Latest,
    /// Many requests for few keys, the first ones.
    Hotspot {
        /// `hotspotdatafraction`, 0.2 in YCSB: share of the keys that are hot.
        data: f64,
        /// `hotspotopnfraction`, 0.8 in YCSB: share of the requests that ask for them.
        operations: f64,
    },
    /// Exponentially fewer the longer ago a key was inserted.
    Exponential {
        /// `exponential.percentile`, 95 in YCSB: percent of the requests within `share`.
        percentile: f64,
        /// `exponential.frac`, 0.8571428571 in YCSB: share of the keys.
        share: f64,
    },
}

/// YCSB's `fieldlengthdistribution`: one draw for each field that is written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum FieldLengths {
    /// All alike.
    Constant {
        /// `fieldlength`.
        length: u32,
    },
    /// All lengths alike often.
    Uniform {
        /// `minfieldlength`.
        shortest: u32,
        /// `fieldlength`.
        longest: u32,
    },
    /// Short ones more often.
    Zipfian {
        /// `minfieldlength`.
        shortest: u32,
        /// `fieldlength`.
        longest: u32,
    },
    /// What the file `fieldlengthhistogram` says.
    Histogram {
        /// `BlockSize`: what the lengths are multiples of.
        block: u32,
        /// How often, by bucket from 0.
        counts: Vec<u64>,
    },
}

/// Which fields a read asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReadFields {
    /// `readallfields=true`.
    All,
    /// `readallfieldsbyname=true` besides: the names of all fields are sent.
    AllByName,
    /// `readallfields=false`.
    One,
}

/// YCSB's `scanlengthdistribution`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum ScanLengths {
    /// All lengths alike often.
    Uniform {
        /// `minscanlength`, 1 in the core workloads.
        shortest: u32,
        /// `maxscanlength`, 100 in the core workload E.
        longest: u32,
    },
    /// Short ones more often.
    Zipfian {
        /// `minscanlength`.
        shortest: u32,
        /// `maxscanlength`.
        longest: u32,
    },
}

/// The workload of cassandra-stress. Distributions are texts in its words, such as
/// `gaussian(1..1000)`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stress {
    /// Weights of the commands: `ratio(…)`, or one of them alone.
    pub mix: StressMix,
    /// `clustering=`, `gaussian(1..10)` in cassandra-stress: a distribution of how many operations
    /// of one kind each virtual client makes in a row.
    pub clustering: String,
    /// `-pop`: which rows.
    pub population: Population,
    /// Names of the columns, in the order of their bytes; `C0` to `C4` in cassandra-stress.
    pub columns: Vec<String>,
    /// `-col size=`, `fixed(34)` in cassandra-stress: a distribution of bytes in a column.
    pub size: String,
    /// `keysize=`, 10 in cassandra-stress: bytes in a key.
    pub key_size: u32,
    /// `add=`, `fixed(1)` in cassandra-stress: a distribution of what a counter is raised by.
    pub add: String,
    /// `-col slice`: reads ask for all columns without their names.
    pub slice: bool,
    /// Whether each row that is read is compared with what was written (no `skip-read-validation`);
    /// one that differs is an error of kind `mismatch`.
    pub validate: bool,
}

/// Weights of the commands of cassandra-stress; only their ratios matter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StressMix {
    /// `write`.
    pub write: f64,
    /// `read`.
    pub read: f64,
    /// `counter_write`.
    pub counter_write: f64,
    /// `counter_read`.
    pub counter_read: f64,
}

/// Which seeds, each of which is a row, operations are for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum Population {
    /// `seq=`: one after another, all clients together.
    Sequence {
        /// The first one.
        first: u64,
        /// The last one.
        last: u64,
        /// Whether the first one follows the last one; else the load ends there (`no-wrap`).
        wrap: bool,
        /// `read-lookback=`: a distribution of how many writes ago a row that is read was written.
        lookback: Option<String>,
    },
    /// `dist=`: drawn.
    Drawn {
        /// From which distribution.
        distribution: String,
    },
}
