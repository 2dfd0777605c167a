//! From what is typed to the plan of a load.

use wire::load::{LOAD_VERSION, Level, LoadPlan, Part, Phase, Policy, Workload};

use super::address::Address;
use super::arguments::Arguments;
use super::ends::Ends;
use super::given::Given;
use super::search::{Search, TIME};
use super::target::{target, user};
use super::{binding, level, names, secrets, stress, ycsb};
use crate::load::plan::{check, secret};

/// Seconds after which an operation has no answer if nothing else is said.
const TIMEOUT: f64 = 10.0;
/// Seconds of an interval of the time line likewise.
const INTERVAL: f64 = 1.0;

/// What comes from outside the command line.
pub struct Surroundings {
    /// Whether the variable with a password is set.
    pub password: bool,
    /// The seed if none is typed.
    pub seed: u64,
}

/// A plan, and what whoever typed is to know of it, each in one sentence.
pub struct Made {
    /// One that can be carried out.
    pub plan: LoadPlan,
    /// What has no effect, and what is otherwise than in YCSB.
    pub notes: Vec<String>,
    /// How to make it again and again, if it is a search.
    pub search: Option<Search>,
}

/// Make the plan; the error has a line for each thing that is wrong with it, as far as it was read.
pub fn make(arguments: &Arguments, surroundings: &Surroundings) -> Result<Made, String> {
    let Arguments { load, security, .. } = arguments;
    if security.password.is_some() {
        return Err(secrets::refused("`--password`"));
    }
    let mut address = Address::parse(&arguments.address)?;
    let typed = &arguments.ycsb;
    let given = Given::read(typed.core, &typed.files, &typed.properties)?;
    ycsb::is_core(&given)?;
    let mut notes = names::check(&given, address.driver)?;
    address.user = user(address.user.take(), security)?;
    let timeout = binding::apply(&given, &mut address, &mut notes)?;

    let search = Search::of(&arguments.searching)?;
    let asked = if arguments.stress.words.is_empty() {
        of_ycsb(arguments, &given, search.as_ref(), &mut notes)?
    } else {
        of_stress(arguments, &mut address, &mut notes)?
    };
    let warmup = load.warmup.unwrap_or(0.0);
    let interval = arguments.results.interval.or(asked.interval);
    let plan = LoadPlan {
        version: LOAD_VERSION,
        phase: asked.phase,
        workload: asked.workload,
        target: target(address, security, &given, surroundings)?,
        level: asked.level,
        policy: load.policy.map_or(Policy::Queue, Policy::from),
        part: load.part.unwrap_or(WHOLE),
        start: load.start,
        warmup: search
            .as_ref()
            .map_or(warmup, |search| search.warmup(warmup)),
        duration: asked.ends.seconds,
        until_told: false,
        operations: asked.ends.operations,
        interval: interval.unwrap_or(INTERVAL),
        latencies: true,
        timeout: load.timeout.or(timeout).unwrap_or(TIMEOUT),
        seed: load.seed.unwrap_or(surroundings.seed),
    };
    if plan.part.of > 1 && plan.start.is_none() {
        notes.push(
            "the engines of the other parts begin when they are connected; type the same --start \
             TIME for all, so that they begin as one"
                .to_owned(),
        );
    }
    check(&plan).map_err(|what| format!("this load cannot be made: {what}"))?;
    if search.is_some() {
        Search::check(&plan)?;
    }
    if let Some(credentials) = &plan.target.credentials {
        secret(&credentials.password)?;
    }
    Ok(Made {
        plan,
        notes,
        search,
    })
}

/// Properties without an effect in a search.
const IDLE: [&str; 3] = ["target", "operationcount", "maxexecutiontime"];

/// The part of a load that one engine makes alone.
const WHOLE: Part = Part { index: 0, of: 1 };

/// What a workload asks for.
struct Asked {
    phase: Phase,
    workload: Workload,
    ends: Ends,
    level: Level,
    interval: Option<f64>,
}

/// What properties of YCSB ask for.
fn of_ycsb(
    arguments: &Arguments,
    given: &Given,
    search: Option<&Search>,
    notes: &mut Vec<String>,
) -> Result<Asked, String> {
    let load = &arguments.load;
    let phase = arguments
        .phase
        .map_or_else(|| ycsb::phase(given), Phase::from);
    let workload = ycsb::workload(given, phase, notes)?;
    let ends = match search {
        Some(_) => {
            notes.extend(given.idle(&IDLE, "a search says how hard and how long loads are"));
            Ends {
                operations: None,
                seconds: Some(load.time.unwrap_or(TIME)),
            }
        }
        None => Ends::of(load, given, phase, notes)?,
    };
    let most = match phase {
        Phase::Load => Some(ycsb::inserted(&workload)),
        Phase::Run => ends.operations,
    };
    let level = match search.map(Search::start) {
        Some(Some(rate)) => level::at(rate, load, given)?,
        Some(None) => level::closed(load, given, None, notes)?,
        None => level::of(load, given, &ends, most, notes)?,
    };
    Ok(Asked {
        phase,
        workload: Workload::Ycsb(workload),
        ends,
        level,
        interval: None,
    })
}

