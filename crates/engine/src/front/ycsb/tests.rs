use super::super::given::tests::{File, given};
use super::super::workloads::Core;
use super::*;
use clap::ValueEnum;

fn of(arguments: &[&str]) -> Ycsb {
    let mut notes = Vec::new();
    let found = workload(&given(arguments), Phase::Run, &mut notes).unwrap();
    assert_eq!(notes, [""; 0]);
    found
}

fn refused(arguments: &[&str]) -> String {
    let mut all = vec!["recordcount=1000"];
    all.extend(arguments);
    workload(&given(&all), Phase::Run, &mut Vec::new()).unwrap_err()
}

/// The defaults of YCSB.
fn defaults() -> Ycsb {
    Ycsb {
        records: 1000,
        insert_start: 0,
        insert_count: None,
        mix: Mix {
            read: 0.95,
            update: 0.05,
            insert: 0.0,
            scan: 0.0,
            read_modify_write: 0.0,
        },
        requests: Requests::Uniform,
        fields: 10,
        field_prefix: "field".to_owned(),
        field_lengths: FieldLengths::Constant { length: 100 },
        read_fields: ReadFields::All,
        write_all_fields: false,
        scan_lengths: ScanLengths::Uniform {
            shortest: 1,
            longest: 1000,
        },
        integrity: false,
        hashed_keys: true,
        zero_padding: 1,
    }
}

#[test]
fn without_properties_all_is_as_in_ycsb() {
    assert_eq!(of(&["recordcount=1000"]), defaults());
}

#[test]
fn the_six_core_workloads_are_those_of_studies() {
    let weights = |of: [f64; 5]| {
        let [read, update, insert, scan, read_modify_write] = of;
        Mix {
            read,
            update,
            insert,
            scan,
            read_modify_write,
        }
    };
    // `src/dunnage/generators/ycsb_core.py` has the same table.
    for (core, mix, requests) in [
        (Core::A, [0.5, 0.5, 0.0, 0.0, 0.0], Requests::Zipfian),
        (Core::B, [0.95, 0.05, 0.0, 0.0, 0.0], Requests::Zipfian),
        (Core::C, [1.0, 0.0, 0.0, 0.0, 0.0], Requests::Zipfian),
        (Core::D, [0.95, 0.0, 0.05, 0.0, 0.0], Requests::Latest),
        (Core::E, [0.0, 0.0, 0.05, 0.95, 0.0], Requests::Zipfian),
        (Core::F, [0.5, 0.0, 0.0, 0.0, 0.5], Requests::Zipfian),
    ] {
        let given = Given::read(Some(core), &[], &[]).unwrap();
        is_core(&given).unwrap();
        let found = workload(&given, Phase::Run, &mut Vec::new()).unwrap();
        // Elsewhere it does not matter, and is not written down.
        let longest = if core == Core::E { 100 } else { 1000 };
        let shortest = 1;
        let expected = Ycsb {
            mix: weights(mix),
            requests,
            scan_lengths: ScanLengths::Uniform { shortest, longest },
            ..defaults()
        };
        assert_eq!(found, expected, "{core:?}");
        assert_eq!(given.number("operationcount"), Ok(Some(1000)));
    }
    assert_eq!(Core::value_variants().len(), 6);
}

