//! What the columns are: `-col`.

use crate::load::stress::distribution::Distribution;
use crate::load::stress::row::Layout;

use super::words::{Group, wrong};

/// The columns, and how they are written and read.
#[derive(Debug)]
pub struct Columns {
    /// Their names, in the order of their bytes.
    pub names: Vec<String>,
    /// The bytes of each.
    pub size: Distribution,
    /// Whether reads ask for `*`.
    pub slice: bool,
    /// The time of all that is written, in microseconds since 1970.
    pub timestamp: Option<i64>,
}

/// Read `-col`; the error is one sentence.
pub fn parse(mut group: Group, notes: &mut Vec<String>) -> Result<Columns, String> {
    let names = group.value("names=")?;
    let count = group.distribution("n=")?;
    let size = group.distribution("size=")?;
    let slice = group.switch("slice")?;
    let timestamp = group.value("timestamp=")?;
    group.refuse("super=", "CQL has no super columns; leave it out")?;
    let comparator = group.value("comparator=")?;
    group.done(notes)?;

    if let Some(kind) = comparator
        && !kind.eq_ignore_ascii_case("AsciiType")
    {
        return Err(wrong(
            "-col",
            "comparator=",
            &kind,
            "`comparator=AsciiType`, or leave it out",
        ));
    }
    let names = match (names, count) {
        (Some(_), Some(_)) => {
            return Err("`-col` cannot have both `names=` and `n=`; write one of them".to_owned());
        }
        (Some(names), None) => {
            let mut names: Vec<String> = names.split(',').map(str::to_owned).collect();
            names.sort_unstable();
            names
        }
        (None, Some(count)) => Layout::numbered(counted(&count)?),
        (None, None) => Layout::numbered(5),
    };
    let timestamp = timestamp
        .map(|text| {
            let time = text.parse().ok().filter(|time: &i64| *time >= 0);
            let form = "microseconds since 1970, such as `timestamp=1700000000000000`";
            time.ok_or_else(|| wrong("-col", "timestamp=", &text, form))
        })
        .transpose()?;
    Ok(Columns {
        names,
        size: size.unwrap_or_else(|| Distribution::fixed(34)),
        slice,
        timestamp,
    })
}

/// More columns than a layout can have.
const TOO_MANY: i64 = 100_000;

fn counted(count: &Distribution) -> Result<usize, String> {
    if count.min() != count.max() {
        let form = "`n=fixed(5)`: all rows of a table in CQL have the same columns";
        return Err(wrong("-col", "n=", &count.to_string(), form));
    }
    // Too many or too few are refused with the layout.
    Ok(count.max().clamp(0, TOO_MANY) as usize)
}
