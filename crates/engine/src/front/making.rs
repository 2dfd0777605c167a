//! Making one load that was typed.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use wire::load::{LoadPlan, LoadResult, Summary};

use super::status::Status;
use super::summary;
use super::sums::Sums;
use crate::load::carry_out;
use crate::load::log::Interval;
use crate::load::progress::Listener;
use crate::load::told::Closing;

/// For people: adds up all times, and paints how the load goes.
struct Watching {
    sums: Arc<Mutex<Sums>>,
    status: Option<Status>,
}

impl Listener for Watching {
    fn hear(&mut self, interval: &Interval) {
        let mut sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        sums.add(interval);
        if let Some(status) = &mut self.status {
            status.hear(interval);
        }
    }
}

/// What a load leaves.
const LEFT: [&str; 4] = ["plan.json", "latency.hlog", "result.json", "summary.json"];

/// Whether no other load or search has left anything in `out`; the error says what to type.
pub fn unused(out: &Path) -> Result<(), String> {
    let Ok(entries) = std::fs::read_dir(out) else {
        return Ok(());
    };
    let mut left: Vec<String> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| LEFT.contains(&name) || is_probe(name))
        })
        .map(|path| word(&path.display().to_string()))
        .collect();
    left.sort();
    if left.is_empty() {
        return Ok(());
    }
    Err(format!(
        "`{}` has what another load left; type --out with another directory, or first: rm -r {}",
        out.display(),
        left.join(" ")
    ))
}

/// A path as one word of a shell.
fn word(path: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
    if path.chars().all(plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}

/// Whether a directory of this name is that of a load of a search.
fn is_probe(name: &str) -> bool {
    let number = name.strip_prefix("probe-");
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// Make the load of a plan, and leave its plan, histograms and result in `out`, which is made if it
/// is not there. Of a load that did not begin nothing stays.
pub fn made(plan: &LoadPlan, out: &Path) -> io::Result<(LoadResult, Summary)> {
    let new = !out.exists();
    std::fs::create_dir_all(out)
        .map_err(|error| io::Error::other(format!("`{}`: {error}", out.display())))?;
    let plan_path = out.join("plan.json");
    std::fs::write(&plan_path, serde_json::to_string_pretty(plan)? + "\n")?;
    let sums = Arc::new(Mutex::new(Sums::default()));
    let listener = Watching {
        sums: sums.clone(),
        status: Status::open(plan),
    };
    let made = carry_out(plan, out, Closing::ByAny, Box::new(listener)).inspect_err(|_| {
        if !out.join("latency.hlog").exists() {
            let _ = std::fs::remove_file(&plan_path);
            if new {
                let _ = std::fs::remove_dir(out);
            }
        }
    });
    let result = made?;
    let sums = sums.lock().unwrap_or_else(PoisonError::into_inner);
    let summary = summary::of(plan, &result, &sums);
    Ok((result, summary))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_of_a_shell() {
        assert_eq!(word("out/probe-01"), "out/probe-01");
        assert_eq!(word("it's mine"), r"'it'\''s mine'");
    }
}
