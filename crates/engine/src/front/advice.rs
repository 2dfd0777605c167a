//! What whoever typed is told beside the numbers: what these do not say, and what to type.

use wire::load::{LoadPlan, Phase, Summary, Workload};

use super::search::{self, BY_ENGINE};
use super::summary::ALL;
use super::words::latency;
use super::ycsb::inserted;
use crate::drive::Fault;
use crate::load::share;

/// Each in one sentence.
pub fn of(plan: &LoadPlan, summary: &Summary) -> Vec<String> {
    let all = [
        limit(summary),
        silent(summary),
        absent(plan, summary),
        left(plan, summary),
    ];
    all.into_iter().flatten().collect()
}

/// That the load may tell more of the engine than of the database.
fn limit(summary: &Summary) -> Option<String> {
    let limited = summary.saturated || search::ended(summary) == Some(BY_ENGINE);
    limited.then(|| {
        "the engine itself may have been the limit, and not the database: it worked, or waited for a \
         processor, for too much of the time; give it a processor of its own, or make less load"
            .to_owned()
    })
}

/// That the database did not answer any more.
fn silent(summary: &Summary) -> Option<String> {
    let since = latency(summary.silent_from?);
    Some(format!(
        "nothing was answered after {since}, until the end: the database may be gone, or have so much \
         to do that it answers nothing in time"
    ))
}

/// That records are missing which the load asked for.
fn absent(plan: &LoadPlan, summary: &Summary) -> Option<String> {
    let errors = &summary.operations[ALL].errors;
    let count = errors.get(Fault::NotFound.name())?;
    let remedy = match &plan.workload {
        Workload::Ycsb(_) => {
            "`load` after the address, without --time, --operations and --search, puts all in"
        }
        Workload::Stress(_) => "--stress write puts rows in, and counter_write counters",
    };
    Some(format!(
        "{count} operations found no record where one should be; {remedy}"
    ))
}

/// That a load phase left records out.
fn left(plan: &LoadPlan, summary: &Summary) -> Option<String> {
    let Workload::Ycsb(workload) = &plan.workload else {
        return None;
    };
    if plan.phase != Phase::Load || plan.warmup > 0.0 {
        return None;
    }
    let all = &summary.operations[ALL];
    let wanted = share::count(inserted(workload), plan.part);
    let there = all.service.as_ref().map_or(0, |times| times.count) + all.unfinished;
    (there < wanted).then(|| {
        let in_time = all.errors.is_empty() && all.dropped == 0 && !summary.ended_early;
        let remedy = if in_time {
            "; without --time and --operations a load ends with its last record"
        } else {
            ""
        };
        format!("only {there} of {wanted} records are known to be in{remedy}")
    })
}

#[cfg(test)]
mod tests {
    use super::super::summary::tests::summary;
    use super::*;
    use crate::load::plan::tests::plan;

    #[test]
    fn a_load_that_went_well_needs_no_advice() {
        let mut good = summary();
        good.operations.get_mut(ALL).unwrap().errors.clear();
        assert_eq!(of(&plan(), &good), [""; 0]);
    }

    #[test]
    fn records_that_are_not_there_are_to_be_loaded() {
        let said = of(&plan(), &summary());
        let expected = "2 operations found no record where one should be; `load` after the address";
        assert!(said.len() == 1 && said[0].starts_with(expected), "{said:?}");
    }

    #[test]
    fn an_engine_at_its_limit_and_a_database_that_is_gone_are_told() {
        let mut bad = summary();
        bad.operations.get_mut(ALL).unwrap().errors.clear();
        (bad.saturated, bad.silent_from) = (true, Some(2.0));
        let said = of(&plan(), &bad);
        assert!(said[0].starts_with("the engine itself may have been the limit"));
        assert!(said[1].starts_with("nothing was answered after 2.00 s, until the end"));
    }

    #[test]
    fn a_load_phase_that_ended_before_its_last_record_says_how_many_there_are() {
        let (mut plan, mut part) = (plan(), summary());
        plan.phase = Phase::Load;
        let all = part.operations.get_mut(ALL).unwrap();
        all.errors.clear();
        all.dropped = 0;
        // Four answered in time or later, and two when the time was over.
        let expected = "only 6 of 1000 records are known to be in; without --time";
        let said = of(&plan, &part);
        assert!(said.len() == 1 && said[0].starts_with(expected), "{said:?}");
        part.ended_early = true;
        assert!(of(&plan, &part)[0].ends_with(" are known to be in"));
        plan.warmup = 1.0;
        assert_eq!(of(&plan, &part), [""; 0]);
    }
}
