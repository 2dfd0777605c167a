//! Whether a load was sustained.
//!
//! By the same rules as in a study (`analysis/schedule.py`), so that both find the same rate.

use std::collections::BTreeMap;

use wire::load::{LoadPlan, LoadResult, ProbeSummary, Summary};

use super::super::kept::Kept;
use super::super::summary::ALL;
use super::super::words::latency;
use super::rates::{arrivals, rate_of};
use crate::load::share;

/// What one load of a search says of its rate.
pub fn judged(
    plan: &LoadPlan,
    result: &LoadResult,
    summary: &Summary,
    objective: &BTreeMap<String, f64>,
) -> ProbeSummary {
    let kept = Kept::of(result);
    let all = &summary.operations[ALL];
    let errors: u64 = all.errors.values().sum();
    let mut refusals: Vec<String> = kept.missed(arrivals(plan.level)).into_iter().collect();
    if refusals.is_empty() && errors > 0 {
        refusals.push(format!("there were {errors} errors"));
    }
    for (name, most) in objective {
        refusals.extend(missed(name, *most, summary));
    }
    let response = all.response.as_ref();
    let service = all.service.as_ref().map(|times| times.mean);
    // Over capacity most of what is over in the window was intended before it.
    let over = kept.achieved * summary.offered.unwrap_or_default();
    let connections = share::in_flight(plan.level, plan.part) as f64;
    ProbeSummary {
        rate: rate_of(summary.level),
        achieved: kept.achieved,
        slope: kept.slope,
        p99: response.map(|times| times.quantiles["p99"]),
        service,
        in_use: service.map(|service| over * service / connections),
        saturated: result.saturated,
        refusals,
    }
}

/// Why a limit is not met, if it is not.
fn missed(name: &str, most: f64, summary: &Summary) -> Option<String> {
    let all = &summary.operations[ALL];
    let (sort, quantile) = name.split_once('.')?;
    let times = if sort == "service" {
        &all.service
    } else {
        &all.response
    };
    let Some(times) = times else {
        return Some(format!("`{name}` is not known, as nothing was answered"));
    };
    let found = times.quantiles[quantile];
    let (told, allowed) = (latency(found), latency(most));
    (found > most).then(|| format!("`{name}` was {told}, more than {allowed}"))
}

#[cfg(test)]
mod tests {
    use super::super::super::summary::tests::{result, summary, windows};
    use super::super::goal::Goal;
    use super::*;
    use crate::load::plan::tests::plan;
    use wire::load::{Arrivals, Level, Window};

    /// What is said of a load of 100 operations in two seconds; the first window is of the warm-up.
    fn refusals(over: &[u64], errors: bool, objective: &str) -> Vec<String> {
        let (mut found, mut told) = (result(), summary());
        found.windows = windows(over);
        if !errors {
            told.operations.get_mut(ALL).unwrap().errors.clear();
        }
        let Goal::Rate(objective) = objective.parse().unwrap() else {
            panic!("{objective}");
        };
        judged(&plan(), &found, &told, &objective).refusals
    }

    #[test]
    fn a_schedule_that_is_kept_without_errors_is_sustained() {
        assert_eq!(refusals(&[9, 25, 25, 25, 25], false, "sustained"), [""; 0]);
        let said = refusals(&[9, 25, 25, 25, 25], true, "sustained");
        assert_eq!(said, ["there were 4 errors"]);
    }

    #[test]
    fn what_is_missing_at_the_end_or_grows_is_refused() {
        let said = refusals(&[0, 25, 25, 25, 15], false, "sustained");
        assert_eq!(said, ["90.0 % of the operations were over in time"]);
        let said = refusals(&[0, 30, 30, 20, 18], false, "sustained");
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with("the backlog grew by "), "{said:?}");
    }

    #[test]
    fn limits_of_latencies_are_limits() {
        let kept = [9, 25, 25, 25, 25];
        assert_eq!(refusals(&kept, false, "p99<25ms"), [""; 0]);
        let said = refusals(&kept, false, "p99<15ms,service.p50<100ms");
        assert_eq!(said, ["`response.p99` was 20.0 ms, more than 15.0 ms"]);
    }

    #[test]
    fn connections_are_in_use_for_as_long_as_answers_take() {
        let (mut plan, found, mut told) = (plan(), result(), summary());
        plan.level = Level::Rate {
            rate: 50.0,
            connections: 4,
            arrivals: Arrivals::Constant,
        };
        told.operations
            .get_mut(ALL)
            .unwrap()
            .service
            .as_mut()
            .unwrap()
            .mean = 0.05;
        let probe = judged(&plan, &found, &told, &BTreeMap::new());
        assert_eq!(probe.service, Some(0.05));
        // 49 of 50 a second were over.
        let in_use = probe.in_use.unwrap();
        assert!((in_use - 49.0 * 0.05 / 4.0).abs() < 1e-9, "{in_use}");
    }

    #[derive(serde::Deserialize)]
    struct Golden {
        judged: Vec<Judged>,
    }

    #[derive(serde::Deserialize)]
    struct Judged {
        name: String,
        rate: f64,
        arrivals: Arrivals,
        seconds: f64,
        intended: u64,
        windows: Vec<Window>,
        errors: u64,
        p99: Option<f64>,
        objective: BTreeMap<String, f64>,
        achieved: f64,
        slope: Option<f64>,
        refusals: Vec<String>,
    }

    /// How the sentence of a refusal is known that a study calls so.
    fn sentence(what: &str) -> &str {
        match what {
            "offered" => "no operation was intended",
            "achieved" => "of the operations were over in time",
            "backlog.slope" => "the backlog grew by ",
            "errors" => "there were ",
            quantile => quantile,
        }
    }

    #[test]
    fn a_load_is_judged_as_by_a_study() {
        // `tests/unit/analysis/test_analysis_search_alone.py` reads the same.
        let golden = include_str!("../../../tests/golden/search.json");
        let golden: Golden = serde_json::from_str(golden).unwrap();
        for case in golden.judged {
            let (mut plan, mut result, mut summary) = (plan(), result(), summary());
            plan.level = Level::Rate {
                rate: case.rate,
                connections: 4,
                arrivals: case.arrivals,
            };
            summary.level = plan.level;
            (result.seconds, result.intended) = (case.seconds, Some(case.intended));
            result.windows = case.windows;
            let all = summary.operations.get_mut(ALL).unwrap();
            all.errors.clear();
            all.errors.insert("server".to_owned(), case.errors);
            match (&mut all.response, case.p99) {
                (Some(times), Some(p99)) => {
                    times.quantiles.insert("p99".to_owned(), p99);
                }
                (times, _) => *times = None,
            }
            let probe = judged(&plan, &result, &summary, &case.objective);
            let name = &case.name;
            let said = &probe.refusals;
            assert_eq!(said.len(), case.refusals.len(), "{name}: {said:?}");
            for (said, what) in said.iter().zip(&case.refusals) {
                assert!(said.contains(sentence(what)), "{name}: {said}");
            }
            assert!((probe.achieved - case.achieved).abs() < 1e-9, "{name}");
            if let Some(slope) = case.slope {
                assert!(
                    (probe.slope - slope).abs() < 1e-9,
                    "{name}: {}",
                    probe.slope
                );
            }
        }
    }
}
