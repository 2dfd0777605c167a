use super::*;
use crate::load::plan::tests::plan;
use proptest::prelude::*;

const WHOLE: Part = Part { index: 0, of: 1 };

fn steady(rate: f64) -> Rates {
    Rates {
        warmup: 0.0,
        course: Course::Steady { rate },
    }
}

/// A burst of 100 a second for a second, after a warm-up of two seconds.
fn burst(rest: f64) -> Rates {
    Rates {
        warmup: 2.0,
        course: Course::Burst {
            rate: 100.0,
            length: 1.0,
            rest,
        },
    }
}

fn ramp(from: f64, to: f64, length: f64) -> Rates {
    Rates {
        warmup: 0.5,
        course: Course::Ramp { from, to, length },
    }
}

/// How many slots begin within so many seconds of the measured window.
fn slots(rates: Rates, seconds: f64) -> u64 {
    let mut pace = Pace::new(rates, Arrivals::Constant, 1, WHOLE);
    let begin = nanoseconds(rates.warmup);
    let until = begin + nanoseconds(seconds);
    (0..10_000)
        .map(|n| pace.intended(n))
        .take_while(|intended| *intended < until)
        .filter(|intended| *intended >= begin)
        .count() as u64
}

#[test]
fn only_an_open_load_has_a_pace_and_its_rate_is_positive() {
    let mut plan = plan();
    assert!(Pace::of(&plan).unwrap().is_none());
    let mut paced = |rate| {
        plan.level = Level::Rate {
            rate,
            connections: 1,
            arrivals: Arrivals::Constant,
        };
        Pace::of(&plan)
    };
    assert_eq!(paced(4.0).unwrap().unwrap().intended(1), 250_000_000);
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(
            paced(rate).err(),
            Some("`rate` must be positive".to_owned())
        );
    }
}

#[test]
fn a_constant_pace_keeps_equal_gaps_for_ever() {
    let mut pace = Pace::new(steady(3.0), Arrivals::Constant, 1, WHOLE);
    assert_eq!(pace.intended(0), 0);
    assert_eq!(pace.intended(3), 1_000_000_000);
    assert_eq!(pace.intended(3 * 86_400), 86_400_000_000_000);
}

#[test]
fn poisson_gaps_have_the_mean_and_the_spread_of_an_exponential() {
    let mut pace = Pace::new(steady(1000.0), Arrivals::Poisson, 7, WHOLE);
    let starts: Vec<u64> = (0..=100_000).map(|n| pace.intended(n)).collect();
    let gaps: Vec<f64> = starts
        .windows(2)
        .map(|pair| (pair[1] - pair[0]) as f64)
        .collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    assert!((mean / 1e6 - 1.0).abs() < 0.02, "mean gap {mean} ns");
    assert!(
        (variance.sqrt() / mean - 1.0).abs() < 0.02,
        "spread {variance}"
    );
}

#[test]
fn a_burst_begins_with_the_measured_window_and_the_rest_is_before_and_after_it() {
    let mut pace = Pace::new(burst(10.0), Arrivals::Constant, 1, WHOLE);
    assert_eq!(pace.intended(19), 1_900_000_000);
    assert_eq!(pace.intended(20), 2_000_000_000);
    assert_eq!(pace.intended(21), 2_010_000_000);
    assert_eq!(pace.intended(120), 3_000_000_000);
    assert_eq!(pace.intended(121), 3_100_000_000);
    assert_eq!(slots(burst(10.0), 4.0), 130);
}

#[test]
fn nothing_comes_after_a_burst_without_rest() {
    let mut pace = Pace::new(burst(0.0), Arrivals::Constant, 1, WHOLE);
    assert_eq!(pace.intended(0), 2_000_000_000);
    assert_eq!(pace.intended(99), 2_990_000_000);
    assert_eq!(pace.intended(100), u64::MAX);
    assert_eq!(slots(burst(0.0), 60.0), 100);
    assert!(burst(0.0).window(99.0) < 1.0);
    assert!(burst(0.0).window(100.0).is_infinite());
}

