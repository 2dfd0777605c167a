//! What is written down: `-log`.

use super::words::{Group, wrong};

/// Seconds between two reports, if they are said; the error is one sentence.
pub fn parse(mut group: Group, notes: &mut Vec<String>) -> Result<Option<f64>, String> {
    let interval = group.value("interval=")?;
    group.refuse(
        "hdrfile=",
        "histograms are in `latency.hlog`; write `--out DIRECTORY` before `--stress`",
    )?;
    group.idle("file=", "write `> FILE` after the words")?;
    group.idle("level=", "failed operations are counted by kind")?;
    group.idle("no-summary", "the result is always written")?;
    group.idle("no-settings", "settings are not printed")?;
    group.done(notes)?;
    interval
        .map(|text| {
            let form = "`interval=1s` or `interval=200ms`";
            seconds(&text).ok_or_else(|| wrong("-log", "interval=", &text, form))
        })
        .transpose()
}

/// Of a time such as `1s`, `200ms` or `5`; None if it is none.
fn seconds(text: &str) -> Option<f64> {
    let small = text.to_ascii_lowercase();
    let (digits, thousandths) = match small.strip_suffix("ms") {
        Some(digits) => (digits, 1.0),
        None => (small.strip_suffix('s').unwrap_or(&small), 1000.0),
    };
    let count: u32 = digits.parse().ok().filter(|count: &u32| *count > 0)?;
    Some(f64::from(count) * thousandths / 1000.0)
}
