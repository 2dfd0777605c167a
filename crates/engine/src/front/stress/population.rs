//! Which seeds are written and read: `-pop`.

use crate::load::stress::distribution::range;
use crate::load::stress::population::Population;

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
        return drawn.map_or_else(usual, Ok).map(Population::Drawn);
    };
    let (first, last) = range(&text)
        .ok()
        .filter(|(first, _)| *first >= 0)
        .ok_or_else(|| wrong("-pop", "seq=", &text, "`seq=1..1000`, `seq=1..1m` or the like"))?;
    Ok(Population::Sequence {
        first,
        last,
        wrap: !ends,
        lookback,
    })
}