#[test]
fn every_property_of_the_core_workload_is_taken() {
    let found = of(&[
        "recordcount=5000",
        "insertstart=100",
        "insertcount=900",
        "fieldcount=3",
        "fieldnameprefix=f",
        "fieldlengthdistribution=zipfian",
        "fieldlength=50",
        "minfieldlength=5",
        "readallfields=false",
        "writeallfields=true",
        "readproportion=3",
        "updateproportion=0",
        "insertproportion=1",
        "scanproportion=1e0",
        "readmodifywriteproportion=.5",
        "requestdistribution=sequential",
        "zeropadding=12",
        "insertorder=ordered",
        "minscanlength=2",
        "maxscanlength=20",
        "scanlengthdistribution=zipfian",
    ]);
    let expected = Ycsb {
        records: 5000,
        insert_start: 100,
        insert_count: Some(900),
        mix: Mix {
            read: 3.0,
            update: 0.0,
            insert: 1.0,
            scan: 1.0,
            read_modify_write: 0.5,
        },
        requests: Requests::Sequential,
        fields: 3,
        field_prefix: "f".to_owned(),
        field_lengths: FieldLengths::Zipfian {
            shortest: 5,
            longest: 50,
        },
        read_fields: ReadFields::One,
        write_all_fields: true,
        scan_lengths: ScanLengths::Zipfian {
            shortest: 2,
            longest: 20,
        },
        integrity: false,
        hashed_keys: false,
        zero_padding: 12,
    };
    assert_eq!(found, expected);
}

#[test]
fn words_and_switches_are_those_of_ycsb() {
    let requests = |arguments: &[&str]| {
        let mut all = vec!["recordcount=1000"];
        all.extend(arguments);
        of(&all).requests
    };
    for (word, expected) in [
        ("uniform", Requests::Uniform),
        ("zipfian", Requests::Zipfian),
        ("latest", Requests::Latest),
    ] {
        assert_eq!(
            requests(&[&format!("requestdistribution={word}")]),
            expected
        );
    }
    let (data, operations) = (0.2, 0.9);
    assert_eq!(
        requests(&["requestdistribution=hotspot", "hotspotopnfraction=0.9"]),
        Requests::Hotspot { data, operations }
    );
    let (percentile, share) = (90.0, 0.857_142_857_1);
    assert_eq!(
        requests(&[
            "requestdistribution=exponential",
            "exponential.percentile=90"
        ]),
        Requests::Exponential { percentile, share }
    );
    let with = |argument: &str| of(&["recordcount=1", argument]);
    assert!(with("dataintegrity=True").integrity);
    assert!(
        !with("insertorder=Hashed").hashed_keys,
        "anything else is ordered"
    );
    assert_eq!(
        with("readallfieldsbyname=true").read_fields,
        ReadFields::AllByName
    );
    let (shortest, longest) = (1, 100);
    let uniform = FieldLengths::Uniform { shortest, longest };
    assert_eq!(
        with("fieldlengthdistribution=uniform").field_lengths,
        uniform
    );
    let transactions = |argument| phase(&given(&[argument]));
    assert_eq!(transactions("dotransactions=false"), Phase::Load);
    assert_eq!(transactions("dotransactions=true"), Phase::Run);
    assert_eq!(phase(&given(&[])), Phase::Run);
}

#[test]
fn a_histogram_is_read_from_its_file() {
    let file = File::new("lengths", "BlockSize\t10\n0\t1\n1\t2\n");
    let path = format!("fieldlengthhistogram={}", file.0.display());
    let found = of(&["recordcount=1", "fieldlengthdistribution=histogram", &path]);
    let (block, counts) = (10, vec![1, 2]);
    assert_eq!(
        found.field_lengths,
        FieldLengths::Histogram { block, counts }
    );
    let said = refused(&[
        "fieldlengthdistribution=histogram",
        "fieldlengthhistogram=/nowhere",
    ]);
    assert!(said.starts_with("`/nowhere`, which is"), "{said}");
    let broken = File::new("lengths-broken", "BlockSize\t10\n");
    let path = format!("fieldlengthhistogram={}", broken.0.display());
    let said = refused(&["fieldlengthdistribution=histogram", &path]);
    assert!(said.ends_with("more than 0"), "{said}");
}

