//! Amounts as they are typed: numbers, lengths of time, and rates that change.

use std::str::FromStr;

/// Rates at the beginning and at the end, in operations per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ramp {
    /// At the beginning.
    pub from: f64,
    /// At the end.
    pub to: f64,
}

impl FromStr for Ramp {
    type Err = String;

    /// The error is one sentence.
    fn from_str(text: &str) -> Result<Self, String> {
        let rate = |text: &str| finite(text).filter(|rate| *rate >= 0.0);
        let ramp = text
            .split_once("..")
            .and_then(|(from, to)| rate(from).zip(rate(to)));
        match ramp {
            Some((from, to)) if from + to > 0.0 => Ok(Self { from, to }),
            _ => Err("write it as 1000..5000, in operations per second".to_owned()),
        }
    }
}

/// A number above zero; the error is one sentence.
pub fn positive(text: &str) -> Result<f64, String> {
    let number = finite(text).filter(|number| *number > 0.0);
    number.ok_or_else(|| "it must be a positive number".to_owned())
}

/// A share above zero, of at most one; the error is one sentence.
pub fn share(text: &str) -> Result<f64, String> {
    let number = finite(text).filter(|number| *number > 0.0 && *number <= 1.0);
    number.ok_or_else(|| "it must be above 0 and at most 1, such as 0.05".to_owned())
}

/// Units of lengths of time, in seconds.
const UNITS: [(&str, f64); 4] = [("ms", 0.001), ("s", 1.0), ("min", 60.0), ("h", 3600.0)];

/// Seconds of a length of time such as `30s`; a number alone is of seconds, as in YCSB.
pub fn seconds(text: &str) -> Result<f64, String> {
    let end = text.find(|letter: char| letter.is_ascii_alphabetic());
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let unit = if unit.is_empty() { "s" } else { unit };
    UNITS
        .iter()
        .find(|(name, _)| *name == unit)
        .and_then(|(_, length)| Some(positive(number).ok()? * length))
        .ok_or_else(|| "write it as 30s, 200ms, 2min or 1h".to_owned())
}

/// A number, if it is one and finite.
pub fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_have_units_and_numbers_alone_are_seconds() {
        for (text, expected) in [
            ("30s", 30.0),
            ("200ms", 0.2),
            ("2min", 120.0),
            ("1.5h", 5400.0),
            ("30", 30.0),
        ] {
            assert_eq!(seconds(text), Ok(expected), "{text}");
        }
        for text in ["", "s", "0s", "-1s", "1m", "1 s", "inf", "1e400s", "1S"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_ramp_has_two_rates() {
        let ramp = |text: &str| text.parse::<Ramp>();
        let (from, to) = (0.0, 2500.5);
        assert_eq!(ramp("0..2500.5"), Ok(Ramp { from, to }));
        for text in ["", "1", "1..", "..1", "0..0", "-1..5", "1..inf", "a..b"] {
            assert!(ramp(text).unwrap_err().contains("1000..5000"), "{text}");
        }
    }
}
