use super::*;
use serde_json::json;

fn parsed(text: &str) -> Address {
    Address::parse(text).unwrap_or_else(|what| panic!("{text}: {what}"))
}

#[test]
fn each_database_has_its_port_and_its_topology() {
    let found = parsed("redis://127.0.0.1");
    let (driver, topology) = (found.driver, &*found.topology);
    assert_eq!(
        (driver, topology, found.encrypted),
        ("redis", "single", false)
    );
    assert_eq!(found.members, ["127.0.0.1:6379"]);
    let found = parsed("rediss://me@[::1]:7000,db.example/0?cluster");
    assert_eq!(found.members, ["[::1]:7000", "db.example:6379"]);
    assert_eq!((found.user.as_deref(), found.encrypted), (Some("me"), true));
    assert!(found.options.is_empty());
    let found = parsed("cassandra://one,two:9043/keys%5Fpace");
    assert_eq!((found.driver, &*found.topology), ("cassandra", "ring"));
    assert_eq!(found.members, ["one:9042", "two:9043"]);
    assert_eq!(found.options["keyspace"], "keys_pace");
    let found = parsed("mongodb://h/db?w=majority&readPreference=nearest");
    assert_eq!(
        (found.driver, &found.members[..]),
        ("mongodb", &["h:27017".to_owned()][..])
    );
    let options = json!({"database": "db", "w": "majority", "readPreference": "nearest"});
    assert_eq!(json!(found.options), options);
    let found = parsed("mongodb://a,b/admin?replicaSet=rs0");
    assert_eq!((&*found.topology, found.members.len()), ("replicas", 2));
    assert_eq!(json!(found.options), json!({"replicaSet": "rs0"}));
    assert_eq!(
        parsed("mongodb://a?replicaSet=x&replicas").topology,
        "replicas"
    );
    assert_eq!(parsed("mongodb://a,b?sharded").topology, "sharded");
    let found = parsed("fake://?service_us=100&stall_s=0.5");
    assert_eq!((found.driver, &*found.topology), ("fake", "single"));
    assert_eq!(
        json!(found.options),
        json!({"service_us": 100, "stall_s": 0.5})
    );
}

#[test]
fn switches_say_topology_and_encryption_and_values_are_what_they_look_like() {
    let found = parsed("redis://h?cluster&tls&wait=2&x&y=true&z=1e&v=false&n=inf");
    assert_eq!((&*found.topology, found.encrypted), ("cluster", true));
    let options = json!({
        "wait": 2, "x": true, "y": true, "z": "1e", "v": false, "n": "inf",
    });
    assert_eq!(json!(found.options), options);
    let found = parsed("redis://h?replicas=true&cluster=false&tls=false");
    assert_eq!((&*found.topology, found.encrypted), ("replicas", false));
    let found = parsed("rediss://h?tls=false");
    assert!(found.encrypted, "the scheme says so");
    assert_eq!(parsed("cassandra://h?cluster=1").options["cluster"], 1);
}

#[test]
fn what_makes_no_sense_is_refused_with_a_sentence() {
    for (text, what) in [
        ("127.0.0.1:6379", "must begin with one of `redis://`"),
        ("postgres://h", "must begin with one of `redis://`"),
        ("redis://", "is empty"),
        ("redis://a,,b", "is empty"),
        ("redis://:6379", "is empty"),
        ("redis://@h", "the user in front of `@`"),
        ("redis://h:0", "not a number from 1 to 65535"),
        ("redis://h:65536", "not a number from 1 to 65535"),
        ("redis://::1", "`[::1]`"),
        ("redis://fe80::1", "`[::1]`"),
        ("redis://[h]", "`[::1]`"),
        ("redis://[::1]x", "`[::1]`"),
        ("redis://[::1]x:1", "`[::1]`"),
        ("redis://h%4", "two hexadecimal digits"),
        ("redis://h%+1", "two hexadecimal digits"),
        ("redis://h?a=%FF", "not text of UTF-8"),
        ("redis://h/1", "only database 0"),
        ("fake://h", "type `fake://`"),
        ("fake:///a", "has no databases"),
        ("redis://h?cluster&replicas", "one topology too many"),
        ("redis://a,b", "add `?replicas` or `?cluster`"),
        ("mongodb://a,b?cluster", "add `?replicas` or `?sharded`"),
        ("redis://h?cluster=maybe", "must be `true` or `false`"),
        ("redis://h?wait=1&wait=2", "is there twice"),
    ] {
        let said = Address::parse(text).unwrap_err();
        assert!(said.contains(what), "{text}: {said}");
    }
}

#[test]
fn a_password_is_refused_and_no_refusal_repeats_it() {
    for text in [
        "redis://me:s3cret@h",
        "redis://:s3cret@h",
        "redis://me:s3cret/x@h",
        "redis://me:s3cret?x@h",
        "redis://me:s3cret@h:port",
        "postgres://me:s3cret@h",
        "redis://h?password=s3cret",
        "mongodb://h?authSecret=s3cret",
    ] {
        let said = Address::parse(text).unwrap_err();
        assert!(said.contains("`DUNNAGE_PASSWORD`"), "{text}: {said}");
        assert!(!said.contains("s3cret"), "{said}");
    }
    for text in ["redis://me:s3cret", "me:s3cret@h", "redis://s3cret:h:1"] {
        let said = Address::parse(text).unwrap_err();
        assert!(!said.contains("s3cret"), "{said}");
    }
}
