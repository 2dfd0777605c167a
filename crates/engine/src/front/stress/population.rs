//! Which seeds are written and read: `-pop`.

use wire::load::Population;

use crate::load::stress::distribution::{Distribution, range};

use super::command::{Command, Until};
use super::words::{Group, wrong};

/// Read `-pop`; the error is one sentence.
pub fn parse(
    mut group: Group,
    command: Command,
    until: Until,
    notes: &mut Vec<String>,
) -> Result<Population, String> {
    let sequence = group.value("seq=")?;
    let drawn = group.distribution("dist=")?;
    let ends = group.switch("no-wrap")?;
    let lookback = group.distribution("read-lookback=")?;
    group.idle("contents=", "there is one row for each key")?;
    let given = group.given();
    group.done(notes)?;

    let writes = matches!(command, Command::Write | Command::CounterWrite);
    let sequence = match sequence {
        Some(_) if drawn.is_some() => {
            return Err("`-pop` cannot have both `seq=` and `dist=`; write one of them".to_owned());
        }
        None if writes && !given => Some(format!("1..{}", until.seeds())),
        other => other,
    };
    let Some(text) = sequence else {
        if ends || lookback.is_some() {
            return Err(
                "`-pop` has `no-wrap` and `read-lookback=` for a sequence only; write `seq=1..1m` \
                 too"
                .to_owned(),
            );
        }
        let usual = || format!("gaussian(1..{})", until.seeds()).parse();
        let drawn: Distribution = drawn.map_or_else(usual, Ok)?;
        return Ok(Population::Drawn {
            distribution: drawn.to_string(),
        });
    };
    let (first, last) = range(&text)
        .ok()
        .and_then(|(first, last)| Some((u64::try_from(first).ok()?, u64::try_from(last).ok()?)))
        .ok_or_else(|| {
            wrong(
                "-pop",
                "seq=",
                &text,
                "`seq=1..1000`, `seq=1..1m` or the like",
            )
        })?;
    Ok(Population::Sequence {
        first,
        last,
        wrap: !ends,
        lookback: lookback.map(|back| back.to_string()),
    })
}
