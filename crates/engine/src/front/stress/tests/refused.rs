//! What is refused, and what to type instead.

use super::parsed;

fn refused(line: &str) -> String {
    match parsed(line) {
        Ok(_) => panic!("`{line}` is taken"),
        Err(error) => error,
    }
}

/// A command line, and what its refusal must say.
const REFUSED: [(&str, &str); 71] = [
    // The command.
    ("", "the commands are `read`, `write`"),
    ("-rate threads=4", "there is no command `-rate`"),
    (
        "foo n=1",
        "there is no command `foo`; the commands are `read`",
    ),
    ("user profile=x.yaml n=1", "`user` is not taken: profiles"),
    ("print dist=exp(1..9)", "`print` is not taken"),
    ("help read", "`dunnage-engine --help`"),
    ("version", "`dunnage-engine --version`"),
    ("legacy -n 5", "`legacy` is not taken"),
    ("write", "write `n=1m` or `duration=60s`"),
    ("write err<0.02 n>30 n<200", "`write err<` is not taken"),
    ("write n>30", "`write n>` is not taken"),
    ("write n<200", "write `n=1m` or `duration=60s`"),
    ("write n=10 duration=10s", "both `n=` and `duration=`"),
    (
        "write n=10000p",
        "cannot have `n=10000p`; write it as `n=1000`",
    ),
    ("write n=-5", "cannot have `n=-5`"),
    ("write n=0", "cannot have `n=0`"),
    (
        "read duration=1hour",
        "`duration=60s`, `duration=10m` or `duration=2h`",
    ),
    ("read duration=0s", "cannot have `duration=0s`"),
    ("write n=1 cl=foo", "`cl=ONE`, `cl=QUORUM`"),
    ("write n=1 cl=SERIAL", "cannot have `cl=SERIAL`"),
    ("write n=1 cl=one cl=quorum", "`cl=` twice"),
    ("write n=1 no-warmup=foo", "no setting `no-warmup=`"),
    ("write n=1 truncate=often", "`truncate=never`"),
    ("write n=1 keysize=0", "from 1 to 65535 bytes"),
    ("write n=1 keysize=70000", "from 1 to 65535 bytes"),
    ("write n=1 keysize=-1", "such as `keysize=10`"),
    (
        "write n=1 add=5",
        "`write add=` `5`: write one of `fixed(34)`",
    ),
    (
        "read n=1 ratio(read=1)",
        "`read` has no setting `ratio(`; it has `n=`",
    ),
    ("read n=1 clustering=fixed(2)", "no setting `clustering=`"),
    (
        "mixed n=1 ratio(help=1) -rate threads=1",
        "`ratio(read=2,write=1)`",
    ),
    (
        "mixed n=1 ratio(read=-1) -rate threads=1",
        "cannot have `ratio(read=-1`",
    ),
    (
        "mixed n=1 ratio(read=0) -rate threads=1",
        "one must be above zero",
    ),
    ("mixed n=1 ratio()", "write it as `ratio(name=value,…)`"),
    (
        "mixed n=1 ratio(read=1",
        "write it as `ratio(name=value,…)`",
    ),
    ("mixed n=1 ratio(read=1,read=2)", "`read=` twice"),
    (
        "mixed n=1 clustering=fixed(0) -rate threads=1",
        "clusters of `fixed(0)`",
    ),
    // -rate
    ("read n=1", "write `-rate threads=32`"),
    ("write duration=1m", "write `-rate threads=32`"),
    ("write n=1 -rate throttle=5/s", "`-rate` has no `threads=`"),
    ("write n=1 -rate auto", "`-rate auto` is not taken"),
    (
        "write n=1 -rate threads>=4 threads<=9",
        "`-rate threads>=` is not taken",
    ),
    ("write n=1 -rate threads=0", "cannot have `threads=0`"),
    (
        "write n=1 -rate threads=1 throttle=9/s fixed=9/s",
        "both `throttle=` and `fixed=`",
    ),
    (
        "write n=1 -rate threads=1 throttle=9/s limit=9/s",
        "`throttle=` twice",
    ),
    (
        "write n=1 -rate threads=1 limit=9",
        "write it as `limit=5000/s`",
    ),
    (
        "write n=1 -rate threads=1 -rate fixed=9/s",
        "`-rate` is there twice",
    ),
    // -pop
    (
        "write n=1 -pop seq=1..9 dist=exp(1..9)",
        "both `seq=` and `dist=`",
    ),
    ("write n=1 -pop no-wrap", "for a sequence only"),
    ("write n=1 -pop seq=9..1", "cannot have `seq=9..1`"),
    ("write n=1 -pop seq=-1..5", "`seq=1..1000`"),
    (
        "write n=1 -pop dist=foo",
        "`-pop dist=` `foo`: write one of",
    ),
    (
        "write n=1 -pop seq=1..9 read-lookback=fixed(50)",
        "cannot look back by `fixed(50)`",
    ),
    // -col
    (
        "write n=1 -col n=uniform(1..10)",
        "all rows of a table in CQL have the same columns",
    ),
    ("write n=1 -col n=fixed(0)", "from 1 to 65534 columns"),
    ("write n=1 -col n=fixed(1b)", "from 1 to 65534 columns"),
    (
        "write n=1 -col n=fixed(2) names=a",
        "both `names=` and `n=`",
    ),
    ("write n=1 -col names=a,a", "name columns once"),
    ("write n=1 -col super=2", "`-col super=` is not taken"),
    (
        "write n=1 -col comparator=TimeUUIDType",
        "`comparator=AsciiType`",
    ),
    ("write n=1 -col timestamp=now", "microseconds since 1970"),
    ("write n=1 -col size=qextreme(1..9,2,2)", "use `extreme`"),
    // -errors, -log and -schema
    ("write n=1 -errors retries=many", "`retries=0`"),
    ("write n=1 -log interval=1h", "`interval=1s`"),
    (
        "write n=1 -schema keyspace=a\"b",
        "a name of letters, digits and `_`",
    ),
    (
        "write n=1 -schema replication(factor=abc)",
        "`replication(factor=3)`",
    ),
    (
        "write n=1 -schema replication(dc1='3')",
        "letters, digits and `._-:/+`",
    ),
    (
        "write n=1 -schema compaction(a=b)",
        "`compaction(strategy=LeveledCompactionStrategy)`",
    ),
    // All of it.
    ("write n=1 -node a,b", "`cassandra://host1,host2`"),
    ("write n=1 -port native=9043", "`cassandra://host:9042`"),
    ("write n=1 -log hdrfile=x", "`--out DIRECTORY`"),
    (
        "write n=1 -rates threads=4",
        "there is no option `-rates`; the options are `-rate`, `-pop`",
    ),
];

