use wire::load::{Population, StressMix};

use super::tables::Strategy;
use super::*;

mod refused;

fn parsed(line: &str) -> Result<Request, String> {
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    parse(&words)
}

fn taken(line: &str) -> Request {
    parsed(line).unwrap_or_else(|error| panic!("`{line}`: {error}"))
}

fn pairs(settings: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    settings.iter().map(owned).collect()
}

fn sequence(first: u64, last: u64) -> Population {
    Population::Sequence {
        first,
        last,
        wrap: true,
        lookback: None,
    }
}

fn drawn(distribution: &str) -> Population {
    Population::Drawn {
        distribution: distribution.to_owned(),
    }
}

fn mix(read: f64, write: f64, counter_read: f64, counter_write: f64) -> StressMix {
    StressMix {
        write,
        read,
        counter_write,
        counter_read,
    }
}

#[test]
fn what_is_not_written_is_as_in_cassandra_stress() {
    let expected = Request {
        workload: Stress {
            mix: mix(0.0, 1.0, 0.0, 0.0),
            clustering: "fixed(1)".to_owned(),
            population: sequence(1, 1000),
            columns: ["C0", "C1", "C2", "C3", "C4"].map(str::to_owned).to_vec(),
            size: "fixed(34)".to_owned(),
            key_size: 10,
            add: "fixed(1)".to_owned(),
            slice: false,
            validate: true,
        },
        until: Until::Operations(1000),
        rate: Rate {
            threads: 200,
            per_second: None,
        },
        consistency: None,
        timestamp: None,
        tables: Tables {
            made: true,
            truncated: false,
            keyspace: None,
            replication: Strategy {
                class: "org.apache.cassandra.locator.SimpleStrategy".to_owned(),
                options: pairs(&[("replication_factor", "1")]),
            },
            compression: None,
            compaction: None,
        },
        connections: None,
        interval: None,
        notes: vec![
            "nothing is made before what is measured, where cassandra-stress makes 250 operations \
             of each kind for each node; write `no-warmup`, and `--warmup 10s` before `--stress` for a warm-up"
                .to_owned(),
        ],
    };
    assert_eq!(taken("write n=1000"), expected);
}

#[test]
fn commands_have_their_names() {
    let kinds = |name: &str| taken(&format!("{name} n=1 -rate threads=1")).workload.mix;
    for name in ["read", "READ"] {
        assert_eq!(kinds(name), mix(1.0, 0.0, 0.0, 0.0), "{name}");
    }
    for name in ["write", "insert"] {
        assert_eq!(kinds(name), mix(0.0, 1.0, 0.0, 0.0), "{name}");
    }
    for name in ["counter_read", "counterread", "counter_get", "counterget"] {
        assert_eq!(kinds(name), mix(0.0, 0.0, 1.0, 0.0), "{name}");
    }
    for name in ["counter_write", "counterwrite", "counter_add", "counteradd"] {
        assert_eq!(kinds(name), mix(0.0, 0.0, 0.0, 1.0), "{name}");
    }
    assert_eq!(kinds("mixed"), mix(1.0, 1.0, 0.0, 0.0));
}

#[test]
fn only_writes_make_the_tables() {
    let made = |command: &str| taken(&format!("{command} n=9 -rate threads=1")).tables.made;
    let commands = ["write", "counter_write", "read", "mixed", "counter_read"];
    assert_eq!(commands.map(made), [true, true, false, false, false]);
}

#[test]
fn the_end_and_what_is_done_before_are_read() {
    let asked = |words: &str| taken(&format!("read {words} -rate threads=1"));
    assert_eq!(asked("n=2k").until, Until::Operations(2_000));
    assert_eq!(asked("N=3M").until, Until::Operations(3_000_000));
    assert_eq!(asked("duration=90s").until, Until::Seconds(90));
    assert_eq!(asked("duration=10m").until, Until::Seconds(600));
    assert_eq!(asked("duration=2H").until, Until::Seconds(7_200));
    let before = |words: &str| {
        let notes = asked(words).notes;
        let of_warmup = notes.into_iter().find(|note| note.contains("makes "));
        of_warmup.and_then(|note| note.split("makes ").nth(1)?.split(' ').next()?.parse().ok())
    };
    assert_eq!(before("n=1m"), Some(50_000));
    assert_eq!(before("n=1m no-warmup"), None);
    assert_eq!(before("n=3"), None);
    assert_eq!(before("duration=10m"), Some(50_000));
    let truncated = |when: &str| asked(&format!("n=1 truncate={when}")).tables.truncated;
    assert_eq!(
        ["never", "once", "ALWAYS"].map(truncated),
        [false, true, true]
    );
    assert_eq!(asked("n=1 cl=each_quorum").consistency, Some("EACH_QUORUM"));
    assert_eq!(asked("n=1 keysize=50").workload.key_size, 50);
    assert_eq!(asked("n=1 add=UNIFORM(1..9)").workload.add, "uniform(1..9)");
}

