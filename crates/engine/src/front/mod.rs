//! `drive`: load for an existing database, for people. It makes a plan, and `load` carries it out.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use chrono::DateTime;
use wire::load::Summary;

pub use self::arguments::Arguments;
use self::making::{made, unused};
use self::plan::{Made, Surroundings};
use self::search::Outcome;
use crate::exit::Exit;
use crate::load::told::Told;
use crate::message::tell;

mod address;
mod advice;
mod amounts;
mod arguments;
mod binding;
mod ends;
mod format;
mod given;
mod histogram;
mod instant;
mod kept;
mod level;
mod making;
mod names;
mod plan;
mod search;
mod secrets;
mod status;
mod stress;
mod summary;
mod sums;
mod target;
mod text;
mod words;
mod workloads;
mod ycsb;
mod ycsb_text;

/// Bits of a seed that every reader of JSON keeps.
const SEED: u64 = (1 << 53) - 1;

/// Make the load that is typed, leave its plan beside what came of it, and print a summary.
pub fn drive(arguments: &Arguments) -> io::Result<()> {
    let surroundings = Surroundings {
        password: std::env::var_os(secrets::VARIABLE).is_some(),
        // Hashers of the standard library begin with random keys.
        seed: RandomState::new().build_hasher().finish() & SEED,
    };
    let Made {
        plan,
        notes,
        search,
    } = plan::make(arguments, &surroundings).map_err(wrong)?;
    for note in notes {
        tell(&note);
    }
    let results = &arguments.results;
    if results.dry_run {
        let text = serde_json::to_string_pretty(&plan)? + "\n";
        return io::stdout().write_all(text.as_bytes());
    }
    let typed = results.out.as_deref();
    let out = match typed {
        Some(out) => out.to_owned(),
        None => new_directory()?,
    };
    unused(&out).map_err(wrong)?;
    let outcome = match search {
        None => made(&plan, &out).map(|(_, summary)| Outcome {
            summary,
            failed: None,
        }),
        Some(search) => search.carry_out(&plan, &out),
    };
    let Outcome { summary, failed } = outcome.inspect_err(|_| {
        if typed.is_none() {
            // It stays if there is anything in it.
            let _ = std::fs::remove_dir(&out);
        }
    })?;
    let text = serde_json::to_string_pretty(&summary)? + "\n";
    std::fs::write(out.join("summary.json"), text)?;
    let text = results.format.unwrap_or_default().of(&summary)?;
    io::stdout().write_all(text.as_bytes())?;
    tell(&told(&summary, &out));
    for advice in advice::of(&plan, &summary) {
        tell(&advice);
    }
    if summary.ended_early {
        return Err(io::Error::other(Told::Early));
    }
    if let Some(error) = failed {
        return Err(error);
    }
    if in_vain(&summary) {
        return Err(io::Error::other(Exit::Vain));
    }
    if summary.silent_from.is_some() {
        return Err(io::Error::other(Exit::Silent));
    }
    Ok(())
}

/// What is wrong with what was typed.
fn wrong(what: String) -> io::Error {
    io::Error::other(Exit::Typed(what))
}

/// Whether operations were made and not one went well, neither in the measured window nor after it.
fn in_vain(summary: &Summary) -> bool {
    let all = &summary.operations[summary::ALL];
    all.service.is_none() && all.unfinished == 0 && !all.errors.is_empty()
}

/// A directory named by the time.
fn new_directory() -> io::Result<PathBuf> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let seconds = now.map_err(io::Error::other)?.as_secs();
    let time = DateTime::from_timestamp(seconds.cast_signed(), 0).unwrap_or_default();
    let out = PathBuf::from(time.format("drive-%Y%m%dT%H%M%SZ").to_string());
    std::fs::create_dir(&out).map_err(|error| {
        let told = out.display();
        io::Error::other(format!(
            "`{told}`: {error}; name another directory: --out DIRECTORY"
        ))
    })?;
    Ok(out)
}

/// One sentence of what came of a load.
fn told(summary: &Summary, out: &Path) -> String {
    let all = &summary.operations[summary::ALL];
    let errors: u64 = all.errors.values().sum();
    let left_out = match all.dropped {
        0 => String::new(),
        dropped => format!(", and {dropped} left out,"),
    };
    let unfinished = match all.unfinished {
        0 => String::new(),
        unfinished => format!(", and {unfinished} unfinished,"),
    };
    let files = if search::ended(summary).is_some() {
        "`summary.json`, and a directory for each load"
    } else {
        "`summary.json`, `result.json`, `latency.hlog` and `plan.json`"
    };
    format!(
        "{} operations and {errors} errors{left_out}{unfinished} in {:.1} s; `{}` has {files}",
        all.count,
        summary.seconds,
        out.display()
    )
}
