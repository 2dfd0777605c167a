//! The command, and what belongs to it.

use wire::load::StressMix;

use crate::load::stress::distribution::{Distribution, number};

use super::others::no_command;
use super::words::{Group, wrong};

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Read rows.
    Read,
    /// Write rows.
    Write,
    /// Several kinds of operations.
    Mixed,
    /// Read counters.
    CounterRead,
    /// Add to counters.
    CounterWrite,
}

/// Names of the commands; underscores are left out as one likes.
const COMMANDS: [(&str, Command); 8] = [
    ("read", Command::Read),
    ("write", Command::Write),
    ("insert", Command::Write),
    ("mixed", Command::Mixed),
    ("counter_read", Command::CounterRead),
    ("counter_get", Command::CounterRead),
    ("counter_write", Command::CounterWrite),
    ("counter_add", Command::CounterWrite),
];

/// When a load is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// After so many operations.
    Operations(u64),
    /// After so many seconds.
    Seconds(u64),
}

impl Until {
    /// The last seed of a population that is not written down.
    pub fn seeds(self) -> u64 {
        match self {
            Self::Seconds(_) => 1_000_000,
            Self::Operations(count) => count,
        }
    }

    /// Operations of each kind that cassandra-stress makes for each node before it measures.
    fn warmup(self) -> u64 {
        match self {
            Self::Operations(count) => (count / 4).min(50_000),
            Self::Seconds(_) => 50_000,
        }
    }
}

/// What the command's own settings ask for.
#[derive(Debug)]
pub struct Asked {
    /// The command.
    pub command: Command,
    /// The weights of the kinds of operations.
    pub mix: StressMix,
    /// How many operations of one kind each thread makes in a row.
    pub clustering: Distribution,
    /// When it is over.
    pub until: Until,
    /// Whether the tables are emptied before it.
    pub truncated: bool,
    /// The consistency level by its name in CQL, if it is said.
    pub consistency: Option<&'static str>,
    /// Bytes of a key.
    pub key_size: u32,
    /// What is added to a counter.
    pub add: Distribution,
}

/// Consistency levels that cassandra-stress has.
const LEVELS: [&str; 9] = [
    "ONE",
    "QUORUM",
    "LOCAL_QUORUM",
    "EACH_QUORUM",
    "ALL",
    "ANY",
    "TWO",
    "THREE",
    "LOCAL_ONE",
];

/// Read the group of the command; the error is one sentence.
pub fn parse(mut group: Group, notes: &mut Vec<String>) -> Result<Asked, String> {
    let command = of_name(group.name())?;
    let until = until(&mut group)?;
    let cold = group.switch("no-warmup")?;
    let truncate = group.value("truncate=")?;
    let consistency = group.value("cl=")?;
    let key_size = group.value("keysize=")?;
    let add = group.distribution("add=")?;
    let (mix, clustering) = match command {
        Command::Mixed => mixed(&mut group)?,
        alone => (only(alone), Distribution::fixed(1)),
    };
    let name = group.name().to_owned();
    group.done(notes)?;

    let truncated = match truncate.as_deref().map(str::to_ascii_lowercase).as_deref() {
        None | Some("never") => false,
        // There is one number of threads only, so both empty the tables once.
        Some("once" | "always") => true,
        Some(other) => {
            let form = "`truncate=never`, `truncate=once` or `truncate=always`";
            return Err(wrong(&name, "truncate=", other, form));
        }
    };
    let consistency = consistency
        .map(|level| of_level(&name, &level))
        .transpose()?;
    if !cold && until.warmup() > 0 {
        notes.push(format!(
            "nothing is made before what is measured, where cassandra-stress makes {} operations \
             of each kind for each node; write `no-warmup`, and `--warmup 10s` before `--stress` \
             for a warm-up",
            until.warmup()
        ));
    }
    let size = key_size.unwrap_or_else(|| "10".to_owned());
    let key_size = size.parse().map_err(|_| {
        let form = "a number of bytes, such as `keysize=10`";
        wrong(&name, "keysize=", &size, form)
    })?;
    Ok(Asked {
        command,
        mix,
        clustering,
        until,
        truncated,
        consistency,
        key_size,
        add: add.unwrap_or_else(|| Distribution::fixed(1)),
    })
}

