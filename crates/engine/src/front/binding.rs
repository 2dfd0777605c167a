//! What properties of YCSB's bindings say of a database. What its address says goes first.

use serde_json::Value;

use super::address::Address;
use super::given::Given;

/// The table that YCSB has if nothing else is said.
const TABLE: &str = "usertable";

/// Write concerns of old property files, by the option that means the same.
const WRITE_CONCERNS: [(&str, (&str, Meaning)); 6] = [
    ("acknowledged", ("w", Meaning::Members(1))),
    ("errors_ignored", ("w", Meaning::Members(0))),
    ("unacknowledged", ("w", Meaning::Members(0))),
    ("journaled", ("journal", Meaning::Yes)),
    ("replica_acknowledged", ("w", Meaning::Members(2))),
    ("majority", ("w", Meaning::Majority)),
];

/// Read preferences of old property files, by their names in MongoDB.
const READ_PREFERENCES: [(&str, &str); 5] = [
    ("primary", "primary"),
    ("primary_preferred", "primaryPreferred"),
    ("secondary", "secondary"),
    ("secondary_preferred", "secondaryPreferred"),
    ("nearest", "nearest"),
];

#[derive(Clone, Copy)]
enum Meaning {
    Members(u64),
    Majority,
    Yes,
}

impl From<Meaning> for Value {
    fn from(meaning: Meaning) -> Self {
        match meaning {
            Meaning::Members(count) => count.into(),
            Meaning::Majority => "majority".into(),
            Meaning::Yes => true.into(),
        }
    }
}

/// Add to the address what properties say; returns the time-out in seconds, if they say one. The
/// error is one sentence. What has no effect is added to `notes`.
pub fn apply(
    given: &Given,
    address: &mut Address,
    notes: &mut Vec<String>,
) -> Result<Option<f64>, String> {
    match address.driver {
        "cassandra" => return cassandra(given, address),
        "mongodb" => mongodb(given, address)?,
        driver => {
            if given.text("table").is_some_and(|table| table != TABLE) {
                let why = format!("the driver `{driver}` has no tables");
                notes.push(format!("no effect: `table`; {why}"));
            }
        }
    }
    if address.driver == "redis" {
        if address.topology == "single" && given.yes("redis.cluster", false) {
            "cluster".clone_into(&mut address.topology);
        }
        return milliseconds(given, "redis.timeout");
    }
    Ok(None)
}

fn cassandra(given: &Given, address: &mut Address) -> Result<Option<f64>, String> {
    for (key, name) in [
        ("keyspace", "cassandra.keyspace"),
        ("table", "table"),
        ("read_consistency", "cassandra.readconsistencylevel"),
        ("write_consistency", "cassandra.writeconsistencylevel"),
    ] {
        if let Some(text) = given.text(name) {
            add(address, key, text);
        }
    }
    let user = given.text("cassandra.username");
    let user = user.filter(|user| !user.is_empty()).map(str::to_owned);
    address.user = address.user.take().or(user);
    address.encrypted |= given.yes("cassandra.useSSL", false);
    milliseconds(given, "cassandra.readtimeoutmillis")
}

fn mongodb(given: &Given, address: &mut Address) -> Result<(), String> {
    if let Some(text) = given.text("table") {
        add(address, "collection", text);
    }
    if given.text("mongodb.writeConcern").is_some() {
        let (key, value) = given.word("mongodb.writeConcern", &WRITE_CONCERNS)?;
        add(address, key, value);
    }
    if given.text("mongodb.readPreference").is_some() {
        let name = given.word("mongodb.readPreference", &READ_PREFERENCES)?;
        add(address, "readPreference", name);
    }
    if given.yes("mongodb.upsert", false) {
        add(address, "upsert", true);
    }
    match given.number::<u32>("batchsize")? {
        None | Some(1) => Ok(()),
        Some(_) => Err(given.wrong("batchsize", "1, because each insert is sent by itself")),
    }
}

/// Add an option that the address does not have itself.
fn add(address: &mut Address, key: &str, value: impl Into<Value>) {
    let option = address.options.entry(key.to_owned());
    option.or_insert_with(|| value.into());
}