#[test]
fn a_mixture_has_the_ratio_that_is_written_and_nothing_else() {
    let mixed = |words: &str| taken(&format!("mixed n=1 {words} -rate threads=1")).workload;
    let all = mixed("ratio(write=1,READ=2.5,counter_write=3,counter_read=0) clustering=fixed(4)");
    assert_eq!(all.mix, mix(2.5, 1.0, 0.0, 3.0));
    assert_eq!(all.clustering, "fixed(4)");
    let one = mixed("ratio(write=1)");
    assert_eq!(one.mix, mix(0.0, 1.0, 0.0, 0.0));
    assert_eq!(one.clustering, "gaussian(1..10,5.5,1.5)");
}

#[test]
fn populations_depend_on_the_command_and_its_end() {
    let population = |line: &str| taken(line).workload.population;
    assert_eq!(population("counter_write n=70"), sequence(1, 70));
    assert_eq!(
        population("write duration=1m -rate threads=1"),
        sequence(1, 1_000_000)
    );
    assert_eq!(
        population("read n=70 -rate threads=1"),
        drawn("gaussian(1..70,35.5,11.5)")
    );
    let timed = "mixed duration=1m -rate threads=1";
    assert_eq!(population(timed), population("read n=1m -rate threads=1"));
    assert_eq!(population("write n=70 -pop seq=5..1k"), sequence(5, 1000));
    assert_eq!(
        population("write n=70 -pop contents=sorted"),
        drawn("gaussian(1..70,35.5,11.5)")
    );
    assert_eq!(
        population("write n=70 -pop dist=~EXP(1..9)"),
        drawn("~exp(1..9)")
    );
    let all = "mixed n=70 -rate threads=1 -pop seq=1..9 no-wrap read-lookback=exp(1..5)";
    let expected = Population::Sequence {
        first: 1,
        last: 9,
        wrap: false,
        lookback: Some("exp(1..5)".to_owned()),
    };
    assert_eq!(population(all), expected);
}

#[test]
fn rates_are_those_that_whole_nanoseconds_keep() {
    let rate = |words: &str| taken(&format!("read n=1 -rate {words}")).rate;
    let of = |threads, per_second| Rate {
        threads,
        per_second,
    };
    assert_eq!(rate("threads=40"), of(40, None));
    assert_eq!(rate("threads=4 throttle=5000/s"), of(4, Some(5000.0)));
    assert_eq!(rate("threads=4 limit=5000/S"), of(4, Some(5000.0)));
    assert_eq!(
        rate("threads=4 fixed=3/s"),
        of(4, Some(1e9 / 333_333_333.0))
    );
    assert_eq!(rate("threads=4 throttle=0/s fixed=8/s"), of(4, Some(8.0)));
    assert_eq!(rate("threads=4 fixed=0/s"), of(4, None));
}

#[test]
fn columns_are_counted_or_named() {
    let asked = |words: &str| taken(&format!("write n=1 -col {words}"));
    let columns = |words: &str| asked(words).workload.columns;
    assert_eq!(columns("n=fixed(11)")[..4], ["C0", "C1", "C10", "C2"]);
    assert_eq!(columns("names=foo,Bar,a1"), ["Bar", "a1", "foo"]);
    assert_eq!(asked("size=uniform(1..20)").workload.size, "uniform(1..20)");
    let all = asked("slice timestamp=17 comparator=AsciiType n=fixed(1)");
    assert_eq!((all.workload.slice, all.timestamp), (true, Some(17)));
}

