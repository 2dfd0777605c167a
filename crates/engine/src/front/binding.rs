//! What properties of YCSB's bindings say of a database. What its address says goes first.

use super::address::Address;
use super::given::Given;

/// The table that YCSB has if nothing else is said.
const TABLE: &str = "usertable";

/// Add to the address what properties say; returns the time-out in seconds, if they say one. The
/// error is one sentence. What has no effect is added to `notes`.
pub fn apply(
    given: &Given,
    address: &mut Address,
    notes: &mut Vec<String>,
) -> Result<Option<f64>, String> {
    if address.driver == "cassandra" {
        for (key, name) in [
            ("keyspace", "cassandra.keyspace"),
            ("table", "table"),
            ("read_consistency", "cassandra.readconsistencylevel"),
            ("write_consistency", "cassandra.writeconsistencylevel"),
        ] {
            if let Some(text) = given.text(name) {
                let option = address.options.entry(key.to_owned());
                option.or_insert_with(|| text.into());
            }
        }
        let user = given.text("cassandra.username").filter(|user| !user.is_empty());
        address.user = address.user.take().or(user.map(str::to_owned));
        address.encrypted |= given.yes("cassandra.useSSL", false);
        return milliseconds(given, "cassandra.readtimeoutmillis");
    }
    if given.text("table").is_some_and(|table| table != TABLE) {
        notes.push(format!(
            "no effect: `table`; the driver `{}` has no tables",
            address.driver
        ));
    }
    if address.driver == "redis" {
        if address.topology == "single" && given.yes("redis.cluster", false) {
            "cluster".clone_into(&mut address.topology);
        }
        return milliseconds(given, "redis.timeout");
    }
    Ok(None)
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
            "cassandra.keyspace=k", "cassandra.readconsistencylevel=ONE", "table=t",
            "cassandra.writeconsistencylevel=ALL", "cassandra.username=me",
            "cassandra.useSSL=true", "cassandra.readtimeoutmillis=1500",
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
    fn properties_of_the_redis_binding_are_taken() {
        let properties = ["redis.cluster=true", "redis.timeout=20", "table=usertable"];
        let (found, time, notes) = applied("redis://h", &properties);
        assert_eq!((&*found.topology, time), ("cluster", Some(0.02)));
        assert_eq!(notes, [""; 0]);
        let (found, _, notes) = applied("redis://h?replicas", &["redis.cluster=true", "table=t"]);
        assert_eq!(found.topology, "replicas");
        assert_eq!(notes, ["no effect: `table`; the driver `redis` has no tables"]);
        let mut address = Address::parse("redis://h").unwrap();
        let zero = given(&["redis.timeout=0"]);
        let said = apply(&zero, &mut address, &mut Vec::new()).unwrap_err();
        assert!(said.contains("at least 1"), "{said}");
    }
}
