//! Names of the properties that YCSB's client, core workload and bindings read.

use std::collections::BTreeMap;

use super::given::Given;

/// What a property does here.
#[derive(Clone, Copy)]
enum Effect {
    /// What it does in YCSB.
    Same,
    /// The same if this driver is in use, else nothing.
    Of(&'static str),
    /// Nothing; why stands after `no effect:`.
    Nothing(&'static str),
}

use Effect::{Nothing, Of, Same};

const KEPT: &str = "latencies of both kinds are always kept, as histograms of intervals";
const WRITTEN: &str = "what came of it is written into the directory of `--out`";
const REPEATED: &str = "no insert is repeated, and one that fails does not end the load";
const PLACE: &str = "the database is the one of the address";
const TRACED: &str = "nothing is traced";
const ELSEWHERE: &str = "it belongs to another database";
const POOL: &str = "each thread of the load has a connection of its own";

const NAMES: [(&str, Effect); 87] = [
    ("workload", Same),
    ("recordcount", Same),
    ("operationcount", Same),
    ("insertstart", Same),
    ("insertcount", Same),
    ("threadcount", Same),
    ("target", Same),
    ("maxexecutiontime", Same),
    ("dotransactions", Same),
    ("table", Same),
    ("fieldcount", Same),
    ("fieldnameprefix", Same),
    ("fieldlengthdistribution", Same),
    ("fieldlength", Same),
    ("minfieldlength", Same),
    ("fieldlengthhistogram", Same),
    ("readallfields", Same),
    ("readallfieldsbyname", Same),
    ("writeallfields", Same),
    ("dataintegrity", Same),
    ("readproportion", Same),
    ("updateproportion", Same),
    ("insertproportion", Same),
    ("scanproportion", Same),
    ("readmodifywriteproportion", Same),
    ("requestdistribution", Same),
    ("zeropadding", Same),
    ("insertorder", Same),
    ("minscanlength", Same),
    ("maxscanlength", Same),
    ("scanlengthdistribution", Same),
    ("hotspotdatafraction", Same),
    ("hotspotopnfraction", Same),
    ("exponential.percentile", Same),
    ("exponential.frac", Same),
    ("core_workload_insertion_retry_limit", Nothing(REPEATED)),
    ("core_workload_insertion_retry_interval", Nothing(REPEATED)),
    (
        "core_workload_insertion_keep_going_on_error",
        Nothing(REPEATED),
    ),
    ("redis.cluster", Of("redis")),
    ("redis.password", Of("redis")),
    ("redis.timeout", Of("redis")),
    ("redis.host", Nothing(PLACE)),
    ("redis.port", Nothing(PLACE)),
    ("cassandra.keyspace", Of("cassandra")),
    ("cassandra.username", Of("cassandra")),
    ("cassandra.password", Of("cassandra")),
    ("cassandra.readconsistencylevel", Of("cassandra")),
    ("cassandra.writeconsistencylevel", Of("cassandra")),
    ("cassandra.readtimeoutmillis", Of("cassandra")),
    ("cassandra.useSSL", Of("cassandra")),
    (
        "cassandra.connecttimeoutmillis",
        Nothing("connecting may take as long as `--timeout` says, and 5 s at least"),
    ),
    (
        "cassandra.maxconnections",
        Nothing("connections to each member are told by the address: ?connections=N"),
    ),
    (
        "cassandra.coreconnections",
        Nothing("connections to each member are told by the address: ?connections=N"),
    ),
    ("cassandra.tracing", Nothing(TRACED)),
    ("hosts", Nothing(PLACE)),
    ("port", Nothing(PLACE)),
    ("mongodb.writeConcern", Of("mongodb")),
    ("mongodb.readPreference", Of("mongodb")),
    ("mongodb.upsert", Of("mongodb")),
    ("batchsize", Of("mongodb")),
    ("mongodb.url", Nothing(PLACE)),
    ("mongodb.maxconnections", Nothing(POOL)),
    (
        "mongodb.threadsAllowedToBlockForConnectionMultiplier",
        Nothing(POOL),
    ),
    ("db", Nothing(PLACE)),
    ("exporter", Nothing(WRITTEN)),
    ("exportfile", Nothing(WRITTEN)),
    ("label", Nothing(WRITTEN)),
    ("status", Nothing(WRITTEN)),
    ("status.interval", Nothing(WRITTEN)),
    ("spin.sleep", Nothing("no thread waits by spinning")),
    ("measurementtype", Nothing(KEPT)),
    ("measurement.interval", Nothing(KEPT)),
    ("measurement.histogram.verbose", Nothing(KEPT)),
    ("measurement.raw.output_file", Nothing(KEPT)),
    ("measurement.raw.no_summary", Nothing(KEPT)),
    ("measurement.trackjvm", Nothing("there is no JVM here")),
    ("hdrhistogram.percentiles", Nothing(KEPT)),
    ("hdrhistogram.fileoutput", Nothing(KEPT)),
    ("hdrhistogram.output.path", Nothing(KEPT)),
    ("histogram.buckets", Nothing(KEPT)),
    ("timeseries.granularity", Nothing(KEPT)),
    ("reportlatencyforeacherror", Nothing(KEPT)),
    ("latencytrackederrors", Nothing(KEPT)),
    ("columnfamily", Nothing(ELSEWHERE)),
    ("maxscanrate", Nothing(ELSEWHERE)),
    ("scanoptimelimit", Nothing(ELSEWHERE)),
    ("discardscannedrecord", Nothing(ELSEWHERE)),
];

/// How families of names begin.
const FAMILIES: [(&str, Effect); 2] = [
    ("basicdb.", Nothing(ELSEWHERE)),
    ("htrace.", Nothing(TRACED)),
];

/// Sentences that tell what of the given properties has no effect while `driver` is in use; the
/// error is the sentence that refuses those that nobody reads.
pub fn check(given: &Given, driver: &str) -> Result<Vec<String>, String> {
    let mut unknown = Vec::new();
    let mut idle: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, place) in given.names() {
        match effect(name) {
            None => unknown.push(format!("`{name}` ({place}){}", instead(name))),
            Some(Same) => {}
            Some(Of(other)) if other == driver => {}
            Some(Of(_)) => idle.entry(ELSEWHERE).or_default().push(name),
            Some(Nothing(why)) => idle.entry(why).or_default().push(name),
        }
    }
    if !unknown.is_empty() {
        let there_is = "there is no property";
        return Err(format!("{there_is} {}", unknown.join(", nor ")));
    }
    let note = |(why, names): (&str, Vec<&str>)| format!("no effect: {}; {why}", listed(&names));
    Ok(idle.into_iter().map(note).collect())
}

fn listed(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

fn effect(name: &str) -> Option<Effect> {
    let family = || FAMILIES.iter().find(|(start, _)| name.starts_with(start));
    let found = NAMES.iter().find(|(known, _)| *known == name);
    found.or_else(family).map(|(_, effect)| *effect)
}

/// What may have been meant.
fn instead(name: &str) -> String {
    let nearest = NAMES
        .iter()
        .map(|(known, _)| (distance(name, known), *known))
        .min();
    match nearest {
        Some((distance, known)) if distance <= 1 + known.len() / 5 => {
            format!(" (did you mean `{known}`?)")
        }
        _ => String::new(),
    }
}

/// How many letters must be put in, left out or changed to make one word of another, whatever
/// their case (Levenshtein, 1966).
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<u8> = other
        .bytes()
        .map(|letter| letter.to_ascii_lowercase())
        .collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.bytes().enumerate() {
        let letter = letter.to_ascii_lowercase();
        let mut before = line;
        row[0] = line + 1;
        for (column, known) in other.iter().enumerate() {
            let changed = before + usize::from(letter != *known);
            before = row[column + 1];
            row[column + 1] = changed.min(before + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::super::given::tests::given;
    use super::*;

    #[test]
    fn a_name_that_nobody_reads_is_refused_with_the_one_that_was_meant() {
        let refused = |names: &[&str]| check(&given(names), "redis").unwrap_err();
        let said = refused(&["recordcout=1"]);
        let expected = "there is no property `recordcout` (`-p`) (did you mean `recordcount`?)";
        assert_eq!(said, expected);
        assert!(refused(&["fieldLenght=1"]).contains("`fieldlength`?"));
        assert!(refused(&["ReadProportion=1"]).contains("`readproportion`?"));
        let said = refused(&["colour=blue"]);
        assert_eq!(said, "there is no property `colour` (`-p`)");
        let both = refused(&["colour=blue", "tagcount=1"]);
        assert!(
            both.contains("`colour` (`-p`), nor `tagcount` (`-p`)"),
            "{both}"
        );
    }

    /// All properties that YCSB's own workload files name, commented out ones too:
    /// `workload_template`, and `workloada` to `workloadf`.
    const FILES: [&str; 30] = [
        "columnfamily",
        "discardscannedrecord",
        "fieldcount",
        "fieldlength",
        "fieldlengthdistribution",
        "histogram.buckets",
        "hotspotdatafraction",
        "hotspotopnfraction",
        "insertcount",
        "insertorder",
        "insertproportion",
        "insertstart",
        "maxexecutiontime",
        "maxscanlength",
        "maxscanrate",
        "measurementtype",
        "operationcount",
        "readallfields",
        "readmodifywriteproportion",
        "readproportion",
        "recordcount",
        "requestdistribution",
        "scanlengthdistribution",
        "scanoptimelimit",
        "scanproportion",
        "table",
        "timeseries.granularity",
        "updateproportion",
        "workload",
        "writeallfields",
    ];

    #[test]
    fn what_the_files_of_ycsb_say_is_taken() {
        let said: Vec<String> = FILES.iter().map(|name| format!("{name}=1")).collect();
        let said: Vec<&str> = said.iter().map(String::as_str).collect();
        for driver in ["redis", "cassandra", "mongodb"] {
            let notes = check(&given(&said), driver).unwrap();
            assert_eq!(notes.len(), 2, "{notes:?}");
        }
    }

    #[test]
    fn what_has_no_effect_is_told_once_with_the_reason() {
        let properties = given(&[
            "recordcount=1",
            "redis.cluster=true",
            "histogram.buckets=1000",
            "hosts=h",
            "measurementtype=histogram",
            "htrace.sampler.classes=x",
        ]);
        assert_eq!(
            check(&properties, "redis").unwrap(),
            [
                "no effect: `histogram.buckets`, `measurementtype`; latencies of both kinds are \
                 always kept, as histograms of intervals",
                "no effect: `htrace.sampler.classes`; nothing is traced",
                "no effect: `hosts`; the database is the one of the address",
            ]
        );
        let other = check(&given(&["redis.cluster=true"]), "cassandra").unwrap();
        assert_eq!(
            other,
            ["no effect: `redis.cluster`; it belongs to another database"]
        );
    }

    #[test]
    fn the_distance_of_words_is_that_of_levenshtein() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("Kitten", "sitting"), 3);
        assert_eq!(distance("abc", "ABC"), 0);
        assert_eq!(distance("ab", "ba"), 2);
    }
}
