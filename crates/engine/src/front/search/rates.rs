//! The search for the highest rate that meets an objective.

use std::collections::BTreeMap;

use wire::load::{Arrivals, Level, LoadPlan, LoadResult, ProbeSummary, SearchSummary, Summary};

use super::super::words::latency;
use super::judge::judged;
use super::next::{found, rate, same};
use super::{Course, Limits, by_engine};

/// An open load after another, each at another rate.
pub struct Rates {
    limits: Limits,
    objective: BTreeMap<String, f64>,
    /// Of the first load; the others have another rate.
    first: Level,
    probes: Vec<ProbeSummary>,
}

impl Rates {
    /// None was made yet.
    pub fn new(limits: Limits, objective: &BTreeMap<String, f64>, first: Level) -> Self {
        let objective = objective.clone();
        Self {
            limits,
            objective,
            first,
            probes: Vec::new(),
        }
    }
}

impl Course for Rates {
    fn next(&self) -> Option<Level> {
        let rate = rate(self.limits, &self.probes)?;
        Some(with(rate, self.first))
    }

    fn heed(&mut self, plan: &LoadPlan, result: &LoadResult, summary: &Summary) -> String {
        let probe = judged(plan, result, summary, &self.objective);
        let said = told(&probe);
        self.probes.push(probe);
        said
    }

    fn answer(&self) -> Option<usize> {
        let (rate, _) = found(self.limits, &self.probes);
        let rate = rate?;
        let sustained = |probe: &ProbeSummary| probe.refusals.is_empty() && same(probe, rate);
        self.probes.iter().position(sustained)
    }

    fn conclude(self: Box<Self>, ended: Option<&str>, summary: &mut Summary) {
        let (rate, by_itself) = found(self.limits, &self.probes);
        summary.search = Some(SearchSummary {
            objective: self.objective,
            rate,
            ended: ended.unwrap_or(by_itself).to_owned(),
            probes: self.probes,
        });
    }
}

/// A level with another rate.
fn with(rate: f64, mut level: Level) -> Level {
    if let Level::Rate { rate: asked, .. } = &mut level {
        *asked = rate;
    }
    level
}

/// The rate of a load of a search.
pub fn rate_of(level: Level) -> f64 {
    match level {
        Level::Rate { rate, .. } => rate,
        _ => 0.0,
    }
}

/// How the starts of the load are spaced.
pub fn arrivals(level: Level) -> Arrivals {
    match level {
        Level::Rate { arrivals, .. } => arrivals,
        _ => Arrivals::Constant,
    }
}

/// One sentence of a load that was tried.
fn told(probe: &ProbeSummary) -> String {
    let p99 = probe.p99.map_or_else(String::new, |p99| {
        format!(", response.p99 {}", latency(p99))
    });
    let verdict = if probe.refusals.is_empty() {
        "sustained".to_owned()
    } else {
        format!("not sustained: {}", probe.refusals.join("; "))
    };
    let engine = by_engine(probe.saturated);
    format!("{:.0} a second{p99}: {verdict}{engine}", probe.rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_load_has_its_rate_and_all_else_of_the_first() {
        let first = Level::Rate {
            rate: 1.0,
            connections: 3,
            arrivals: Arrivals::Poisson,
        };
        let expected = Level::Rate {
            rate: 70.0,
            connections: 3,
            arrivals: Arrivals::Poisson,
        };
        let found = with(70.0, first);
        assert_eq!((found, arrivals(found)), (expected, Arrivals::Poisson));
        assert!((rate_of(found) - 70.0).abs() < 1e-9);
    }
}