fn of_level(name: &str, level: &str) -> Result<&'static str, String> {
    let found = LEVELS
        .into_iter()
        .find(|known| known.eq_ignore_ascii_case(level));
    found.ok_or_else(|| {
        let known = LEVELS.map(|known| format!("`cl={known}`")).join(", ");
        wrong(name, "cl=", level, &known)
    })
}

fn of_name(name: &str) -> Result<Command, String> {
    COMMANDS
        .into_iter()
        .find(|(known, _)| *known == name || known.replace('_', "") == name)
        .map(|(_, command)| command)
        .ok_or_else(|| {
            let names = COMMANDS.map(|(known, _)| known);
            no_command(name, &names)
        })
}

fn until(group: &mut Group) -> Result<Until, String> {
    let count = group.value("n=")?;
    let duration = group.value("duration=")?;
    for name in ["err<", "n<", "n>"] {
        group.refuse(
            name,
            "a load that ends when its rate is known is longer on one database than on another; \
             write `n=1m` or `duration=60s`",
        )?;
    }
    let name = group.name();
    match (count, duration) {
        (Some(count), None) => operations(name, &count),
        (None, Some(duration)) => seconds(name, &duration),
        (None, None) => Err(format!(
            "`{name}` must have an end: write `n=1m` or `duration=60s`"
        )),
        (Some(_), Some(_)) => Err(format!(
            "`{name}` cannot have both `n=` and `duration=`; write one of them"
        )),
    }
}

fn operations(name: &str, text: &str) -> Result<Until, String> {
    number(text)
        .ok()
        .and_then(|count| u64::try_from(count).ok())
        .filter(|count| *count > 0)
        .map(Until::Operations)
        .ok_or_else(|| wrong(name, "n=", text, "`n=1000`, `n=100k`, `n=1m` or `n=1b`"))
}

fn seconds(name: &str, text: &str) -> Result<Until, String> {
    let small = text.to_ascii_lowercase();
    [('s', 1), ('m', 60), ('h', 3600)]
        .into_iter()
        .find_map(|(letter, unit)| {
            let count: u64 = small.strip_suffix(letter)?.parse().ok()?;
            count.checked_mul(unit)
        })
        .filter(|seconds| *seconds > 0)
        .map(Until::Seconds)
        .ok_or_else(|| {
            let form = "`duration=60s`, `duration=10m` or `duration=2h`";
            wrong(name, "duration=", text, form)
        })
}

const NOTHING: StressMix = StressMix {
    write: 0.0,
    read: 0.0,
    counter_write: 0.0,
    counter_read: 0.0,
};

/// Operations of one kind.
fn only(command: Command) -> StressMix {
    let mut mix = NOTHING;
    match command {
        Command::Read => mix.read = 1.0,
        Command::Write => mix.write = 1.0,
        Command::CounterRead => mix.counter_read = 1.0,
        Command::CounterWrite => mix.counter_write = 1.0,
        Command::Mixed => (mix.read, mix.write) = (1.0, 1.0),
    }
    mix
}

fn mixed(group: &mut Group) -> Result<(StressMix, Distribution), String> {
    let clustering = match group.distribution("clustering=")? {
        Some(clustering) => clustering,
        None => "gaussian(1..10)".parse()?,
    };
    let Some(ratio) = group.settings("ratio(")? else {
        return Ok((only(Command::Mixed), clustering));
    };
    let mut mix = NOTHING;
    for (name, text) in ratio {
        let digits = text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
        let kind = match name.to_ascii_lowercase().as_str() {
            "write" => Some(&mut mix.write),
            "read" => Some(&mut mix.read),
            "counter_write" => Some(&mut mix.counter_write),
            "counter_read" => Some(&mut mix.counter_read),
            _ => None,
        };
        let weight = text.parse().ok().filter(|_| digits);
        let (kind, weight) = kind.zip(weight).ok_or_else(|| {
            let form = "`ratio(read=2,write=1)`, with any of `read`, `write`, `counter_read` and \
                        `counter_write`";
            wrong(group.name(), "ratio(", &format!("{name}={text}"), form)
        })?;
        *kind = weight;
    }
    Ok((mix, clustering))
}
