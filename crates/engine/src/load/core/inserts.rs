//! How many inserts YCSB makes room for among the keys that requests are spread over.

use wire::load::{Level, LoadPlan, Phase, Ycsb};

/// Twice the inserts that all parts together are to make, cut to a whole number as YCSB cuts it, so
/// that the same keys are popular in each part and in an undivided load. Where a closed loop ends by time alone, which YCSB does not allow here, their number is unknown, and as
/// many as there are records are allowed for.
pub fn expected(plan: &LoadPlan, workload: &Ycsb) -> u64 {
    let weight = workload.mix.insert;
    if weight <= 0.0 || plan.phase == Phase::Load {
        return 0;
    }
    let operations = match (plan.operations, plan.duration) {
        (Some(operations), _) => operations as f64,
        (None, seconds) => match intended(plan.level, plan.warmup, seconds.unwrap_or_default()) {
            Some(operations) => operations,
            None => return workload.records,
        },
    };
    (operations * weight * 2.0) as u64
}

/// Operations that all parts of an open load intend, warm-up included; None in a closed loop.
fn intended(level: Level, warmup: f64, seconds: f64) -> Option<f64> {
    match level {
        Level::Threads { .. } => None,
        Level::Rate { rate, .. } => Some(rate * (warmup + seconds)),
        Level::Burst {
            rate, length, rest, ..
        } => {
            let burst = length.min(seconds);
            Some(rate * burst + rest * (warmup + seconds - burst))
        }
        Level::Ramp { from, to, .. } => Some(from * warmup + f64::midpoint(from, to) * seconds),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::plan::tests::{plan, ycsb};
    use wire::load::{Arrivals, Part};

    #[test]
    fn expected_inserts_are_cut_as_in_ycsb() {
        let mut plan = plan();
        ycsb(&mut plan).mix.insert = 0.05;
        (plan.duration, plan.operations) = (None, Some(1009));
        let expected = |plan: &LoadPlan| {
            let mut plan = plan.clone();
            let workload = ycsb(&mut plan).clone();
            super::expected(&plan, &workload)
        };
        assert_eq!(expected(&plan), 100);
        plan.part = Part { index: 1, of: 3 };
        assert_eq!(
            expected(&plan),
            100,
            "the same keys are popular in all parts"
        );
        plan.phase = Phase::Load;
        assert_eq!(expected(&plan), 0);
    }

    #[test]
    fn expected_inserts_of_a_time_follow_from_the_rate() {
        let mut plan = plan();
        ycsb(&mut plan).mix.insert = 0.25;
        (plan.warmup, plan.duration) = (10.0, Some(100.0));
        let (connections, arrivals) = (1, Arrivals::Constant);
        let mut expected = |level| {
            plan.level = level;
            let workload = ycsb(&mut plan).clone();
            super::expected(&plan, &workload)
        };
        let rate = |rate| Level::Rate {
            rate,
            connections,
            arrivals,
        };
        let burst = |length| Level::Burst {
            rate: 8.0,
            length,
            rest: 2.0,
            connections,
            arrivals,
        };
        let ramp = Level::Ramp {
            from: 2.0,
            to: 4.0,
            connections,
            arrivals,
        };
        assert_eq!(expected(rate(4.0)), 220);
        assert_eq!(expected(burst(30.0)), 200, "8 × 30 + 2 × (10 + 70)");
        assert_eq!(expected(burst(500.0)), 410, "8 × 100 + 2 × 10");
        assert_eq!(expected(ramp), 160, "2 × 10 + 3 × 100");
        assert_eq!(expected(Level::Threads { threads: 1 }), 1000);
    }
}
