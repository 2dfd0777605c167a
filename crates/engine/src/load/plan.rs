//! Reading a plan, and refusing one that makes no sense.

use std::fmt::Display;
use std::io;
use std::path::Path;

use wire::load::{LOAD_VERSION, Level, LoadPlan, Phase};

use super::keys::MOST_PADDING;

/// Read the plan in `path`; the error is one sentence.
pub fn read(path: &Path) -> io::Result<LoadPlan> {
    let failed = |what: &dyn Display| io::Error::other(format!("`{}`: {what}", path.display()));
    let text = std::fs::read(path).map_err(|error| failed(&error))?;
    let plan = serde_json::from_slice(&text).map_err(|error| failed(&error))?;
    check(&plan).map_err(|what| failed(&what))?;
    Ok(plan)
}

/// Whether a plan can be carried out; the error says what stands against it.
pub fn check(plan: &LoadPlan) -> Result<(), String> {
    let workload = &plan.workload;
    let mix = &workload.mix;
    let shares = [
        mix.read,
        mix.update,
        mix.insert,
        mix.scan,
        mix.read_modify_write,
    ];
    let part = plan.part;
    let positive = |value: f64| value > 0.0 && value.is_finite();
    let refusals = [
        (
            plan.version != LOAD_VERSION,
            "the plan's `version` is not the one that this engine reads",
        ),
        (workload.records == 0, "`records` must be at least 1"),
        (workload.fields == 0, "`fields` must be at least 1"),
        (
            workload.max_scan_length == 0,
            "`max_scan_length` must be at least 1",
        ),
        (
            workload.zero_padding > MOST_PADDING,
            "`zero_padding` must be at most 32",
        ),
        (
            shares.iter().any(|share| *share < 0.0)
                || (shares.iter().sum::<f64>() - 1.0).abs() > 1e-6,
            "the shares in `mix` must add up to 1",
        ),
        (part.index >= part.of, "`part` must have `index` below `of`"),
        (
            plan.target.addresses.is_empty(),
            "`addresses` must name at least one member",
        ),
        (
            plan.phase == Phase::Run && plan.duration.is_none() && plan.operations.is_none(),
            "a run phase needs a `duration` or `operations`",
        ),
        (
            plan.duration.is_some() && plan.operations.is_some(),
            "`duration` and `operations` cannot be used together",
        ),
        (
            plan.duration.is_some_and(|seconds| !positive(seconds)),
            "`duration` must be positive",
        ),
        (
            plan.operations == Some(0),
            "`operations` must be at least 1",
        ),
        (
            plan.warmup < 0.0 || !plan.warmup.is_finite(),
            "`warmup` must not be negative",
        ),
        (!positive(plan.interval), "`interval` must be positive"),
        (!positive(plan.timeout), "`timeout` must be positive"),
        match plan.level {
            Level::Threads { threads } => (
                threads < part.of,
                "there must be at least as many `threads` as parts",
            ),
            Level::Rate {
                rate, connections, ..
            } => (
                !positive(rate) || connections < part.of,
                "`rate` must be positive, and there must be at least as many `connections` as parts",
            ),
        },
    ];
    match refusals.into_iter().find(|(refused, _)| *refused) {
        Some((_, what)) => Err(what.to_owned()),
        None => Ok(()),
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use wire::load::{Distribution, Mix, Part, Target, Workload};

    /// A plan that reads one record after another from the fake server, for a second.
    pub fn plan() -> LoadPlan {
        LoadPlan {
            version: LOAD_VERSION,
            phase: Phase::Run,
            workload: Workload {
                records: 1000,
                mix: Mix {
                    read: 1.0,
                    update: 0.0,
                    insert: 0.0,
                    scan: 0.0,
                    read_modify_write: 0.0,
                },
                request_distribution: Distribution::Uniform,
                fields: 10,
                field_length: 100,
                read_all_fields: true,
                write_all_fields: false,
                max_scan_length: 100,
                hashed_keys: true,
                zero_padding: 1,
            },
            target: Target {
                driver: "fake".to_owned(),
                topology: "single".to_owned(),
                addresses: vec!["127.0.0.1:1".to_owned()],
                options: std::collections::BTreeMap::new(),
            },
            level: Level::Threads { threads: 1 },
            part: Part { index: 0, of: 1 },
            warmup: 0.0,
            until_told: false,
            duration: Some(1.0),
            operations: None,
            interval: 0.2,
            latencies: true,
            timeout: 1.0,
            seed: 1,
        }
    }

    #[test]
    fn a_sensible_plan_is_accepted() {
        assert_eq!(check(&plan()), Ok(()));
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_a_sentence() {
        let refused = |change: fn(&mut LoadPlan)| {
            let mut plan = plan();
            change(&mut plan);
            check(&plan).unwrap_err()
        };
        assert!(refused(|plan| plan.duration = None).contains("`duration` or `operations`"));
        assert!(refused(|plan| plan.operations = Some(1)).contains("cannot be used together"));
        assert!(refused(|plan| plan.workload.mix.read = 0.9).contains("add up"));
        assert!(refused(|plan| plan.part.of = 2).contains("as many `threads` as parts"));
        assert!(refused(|plan| plan.version = 99).contains("version"));
    }

    #[test]
    fn an_unknown_key_is_refused_by_name() {
        let mut value = serde_json::to_value(plan()).unwrap();
        value["colour"] = "blue".into();
        let error = serde_json::from_value::<LoadPlan>(value)
            .unwrap_err()
            .to_string();
        assert!(error.contains("colour"), "{error}");
    }
}
