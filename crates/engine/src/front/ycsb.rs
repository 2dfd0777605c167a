//! From YCSB's properties to the workload of a plan.

use std::path::Path;

use wire::load::{FieldLengths, Mix, Phase, ReadFields, Requests, ScanLengths, Ycsb};

use super::given::Given;
use super::histogram;

/// Keys that YCSB takes there to be where `recordcount` is 0 or missing, and the number of the last
/// key that it counts without wrapping.
const MOST: u64 = 2_147_483_647;

/// Names of the core workload, today's and the one of old property files.
const CLASSES: [&str; 2] = [
    "site.ycsb.workloads.CoreWorkload",
    "com.yahoo.ycsb.workloads.CoreWorkload",
];

/// Whether the workload is the core workload; the error is one sentence.
pub fn is_core(given: &Given) -> Result<(), String> {
    match given.text("workload") {
        Some(class) if !CLASSES.contains(&class) => {
            let form = format!("`{}`, the only one that there is", CLASSES[0]);
            Err(given.wrong("workload", &form))
        }
        _ => Ok(()),
    }
}

/// The phase that `dotransactions` says.
pub fn phase(given: &Given) -> Phase {
    if given.yes("dotransactions", true) {
        Phase::Run
    } else {
        Phase::Load
    }
}

/// The workload; the error has a line for each part that is wrong. What YCSB does otherwise is added
/// to `notes`.
pub fn workload(given: &Given, phase: Phase, notes: &mut Vec<String>) -> Result<Ycsb, String> {
    let (keys, field_lengths) = (keys(given, phase, notes), field_lengths(given));
    let (mix, requests, scan_lengths) = (mix(given), requests(given), scan_lengths(given));
    let (fields, zero_padding) = (given.number("fieldcount"), given.number("zeropadding"));
    let wrong = [
        keys.as_ref().err(),
        field_lengths.as_ref().err(),
        fields.as_ref().err(),
        mix.as_ref().err(),
        requests.as_ref().err(),
        scan_lengths.as_ref().err(),
        zero_padding.as_ref().err(),
    ];
    let wrong: Vec<&str> = wrong.into_iter().flatten().map(|what| &**what).collect();
    if !wrong.is_empty() {
        return Err(wrong.join("\n"));
    }
    let Keys {
        records,
        insert_start,
        insert_count,
    } = keys?;
    let field_lengths = field_lengths?;
    let integrity = given.yes("dataintegrity", false);
    if integrity && !matches!(field_lengths, FieldLengths::Constant { .. }) {
        let form = "`constant` where `dataintegrity=true`, as in YCSB";
        return Err(given.wrong("fieldlengthdistribution", form));
    }
    let fields = fields?.unwrap_or(10);
    if fields == 0 {
        return Err(given.wrong("fieldcount", "at least 1"));
    }
    let field_prefix = given.text("fieldnameprefix").unwrap_or("field").to_owned();
    Ok(Ycsb {
        records,
        insert_start,
        insert_count,
        mix: mix?,
        requests: requests?,
        fields,
        field_prefix,
        field_lengths,
        read_fields: read_fields(given),
        write_all_fields: given.yes("writeallfields", false),
        scan_lengths: scan_lengths?,
        integrity,
        hashed_keys: given
            .text("insertorder")
            .is_none_or(|order| order == "hashed"),
        zero_padding: zero_padding?.unwrap_or(1),
    })
}

/// How many keys a load phase of such a workload inserts.
pub fn inserted(workload: &Ycsb) -> u64 {
    let all = workload.records.saturating_sub(workload.insert_start);
    workload.insert_count.unwrap_or(all)
}

struct Keys {
    records: u64,
    insert_start: u64,
    insert_count: Option<u64>,
}

fn keys(given: &Given, phase: Phase, notes: &mut Vec<String>) -> Result<Keys, String> {
    let stated: u64 = given.number("recordcount")?.unwrap_or(0);
    let insert_start: u64 = given.number("insertstart")?.unwrap_or(0);
    let insert_count: Option<u64> = given.number("insertcount")?;
    let keys = match (phase, stated, insert_count) {
        (Phase::Load, 0, None) => {
            return Err("nothing says how many records there are; type -p recordcount=1000".into());
        }
        // YCSB then takes `recordcount` for the number of inserts, wherever they start.
        (Phase::Load, _, None) if insert_start > 0 => {
            notes.push(format!(
                "without `insertcount`, `recordcount` is the number of inserts, as in YCSB: \
                 {stated} keys are inserted from number {insert_start}"
            ));
            Keys {
                records: insert_start.saturating_add(stated),
                insert_start,
                insert_count: Some(stated),
            }
        }
        (_, 0, _) => {
            notes.push(format!(
                "without `recordcount`, {MOST} records are taken to be there, as in YCSB"
            ));
            Keys {
                records: MOST,
                insert_start,
                insert_count,
            }
        }
        _ => Keys {
            records: stated,
            insert_start,
            insert_count,
        },
    };
    let end = insert_count.map_or(Some(keys.records), |count| insert_start.checked_add(count));
    let none = insert_count == Some(0) || keys.insert_start >= keys.records;
    if none || end.is_none_or(|end| end > keys.records) {
        return Err(
            "`insertstart` and `insertcount` must name at least one key, and none beyond \
             `recordcount`"
                .to_owned(),
        );
    }
    if keys.records - 1 > MOST {
        notes.push(format!(
            "key numbers go on beyond {MOST}, where those of YCSB begin anew"
        ));
    }
    Ok(keys)
}