#[test]
fn what_is_not_taken_is_refused_with_what_to_type() {
    for (line, expected) in REFUSED {
        let error = refused(line);
        assert!(error.contains(expected), "`{line}` is refused by `{error}`");
    }
}

#[test]
fn ways_to_speak_that_are_not_ours_are_refused() {
    let refused = |words: &str| refused(&format!("write n=1 {words}"));
    for mode in ["thrift", "native cql3 simplenative", "thrift smart"] {
        assert!(
            refused(&format!("-mode {mode}")).contains("write `-mode native cql3`"),
            "{mode}"
        );
    }
    assert!(refused("-mode port=9046").contains("`cassandra://host:9042`"));
    assert!(refused("-mode unprepared").contains("always prepared"));
    assert!(refused("-mode auth-provider=a.B").contains("PlainTextAuthProvider"));
    assert!(refused("-mode user=me").contains("`--user NAME`"));
    assert!(refused("-mode protocolVersion=3").contains("`protocolVersion=4`"));
    assert!(refused("-mode connectionsPerHost=0").contains("`connectionsPerHost=8`"));
    assert!(refused("-mode compression=lz4").contains("`compression=none`"));
}

#[test]
fn options_of_other_loads_are_refused_by_name() {
    for (option, expected) in [
        ("-insert visits=fixed(2)", "`-insert` is not taken"),
        ("-transport truststore=x", "`--tls-ca`"),
        ("-graph file=x", "`-graph` is not taken"),
        ("-sendto host", "`-sendto` is not taken"),
        ("-send-to host", "`-send-to` is not taken"),
        ("-tokenrange wrap", "`-tokenrange` is not taken"),
    ] {
        let error = refused(&format!("write n=1 {option}"));
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn no_refusal_repeats_a_password() {
    for words in [
        "-mode native cql3 user=u password=hunter2",
        "-mode PASSWORD=hunter2 password=hunter2",
        "-mode passwd=hunter2",
        "-transport truststore-password=hunter2",
        "-password=hunter2",
    ] {
        let error = refused(&format!("write n=1 {words}"));
        assert!(!error.contains("hunter2"), "{error}");
    }
    assert!(refused("write n=1 -mode password=x").contains("`DUNNAGE_PASSWORD`"));
}