#[test]
fn a_ramp_has_as_many_slots_as_its_mean_rate_and_half_of_them_where_it_should() {
    for (from, to) in [
        (100.0, 900.0),
        (900.0, 100.0),
        (0.0, 1000.0),
        (1000.0, 0.0),
        (500.0, 500.0),
    ] {
        for length in [2.0, 0.29, 0.7] {
            let all = (500.0_f64 * length).round() as u64;
            assert_eq!(
                slots(ramp(from, to, length), length),
                all,
                "{from} {to} {length}"
            );
        }
        // Half-way the rate is the mean one, so that a quarter of the change is missing.
        let half = 500.0 - (to - from) / 4.0;
        assert_eq!(slots(ramp(from, to, 2.0), 1.0), half as u64, "{from} {to}");
    }
    let beyond = ramp(0.0, 1000.0, 1.0).window(1000.0);
    assert!((beyond - 1.5).abs() < 1e-9, "{beyond}");
}

#[test]
fn the_warm_up_of_a_ramp_is_at_its_first_rate() {
    let mut pace = Pace::new(ramp(10.0, 30.0, 1.0), Arrivals::Constant, 1, WHOLE);
    assert_eq!(pace.intended(4), 400_000_000);
    assert_eq!(pace.intended(5), 500_000_000);
    assert_eq!(pace.intended(25), 1_500_000_000);
    let mut pace = Pace::new(ramp(0.0, 30.0, 1.0), Arrivals::Constant, 1, WHOLE);
    assert_eq!(pace.intended(0), 500_000_000);
}

#[test]
fn poisson_arrivals_follow_the_course_of_the_rate() {
    let mut pace = Pace::new(ramp(1000.0, 3000.0, 10.0), Arrivals::Poisson, 3, WHOLE);
    let starts: Vec<u64> = (0..30_000)
        .map(|n| pace.intended(n))
        .filter(|intended| *intended >= 500_000_000)
        .collect();
    let before = |seconds: f64| {
        let until = nanoseconds(0.5 + seconds);
        starts.iter().filter(|intended| **intended < until).count() as f64
    };
    // Of 20 000 a deviation of three times √n is one of 2 %.
    assert!((before(10.0) / 20_000.0 - 1.0).abs() < 0.03);
    assert!((before(5.0) / 7_500.0 - 1.0).abs() < 0.05);
}

#[test]
fn rates_that_make_no_sense_are_refused_with_a_sentence() {
    let (connections, arrivals) = (1, Arrivals::Constant);
    let refused = |level: Level| {
        let mut plan = plan();
        plan.level = level;
        Pace::of(&plan).err().unwrap_or_default()
    };
    let burst = |rate, length, rest| {
        refused(Level::Burst {
            rate,
            length,
            rest,
            connections,
            arrivals,
        })
    };
    assert_eq!(burst(100.0, 1.0, 0.0), "");
    assert!(burst(0.0, 1.0, 1.0).contains("`rate` must be positive"));
    assert!(burst(1.0, 0.0, 1.0).contains("`length` must be positive"));
    assert!(burst(1.0, 1.0, -1.0).contains("`rest` must not be negative"));
    assert!(burst(1.0, 1.0, f64::INFINITY).contains("`rest`"));
    let ramp = |from, to| {
        refused(Level::Ramp {
            from,
            to,
            connections,
            arrivals,
        })
    };
    assert_eq!(
        (ramp(0.0, 1.0), ramp(1.0, 0.0)),
        (String::new(), String::new())
    );
    for (from, to) in [
        (0.0, 0.0),
        (-1.0, 2.0),
        (2.0, -1.0),
        (1.0, f64::NAN),
        (f64::INFINITY, 1.0),
    ] {
        assert!(
            ramp(from, to).contains("one must be positive"),
            "{from} {to}"
        );
    }
    for level in [
        Level::Burst {
            rate: 2.0,
            length: 1.0,
            rest: 1.0,
            connections,
            arrivals,
        },
        Level::Ramp {
            from: 1.0,
            to: 2.0,
            connections,
            arrivals,
        },
    ] {
        let mut plan = plan();
        (plan.level, plan.duration, plan.operations) = (level, None, Some(10));
        let refused = Pace::of(&plan).err().unwrap();
        assert!(refused.contains("needs a `duration`"), "{refused}");
    }
}

