//! How hard a load is.

use wire::load::{Arrivals, Level};

use super::amounts::Ramp;
use super::arguments::Load;
use super::ends::Ends;
use super::given::Given;

/// Operations of an open load in flight if nothing else is said.
const CONNECTIONS: u32 = 64;

/// The level that is typed, or else that of YCSB's properties; the error is one sentence. `most` is
/// the number of all operations, if it is known. What is made otherwise is added to `notes`.
pub fn of(
    load: &Load,
    given: &Given,
    ends: &Ends,
    most: Option<u64>,
    notes: &mut Vec<String>,
) -> Result<Level, String> {
    let threads = threads(load, given)?;
    let target: u32 = given.number("target")?.unwrap_or(0);
    let connections = load.connections.or(threads).unwrap_or(CONNECTIONS);
    let arrivals = load.arrivals.map_or(Arrivals::Constant, Arrivals::from);
    if let Some(Ramp { from, to }) = load.ramp {
        window(ends, "ramp")?;
        return Ok(Level::Ramp {
            from,
            to,
            connections,
            arrivals,
        });
    }
    if let Some(rate) = load.burst {
        let length = load.burst_time.unwrap_or(window(ends, "burst")? / 2.0);
        return Ok(Level::Burst {
            rate,
            length,
            rest: load.rate.unwrap_or(0.0),
            connections,
            arrivals,
        });
    }
    if let Some(rate) = load.rate {
        return at(rate, load, given);
    }
    if target > 0 {
        // Threads of YCSB are what it has in flight.
        let connections = load.connections.or(threads).unwrap_or(1);
        return Ok(Level::Rate {
            rate: f64::from(target),
            connections,
            arrivals,
        });
    }
    closed(load, given, most, notes)
}

/// An open load at a rate, such as those of a search; the error is one sentence.
pub fn at(rate: f64, load: &Load, given: &Given) -> Result<Level, String> {
    let connections = load.connections.or(threads(load, given)?);
    Ok(Level::Rate {
        rate,
        connections: connections.unwrap_or(CONNECTIONS),
        arrivals: load.arrivals.map_or(Arrivals::Constant, Arrivals::from),
    })
}

/// The threads that are typed, or else those of YCSB's properties.
fn threads(load: &Load, given: &Given) -> Result<Option<u32>, String> {
    let threads = match load.threads {
        Some(threads) => Some(threads),
        None => given.number("threadcount")?,
    };
    if threads == Some(0) {
        return Err(given.wrong("threadcount", "at least 1"));
    }
    Ok(threads)
}

/// The length of the measured window, which some loads divide.
fn window(ends: &Ends, what: &str) -> Result<f64, String> {
    let without = || format!("a {what} needs the length of the whole load; type --time 60s");
    ends.seconds.ok_or_else(without)
}

/// A closed loop; the error is one sentence. `most` and `notes` are those of [`of`].
pub fn closed(
    load: &Load,
    given: &Given,
    most: Option<u64>,
    notes: &mut Vec<String>,
) -> Result<Level, String> {
    let threads = threads(load, given)?.unwrap_or(1);
    let of_open_loads = [
        ("connections", load.connections.is_some()),
        ("arrivals", load.arrivals.is_some()),
        ("policy", load.policy.is_some()),
    ];
    if let Some((name, _)) = of_open_loads.into_iter().find(|(_, typed)| *typed) {
        return Err(format!(
            "`--{name}` is for an open load, and this one has no rate; leave it out, or type \
             --rate 1000 (and no --search)"
        ));
    }
    let fewer = most.and_then(|most| u32::try_from(most).ok());
    if let Some(fewer) = fewer.filter(|most| *most < threads) {
        notes.push(format!(
            "there are {fewer} operations only, so there are {fewer} threads and not {threads}, as \
             in YCSB"
        ));
        return Ok(Level::Threads { threads: fewer });
    }
    Ok(Level::Threads { threads })
}

#[cfg(test)]
mod tests {
    use super::super::arguments::tests::typed;
    use super::super::given::tests::given;
    use super::*;

