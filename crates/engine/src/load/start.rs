//! The instant at which all parts of a load begin.

use std::io;
use std::time::{Duration, SystemTime};

/// Wait until the Unix time `start`, if there is one. An error if it has passed: the other parts
/// have begun without this one.
pub async fn wait(start: Option<f64>) -> io::Result<()> {
    let Some(start) = start else {
        return Ok(());
    };
    let instant = Duration::try_from_secs_f64(start)
        .ok()
        .and_then(|since| SystemTime::UNIX_EPOCH.checked_add(since))
        .ok_or_else(|| io::Error::other("`start` must be a Unix time in seconds"))?;
    match instant.duration_since(SystemTime::now()) {
        Ok(left) => {
            tokio::time::sleep(left).await;
            Ok(())
        }
        Err(late) => Err(io::Error::other(format!(
            "the load was to begin {:.3} s before all was connected; give a later `start`",
            late.duration().as_secs_f64()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waited(start: Option<f64>) -> io::Result<()> {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().build()?.block_on(wait(start))
    }

    #[test]
    fn no_load_begins_before_its_start() {
        let start = SystemTime::now() + Duration::from_millis(30);
        let unix = start.duration_since(SystemTime::UNIX_EPOCH).unwrap();
        waited(Some(unix.as_secs_f64())).unwrap();
        // A float of this size has steps of a quarter of a microsecond.
        assert!(SystemTime::now() + Duration::from_micros(1) >= start);
        waited(None).unwrap();
    }

    #[test]
    fn a_start_that_has_passed_is_an_error() {
        let said = waited(Some(1.0)).unwrap_err().to_string();
        assert!(said.contains("give a later `start`"), "{said}");
        let said = waited(Some(-1.0)).unwrap_err().to_string();
        assert!(said.contains("must be a Unix time"), "{said}");
    }
}