#[test]
fn what_makes_no_sense_is_refused_in_the_words_of_ycsb() {
    for (arguments, what) in [
        (
            "requestdistribution=Zipfian",
            "`requestdistribution` (`-p`) is `Zipfian`",
        ),
        (
            "fieldlengthdistribution=fixed",
            "`constant`, `uniform`, `zipfian`, `histogram`",
        ),
        (
            "scanlengthdistribution=fixed",
            "one of `uniform`, `zipfian`",
        ),
        ("minscanlength=0", "at least 1"),
        ("minscanlength=5 maxscanlength=4", "at most `maxscanlength`"),
        (
            "fieldlengthdistribution=uniform minfieldlength=101",
            "at most `fieldlength`",
        ),
        ("fieldcount=0", "at least 1"),
        ("insertcount=0", "none beyond `recordcount`"),
        ("insertstart=1000", "none beyond `recordcount`"),
        (
            "insertstart=1 insertcount=1000",
            "none beyond `recordcount`",
        ),
        (
            "insertstart=1 insertcount=18446744073709551615",
            "none beyond `recordcount`",
        ),
        ("readproportion=0 updateproportion=0", "-p readproportion=1"),
        ("readproportion=-1", "not negative"),
        (
            "requestdistribution=hotspot hotspotdatafraction=1.5",
            "from 0 to 1",
        ),
        (
            "dataintegrity=true fieldlengthdistribution=zipfian",
            "`constant`",
        ),
        ("zeropadding=x", "a whole number"),
    ] {
        let said = refused(&arguments.split(' ').collect::<Vec<_>>());
        assert!(said.contains(what), "{arguments}: {said}");
    }
    let class = |name: &str| is_core(&given(&[&format!("workload={name}")]));
    assert_eq!(class("com.yahoo.ycsb.workloads.CoreWorkload"), Ok(()));
    let said = class("site.ycsb.workloads.TimeSeriesWorkload").unwrap_err();
    assert!(said.contains("the only one that there is"), "{said}");
    assert_eq!(is_core(&given(&[])), Ok(()));
}

#[test]
fn records_are_counted_as_in_ycsb_and_what_is_odd_is_told() {
    let told = |arguments: &[&str], phase| {
        let mut notes = Vec::new();
        let found = workload(&given(arguments), phase, &mut notes).unwrap();
        let keys = (found.records, found.insert_start, found.insert_count);
        assert_eq!(notes.len(), 1, "{notes:?}");
        (keys, notes.remove(0), inserted(&found))
    };
    let (keys, note, count) = told(&["recordcount=50", "insertstart=100"], Phase::Load);
    assert_eq!((keys, count), ((150, 100, Some(50)), 50));
    assert!(
        note.contains("50 keys are inserted from number 100"),
        "{note}"
    );
    let (keys, note, _) = told(&[], Phase::Run);
    assert_eq!(keys, (MOST, 0, None));
    assert!(note.contains("2147483647 records"), "{note}");
    let (keys, _, count) = told(&["insertcount=7", "insertstart=3"], Phase::Load);
    assert_eq!((keys, count), ((MOST, 3, Some(7)), 7));
    let (keys, note, count) = told(&["recordcount=4000000000"], Phase::Load);
    assert_eq!((keys, count), ((4_000_000_000, 0, None), 4_000_000_000));
    assert!(note.contains("begin anew"), "{note}");
    let missing = workload(&given(&[]), Phase::Load, &mut Vec::new()).unwrap_err();
    assert!(missing.contains("-p recordcount=1000"), "{missing}");
    assert_eq!(inserted(&of(&["recordcount=10", "insertstart=4"])), 6);
}

#[test]
fn all_that_is_wrong_is_told_at_once_a_line_each() {
    let wrong = ["recordcount=x", "fieldlength=-1", "readproportion=much"];
    let said = refused(&wrong);
    let told: Vec<&str> = said.lines().collect();
    assert_eq!(told.len(), 3, "{said}");
    for (line, name) in told.iter().zip(["recordcount", "fieldlength", "read"]) {
        assert!(line.starts_with(&format!("`{name}")), "{said}");
    }
}
