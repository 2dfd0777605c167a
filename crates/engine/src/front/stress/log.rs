//! What is written down: `-log`.

use std::path::PathBuf;

use super::words::{Group, wrong};

/// What is written down.
#[derive(Debug, PartialEq)]
pub struct Log {
    /// Seconds between two reports.
    pub interval: f64,
    /// The file for the histograms.
    pub histograms: Option<PathBuf>,
}

/// Read `-log`; the error is one sentence.
pub fn parse(mut group: Group, notes: &mut Vec<String>) -> Result<Log, String> {
    let interval = group.value("interval=")?;
    let histograms = group.value("hdrfile=")?;
    group.idle("file=", "write `> FILE` after the words")?;
    group.idle("level=", "failed operations are counted by kind")?;
    group.idle("no-summary", "the result is always written")?;
    group.idle("no-settings", "settings are not printed")?;
    group.done(notes)?;
    let text = interval.unwrap_or_else(|| "1s".to_owned());
    let form = "`interval=1s` or `interval=200ms`";
    Ok(Log {
        interval: seconds(&text).ok_or_else(|| wrong("-log", "interval=", &text, form))?,
        histograms: histograms.map(PathBuf::from),
    })
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
