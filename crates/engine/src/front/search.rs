//! The highest rate that meets an objective: one load after another, each in its own directory.

use std::io;
use std::path::Path;

use wire::load::{
    Arrivals, Level, LoadPlan, Phase, ProbeSummary, SearchSummary, Summary, Workload,
};

pub use self::next::BY_ENGINE;
use self::next::{Limits, rate};
pub use self::objective::Objective;
use super::arguments::Searching;
use super::making::made;
use super::words::latency;
use crate::load::told::told as told_to_end;
use crate::message::tell;

mod judge;
mod next;
mod objective;

/// Rate of the first load if nothing else is said.
const START: f64 = 1000.0;
/// How far the rate that is found may be below one that is too high.
const PRECISION: f64 = 0.05;
/// Most loads.
const PROBES: u32 = 20;
/// Seconds of each.
pub const TIME: f64 = 2.0;
/// Least seconds that each warms up for. What is under way when a window begins is over in it, so
/// that a queue of constant length achieves all, as in a study.
const WARMUP: f64 = 1.0;
/// Windows of the time line of each, however short it is.
const WINDOWS: f64 = 10.0;

/// What is searched for, and how.
pub struct Search {
    objective: Objective,
    limits: Limits,
}

impl Search {
    /// The one that is typed, if one is.
    pub fn of(typed: &Searching) -> Option<Self> {
        Some(Self {
            objective: typed.search.clone()?,
            limits: Limits {
                start: typed.search_start.unwrap_or(START),
                precision: typed.search_precision.unwrap_or(PRECISION),
                probes: typed.search_probes.unwrap_or(PROBES) as usize,
            },
        })
    }

    /// Operations per second of the first load.
    pub fn start(&self) -> f64 {
        self.limits.start
    }

    /// Seconds that each load warms up for where so many are typed: long enough for a queue as long as
    /// the objective allows.
    pub fn warmup(&self, typed: f64) -> f64 {
        let limits = self.objective.0.values().copied();
        limits.fold(typed.max(WARMUP), f64::max)
    }

    /// Whether the loads of a plan can be searched; the error says what stands against it.
    pub fn check(plan: &LoadPlan) -> Result<(), String> {
        let inserts = match &plan.workload {
            Workload::Ycsb(workload) => workload.mix.insert > 0.0,
            Workload::Stress(_) => false,
        };
        if plan.phase == Phase::Load || inserts {
            return Err(
                "a search makes the same load again and again, which cannot insert records; take \
                 a run of a workload without inserts, such as --workload a"
                    .to_owned(),
            );
        }
        Ok(())
    }

    /// Make one load after another until the rate is found. The summary is of the highest one that
    /// was sustained, or of the last one; the loads are in `out`, each in a directory.
    pub fn carry_out(&self, plan: &LoadPlan, out: &Path) -> io::Result<Summary> {
        let mut probes: Vec<ProbeSummary> = Vec::new();
        let (mut best, mut last) = (None::<Summary>, None);
        let mut early = false;
        while let Some(rate) = rate(self.limits, &probes) {
            let plan = at(rate, plan);
            let directory = out.join(format!("probe-{:02}", probes.len() + 1));
            let (result, summary) = match made(&plan, &directory) {
                // What was found before stays.
                Err(error) if told_to_end(&error).is_some() && !probes.is_empty() => {
                    early = true;
                    break;
                }
                made => made?,
            };
            early = summary.ended_early;
            if early {
                last = Some(summary);
                break;
            }
            let probe = judge::judged(&plan, &result, &summary, &self.objective);
            tell(&told(&probe));
            if probe.refusals.is_empty() && best.as_ref().is_none_or(|best| rate_of(best) < rate) {
                best = Some(summary.clone());
            }
            probes.push(probe);
            last = Some(summary);
        }
        let (found, mut ended) = next::found(self.limits, &probes);
        if early {
            ended = "told to end";
        }
        let search = SearchSummary {
            objective: self.objective.0.clone(),
            rate: found,
            ended: ended.to_owned(),
            probes,
        };
        let mut summary = best
            .or(last)
            .ok_or_else(|| io::Error::other("a search needs at least one load"))?;
        (summary.search, summary.ended_early) = (Some(search), early);
        Ok(summary)
    }
}

