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

/// Remove what another load or search left in `out`, so that nothing of it stands beside the plan of
/// the next one. All other files stay.
pub fn clear(out: &Path) -> io::Result<()> {
    let Ok(entries) = std::fs::read_dir(out) else {
        return Ok(());
    };
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        if name.is_some_and(|name| LEFT.contains(&name)) && !path.is_dir() {
            std::fs::remove_file(&path)?;
        } else if name.is_some_and(is_probe) {
            clear(&path)?;
            // It stays if there is anything else in it.
            let _ = std::fs::remove_dir(&path);
        }
    }
    Ok(())
}

/// Whether a directory of this name is that of a load of a search.
fn is_probe(name: &str) -> bool {
    let number = name.strip_prefix("probe-");
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// Make the load of a plan, and leave its plan, histograms and result in `out`, which is made. Of a
/// load that did not begin nothing stays if `out` is `new`, that is, if nobody else named it.
pub fn made(plan: &LoadPlan, out: &Path, new: bool) -> io::Result<(LoadResult, Summary)> {
    std::fs::create_dir_all(out)
        .map_err(|error| io::Error::other(format!("`{}`: {error}", out.display())))?;
    let plan_path = out.join("plan.json");
    std::fs::write(&plan_path, serde_json::to_string_pretty(plan)? + "\n")?;
    let sums = Arc::new(Mutex::new(Sums::default()));
    let listener = Watching {
        sums: sums.clone(),
        status: Status::open(plan),
    };
    let made = carry_out(plan, out, Closing::ByBoth, Box::new(listener)).inspect_err(|_| {
        if new && !out.join("latency.hlog").exists() {
            let _ = std::fs::remove_file(&plan_path).and_then(|()| std::fs::remove_dir(out));
        }
    });
    let result = made?;
    let sums = sums.lock().unwrap_or_else(PoisonError::into_inner);
    let summary = summary::of(plan, &result, &sums);
    Ok((result, summary))
}