    /// What the words make of the properties, for a load of a minute.
    fn told(words: &str, properties: &[&str]) -> Result<Level, String> {
        let mut all = vec!["fake://"];
        all.extend(words.split_whitespace());
        let ends = Ends {
            operations: None,
            seconds: Some(60.0),
        };
        let load = typed(&all).unwrap().load;
        of(&load, &given(properties), &ends, None, &mut Vec::new())
    }

    fn rate(rate: f64, connections: u32, arrivals: Arrivals) -> Level {
        Level::Rate {
            rate,
            connections,
            arrivals,
        }
    }

    #[test]
    fn threads_are_a_closed_loop_and_rates_an_open_load() {
        let threads = |threads| Ok(Level::Threads { threads });
        assert_eq!(told("", &[]), threads(1));
        assert_eq!(told("", &["threadcount=4"]), threads(4));
        assert_eq!(told("--threads 8", &["threadcount=4"]), threads(8));
        let constant = Arrivals::Constant;
        assert_eq!(told("--rate 500", &[]), Ok(rate(500.0, 64, constant)));
        assert_eq!(
            told("--rate 500 --threads 8", &["target=9"]),
            Ok(rate(500.0, 8, constant))
        );
        assert_eq!(
            told(
                "--rate 500 --connections 3 --arrivals poisson",
                &["threadcount=4"]
            ),
            Ok(rate(500.0, 3, Arrivals::Poisson))
        );
    }

    #[test]
    fn the_target_of_ycsb_is_the_rate_of_all_its_threads() {
        let constant = Arrivals::Constant;
        assert_eq!(told("", &["target=100"]), Ok(rate(100.0, 1, constant)));
        let both = ["target=100", "threadcount=4"];
        assert_eq!(told("", &both), Ok(rate(100.0, 4, constant)));
        assert_eq!(told("--connections 9", &both), Ok(rate(100.0, 9, constant)));
        assert_eq!(told("", &["target=0"]), Ok(Level::Threads { threads: 1 }));
    }

    #[test]
    fn bursts_and_ramps_divide_the_time() {
        let (connections, arrivals) = (64, Arrivals::Constant);
        let burst = |length, rest| {
            let rate = 9000.0;
            Ok(Level::Burst {
                rate,
                length,
                rest,
                connections,
                arrivals,
            })
        };
        assert_eq!(told("--burst 9000", &[]), burst(30.0, 0.0));
        assert_eq!(
            told("--burst 9000 --burst-time 20s --rate 100", &[]),
            burst(20.0, 100.0)
        );
        let (from, to) = (10.0, 20.0);
        let ramp = Level::Ramp {
            from,
            to,
            connections,
            arrivals,
        };
        assert_eq!(told("--ramp 10..20", &[]), Ok(ramp));
        let ends = Ends {
            operations: Some(1),
            seconds: None,
        };
        for word in ["--burst=1", "--ramp=1..2"] {
            let load = typed(&["fake://", word]).unwrap().load;
            let said = of(&load, &given(&[]), &ends, None, &mut Vec::new());
            assert!(said.unwrap_err().contains("type --time 60s"), "{word}");
        }
    }

    #[test]
    fn what_is_for_an_open_load_is_refused_in_a_closed_loop() {
        for words in ["--connections 2", "--arrivals poisson", "--policy queue"] {
            let said = told(words, &[]).unwrap_err();
            assert!(said.contains("is for an open load"), "{said}");
        }
        let said = told("", &["threadcount=0"]).unwrap_err();
        assert!(said.contains("at least 1"), "{said}");
    }

    #[test]
    fn there_are_no_more_threads_than_operations() {
        let load = typed(&["fake://", "--threads", "8"]).unwrap().load;
        let ends = Ends {
            operations: Some(3),
            seconds: None,
        };
        let mut notes = Vec::new();
        let mut level = |most| of(&load, &given(&[]), &ends, most, &mut notes);
        assert_eq!(level(Some(3)), Ok(Level::Threads { threads: 3 }));
        assert_eq!(level(Some(8)), Ok(Level::Threads { threads: 8 }));
        assert_eq!(level(Some(1 << 40)), Ok(Level::Threads { threads: 8 }));
        assert_eq!(notes.len(), 1);
        assert!(notes[0].contains("3 threads and not 8"), "{notes:?}");
    }
}