/// What the words of cassandra-stress ask for; they say more of the database, too.
fn of_stress(
    arguments: &Arguments,
    address: &mut Address,
    notes: &mut Vec<String>,
) -> Result<Asked, String> {
    let asked = stress::load(&arguments.stress.words, address, notes)?;
    let load = &arguments.load;
    if asked.truncates && load.part.unwrap_or(WHOLE).of > 1 && load.start.is_none() {
        return Err(
            "the tables would be emptied while other parts of the load write; type --start INSTANT"
                .to_owned(),
        );
    }
    Ok(Asked {
        phase: Phase::Run,
        workload: Workload::Stress(asked.workload),
        ends: asked.ends,
        level: asked.level,
        interval: asked.interval,
    })
}

#[cfg(test)]
pub mod tests {
    use super::super::arguments::tests::typed;
    use super::*;
    use wire::load::Arrivals;

    const QUIET: Surroundings = Surroundings {
        password: false,
        seed: 5,
    };

    fn made(words: &str, surroundings: &Surroundings) -> Result<Made, String> {
        let words: Vec<&str> = words.split_whitespace().collect();
        make(&typed(&words).unwrap(), surroundings)
    }

    /// The plan that words make without a note.
    pub fn plan(words: &str) -> LoadPlan {
        let made = made(words, &QUIET).unwrap_or_else(|what| panic!("{words}: {what}"));
        assert_eq!(made.notes, [""; 0], "{words}");
        made.plan
    }

    fn refused(words: &str) -> String {
        let made = made(words, &QUIET);
        made.err().unwrap_or_else(|| panic!("`{words}` is taken"))
    }

    #[test]
    fn one_line_makes_a_whole_plan() {
        let found = plan("redis://h1,h2:7000?cluster --workload c --threads 8 --time 30s");
        assert_eq!((found.phase, found.seed), (Phase::Run, 5));
        assert_eq!(found.level, Level::Threads { threads: 8 });
        assert_eq!((found.duration, found.operations), (Some(30.0), None));
        assert_eq!(
            (found.warmup, found.timeout, found.interval),
            (0.0, 10.0, 1.0)
        );
        let target = &found.target;
        assert_eq!((&*target.driver, &*target.topology), ("redis", "cluster"));
        assert_eq!(target.addresses, ["h1:6379", "h2:7000"]);
        assert_eq!((&target.credentials, &target.tls), (&None, &None));
        assert!(found.latencies && !found.until_told && found.start.is_none());
        assert_eq!(found.part, Part { index: 0, of: 1 });
    }

    #[test]
    fn what_is_typed_goes_before_properties_and_the_word_before_dotransactions() {
        let words = "fake:// load -p recordcount=7 -p dotransactions=true -p operationcount=3 \
             --threads 2 --warmup 1s --timeout 2s --interval 500ms --seed 9 -p table=usertable";
        let found = plan(words);
        assert_eq!((found.phase, found.operations), (Phase::Load, None));
        assert_eq!(
            (found.warmup, found.timeout, found.interval),
            (1.0, 2.0, 0.5)
        );
        assert_eq!(found.seed, 9);
        let found = plan("fake:// run -p recordcount=7 -p dotransactions=false --operations 3");
        assert_eq!((found.phase, found.operations), (Phase::Run, Some(3)));
        let found = plan("fake:// -p recordcount=7 -p dotransactions=false");
        assert_eq!(found.phase, Phase::Load);
    }

    #[test]
    fn properties_of_ycsb_mean_what_they_mean_there() {
        let found = plan(
            "redis://h --workload b -p threadcount=4 -p target=100 -p maxexecutiontime=20 \
             -p redis.timeout=250",
        );
        let (rate, connections, arrivals) = (100.0, 4, Arrivals::Constant);
        let expected = Level::Rate {
            rate,
            connections,
            arrivals,
        };
        assert_eq!(found.level, expected);
        assert_eq!((found.duration, found.operations), (Some(20.0), Some(1000)));
        assert_eq!((found.timeout, found.warmup), (0.25, 0.0));
        let most = made("fake:// load -p recordcount=3 --threads 9", &QUIET).unwrap();
        assert_eq!(most.plan.level, Level::Threads { threads: 3 });
        assert_eq!(most.notes.len(), 1);
    }

