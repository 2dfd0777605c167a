//! Whether a load was sustained.
//!
//! By the same rules as in a study (`analysis/schedule.py`), so that both find the same rate.

use wire::load::{Arrivals, LoadPlan, LoadResult, ProbeSummary, Summary, Window};

use super::super::summary::ALL;
use super::super::words::latency;
use super::{Objective, arrivals, rate_of};

/// Share of the intended operations that keeps a schedule.
const KEPT: f64 = 0.99;
/// Operations that may be missing at the edges of a window, however few it holds.
const EDGE: f64 = 2.0;

/// What one load of a search says of its rate.
pub fn judged(
    plan: &LoadPlan,
    result: &LoadResult,
    summary: &Summary,
    objective: &Objective,
) -> ProbeSummary {
    let intended = result.intended.unwrap_or(0) as f64;
    let line: Vec<Window> = result
        .windows
        .iter()
        .filter(|window| window.start >= -1e-9)
        .copied()
        .collect();
    let over: u64 = line.iter().map(Window::over).sum();
    let achieved = if intended > 0.0 {
        over as f64 / intended
    } else {
        0.0
    };
    let offered = intended / result.seconds;
    let slope = slope(&line, offered).unwrap_or(1.0 - achieved);
    let all = &summary.operations[ALL];
    let errors: u64 = all.errors.values().sum();
    let mut refusals = Vec::new();
    if intended == 0.0 {
        refusals.push("no operation was intended".to_owned());
    } else if (1.0 - achieved) * intended > (1.0 - KEPT) * intended + EDGE {
        let share = 100.0 * achieved;
        refusals.push(format!("{share:.1} % of the operations were over in time"));
    } else if slope > 1.0 - KEPT + slack(arrivals(plan), intended) + 2.0 * EDGE / intended {
        let more = 1000.0 * slope;
        refusals.push(format!("the backlog grew by {more:.0} ms in each second"));
    } else if errors > 0 {
        refusals.push(format!("there were {errors} errors"));
    }
    for (name, most) in &objective.0 {
        refusals.extend(missed(name, *most, summary));
    }
    let response = all.response.as_ref();
    ProbeSummary {
        rate: rate_of(summary),
        achieved,
        slope,
        p99: response.map(|times| times.quantiles["p99"]),
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

/// By how much a backlog may grow by chance: the slope of a random walk of n steps deviates by
/// √(6 / 5n); n is half of the arrivals.
fn slack(arrivals: Arrivals, intended: f64) -> f64 {
    match arrivals {
        Arrivals::Constant => 0.0,
        Arrivals::Poisson => 3.0 * (12.0 / (5.0 * intended.max(1.0))).sqrt(),
    }
}

/// Seconds of lag gained in each second, by least squares over the second half of a time line. The
/// lag at time t is t less the time for which the schedule has that many operations as were over by
/// then. None where there are fewer than two windows.
fn slope(line: &[Window], offered: f64) -> Option<f64> {
    let half = &line[line.len() / 2..];
    if half.len() < 2 || offered <= 0.0 {
        return None;
    }
    let mut points = vec![(half[0].start, 0.0)];
    let mut lag = 0.0;
    for window in half {
        lag += window.length - window.over() as f64 / offered;
        points.push((window.start + window.length, lag));
    }
    let number = points.len() as f64;
    let mean_time = points.iter().map(|(time, _)| time).sum::<f64>() / number;
    let mean_lag = points.iter().map(|(_, lag)| lag).sum::<f64>() / number;
    let (mut moment, mut spread) = (0.0, 0.0);
    for (time, lag) in points {
        moment += (time - mean_time) * (lag - mean_lag);
        spread += (time - mean_time).powi(2);
    }
    (spread > 0.0).then(|| moment / spread)
}

#[cfg(test)]
mod tests {
    use super::super::super::summary::tests::{result, summary};
    use super::*;
    use crate::load::plan::tests::plan;
    use wire::load::Level;

    fn windows(over: &[u64]) -> Vec<Window> {
        (0..)
            .zip(over)
            .map(|(number, operations)| Window {
                start: f64::from(number) * 0.5 - 0.5,
                length: 0.5,
                operations: *operations,
                errors: 0,
            })
            .collect()
    }

    /// What is said of a load of 100 operations in two seconds; the first window is of the warm-up.
    fn refusals(over: &[u64], errors: bool, objective: &str) -> Vec<String> {
        let (mut found, mut told) = (result(), summary());
        found.windows = windows(over);
        if !errors {
            told.operations.get_mut(ALL).unwrap().errors.clear();
        }
        let objective = objective.parse().unwrap();
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
    fn chance_is_allowed_for_in_poisson_arrivals_only() {
        assert_eq!(
            slack(Arrivals::Constant, 100.0).to_bits(),
            0.0_f64.to_bits()
        );
        let found = slack(Arrivals::Poisson, 2400.0);
        assert!((found - 3.0 * 0.001_f64.sqrt()).abs() < 1e-12, "{found}");
    }

    #[test]
    fn a_time_line_of_one_window_has_no_slope() {
        assert_eq!(slope(&windows(&[5]), 10.0), None);
        let even = slope(&windows(&[5, 5, 5, 5]), 10.0).unwrap();
        assert!(even.abs() < 1e-12, "{even}");
        let none = slope(&windows(&[5, 5, 0, 0]), 10.0).unwrap();
        assert!((none - 1.0).abs() < 1e-12, "{none}");
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
        objective: std::collections::BTreeMap<String, f64>,
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
            let probe = judged(&plan, &result, &summary, &Objective(case.objective));
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
