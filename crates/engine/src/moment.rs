//! Unix time, by which the runner and what runs on hosts agree on a moment.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Seconds since 1970.
pub fn unix_time() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs_f64()
}

/// The moment of a Unix time; now where that has passed.
pub fn instant_of(time: f64) -> Instant {
    Instant::now() + Duration::from_secs_f64((time - unix_time()).max(0.0))
}