#[test]
fn tables_are_made_as_the_schema_says() {
    let tables = |words: &str| taken(&format!("write n=1 -schema {words}")).tables;
    assert_eq!(tables("keyspace=ks_2").keyspace.as_deref(), Some("ks_2"));
    let replication = |settings: &str| {
        let Strategy { class, options } = tables(&format!("replication({settings})")).replication;
        let class = class
            .rsplit('.')
            .next()
            .map(str::to_owned)
            .unwrap_or_default();
        (class, options)
    };
    let of = |class: &str, options: &[(&str, &str)]| (class.to_owned(), pairs(options));
    assert_eq!(
        replication("factor=3"),
        of("SimpleStrategy", &[("replication_factor", "3")])
    );
    assert_eq!(
        replication("strategy=NetworkTopologyStrategy,dc1=3,dc2=2"),
        of("NetworkTopologyStrategy", &[("dc1", "3"), ("dc2", "2")])
    );
    assert_eq!(
        replication("strategy=org.apache.cassandra.locator.NetworkTopologyStrategy"),
        of("NetworkTopologyStrategy", &[("replication_factor", "1")])
    );
    assert_eq!(
        replication("replication_factor=2,factor=3"),
        of("SimpleStrategy", &[("replication_factor", "2")])
    );
    let stored = tables(
        "compression=LZ4Compressor compaction(strategy=LeveledCompactionStrategy,min_threshold=4)",
    );
    assert_eq!(stored.compression.as_deref(), Some("LZ4Compressor"));
    let expected = Strategy {
        class: "LeveledCompactionStrategy".to_owned(),
        options: pairs(&[("min_threshold", "4")]),
    };
    assert_eq!(stored.compaction, Some(expected));
}

#[test]
fn how_servers_are_spoken_with_is_read() {
    let connections = |words: &str| taken(&format!("write n=1 -mode {words}")).connections;
    let all = "native cql3 prepared compression=none connectionsPerHost=2 protocolVersion=4 \
               auth-provider=com.datastax.driver.core.PlainTextAuthProvider";
    let all: Vec<&str> = all.split_whitespace().collect();
    assert_eq!(connections(&all.join(" ")), Some(2));
    assert_eq!(connections("native"), None);
}

#[test]
fn the_interval_of_reports_is_read() {
    let interval = |words: &str| taken(&format!("write n=1 -log {words}")).interval;
    for (words, expected) in [
        ("interval=200ms", 0.2),
        ("interval=5s", 5.0),
        ("interval=3", 3.0),
    ] {
        assert_eq!(interval(words), Some(expected));
    }
}

#[test]
fn a_schedule_that_only_throttles_is_told() {
    let notes = |rate: &str| {
        let line = format!("read n=1 no-warmup -rate threads=1 {rate} -errors retries=0 ignore");
        taken(&line).notes
    };
    assert_eq!(notes("fixed=5/s"), [""; 0]);
    assert!(notes("limit=5/s")[0].contains("service times alone"));
}

#[test]
fn reads_are_compared_unless_that_is_skipped() {
    let validate = |words: &str| taken(&format!("write n=1 {words}")).workload.validate;
    assert!(validate("-errors retries=3"));
    assert!(!validate("-errors skip-read-validation"));
}

#[test]
fn what_has_no_effect_is_told() {
    let notes = |words: &str| taken(&format!("write n=1 no-warmup {words}")).notes;
    assert_eq!(notes("-errors retries=0 ignore"), Vec::<String>::new());
    assert_eq!(notes("-errors ignore").len(), 1);
    assert_eq!(notes("-errors retries=0").len(), 1);
    let all = notes(
        "-errors retries=0 ignore -pop contents=sorted -port thrift=9160 jmx=7199 \
         -mode maxPending=128 -log level=verbose file=x no-summary no-settings",
    );
    let named: Vec<&str> = all
        .iter()
        .filter_map(|note| note.split('`').nth(1))
        .collect();
    let expected = [
        "-pop contents=",
        "-port thrift=",
        "-port jmx=",
        "-mode maxPending=",
        "-log file=",
        "-log level=",
        "-log no-summary",
        "-log no-settings",
    ];
    assert_eq!(named, expected);
    assert!(
        all.iter().all(|note| note.contains("has no effect: ")),
        "{all:?}"
    );
}

#[test]
fn spaces_around_signs_part_no_words() {
    let plain = taken("mixed ratio(read=1,write=2) n=10 -rate threads=4 -col names=a,b");
    let spaced = "mixed ratio ( read = 1 , write=2 ) n= 10  -RATE threads =4 -col names=a , b ";
    assert_eq!(taken(spaced), plain);
    let words = [
        "mixed",
        "ratio(read=1,",
        "write=2)",
        "n=10",
        "-rate",
        "threads=4",
        "-col",
        "names=a,b",
    ];
    assert_eq!(parse(&words.map(str::to_owned)), Ok(plain));
}
