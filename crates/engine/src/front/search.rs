//! One load after another, each in its own directory: to the highest rate that meets an objective, or
//! to the highest throughput.

use std::io;
use std::path::Path;

use wire::load::{Level, LoadPlan, LoadResult, Phase, Summary, Workload};

pub use self::goal::Goal;
use self::rates::Rates;
pub use self::threads::ERRORS;
use self::threads::Threads;
use super::arguments::Searching;
use super::making::made;
use crate::load::told::told as told_to_end;
use crate::message::tell;

mod goal;
mod judge;
mod next;
mod rates;
mod threads;

/// How a search ended above whose answer the engine itself may have been the limit.
pub const BY_ENGINE: &str = "engine";
/// How one ended above whose answer all connections were in use although the database was quick.
pub const BY_CONNECTIONS: &str = "connections";
/// How one ended that has made all loads that it may make.
const USED_UP: &str = "used up";
/// How one ended whose answer is known.
const FOUND: &str = "found";
/// How one ended whose next load could not be made.
pub const FAILED: &str = "failed";
/// How one ended before that, by a signal.
const TOLD: &str = "told to end";

/// Rate of the first load if nothing else is said.
const START: f64 = 1000.0;
/// How far the rate that is found may be below one that is too high, and how little more throughput
/// is none.
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
#[derive(Debug)]
pub struct Search {
    goal: Goal,
    limits: Limits,
}

/// How a search goes.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Rate of the first load of a search for a rate.
    pub start: f64,
    /// How far the rate that is found may be below one that is too high, or by how much a throughput
    /// must grow to count as more; a share.
    pub precision: f64,
    /// Most loads.
    pub probes: usize,
}

/// How a search goes from one load to the next.
trait Course {
    /// How hard the next load is; None when the search is over.
    fn next(&self) -> Option<Level>;

    /// Take in what came of it. Returns a sentence about it.
    fn heed(&mut self, plan: &LoadPlan, result: &LoadResult, summary: &Summary) -> String;

    /// The number of the load that is the answer, counted from zero; None if none is.
    fn answer(&self) -> Option<usize>;

    /// Put into a summary what was found. `ended` says why the search did not go to its end, if it
    /// did not.
    fn conclude(self: Box<Self>, ended: Option<&str>, summary: &mut Summary);
}

/// What a search came to.
pub struct Outcome {
    /// Of the load that is the answer, or of the last one.
    pub summary: Summary,
    /// Why the next load could not be made, if that ended it.
    pub failed: Option<io::Error>,
}

impl Search {
    /// The one that is typed, if one is; the error is one sentence.
    pub fn of(typed: &Searching) -> Result<Option<Self>, String> {
        let Some(goal) = typed.search.clone() else {
            return Ok(None);
        };
        if goal == Goal::Throughput && typed.search_start.is_some() {
            return Err(
                "`--search-start` is a rate, and a search for the highest throughput has none; leave \
                 it out, and type --threads for the first load"
                    .to_owned(),
            );
        }
        let limits = Limits {
            start: typed.search_start.unwrap_or(START),
            precision: typed.search_precision.unwrap_or(PRECISION),
            probes: typed.search_probes.unwrap_or(PROBES) as usize,
        };
        Ok(Some(Self { goal, limits }))
    }

    /// Operations per second of the first load; None if it is a closed loop.
    pub fn start(&self) -> Option<f64> {
        match self.goal {
            Goal::Rate(_) => Some(self.limits.start),
            Goal::Throughput => None,
        }
    }

    /// Seconds that each load warms up for where so many are typed: long enough for a queue as long as
    /// the objective allows.
    pub fn warmup(&self, typed: f64) -> f64 {
        let least = typed.max(WARMUP);
        match &self.goal {
            Goal::Rate(objective) => objective.values().copied().fold(least, f64::max),
            Goal::Throughput => least,
        }
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

    /// Make one load after another until the answer is known; each is in a directory of its own in
    /// `out`. The error is that of the first load.
    pub fn carry_out(&self, plan: &LoadPlan, out: &Path) -> io::Result<Outcome> {
        let course: Box<dyn Course> = match &self.goal {
            Goal::Rate(objective) => Box::new(Rates::new(self.limits, objective, plan.level)),
            Goal::Throughput => Box::new(Threads::new(self.limits, plan.level)),
        };
        let load = |plan: &LoadPlan, number| made(plan, &out.join(format!("probe-{number:02}")));
        one_after_another(course, plan, load)
    }
}

/// See [`Search::carry_out`]; `load` makes one, by its number from one on.
fn one_after_another(
    mut course: Box<dyn Course>,
    plan: &LoadPlan,
    mut load: impl FnMut(&LoadPlan, usize) -> io::Result<(LoadResult, Summary)>,
) -> io::Result<Outcome> {
    let mut summaries = Vec::new();
    let (mut ended, mut failed) = (None, None);
    while let Some(level) = course.next() {
        let plan = at(level, plan);
        let (result, summary) = match load(&plan, summaries.len() + 1) {
            Ok(made) => made,
            Err(error) if summaries.is_empty() => return Err(error),
            // What was found before stays.
            Err(error) if told_to_end(&error).is_some() => {
                ended = Some(TOLD);
                break;
            }
            Err(error) => {
                (ended, failed) = (Some(FAILED), Some(error));
                break;
            }
        };
        if summary.ended_early {
            summaries.push(summary);
            ended = Some(TOLD);
            break;
        }
        tell(&course.heed(&plan, &result, &summary));
        summaries.push(summary);
    }
    let answer = course.answer();
    let last = summaries.len().checked_sub(1);
    let number = answer
        .or(last)
        .ok_or_else(|| io::Error::other("a search needs at least one load"))?;
    let mut summary = summaries.swap_remove(number);
    summary.ended_early = ended == Some(TOLD);
    // The process is older than this load by all those before.
    summary.first_operation = None;
    course.conclude(ended, &mut summary);
    Ok(Outcome { summary, failed })
}

/// What is added to the sentence of a load that may tell more of the engine than of the database.
fn by_engine(saturated: bool) -> &'static str {
    if saturated {
        " (the engine itself may have been the limit)"
    } else {
        ""
    }
}