/// Whether a search says that rates above its answer were too high for the engine itself.
pub fn by_engine(summary: &Summary) -> bool {
    let search = summary.search.as_ref();
    search.is_some_and(|search| search.ended == BY_ENGINE)
}

/// The plan of the load at a rate.
fn at(rate: f64, plan: &LoadPlan) -> LoadPlan {
    let mut plan = plan.clone();
    if let Level::Rate { rate: asked, .. } = &mut plan.level {
        *asked = rate;
    }
    let longest = plan.duration.unwrap_or(TIME) / WINDOWS;
    plan.interval = plan.interval.min(longest);
    plan
}

fn rate_of(summary: &Summary) -> f64 {
    match summary.level {
        Level::Rate { rate, .. } => rate,
        _ => 0.0,
    }
}

/// How the starts of a plan's load are spaced.
fn arrivals(plan: &LoadPlan) -> Arrivals {
    match plan.level {
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
    let engine = if probe.saturated {
        " (the engine itself may have been the limit)"
    } else {
        ""
    };
    format!("{:.0} a second{p99}: {verdict}{engine}", probe.rate)
}

#[cfg(test)]
mod tests {
    use super::super::arguments::tests::typed;
    use super::*;
    use crate::load::plan::tests::{plan, ycsb};

    #[test]
    fn a_search_is_what_is_typed_or_else_twenty_loads_from_a_thousand_a_second() {
        let words = ["fake://", "--search", "p99<10ms"];
        let search = Search::of(&typed(&words).unwrap().searching).unwrap();
        assert_eq!(search.objective.0.get("response.p99"), Some(&0.01));
        let Limits {
            start,
            precision,
            probes,
        } = search.limits;
        assert_eq!((start, precision, probes), (1000.0, 0.05, 20));
        let more = ["--search-start=5", "--search-precision=0.1"];
        let all = [&words[..], &more, &["--search-probes=4"]].concat();
        let limits = Search::of(&typed(&all).unwrap().searching).unwrap().limits;
        assert_eq!(
            (limits.start, limits.precision, limits.probes),
            (5.0, 0.1, 4)
        );
        assert!(Search::of(&typed(&["fake://"]).unwrap().searching).is_none());
    }

    #[test]
    fn a_search_warms_up_for_a_second_or_for_as_long_as_an_operation_may_take() {
        let warmup = |objective, typed_warmup| {
            let words = ["fake://", "--search", objective];
            let search = Search::of(&typed(&words).unwrap().searching).unwrap();
            search.warmup(typed_warmup)
        };
        let found = [
            warmup("sustained", 0.0),
            warmup("p99<2s", 0.0),
            warmup("p99<10ms", 3.0),
        ];
        assert_eq!(found.map(|seconds| seconds as u64), [1, 2, 3]);
    }

    #[test]
    fn what_inserts_records_is_not_searched() {
        let mut plan = plan();
        assert_eq!(Search::check(&plan), Ok(()));
        ycsb(&mut plan).mix.insert = 0.05;
        assert!(
            Search::check(&plan)
                .unwrap_err()
                .contains("without inserts")
        );
        ycsb(&mut plan).mix.insert = 0.0;
        plan.phase = Phase::Load;
        assert!(Search::check(&plan).is_err());
    }

    #[test]
    fn each_load_of_a_search_has_its_rate_and_enough_windows() {
        let mut one = plan();
        one.level = Level::Rate {
            rate: 1.0,
            connections: 3,
            arrivals: Arrivals::Poisson,
        };
        one.interval = 1.0;
        let found = at(70.0, &one);
        let expected = Level::Rate {
            rate: 70.0,
            connections: 3,
            arrivals: Arrivals::Poisson,
        };
        assert_eq!((found.level, found.interval), (expected, 0.1));
        assert_eq!(arrivals(&found), Arrivals::Poisson);
    }
}
