//! Unix time, by which the runner and what runs on hosts agree on a moment.

use std::io;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Seconds since 1970.
pub fn unix_time() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs_f64()
}

/// The moment of a Unix time; an error where that has passed.
pub fn instant_of(time: f64) -> io::Result<Instant> {
    let left = time - unix_time();
    if left < 0.0 {
        let what = format!("the start time was {:.3} s ago", -left);
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    Ok(Instant::now() + Duration::from_secs_f64(left))
}