/// How the search of a summary ended, if it is one of a search.
pub fn ended(summary: &Summary) -> Option<&str> {
    let rate = summary.search.as_ref().map(|search| &*search.ended);
    rate.or_else(|| summary.saturation.as_ref().map(|found| &*found.ended))
}

/// The plan of a load of a search.
fn at(level: Level, plan: &LoadPlan) -> LoadPlan {
    let longest = plan.duration.unwrap_or(TIME) / WINDOWS;
    LoadPlan {
        level,
        interval: plan.interval.min(longest),
        ..plan.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::super::arguments::tests::typed;
    use super::*;
    use crate::load::plan::tests::{plan, ycsb};
    use wire::load::Arrivals;

    fn search(words: &[&str]) -> Search {
        let typed = typed(&[&["fake://", "--search"], words].concat()).unwrap();
        Search::of(&typed.searching).unwrap().unwrap()
    }

    #[test]
    fn a_search_is_what_is_typed_or_else_twenty_loads_from_a_thousand_a_second() {
        let found = search(&["p99<10ms"]);
        let Goal::Rate(objective) = &found.goal else {
            panic!("{found:?}");
        };
        assert_eq!(objective.get("response.p99"), Some(&0.01));
        let Limits {
            start,
            precision,
            probes,
        } = found.limits;
        assert_eq!((start, precision, probes), (1000.0, 0.05, 20));
        assert_eq!(found.start(), Some(1000.0));
        let more = ["--search-start=5", "--search-precision=0.1"];
        let all = [&["p99<10ms"][..], &more, &["--search-probes=4"]].concat();
        let limits = search(&all).limits;
        assert_eq!(
            (limits.start, limits.precision, limits.probes),
            (5.0, 0.1, 4)
        );
        let none = typed(&["fake://"]).unwrap().searching;
        assert!(Search::of(&none).unwrap().is_none());
    }

    #[test]
    fn a_search_for_throughput_begins_with_threads_and_with_no_rate() {
        assert_eq!(search(&["throughput"]).start(), None);
        let words = ["fake://", "--search=throughput", "--search-start=5"];
        let said = Search::of(&typed(&words).unwrap().searching).unwrap_err();
        assert!(said.contains("leave it out, and type --threads"), "{said}");
    }

    #[test]
    fn a_search_warms_up_for_a_second_or_for_as_long_as_an_operation_may_take() {
        let warmup = |goal, typed_warmup| search(&[goal]).warmup(typed_warmup);
        let found = [
            warmup("sustained", 0.0),
            warmup("throughput", 0.0),
            warmup("p99<2s", 0.0),
            warmup("p99<10ms", 3.0),
        ];
        assert_eq!(found.map(|seconds| seconds as u64), [1, 1, 2, 3]);
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

    /// What a search comes to whose loads have these throughputs, one after another.
    fn found(words: &[&str], throughputs: &[f64]) -> Outcome {
        let search = search(words);
        let course: Box<dyn Course> =
            Box::new(Threads::new(search.limits, Level::Threads { threads: 1 }));
        one_after_another(course, &plan(), |plan, number| {
            let Some(throughput) = throughputs.get(number - 1) else {
                return Err(io::Error::other("no more connections"));
            };
            let mut summary = super::super::summary::tests::summary();
            (summary.level, summary.throughput) = (plan.level, *throughput);
            for one in summary.operations.values_mut() {
                one.errors.clear();
            }
            Ok((super::super::summary::tests::result(), summary))
        })
        .unwrap()
    }

    #[test]
    fn the_summary_is_of_the_load_that_is_the_answer_though_a_later_one_did_a_little_more() {
        let throughputs = [50.0, 95.0, 98.0, 101.0, 101.0, 101.0];
        let Outcome { summary, failed } = found(&["throughput"], &throughputs);
        assert!(failed.is_none());
        let saturation = summary.saturation.unwrap();
        assert_eq!(saturation.ended, FOUND);
        assert_eq!(saturation.threads, Some(4));
        assert_eq!(summary.level, Level::Threads { threads: 4 });
        let found = [summary.throughput, saturation.throughput.unwrap()];
        assert_eq!(found.map(|each| each as u64), [98, 98]);
        assert_eq!(saturation.highest.map(|each| each as u64), Some(101));
    }

    #[test]
    fn what_was_found_before_a_load_that_cannot_be_made_stays_and_why_is_told() {
        let Outcome { summary, failed } = found(&["throughput"], &[10.0, 20.0]);
        assert_eq!(failed.unwrap().to_string(), "no more connections");
        let saturation = summary.saturation.unwrap();
        assert_eq!((saturation.threads, &*saturation.ended), (Some(2), FAILED));
        assert!(!summary.ended_early);
    }

    #[test]
    fn each_load_of_a_search_has_its_level_and_enough_windows() {
        let mut one = plan();
        one.interval = 1.0;
        let level = Level::Rate {
            rate: 70.0,
            connections: 3,
            arrivals: Arrivals::Poisson,
        };
        let found = at(level, &one);
        assert_eq!((found.level, found.interval), (level, 0.1));
        assert_eq!(found.seed, one.seed);
    }
}
