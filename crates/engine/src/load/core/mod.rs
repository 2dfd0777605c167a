//! The YCSB core workload: everything that its properties decide, exactly as YCSB decides it.

use std::ops::Range;

use wire::load::{FieldLengths, ScanLengths, Ycsb};

use super::keys::MOST_PADDING;

pub mod integrity;
mod lengths;
pub mod request;
pub mod scan;
pub mod values;
pub mod zipfian;

/// Whether a workload can be made; the error says what stands against it.
pub fn check(workload: &Ycsb) -> Result<(), String> {
    let mix = &workload.mix;
    let weights = [
        mix.read,
        mix.update,
        mix.insert,
        mix.scan,
        mix.read_modify_write,
    ];
    let (ScanLengths::Uniform { shortest, longest } | ScanLengths::Zipfian { shortest, longest }) =
        workload.scan_lengths;
    let prefix = &workload.field_prefix;
    let constant = matches!(workload.field_lengths, FieldLengths::Constant { .. });
    let refusals = [
        (workload.records == 0, "`records` must be at least 1"),
        (
            inserted(workload).is_none_or(|keys| keys.is_empty() || keys.end > workload.records),
            "`insert_start` and `insert_count` must name at least one key, and none beyond \
             `records`",
        ),
        (workload.fields == 0, "`fields` must be at least 1"),
        (
            prefix.is_empty()
                || !prefix
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b == b'_'),
            "`field_prefix` must be letters, digits and `_`",
        ),
        (
            shortest == 0 || longest < shortest,
            "`scan_lengths` must be at least 1, and `longest` not below `shortest`",
        ),
        (
            workload.zero_padding > MOST_PADDING,
            "`zero_padding` must be at most 32",
        ),
        (
            weights
                .iter()
                .any(|weight| *weight < 0.0 || !weight.is_finite())
                || weights.iter().sum::<f64>() <= 0.0,
            "the weights in `mix` must not be negative, and one must be positive",
        ),
        (
            workload.integrity && !constant,
            "`integrity` needs `field_lengths` of the kind `constant`, as in YCSB",
        ),
        (
            !constant,
            "the engine cannot make `field_lengths` that are not `constant` yet",
        ),
    ];
    match refusals.into_iter().find(|(refused, _)| *refused) {
        Some((_, what)) => Err(what.to_owned()),
        None => request::check(workload.requests),
    }
}

/// Numbers of the keys that a load phase inserts; None where they would be too large.
pub fn inserted(workload: &Ycsb) -> Option<Range<u64>> {
    let first = workload.insert_start;
    let count = match workload.insert_count {
        Some(count) => count,
        None => workload.records.checked_sub(first)?,
    };
    Some(first..first.checked_add(count)?)
}

/// Names of the fields: `field0`, `field1`, ….
pub fn names(workload: &Ycsb) -> Vec<String> {
    let prefix = &workload.field_prefix;
    (0..workload.fields)
        .map(|number| format!("{prefix}{number}"))
        .collect()
}