fn milliseconds(given: &Given, name: &str) -> Result<Option<f64>, String> {
    match given.number::<u32>(name)? {
        Some(0) => Err(given.wrong(name, "at least 1")),
        time => Ok(time.map(|time| f64::from(time) / 1000.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::given::tests::given;
    use super::*;
    use serde_json::json;

    fn applied(address: &str, properties: &[&str]) -> (Address, Option<f64>, Vec<String>) {
        let mut address = Address::parse(address).unwrap();
        let mut notes = Vec::new();
        let time = apply(&given(properties), &mut address, &mut notes).unwrap();
        (address, time, notes)
    }

    #[test]
    fn properties_of_the_cassandra_binding_are_taken_where_the_address_says_nothing() {
        let properties = [
            "cassandra.keyspace=k",
            "cassandra.readconsistencylevel=ONE",
            "table=t",
            "cassandra.writeconsistencylevel=ALL",
            "cassandra.username=me",
            "cassandra.useSSL=true",
            "cassandra.readtimeoutmillis=1500",
        ];
        let (found, time, notes) = applied("cassandra://h", &properties);
        let options = json!({
            "keyspace": "k", "table": "t", "read_consistency": "ONE", "write_consistency": "ALL",
        });
        assert_eq!(json!(found.options), options);
        assert_eq!((found.user.as_deref(), found.encrypted), (Some("me"), true));
        assert_eq!((time, notes.len()), (Some(1.5), 0));
        let (found, _, _) = applied("cassandra://you@h/other?read_consistency=TWO", &properties);
        assert_eq!(found.options["keyspace"], "other");
        assert_eq!(found.options["read_consistency"], "TWO");
        assert_eq!(found.user.as_deref(), Some("you"));
        let (found, time, _) = applied("cassandra://h", &["cassandra.username="]);
        assert_eq!((found.user, time), (None, None));
    }

    #[test]
    fn properties_of_the_mongodb_binding_are_taken_by_the_names_of_mongodb() {
        let properties = [
            "table=t",
            "mongodb.writeConcern=majority",
            "mongodb.upsert=true",
            "batchsize=1",
            "mongodb.readPreference=secondary_preferred",
        ];
        let (found, _, notes) = applied("mongodb://h?replicas", &properties);
        let options = json!({
            "collection": "t", "w": "majority", "upsert": true,
            "readPreference": "secondaryPreferred",
        });
        assert_eq!((json!(found.options), notes.len()), (options, 0));
        let (found, _, _) = applied("mongodb://h?w=3", &properties);
        assert_eq!(found.options["w"], 3);
        for (concern, key, value) in [
            ("unacknowledged", "w", json!(0)),
            ("replica_acknowledged", "w", json!(2)),
            ("journaled", "journal", json!(true)),
        ] {
            let property = format!("mongodb.writeConcern={concern}");
            let (found, _, _) = applied("mongodb://h", &[&property]);
            assert_eq!(found.options[key], value);
        }
        for property in [
            "batchsize=10",
            "mongodb.writeConcern=most",
            "mongodb.readPreference=x",
        ] {
            let mut address = Address::parse("mongodb://h").unwrap();
            let said = apply(&given(&[property]), &mut address, &mut Vec::new()).unwrap_err();
            assert!(said.contains("it must be "), "{said}");
        }
    }

    #[test]
    fn properties_of_the_redis_binding_are_taken() {
        let properties = ["redis.cluster=true", "redis.timeout=20", "table=usertable"];
        let (found, time, notes) = applied("redis://h", &properties);
        assert_eq!((&*found.topology, time), ("cluster", Some(0.02)));
        assert_eq!(notes, [""; 0]);
        let (found, _, notes) = applied("redis://h?replicas", &["redis.cluster=true", "table=t"]);
        assert_eq!(found.topology, "replicas");
        assert_eq!(
            notes,
            ["no effect: `table`; the driver `redis` has no tables"]
        );
        let mut address = Address::parse("redis://h").unwrap();
        let zero = given(&["redis.timeout=0"]);
        let said = apply(&zero, &mut address, &mut Vec::new()).unwrap_err();
        assert!(said.contains("at least 1"), "{said}");
    }
}
