//! Reading a plan and the secret that it names, and refusing one that makes no sense.

use std::env::VarError;
use std::fmt::Display;
use std::io;
use std::path::Path;

use wire::load::{LOAD_VERSION, Level, LoadPlan, Phase, Secret, Workload};

use super::pace::Pace;
use super::{core, stress, worker};
use crate::drive;
use crate::properties;

/// Read the plan in `path`; a secret that it names must be there. The error is one sentence.
pub fn read(path: &Path) -> io::Result<LoadPlan> {
    let failed = |what: &dyn Display| io::Error::other(format!("`{}`: {what}", path.display()));
    let text = std::fs::read(path).map_err(|error| failed(&error))?;
    let plan = serde_json::from_slice(&text).map_err(|error| failed(&error))?;
    check(&plan).map_err(|what| failed(&what))?;
    if let Some(credentials) = &plan.target.credentials {
        secret(&credentials.password).map_err(|what| failed(&what))?;
    }
    Ok(plan)
}

/// A secret from where a plan says that it is, without the line end of a file. The error is one
/// sentence, and tells nothing of what was found.
pub fn secret(place: &Secret) -> Result<String, String> {
    let (told, found) = match place {
        Secret::File(path) => {
            let read = std::fs::read_to_string(path).map_err(|error| error.to_string());
            (format!("the file `{path}`"), read)
        }
        Secret::Variable(name) => {
            let read = std::env::var(name).map_err(|error| match error {
                VarError::NotPresent => "it is not set".to_owned(),
                VarError::NotUnicode(_) => "it is not text".to_owned(),
            });
            (format!("the environment variable `{name}`"), read)
        }
        Secret::Property { file, name } => {
            let read = std::fs::read(file)
                .map_err(|error| error.to_string())
                .and_then(|text| properties::value(&text, name))
                .and_then(|value| value.ok_or_else(|| "it is not there".to_owned()));
            (format!("the property `{name}` of the file `{file}`"), read)
        }
    };
    let text = found.map_err(|what| format!("no password from {told}: {what}"))?;
    match text.trim_end_matches(['\r', '\n']) {
        "" => Err(format!("no password from {told}: it is empty")),
        password => Ok(password.to_owned()),
    }
}

/// Most operations in flight of a level, over all parts.
pub fn in_flight(level: Level) -> u32 {
    match level {
        Level::Threads { threads } => threads,
        Level::Rate { connections, .. }
        | Level::Burst { connections, .. }
        | Level::Ramp { connections, .. } => connections,
    }
}

/// Whether a plan can be carried out; the error says what stands against it.
pub fn check(plan: &LoadPlan) -> Result<(), String> {
    let part = plan.part;
    let positive = |value: f64| value > 0.0 && value.is_finite();
    let refusals = [
        (
            plan.version != LOAD_VERSION,
            "the plan's `version` is not the one that this engine reads; make the plan again by \
             this engine: drive … --dry-run",
        ),
        (part.index >= part.of, "`part` must have `index` below `of`"),
        (
            plan.target.addresses.is_empty(),
            "`addresses` must name at least one member",
        ),
        (
            plan.phase == Phase::Run && plan.duration.is_none() && plan.operations.is_none(),
            "a run phase needs a `duration` or `operations` (--time, --operations)",
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
            plan.operations
                .is_some_and(|operations| operations < u64::from(part.of)),
            "there must be at least as many `operations` as parts (--operations)",
        ),
        (
            plan.warmup < 0.0 || !plan.warmup.is_finite(),
            "`warmup` must not be negative",
        ),
        (
            highest(plan.level) > MOST * f64::from(part.of),
            "a rate must be at most 10000000 a second for each engine, which is more than any makes",
        ),
        (!positive(plan.interval), "`interval` must be positive"),
        (!positive(plan.timeout), "`timeout` must be positive"),
        (
            in_flight(plan.level) < part.of,
            match plan.level {
                Level::Threads { .. } => {
                    "there must be at least as many `threads` as parts (--threads)"
                }
                _ => "there must be at least as many `connections` as parts (--connections)",
            },
        ),
    ];
    if let Some((_, what)) = refusals.into_iter().find(|(refused, _)| *refused) {
        return Err(what.to_owned());
    }
    drive::check(plan)?;
    match &plan.workload {
        Workload::Ycsb(workload) => core::check(workload)?,
        Workload::Stress(workload) => stress::check(workload, part.of)?,
    }
    Pace::of(plan)?;
    worker::check(plan)
}

/// Operations per second that one engine may be asked for at most: each is drawn, even if it is never
/// started.
const MOST: f64 = 1e7;