fn mix(given: &Given) -> Result<Mix, String> {
    let mix = Mix {
        read: given.fraction("readproportion", 0.95)?,
        update: given.fraction("updateproportion", 0.05)?,
        insert: given.fraction("insertproportion", 0.0)?,
        scan: given.fraction("scanproportion", 0.0)?,
        read_modify_write: given.fraction("readmodifywriteproportion", 0.0)?,
    };
    if mix.read + mix.update + mix.insert + mix.scan + mix.read_modify_write > 0.0 {
        Ok(mix)
    } else {
        Err("no operation has a share of the load; type -p readproportion=1".to_owned())
    }
}

fn requests(given: &Given) -> Result<Requests, String> {
    #[derive(Clone, Copy)]
    enum Kind {
        Plain(Requests),
        Hotspot,
        Exponential,
    }
    let words = [
        ("uniform", Kind::Plain(Requests::Uniform)),
        ("zipfian", Kind::Plain(Requests::Zipfian)),
        ("latest", Kind::Plain(Requests::Latest)),
        ("sequential", Kind::Plain(Requests::Sequential)),
        ("hotspot", Kind::Hotspot),
        ("exponential", Kind::Exponential),
    ];
    Ok(match given.word("requestdistribution", &words)? {
        Kind::Plain(requests) => requests,
        Kind::Hotspot => Requests::Hotspot {
            data: share(given, "hotspotdatafraction", 0.2)?,
            operations: share(given, "hotspotopnfraction", 0.8)?,
        },
        Kind::Exponential => Requests::Exponential {
            percentile: given.fraction("exponential.percentile", 95.0)?,
            share: given.fraction("exponential.frac", 0.857_142_857_1)?,
        },
    })
}

/// A fraction that YCSB sets to 0 where it is more than 1.
fn share(given: &Given, name: &str, default: f64) -> Result<f64, String> {
    let share = given.fraction(name, default)?;
    if share > 1.0 {
        return Err(given.wrong(name, "from 0 to 1"));
    }
    Ok(share)
}

fn field_lengths(given: &Given) -> Result<FieldLengths, String> {
    type Make = fn(u32, u32) -> FieldLengths;
    let constant: Make = |_, length| FieldLengths::Constant { length };
    let uniform: Make = |shortest, longest| FieldLengths::Uniform { shortest, longest };
    let zipfian: Make = |shortest, longest| FieldLengths::Zipfian { shortest, longest };
    let words = [
        ("constant", Some(constant)),
        ("uniform", Some(uniform)),
        ("zipfian", Some(zipfian)),
        ("histogram", None),
    ];
    let Some(make) = given.word("fieldlengthdistribution", &words)? else {
        return histogram_of(given);
    };
    let longest = given.number("fieldlength")?.unwrap_or(100);
    let shortest = given.number("minfieldlength")?.unwrap_or(1);
    let lengths = make(shortest, longest);
    if !matches!(lengths, FieldLengths::Constant { .. }) && shortest > longest {
        return Err(given.wrong("minfieldlength", "at most `fieldlength`"));
    }
    Ok(lengths)
}

fn histogram_of(given: &Given) -> Result<FieldLengths, String> {
    let path = Path::new(given.text("fieldlengthhistogram").unwrap_or("hist.txt"));
    let failed = |what: String| {
        let told = path.display();
        format!("`{told}`, which is the `fieldlengthhistogram`: {what}")
    };
    let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    histogram::parse(&text).map_err(failed)
}

fn read_fields(given: &Given) -> ReadFields {
    match (
        given.yes("readallfields", true),
        given.yes("readallfieldsbyname", false),
    ) {
        (false, _) => ReadFields::One,
        (true, true) => ReadFields::AllByName,
        (true, false) => ReadFields::All,
    }
}

fn scan_lengths(given: &Given) -> Result<ScanLengths, String> {
    type Make = fn(u32, u32) -> ScanLengths;
    let uniform: Make = |shortest, longest| ScanLengths::Uniform { shortest, longest };
    let zipfian: Make = |shortest, longest| ScanLengths::Zipfian { shortest, longest };
    let words = [("uniform", uniform), ("zipfian", zipfian)];
    let make = given.word("scanlengthdistribution", &words)?;
    let shortest: u32 = given.number("minscanlength")?.unwrap_or(1);
    let longest: u32 = given.number("maxscanlength")?.unwrap_or(1000);
    if shortest == 0 || shortest > longest {
        return Err(given.wrong("minscanlength", "at least 1, and at most `maxscanlength`"));
    }
    Ok(make(shortest, longest))
}

#[cfg(test)]
mod tests;
