//! The instant at which a load begins, and which part of it one engine makes.

use chrono::DateTime;
use wire::load::Part;

/// Unix time of an instant such as `2026-11-29T12:00:00Z`, or of Unix seconds.
pub fn instant(text: &str) -> Result<f64, String> {
    if let Ok(seconds) = text.parse::<f64>() {
        if seconds.is_finite() && seconds > 0.0 {
            return Ok(seconds);
        }
    } else if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Ok(time.timestamp_micros() as f64 / 1e6);
    }
    Err("write it as 2026-11-29T12:00:00Z, or in seconds since 1970".to_owned())
}

/// A part such as `1/3`, counted from 1.
pub fn part(text: &str) -> Result<Part, String> {
    let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
    text.split_once('/')
        .and_then(|(part, of)| number(part).zip(number(of)))
        .filter(|(part, of)| part <= of)
        .map(|(part, of)| Part {
            index: part - 1,
            of,
        })
        .ok_or_else(|| "write it as 1/3, 2/3 or 3/3".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_has_a_time_zone_or_is_in_unix_seconds() {
        for (text, expected) in [
            ("1970-01-01T00:00:10Z", 10.0),
            ("1970-01-01T01:00:10.5+01:00", 10.5),
            ("1795953600.25", 1_795_953_600.25),
        ] {
            assert_eq!(instant(text), Ok(expected), "{text}");
        }
        for text in ["", "now", "-1", "0", "inf", "2026-11-29T12:00:00", "12:00"] {
            assert!(instant(text).is_err(), "{text}");
        }
    }

    #[test]
    fn parts_are_counted_from_one() {
        assert_eq!(part("1/3"), Ok(Part { index: 0, of: 3 }));
        assert_eq!(part("3/3"), Ok(Part { index: 2, of: 3 }));
        for text in ["", "1", "0/3", "4/3", "1/0", "a/b", "-1/3"] {
            assert!(part(text).is_err(), "{text}");
        }
    }
}
