//! Times, lengths of time and numbers in words.

/// A latency in seconds, to three digits.
pub fn latency(seconds: f64) -> String {
    let (value, unit) = if seconds < 1e-3 {
        (seconds * 1e6, "µs")
    } else if seconds < 1.0 {
        (seconds * 1e3, "ms")
    } else {
        (seconds, "s")
    };
    let digits = if value < 9.995 {
        2
    } else {
        usize::from(value < 99.95)
    };
    format!("{value:.digits$} {unit}")
}

/// So many of what is counted by this word: `1 thread`, `2 threads`.
pub fn number(count: u64, one: &str) -> String {
    let many = if count == 1 { "" } else { "s" };
    format!("{count} {one}{many}")
}

/// How long something lasts, in whole seconds.
pub fn length(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60);
    match (hours, minutes) {
        (0, 0) => format!("{rest} s"),
        (0, _) => format!("{minutes} min {rest} s"),
        _ => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_have_three_digits_and_a_unit() {
        for (seconds, expected) in [
            (0.000_001_5, "1.50 µs"),
            (0.000_999, "999 µs"),
            (0.001_234, "1.23 ms"),
            (0.012_34, "12.3 ms"),
            (0.123_4, "123 ms"),
            (2.0, "2.00 s"),
            (123.4, "123 s"),
        ] {
            assert_eq!(latency(seconds), expected);
        }
    }

    #[test]
    fn lengths_are_of_whole_seconds() {
        for (seconds, expected) in [
            (-1.0, "0 s"),
            (59.4, "59 s"),
            (59.6, "1 min 0 s"),
            (125.0, "2 min 5 s"),
            (3720.0, "1 h 2 min"),
        ] {
            assert_eq!(length(seconds), expected);
        }
    }
}
