//! The instant at which all parts of a load begin.

use std::io;
use std::time::{Duration, SystemTime};

use super::clock::{Clock, Ticker};

/// From where the times of a load count.
#[derive(Clone, Copy)]
pub struct Origin {
    /// Reads zero there.
    pub clock: Clock,
    /// The same by the clock of the host.
    pub time: SystemTime,
}

/// Wait until the Unix time `start`, if there is one, and return it or now. Times count from exactly
/// there in every part; being woken a little later is the slip of the first operations. An error if
/// it has passed: the other parts have begun without this one.
pub async fn wait(start: Option<f64>) -> io::Result<Origin> {
    let clock = Clock::start();
    let now = SystemTime::now();
    let Some(start) = start else {
        return Ok(Origin { clock, time: now });
    };
    let time = Duration::try_from_secs_f64(start)
        .ok()
        .and_then(|since| SystemTime::UNIX_EPOCH.checked_add(since))
        .ok_or_else(|| io::Error::other("`start` must be a Unix time in seconds"))?;
    let left = time.duration_since(now).map_err(|late| {
        io::Error::other(format!(
            "the load was to begin {:.3} s before all was connected; give a later `start`",
            late.duration().as_secs_f64()
        ))
    })?;
    let nanoseconds = left.as_nanos() as u64;
    Ticker::new(clock)?.until(nanoseconds).await?;
    Ok(Origin {
        clock: Clock::at(clock.instant(nanoseconds)),
        time,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waited(start: Option<f64>) -> io::Result<Origin> {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().build()?.block_on(wait(start))
    }

    #[test]
    fn a_load_begins_at_its_start_and_its_times_count_from_exactly_there() {
        // Whoever is held up for that long tries a later one.
        let later = [30, 300, 3000].map(|ms| SystemTime::now() + Duration::from_millis(ms));
        let begun = later.into_iter().find_map(|start| {
            let unix = start.duration_since(SystemTime::UNIX_EPOCH).unwrap();
            Some((start, waited(Some(unix.as_secs_f64())).ok()?))
        });
        let (start, origin) = begun.unwrap();
        assert!(origin.clock.now() > 0, "it is not waited for too short");
        // A float of this size has steps of a quarter of a microsecond.
        let later = origin.time.duration_since(start);
        let apart = later.unwrap_or_else(|earlier| earlier.duration());
        assert!(apart < Duration::from_micros(1), "{apart:?}");
    }

    #[test]
    fn without_a_start_times_count_from_now() {
        let before = SystemTime::now();
        let origin = waited(None).unwrap();
        assert!((before..=SystemTime::now()).contains(&origin.time));
    }

    #[test]
    fn a_start_that_has_passed_is_an_error() {
        let said = |start| waited(Some(start)).err().unwrap().to_string();
        assert!(said(1.0).contains("give a later `start`"));
        assert!(said(-1.0).contains("must be a Unix time"));
    }
}