#[test]
fn a_deficit_of_1_6_percent_is_29_seconds_of_lag_after_half_an_hour() {
    let mut wanted = Pace::new(steady(1000.0), Arrivals::Constant, 1, WHOLE);
    let answered_at_984_per_second = 1800 * 984;
    let lag = 1800.0 - wanted.intended(answered_at_984_per_second) as f64 / 1e9;
    assert!((lag - 28.8).abs() < 0.01, "{lag}");
}

proptest! {
    #[test]
    fn the_parts_together_are_the_whole_schedule(
        of in 1_u32..6, rate in 1.0..1e5_f64, seed: u64, poisson: bool,
        course in 0_usize..3, warmup in 0.0..0.01_f64,
    ) {
        let rates = Rates {
            warmup,
            course: [
                Course::Steady { rate },
                Course::Burst { rate, length: 0.1, rest: rate / 3.0 },
                Course::Ramp { from: rate, to: 0.5 * rate, length: 1.0 },
            ][course],
        };
        let arrivals = if poisson { Arrivals::Poisson } else { Arrivals::Constant };
        let mut whole = Pace::new(rates, arrivals, seed, WHOLE);
        let mut expected: Vec<u64> = (0..u64::from(of) * 20).map(|n| whole.intended(n)).collect();
        let mut added: Vec<u64> = (0..of)
            .flat_map(|index| {
                let mut pace = Pace::new(rates, arrivals, seed, Part { index, of });
                (0..20).map(move |n| pace.intended(n)).collect::<Vec<_>>()
            })
            .collect();
        added.sort_unstable();
        expected.sort_unstable();
        prop_assert_eq!(added, expected);
    }

    #[test]
    fn asking_out_of_order_changes_nothing(seed: u64, first in 0_u64..500, second in 0_u64..500) {
        let mut pace = Pace::new(steady(100.0), Arrivals::Poisson, seed, WHOLE);
        let mut fresh = Pace::new(steady(100.0), Arrivals::Poisson, seed, WHOLE);
        pace.intended(first);
        prop_assert_eq!(pace.intended(second), fresh.intended(second));
    }
}

#[test]
fn a_number_of_operations_is_exact_however_they_are_spaced_and_shared() {
    let mut plan = plan();
    plan.warmup = 0.5;
    for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
        plan.level = Level::Rate {
            rate: 3000.0,
            connections: 4,
            arrivals,
        };
        let end = Pace::end(&plan, 500, u64::MAX).unwrap();
        let mut measured = 0;
        for index in 0..3 {
            plan.part = Part { index, of: 3 };
            let mut pace = Pace::of(&plan).unwrap().unwrap();
            let window = nanoseconds(plan.warmup)..end;
            let taken = (0..).map(|slot| pace.intended(slot));
            let before = taken.take_while(|intended| *intended < window.end);
            measured += before.filter(|intended| window.contains(intended)).count();
        }
        assert_eq!(measured, 500, "{arrivals:?}");
        assert_eq!(Pace::end(&plan, 500, end - 1), Some(end - 1));
        assert_eq!(Pace::end(&plan, u64::MAX, end), Some(end));
    }
    plan.level = Level::Threads { threads: 3 };
    assert_eq!(Pace::end(&plan, 500, u64::MAX), None);
}
