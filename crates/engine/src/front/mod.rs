//! `drive`: load for an existing database, for people. It makes a plan, and `load` carries it out.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use chrono::DateTime;
use wire::load::LoadResult;

pub use self::arguments::Arguments;
use self::plan::{Made, Surroundings};
use crate::load::carry_out;

mod address;
mod arguments;
mod binding;
mod ends;
mod given;
mod histogram;
mod interrupt;
mod level;
mod names;
mod plan;
mod search;
mod secrets;
mod status;
// `drive` is to ask for it.
#[allow(dead_code)]
mod stress;
mod summary;
mod workloads;
mod ycsb;
mod ycsb_text;

/// Bits of a seed that every reader of JSON keeps.
const SEED: u64 = (1 << 53) - 1;

/// What is told of a load that may tell more of the engine than of the database.
const LIMIT: &str = "the engine itself may have been the limit, and not the database: it was busy \
     or kept waiting for more than a small part of the time; give it a processor of its own, or \
     make less load";

/// Make the load that is typed, and leave its plan beside what came of it.
pub fn drive(arguments: &Arguments) -> io::Result<()> {
    let surroundings = Surroundings {
        password: std::env::var_os(secrets::VARIABLE).is_some(),
        // Hashers of the standard library begin with random keys.
        seed: RandomState::new().build_hasher().finish() & SEED,
    };
    let Made { plan, notes } = plan::make(arguments, &surroundings).map_err(io::Error::other)?;
    for note in notes {
        eprintln!("dunnage-engine: {note}");
    }
    let text = serde_json::to_string_pretty(&plan)? + "\n";
    if arguments.results.dry_run {
        return io::stdout().write_all(text.as_bytes());
    }
    let typed = arguments.results.out.as_deref();
    let out = directory(typed)?;
    let plan_path = out.join("plan.json");
    std::fs::write(&plan_path, text)?;
    let result = carry_out(&plan, &out).inspect_err(|_| {
        // What is left of a load that did not begin is a plan in a directory that nobody asked for.
        if typed.is_none() && !out.join("latency.hlog").exists() {
            let _ = std::fs::remove_file(&plan_path).and_then(|()| std::fs::remove_dir(&out));
        }
    })?;
    eprintln!("dunnage-engine: {}", told(&result, &out));
    if result.saturated {
        eprintln!("dunnage-engine: {LIMIT}");
    }
    Ok(())
}

/// The directory that is typed, or else a new one named by the time; it is made.
fn directory(typed: Option<&Path>) -> io::Result<PathBuf> {
    if let Some(out) = typed {
        std::fs::create_dir_all(out)
            .map_err(|error| io::Error::other(format!("`{}`: {error}", out.display())))?;
        return Ok(out.to_owned());
    }
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
fn told(result: &LoadResult, out: &Path) -> String {
    let operations: u64 = result.operations.values().sum();
    let errors: u64 = result
        .errors
        .values()
        .flat_map(|kinds| kinds.values())
        .sum();
    let left_out = match result.dropped.values().sum::<u64>() {
        0 => String::new(),
        dropped => format!(", and {dropped} left out,"),
    };
    format!(
        "{operations} operations and {errors} errors{left_out} in {:.1} s; `{}` has \
         `result.json`, `latency.hlog` and `plan.json`",
        result.seconds,
        out.display()
    )
}
