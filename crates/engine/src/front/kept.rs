//! How an open load kept its schedule, by the rules of a study (`analysis/schedule.py`).

use wire::load::{Arrivals, Level, LoadPlan, LoadResult, Window};

use crate::load::pace::Pace;
use crate::load::share;

/// Share of the intended operations that keeps a schedule.
const KEPT: f64 = 0.99;
/// Operations that may be missing at the edges of a window, however few it holds.
const EDGE: f64 = 2.0;

/// See above.
pub struct Kept {
    intended: f64,
    /// Operations over inside the window, whenever they were intended, as a share of those intended
    /// inside it.
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
        if self.intended == 0.0 {
            Some("no operation was intended".to_owned())
        } else if self.short() {
            let share = 100.0 * self.achieved;
            Some(format!("{share:.1} % of the operations were over in time"))
        } else if self.growing(arrivals) {
            let more = 1000.0 * self.slope;
            Some(format!("the backlog grew by {more:.0} ms in each second"))
        } else {
            None
        }
    }

    /// Whether the rate was too high: the backlog grew, or what is missing is more than one stall
    /// just before the end, or than what is under way all the time, which a later end of the window
    /// would have forgiven.
    pub fn over(&self, arrivals: Arrivals) -> bool {
        let lasting = self.slope + slack(arrivals, self.intended) >= self.missing() / 2.0;
        self.growing(arrivals) || (self.short() && lasting)
    }

    /// Share of the operations that was not over.
    fn missing(&self) -> f64 {
        1.0 - self.achieved
    }

    /// Whether more is missing at the end than may be.
    fn short(&self) -> bool {
        self.missing() * self.intended > (1.0 - KEPT) * self.intended + EDGE
    }

    /// Whether the backlog grew by more than chance explains.
    fn growing(&self, arrivals: Arrivals) -> bool {
        let chance = slack(arrivals, self.intended) + 2.0 * EDGE / self.intended;
        self.slope > 1.0 - KEPT + chance
    }
}

/// Seconds from the end of a burst until nothing waited any more: by the time line, no more
/// operations were open than can be under way at once. None where that never was, and where the load
/// was no burst whose operations all wait for their turn.
pub fn recovered(plan: &LoadPlan, result: &LoadResult) -> Option<f64> {
    let Level::Burst { length, .. } = plan.level else {
        return None;
    };
    if !result.dropped.is_empty() {
        return None;
    }
    let at_once = share::in_flight(plan.level, plan.part);
    let mut pace = Pace::of(plan).ok()??;
    let first = pace.before(plan.warmup, 0);
    let (mut slots, mut over) = (first, 0);
    for window in measured(result) {
        over += window.over();
        let end = window.start + window.length;
        if end >= length {
            slots = pace.before(plan.warmup + end, slots);
            if slots - first <= over + at_once {
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
    fn the_operations_of_a_burst_by_chance_are_those_that_there_were() {
        let mut plan = plan();
        plan.level = Level::Burst {
            rate: 20_000.0,
            length: 0.5,
            rest: 0.0,
            connections: 4,
            arrivals: Arrivals::Poisson,
        };
        let mut pace = Pace::of(&plan).unwrap().unwrap();
        let warm = pace.before(plan.warmup, 0);
        let burst = pace.before(plan.warmup + 0.5, warm) - warm;
        assert!(burst.abs_diff(10_000) > 4, "{burst}");
        let mut found = result();
        found.dropped.clear();
        found.windows = windows(&[0, burst - 4, 0, 0, 0]);
        assert_eq!(recovered(&plan, &found), Some(0.0));
        found.windows = windows(&[0, burst - 5, 0, 0, 0]);
        assert_eq!(recovered(&plan, &found), None);
    }

    /// What is said of a second in which so many of 1000 were over, the backlog having grown so.
    fn over(achieved: f64, slope: f64) -> (bool, bool) {
        let kept = Kept {
            intended: 1000.0,
            achieved,
            slope,
        };
        (
            kept.missed(Arrivals::Constant).is_some(),
            kept.over(Arrivals::Constant),
        )
    }

    #[test]
    fn what_is_missing_all_the_time_or_by_one_stall_is_not_more_than_can_be_answered() {
        assert_eq!(over(1.0, 0.0), (false, false));
        assert_eq!(over(0.95, 0.0), (true, false), "each answer takes long");
        assert_eq!(over(0.95, 0.02), (true, true));
        assert_eq!(over(0.985, 0.007), (true, false), "one stall at the end");
        assert_eq!(over(0.995, 0.02), (true, true));
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
