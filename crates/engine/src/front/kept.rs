//! How an open load kept its schedule, by the rules of a study (`analysis/schedule.py`).

use wire::load::{Arrivals, Level, LoadPlan, LoadResult, Window};

use crate::load::share;

/// Share of the intended operations that keeps a schedule.
const KEPT: f64 = 0.99;
/// Operations that may be missing at the edges of a window, however few it holds.
const EDGE: f64 = 2.0;

/// See above.
pub struct Kept {
    intended: f64,
    /// Operations over when the window ended, as a share of those intended.
    pub achieved: f64,
    /// Seconds that the backlog grew by in each second, over the second half of the window, where
    /// the rate was the same all the time.
    pub slope: f64,
}

impl Kept {
    /// By the time line of a result.
    pub fn of(result: &LoadResult) -> Self {
        let intended = result.intended.unwrap_or(0) as f64;
        let line = measured(result);
        let over: u64 = line.iter().map(Window::over).sum();
        let achieved = if intended > 0.0 {
            over as f64 / intended
        } else {
            0.0
        };
        let offered = intended / result.seconds;
        Self {
            intended,
            achieved,
            slope: slope(&line, offered).unwrap_or(1.0 - achieved),
        }
    }

    /// Why a schedule of one rate was not kept, in words, if it was not.
    pub fn missed(&self, arrivals: Arrivals) -> Option<String> {
        let Self {
            intended,
            achieved,
            slope,
        } = *self;
        if intended == 0.0 {
            Some("no operation was intended".to_owned())
        } else if (1.0 - achieved) * intended > (1.0 - KEPT) * intended + EDGE {
            let share = 100.0 * achieved;
            Some(format!("{share:.1} % of the operations were over in time"))
        } else if slope > 1.0 - KEPT + slack(arrivals, intended) + 2.0 * EDGE / intended {
            let more = 1000.0 * slope;
            Some(format!("the backlog grew by {more:.0} ms in each second"))
        } else {
            None
        }
    }
}

/// Seconds from the end of a burst until nothing waited any more: by the time line, no more
/// operations were open than can be under way at once. None where that never was, and where the load
/// was no burst whose operations all wait for their turn.
pub fn recovered(plan: &LoadPlan, result: &LoadResult) -> Option<f64> {
    let Level::Burst {
        rate, length, rest, ..
    } = plan.level
    else {
        return None;
    };
    if !result.dropped.is_empty() {
        return None;
    }
    let part = 1.0 / f64::from(plan.part.of);
    let at_once = share::count(
        u64::from(crate::load::plan::in_flight(plan.level)),
        plan.part,
    );
    let mut over = 0;
    for window in measured(result) {
        over += window.over();
        let end = window.start + window.length;
        if end >= length {
            let intended = part * (rate * length + rest * (end - length));
            if intended - over as f64 <= at_once as f64 {
                return Some(end - length);
            }
        }
    }
    None
}

/// The windows of the time line that are not of the warm-up.
fn measured(result: &LoadResult) -> Vec<Window> {
    let windows = result.windows.iter();
    windows
        .filter(|window| window.start >= -1e-9)
        .copied()
        .collect()
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
    use super::super::summary::tests::{result, windows};
    use super::*;
    use crate::load::plan::tests::plan;

    #[test]
    fn the_backlog_of_a_burst_is_gone_when_no_more_is_open_than_can_be_under_way() {
        let mut plan = plan();
        plan.level = Level::Burst {
            rate: 100.0,
            length: 0.5,
            rest: 10.0,
            connections: 4,
            arrivals: Arrivals::Constant,
        };
        let mut found = result();
        found.dropped.clear();
        // Before the window, and in its half seconds; 50 are of the burst, then 5 each.
        found.windows = windows(&[9, 20, 20, 20, 5]);
        assert_eq!(recovered(&plan, &found), Some(1.0));
        found.windows = windows(&[9, 20, 20, 5, 5]);
        assert_eq!(recovered(&plan, &found), None);
        plan.level = Level::Threads { threads: 4 };
        found.windows = windows(&[9, 50, 5, 5, 5]);
        assert_eq!(recovered(&plan, &found), None);
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
}