    #[test]
    fn several_engines_have_parts_of_one_load_that_begins_at_one_instant() {
        let words = "redis://h --workload c --time 30s --threads 8 --seed 7 --part 2/3 \
             --start 1970-01-01T00:01:00Z";
        let found = plan(words);
        assert_eq!(found.part, Part { index: 1, of: 3 });
        assert_eq!((found.start, found.seed), (Some(60.0), 7));
        assert!(typed(&["redis://h", "--part", "1/2"]).is_err());
        let alone = "redis://h --workload c --time 30s --threads 8 --seed 7 --part 2/3";
        let notes = made(alone, &QUIET)
            .unwrap_or_else(|what| panic!("{what}"))
            .notes;
        assert!(notes[0].contains("the same --start TIME"), "{notes:?}");
        let said = refused("redis://h --workload c --time 30s --seed 7 --part 1/3");
        assert!(said.contains("as many `threads` as parts"), "{said}");
    }

    #[test]
    fn a_search_begins_with_an_open_load_of_two_seconds() {
        let words = "redis://h --workload b -p threadcount=8 --arrivals poisson --search p99<10ms";
        let found = made(words, &QUIET).unwrap();
        let expected = Level::Rate {
            rate: 1000.0,
            connections: 8,
            arrivals: Arrivals::Poisson,
        };
        assert_eq!(found.plan.level, expected);
        assert_eq!(
            (found.plan.duration, found.plan.operations),
            (Some(2.0), None)
        );
        assert!(found.search.is_some());
        let said = refused("redis://h --workload d --search sustained");
        assert!(said.contains("without inserts"), "{said}");
        for words in ["--rate 5", "--operations 5", "--part 1/2", "--start 5"] {
            let all = format!("redis://h --search sustained --seed 1 {words}");
            let all: Vec<&str> = all.split_whitespace().collect();
            assert!(typed(&all).is_err(), "{words}");
        }
    }

    #[test]
    fn a_search_for_throughput_begins_with_a_closed_loop_of_two_seconds() {
        let found = made("redis://h --workload b --search throughput", &QUIET).unwrap();
        assert_eq!(found.plan.level, Level::Threads { threads: 1 });
        let (ends, warmup) = (found.plan.duration, found.plan.warmup);
        assert_eq!(
            (ends, found.plan.operations, warmup),
            (Some(2.0), None, 1.0)
        );
        let words = "redis://h --workload b -p target=3 --threads 8 --search throughput";
        let found = made(words, &QUIET).unwrap();
        let told = "no effect: `target` (`-p`); a search says how hard and how long loads are";
        assert_eq!(found.notes, [told]);
        assert_eq!(found.plan.level, Level::Threads { threads: 8 });
        let said = refused("redis://h --workload b --connections 8 --search throughput");
        assert!(said.contains("leave it out"), "{said}");
    }

    #[test]
    fn words_of_cassandra_stress_make_a_whole_plan() {
        let words = "cassandra://h --seed 9 --timeout 2s --warmup 3s --stress mixed n=50 no-warmup \
             -rate threads=4 fixed=100/s -errors retries=0 ignore -log interval=200ms";
        let found = plan(words);
        assert!(matches!(found.workload, Workload::Stress(_)));
        assert_eq!((found.phase, found.operations), (Phase::Run, Some(50)));
        assert_eq!(
            (found.interval, found.warmup, found.timeout),
            (0.2, 3.0, 2.0)
        );
        assert_eq!(found.target.options["write_consistency"], "LOCAL_ONE");
        let words = "cassandra://h --seed 9 --part 2/2 --stress write n=50 truncate=once";
        let said = refused(words);
        assert!(said.contains("type --start INSTANT"), "{said}");
        let said = refused("redis://h --stress write n=50");
        assert!(said.contains("drives Cassandra"), "{said}");
    }

    #[test]
    fn what_cannot_be_driven_is_refused_with_a_sentence() {
        for (words, what) in [
            (
                "redis://h --workload a --password s3cret",
                "`--password` has a password",
            ),
            (
                "redis://h --workload a --password=s3cret",
                "`--password` has a password",
            ),
            ("redis://me@h --user you --workload a", "write one of them"),
            ("redis://me@h --workload a", "no password for the user `me`"),
            (
                "redis://h --password-file /nowhere --workload a",
                "the file `/nowhere`",
            ),
            (
                "redis://h --workload a --tls-insecure --tls-ca /ca.pem",
                "leave out `--tls-ca`",
            ),
            (
                "redis://h -p workload=Other -p colour=blue",
                "the only one that there is",
            ),
            (
                "redis://h --workload a -p colour=blue",
                "no property `colour`",
            ),
            ("redis://h -p recordcount=1", "type --time 30s"),
            (
                "redis://h --workload a -p zeropadding=33",
                "this load cannot be made: ",
            ),
        ] {
            let said = refused(words);
            assert!(said.contains(what), "{words}: {said}");
            assert!(!said.contains("s3cret"), "{said}");
        }
        let surroundings = Surroundings {
            password: true,
            seed: 5,
        };
        let said = made("cassandra://h --workload a", &surroundings)
            .err()
            .unwrap();
        assert!(said.contains("type: --user NAME"), "{said}");
    }
}
