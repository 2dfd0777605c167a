//! The times of a measured window, added up.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use wire::load::LatencySummary;

use crate::load::log::{Interval, Times};

/// Quantiles that are told.
pub const QUANTILES: [(&str, f64); 6] = [
    ("p50", 0.5),
    ("p90", 0.9),
    ("p95", 0.95),
    ("p99", 0.99),
    ("p99.9", 0.999),
    ("p99.99", 0.9999),
];

/// How the tags of a warm-up begin.
const WARMUP: &str = "warmup.";

/// Times in nanoseconds by the tag that they have in the log, those of the warm-up left out.
#[derive(Default)]
pub struct Sums(BTreeMap<String, Histogram<u64>>);

impl Sums {
    /// Add those of an interval.
    pub fn add(&mut self, interval: &Interval) {
        for (tag, times) in &interval.histograms {
            if !tag.starts_with(WARMUP) {
                let sum = self.0.entry(tag.clone());
                pour(times, sum.or_insert_with(|| Histogram::new_from(times)));
            }
        }
    }

    /// Times of one sort, such as `service`, of one operation type; None if there are none.
    pub fn of(&self, kind: &str, time: &str) -> Option<LatencySummary> {
        told(self.0.get(&format!("{kind}.{time}"))?)
    }

    /// Times of one sort of all operation types.
    pub fn of_all(&self, time: &str) -> Option<LatencySummary> {
        let of_time = |tag: &str| tag.rsplit_once('.').is_some_and(|(_, sort)| sort == time);
        let mut every = self.0.iter().filter(|(tag, _)| of_time(tag));
        let mut whole = every.next()?.1.clone();
        for (_, times) in every {
            for step in times.iter_recorded() {
                whole.saturating_record_n(step.value_iterated_to(), step.count_at_value());
            }
        }
        told(&whole)
    }
}

/// Add times to a histogram of the same bounds whose counts are larger.
pub fn pour(times: &Times, into: &mut Histogram<u64>) {
    for step in times.iter_recorded() {
        into.saturating_record_n(step.value_iterated_to(), step.count_at_value().into());
    }
}

/// What is told of times; None if there are none.
fn told(times: &Histogram<u64>) -> Option<LatencySummary> {
    let seconds = |nanoseconds: u64| nanoseconds as f64 / 1e9;
    let quantile = |(name, share): (&str, f64)| {
        let value = times.value_at_quantile(share);
        (name.to_owned(), seconds(value))
    };
    (!times.is_empty()).then(|| LatencySummary {
        count: times.len(),
        mean: times.mean() / 1e9,
        minimum: seconds(times.min()),
        maximum: seconds(times.max()),
        quantiles: QUANTILES.into_iter().map(quantile).collect(),
    })
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// An interval of a second that begins at `start` seconds, with times in milliseconds by tag.
    pub fn interval(start: u64, tags: &[(&str, &[u64])], operations: u64) -> Interval {
        let second = 1_000_000_000;
        let histograms = tags.iter().map(|(tag, milliseconds)| {
            let mut times = Times::new_with_bounds(1, 3600 * second, 3).unwrap();
            for time in *milliseconds {
                times.record(time * 1_000_000).unwrap();
            }
            ((*tag).to_owned(), times)
        });
        Interval {
            start: start * second,
            length: second,
            histograms: histograms.collect(),
            operations,
            errors: 0,
            after: false,
        }
    }

    #[test]
    fn intervals_add_up_and_a_warm_up_is_left_out() {
        let mut sums = Sums::default();
        let warm: &[(&str, &[u64])] = &[("warmup.read.service", &[900])];
        sums.add(&interval(0, warm, 1));
        sums.add(&interval(1, &[("read.service", &[1, 2])], 3));
        let both: &[(&str, &[u64])] = &[("read.service", &[3]), ("update.service", &[10])];
        sums.add(&interval(2, both, 5));
        let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 0.002;
        let read = sums.of("read", "service").unwrap();
        assert_eq!(read.count, 3);
        assert!(near(read.mean, 0.002), "{read:?}");
        assert!(
            near(read.minimum, 0.001) && near(read.maximum, 0.003),
            "{read:?}"
        );
        assert!(near(read.quantiles["p50"], 0.002), "{read:?}");
        let all = sums.of_all("service").unwrap();
        assert_eq!(all.count, 4);
        assert!(near(all.quantiles["p99"], 0.010), "{all:?}");
        assert_eq!(sums.of("read", "response"), None);
        assert_eq!(sums.of_all("response"), None);
    }
}
