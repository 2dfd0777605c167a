//! What is searched for.

use std::collections::BTreeMap;
use std::str::FromStr;

use super::super::amounts::seconds;
use super::super::sums::QUANTILES;

/// What is searched for.
#[derive(Debug, Clone, PartialEq)]
pub enum Goal {
    /// The highest rate that is kept up with and meets an objective: upper limits of latencies in
    /// seconds, such as of `response.p99`.
    Rate(BTreeMap<String, f64>),
    /// The highest throughput of a closed loop, and the fewest threads that reach it.
    Throughput,
}

/// The word for no limits.
const NONE: &str = "sustained";
/// The word for a search of the other kind.
const THROUGHPUT: &str = "throughput";

impl FromStr for Goal {
    type Err = String;

    /// The error is one sentence.
    fn from_str(text: &str) -> Result<Self, String> {
        if text == NONE {
            return Ok(Self::Rate(BTreeMap::new()));
        }
        if text == THROUGHPUT {
            return Ok(Self::Throughput);
        }
        let limits = text.split(',').map(|limit| {
            let (name, time) = limit.split_once('<')?;
            let time = time.trim();
            // Of a limit without a unit nobody knows whether milliseconds are meant.
            time.ends_with(|letter: char| letter.is_ascii_alphabetic())
                .then(|| Some((metric(name.trim())?, seconds(time).ok()?)))?
        });
        limits
            .collect::<Option<_>>()
            .map(Self::Rate)
            .ok_or_else(|| {
                format!(
                    "write it as p99<10ms, response.p99.9<50ms or service.p50<1ms, several with \
                     commas between, as {NONE} or as {THROUGHPUT}; there are {}",
                    QUANTILES.map(|(name, _)| name).join(", ")
                )
            })
    }
}

/// The full name of a metric; `p99` is that of response times.
fn metric(name: &str) -> Option<String> {
    let (sort, quantile) = match name.split_once('.') {
        Some((sort @ ("response" | "service"), quantile)) => (sort, quantile),
        _ => ("response", name),
    };
    let known = QUANTILES.iter().any(|(known, _)| *known == quantile);
    known.then(|| format!("{sort}.{quantile}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Vec<(String, f64)>, String> {
        match text.parse::<Goal>()? {
            Goal::Rate(limits) => Ok(limits.into_iter().collect()),
            Goal::Throughput => Err("no objective".to_owned()),
        }
    }

    #[test]
    fn an_objective_has_limits_with_units() {
        let limit = |name: &str, most| (name.to_owned(), most);
        assert_eq!(parsed("p99<10ms"), Ok(vec![limit("response.p99", 0.01)]));
        assert_eq!(
            parsed("response.p99.9 < 50ms,service.p50<1ms"),
            Ok(vec![
                limit("response.p99.9", 0.05),
                limit("service.p50", 0.001)
            ])
        );
        assert_eq!(parsed("p99.9<1s"), Ok(vec![limit("response.p99.9", 1.0)]));
        assert_eq!(parsed("sustained"), Ok(Vec::new()));
        assert_eq!("throughput".parse(), Ok(Goal::Throughput));
    }

    #[test]
    fn what_is_no_goal_is_refused_with_an_example() {
        for text in [
            "",
            "p99",
            "p99<",
            "p98<1ms",
            "p99<0ms",
            "p99<10",
            "slip.p99<1ms",
        ] {
            let said = text.parse::<Goal>().unwrap_err();
            assert!(said.contains("p99<10ms"), "{text}: {said}");
        }
    }
}