/// The highest rate of a level; 0 where there is none.
fn highest(level: Level) -> f64 {
    match level {
        Level::Threads { .. } => 0.0,
        Level::Rate { rate, .. } => rate,
        Level::Burst { rate, rest, .. } => rate.max(rest),
        Level::Ramp { from, to, .. } => from.max(to),
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use wire::load::{
        Arrivals, Credentials, FieldLengths, Mix, Part, Policy, ReadFields, Requests, ScanLengths,
        Target, Ycsb,
    };

    /// A plan that reads one record after another from the fake server, for a second.
    pub fn plan() -> LoadPlan {
        LoadPlan {
            version: LOAD_VERSION,
            phase: Phase::Run,
            workload: Workload::Ycsb(Ycsb {
                records: 1000,
                insert_start: 0,
                insert_count: None,
                mix: Mix {
                    read: 1.0,
                    update: 0.0,
                    insert: 0.0,
                    scan: 0.0,
                    read_modify_write: 0.0,
                },
                requests: Requests::Uniform,
                fields: 10,
                field_prefix: "field".to_owned(),
                field_lengths: FieldLengths::Constant { length: 100 },
                read_fields: ReadFields::All,
                write_all_fields: false,
                scan_lengths: ScanLengths::Uniform {
                    shortest: 1,
                    longest: 100,
                },
                integrity: false,
                hashed_keys: true,
                zero_padding: 1,
            }),
            target: Target {
                driver: "fake".to_owned(),
                topology: "single".to_owned(),
                addresses: vec!["127.0.0.1:1".to_owned()],
                options: std::collections::BTreeMap::new(),
                credentials: None,
                tls: None,
            },
            level: Level::Threads { threads: 1 },
            policy: Policy::Queue,
            part: Part { index: 0, of: 1 },
            start: None,
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

    /// The workload of such a plan, to be changed.
    pub fn ycsb(plan: &mut LoadPlan) -> &mut Ycsb {
        match &mut plan.workload {
            Workload::Ycsb(workload) => workload,
            Workload::Stress(_) => panic!("the plan's workload is not of YCSB"),
        }
    }

    /// A workload of cassandra-stress.
    pub fn stress() -> Workload {
        let workload = serde_json::json!({
            "kind": "stress", "clustering": "gaussian(1..10)", "columns": ["C0"],
            "mix": {"write": 1.0, "read": 0.0, "counter_write": 0.0, "counter_read": 0.0},
            "population": {"kind": "drawn", "distribution": "gaussian(1..100)"},
            "size": "fixed(34)", "key_size": 10, "add": "fixed(1)", "slice": false,
            "validate": true,
        });
        serde_json::from_value(workload).unwrap()
    }

    #[test]
    fn a_sensible_plan_is_accepted() {
        assert_eq!(check(&plan()), Ok(()));
        let mut both = plan();
        both.operations = Some(1);
        assert_eq!(check(&both), Ok(()), "whichever is reached first");
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_a_sentence() {
        let refused = |change: fn(&mut LoadPlan)| {
            let mut plan = plan();
            change(&mut plan);
            check(&plan).unwrap_err()
        };
        assert!(refused(|plan| plan.duration = None).contains("`duration` or `operations`"));
        assert!(refused(|plan| ycsb(plan).mix.read = 0.0).contains("one must be positive"));
        assert!(refused(|plan| ycsb(plan).mix.read = -1.0).contains("must not be negative"));
        assert!(refused(|plan| ycsb(plan).records = 0).contains("`records`"));
        assert!(refused(|plan| ycsb(plan).insert_start = 1000).contains("none beyond"));
        assert!(refused(|plan| ycsb(plan).insert_count = Some(1001)).contains("none beyond"));
        assert!(refused(|plan| ycsb(plan).insert_start = u64::MAX).contains("none beyond"));
        assert!(refused(|plan| ycsb(plan).fields = 0).contains("`fields`"));
        assert!(refused(|plan| ycsb(plan).field_prefix = "a;".to_owned()).contains("letters"));
        assert!(refused(|plan| ycsb(plan).zero_padding = 33).contains("at most 32"));
        let scans = refused(|plan| {
            ycsb(plan).scan_lengths = ScanLengths::Zipfian {
                shortest: 2,
                longest: 1,
            };
        });
        assert!(scans.contains("`longest` not below"), "{scans}");
        let lengths = refused(|plan| {
            let workload = ycsb(plan);
            workload.integrity = true;
            workload.field_lengths = FieldLengths::Uniform {
                shortest: 1,
                longest: 2,
            };
        });
        assert!(lengths.contains("`integrity` needs"), "{lengths}");
        assert!(refused(|plan| plan.part.of = 2).contains("as many `threads` as parts"));
        let few = refused(|plan| {
            plan.level = Level::Threads { threads: 3 };
            (plan.part.of, plan.operations) = (3, Some(2));
        });
        assert!(few.contains("as many `operations` as parts"), "{few}");
        assert!(refused(|plan| plan.version = 99).contains("version"));
        let ramp = refused(|plan| {
            plan.level = Level::Ramp {
                from: -1.0,
                to: 2.0,
                connections: 1,
                arrivals: Arrivals::Constant,
            };
        });
        assert!(ramp.contains("`from` and `to`"), "{ramp}");
        assert!(refused(|plan| plan.policy = Policy::Drop).contains("an open load"));
    }

    #[test]
    fn rows_of_cassandra_stress_can_be_made_unless_their_words_make_none() {
        let mut plan = plan();
        plan.workload = stress();
        assert_eq!(check(&plan), Ok(()));
        if let Workload::Stress(workload) = &mut plan.workload {
            workload.key_size = 0;
        }
        let refused = check(&plan).unwrap_err();
        assert!(refused.contains("a key must have"), "{refused}");
    }

    #[test]
    fn an_unknown_key_is_refused_by_name() {
        let refused = |key: &str| {
            let mut value = serde_json::to_value(plan()).unwrap();
            *value.pointer_mut(key).unwrap() = serde_json::json!({"colour": "blue"});
            let error = serde_json::from_value::<LoadPlan>(value).unwrap_err();
            error.to_string()
        };
        for key in ["", "/target", "/part"] {
            let error = refused(key);
            assert!(error.contains("unknown field `colour`"), "{key}: {error}");
        }
        let mut value = serde_json::to_value(plan()).unwrap();
        value["workload"]["colour"] = "blue".into();
        let error = serde_json::from_value::<LoadPlan>(value).unwrap_err();
        assert!(
            error.to_string().contains("unknown field `colour`"),
            "{error}"
        );
    }

    #[test]
    fn a_secret_is_read_from_where_the_plan_says_and_never_told() {
        let path = std::env::temp_dir().join(format!("dunnage-secret-{}", std::process::id()));
        let file = Secret::File(path.display().to_string());
        std::fs::write(&path, "s3cret word\n").unwrap();
        let kept = secret(&file);
        std::fs::write(&path, "\r\n").unwrap();
        let empty = secret(&file).unwrap_err();
        let property = |name: &str| Secret::Property {
            file: path.display().to_string(),
            name: name.to_owned(),
        };
        std::fs::write(&path, "redis.password = s3cret word\n").unwrap();
        let of_property = secret(&property("redis.password"));
        let no_property = secret(&property("password"));
        std::fs::remove_file(&path).unwrap();
        let missing = secret(&file).unwrap_err();
        assert_eq!(kept, Ok("s3cret word".to_owned()));
        assert!(empty.ends_with("it is empty"), "{empty}");
        assert!(missing.contains(&format!("the file `{}`", path.display())));
        assert_eq!(of_property, Ok("s3cret word".to_owned()));
        let said = format!(
            "no password from the property `password` of the file `{}`: it is not there",
            path.display()
        );
        assert_eq!(no_property, Err(said));

        // Cargo sets this one for every test.
        let variable = secret(&Secret::Variable("CARGO_PKG_NAME".to_owned()));
        assert_eq!(variable, Ok("engine".to_owned()));
        let unset = secret(&Secret::Variable("DUNNAGE_NO_SUCH_SECRET".to_owned()));
        let said =
            "no password from the environment variable `DUNNAGE_NO_SUCH_SECRET`: it is not set";
        assert_eq!(unset, Err(said.to_owned()));
    }

    #[test]
    fn a_plan_whose_secret_is_missing_is_refused() {
        let name = format!("dunnage-plan-{}.json", std::process::id());
        let path = std::env::temp_dir().join(name);
        let mut plan = plan();
        plan.target.driver = "redis".to_owned();
        plan.target.credentials = Some(Credentials {
            user: None,
            password: Secret::Variable("DUNNAGE_NO_SUCH_SECRET".to_owned()),
        });
        std::fs::write(&path, serde_json::to_string(&plan).unwrap()).unwrap();
        let refused = read(&path).unwrap_err().to_string();
        std::fs::remove_file(&path).unwrap();
        assert!(refused.contains("`DUNNAGE_NO_SUCH_SECRET`"), "{refused}");
    }
}
