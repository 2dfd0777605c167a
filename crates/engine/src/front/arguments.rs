//! What can be typed after `drive`.

use std::path::PathBuf;

use wire::load::Part;

use self::stress::Stress;
use self::ycsb::{Phase, Ycsb};
use super::amounts::{Ramp, positive, seconds, share};
use super::format::Format;
use super::instant::{instant, part};
use super::search::Goal;

mod stress;
mod ycsb;

const ADDRESSES_AND_EXAMPLES: &str = "\
Addresses; a host may be followed by :PORT, and USER@ may stand in front of the first one:
  redis://HOST                          options: ?shape=string&wait=1, with several hosts ?replicas
                                        or ?cluster, and with those ?read_from=replica
  rediss://HOST                         the same, encrypted, as ?tls makes each of them
  cassandra://HOST1,HOST2/KEYSPACE      ?read_consistency=ONE&write_consistency=LOCAL_QUORUM
  mongodb://HOST/DATABASE               ?w=majority, with several hosts ?replicas or ?sharded
  fake://                               a server inside the engine: ?service_us=100

Examples:
  dunnage-engine drive redis://127.0.0.1 load --workload a -p recordcount=100000 --threads 32
  dunnage-engine drive redis://127.0.0.1 --workload a -p recordcount=100000 --threads 32 --time 30s
  dunnage-engine drive cassandra://10.0.0.1,10.0.0.2/ycsb -P my.properties --rate 5000 --time 2min
  DUNNAGE_PASSWORD=… dunnage-engine drive rediss://db.example --workload c --time 30s
  dunnage-engine drive redis://127.0.0.1 --workload b --search 'p99<10ms'
  dunnage-engine drive redis://127.0.0.1 --workload b --search throughput
  dunnage-engine drive cassandra://10.0.0.1 --stress write n=1m -rate threads=32
  dunnage-engine drive 'fake://?service_us=100' --workload b --time 5s

Exit codes: 0 the load was made; 1 it was not, and the message says why, after the results of a
search so far; 2 what was typed is wrong; 3 Ctrl-C, TERM or HUP ended it early, with results of what
came before; 4 it was made, and no operation went well; 5 it was made, and at its end the database
did not answer any more; 129, 130 or 143 it was ended at once, by a second signal or before it began.
";

/// Arguments of `drive`.
#[derive(clap::Args)]
#[command(after_help = ADDRESSES_AND_EXAMPLES)]
pub struct Arguments {
    /// The database as a URL: see below
    pub address: String,
    /// What to do [default: run, or as the property `dotransactions` says]
    #[arg(value_enum)]
    pub phase: Option<Phase>,
    /// What the operations are, as in YCSB.
    #[command(flatten, next_help_heading = "Workload")]
    pub ycsb: Ycsb,
    /// What they are, as in cassandra-stress.
    #[command(flatten, next_help_heading = "Workload")]
    pub stress: Stress,
    /// How hard and how long.
    #[command(flatten, next_help_heading = "Load")]
    pub load: Load,
    /// The highest rate that meets an objective, or the highest throughput.
    #[command(flatten, next_help_heading = "Search")]
    pub searching: Searching,
    /// As whom to speak with the database, and how.
    #[command(flatten, next_help_heading = "Log-in and encryption")]
    pub security: Security,
    /// Where what came of it goes.
    #[command(flatten, next_help_heading = "Results")]
    pub results: Results,
}

/// How hard and how long.
#[derive(Debug, Default, clap::Args)]
pub struct Load {
    /// Closed loop: so many threads, each of which waits for its answer [default: 1]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: Option<u32>,
    /// Open load: so many operations a second, however long the answers take
    #[arg(long, value_parser = positive)]
    pub rate: Option<f64>,
    /// Open load beyond what can be answered: at this rate first, then at that of --rate, or none
    #[arg(long, value_name = "RATE", value_parser = positive, conflicts_with = "ramp")]
    pub burst: Option<f64>,
    /// How long the burst lasts [default: half of --time]
    #[arg(long, value_name = "TIME", value_parser = seconds, requires = "burst")]
    pub burst_time: Option<f64>,
    /// Open load whose rate changes evenly over --time
    #[arg(long, value_name = "FROM..TO", conflicts_with = "rate")]
    pub ramp: Option<Ramp>,
    /// How the starts of an open load are spaced [default: constant]
    #[arg(long, value_enum)]
    pub arrivals: Option<Arrivals>,
    /// Most operations of an open load in flight [default: as many as --threads says, or 64]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub connections: Option<u32>,
    /// What becomes of an operation that finds every connection busy [default: queue]
    #[arg(long, value_enum)]
    pub policy: Option<Policy>,
    /// Measure for so long: 30s, 200ms, 2min or 1h
    #[arg(long, value_parser = seconds)]
    pub time: Option<f64>,
    /// Measure so many operations; with --time, whichever is reached first [default: without --time,
    /// as the property `operationcount` says, which is 1000 in the workloads a to f]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    pub operations: Option<u64>,
    /// Load of so long before that, which is not measured
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub warmup: Option<f64>,
    /// An operation without an answer for so long is an error [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub timeout: Option<f64>,
    /// Of all random choices: with the same one each thread draws the same operations in the same
    /// order [default: another one each time]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Begin at an instant, once all is connected: 2026-11-29T12:00:00Z, or in seconds since 1970
    #[arg(long, value_name = "INSTANT", value_parser = instant)]
    pub start: Option<f64>,
    /// Make one part of a load that several engines share, such as 1/3; all else is typed alike
    #[arg(long, value_name = "N/OF", value_parser = part, requires = "seed")]
    pub part: Option<Part>,
}

/// The highest rate that meets an objective, or the highest throughput.
#[derive(Debug, Default, clap::Args)]
pub struct Searching {
    /// Make one load after another of --time each [default: 2s], to find the highest rate that is
    /// kept up with and meets this: p99<10ms, `service.p50<1ms,p99.9<50ms`, or `sustained`. With
    /// `throughput` it doubles --threads until they bring no more
    #[arg(
        long,
        value_name = "GOAL",
        conflicts_with_all = ["rate", "burst", "ramp", "operations", "policy", "start", "part"]
    )]
    pub search: Option<Goal>,
    /// Rate of the first load [default: 1000]
    #[arg(long, value_name = "RATE", value_parser = positive, requires = "search")]
    pub search_start: Option<f64>,
    /// How far the rate may be below one that is too high, or how little more throughput is none
    /// [default: 0.05]
    #[arg(long, value_name = "SHARE", value_parser = share, requires = "search")]
    pub search_precision: Option<f64>,
    /// Most loads [default: 20]
    #[arg(
        long,
        value_name = "COUNT",
        value_parser = clap::value_parser!(u32).range(1..),
        requires = "search"
    )]
    pub search_probes: Option<u32>,
}

/// As whom to speak with the database, and how.
#[derive(Debug, Default, clap::Args)]
pub struct Security {
    /// The user; the password is read from the variable `DUNNAGE_PASSWORD`, or from a file
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// A file with the password and nothing else
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,
    /// Is refused, and told what to type instead.
    #[arg(long, hide = true, num_args = 0..=1, default_missing_value = "")]
    pub password: Option<String>,
    /// Encrypt all connections
    #[arg(long)]
    pub tls: bool,
    /// Trust the certificates in this file, in place of those that this host trusts
    #[arg(long, value_name = "FILE")]
    pub tls_ca: Option<PathBuf>,
    /// The name that the server's certificate must be for, in place of the host in the address
    #[arg(long, value_name = "NAME")]
    pub tls_name: Option<String>,
    /// Take any certificate
    #[arg(long)]
    pub tls_insecure: bool,
}

/// Where what came of it goes.
#[derive(Debug, Default, clap::Args)]
pub struct Results {
    /// Directory for summary.json, result.json, latency.hlog, plan.json [default: a new one here]
    #[arg(short, long, value_name = "DIRECTORY")]
    pub out: Option<PathBuf>,
    /// How what came of it is printed [default: text]
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Length of an interval of latency.hlog and of the time line [default: 1s]
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub interval: Option<f64>,
    /// Print the plan, which `load --plan` takes, and make no load
    #[arg(long)]
    pub dry_run: bool,
}

/// How the starts of an open load are spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Arrivals {
    /// Evenly
    Constant,
    /// As if they came from many users who know nothing of one another
    Poisson,
}

/// What becomes of an operation that finds every connection busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Policy {
    /// It waits for one, which is part of its response time
    Queue,
    /// It is left out, and counted
    Drop,
}

impl From<Arrivals> for wire::load::Arrivals {
    fn from(arrivals: Arrivals) -> Self {
        match arrivals {
            Arrivals::Constant => Self::Constant,
            Arrivals::Poisson => Self::Poisson,
        }
    }
}

impl From<Policy> for wire::load::Policy {
    fn from(policy: Policy) -> Self {
        match policy {
            Policy::Queue => Self::Queue,
            Policy::Drop => Self::Drop,
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::super::workloads::Core;
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    /// What is typed after `drive`; the error is that of the command line.
    pub fn typed(words: &[&str]) -> Result<Arguments, String> {
        Line::try_parse_from([&["drive"][..], words].concat())
            .map(|line| line.arguments)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn all_that_follows_stress_is_in_the_words_of_cassandra_stress() {
        let words = ["cassandra://h", "--seed", "5", "--stress", "write", "n=9"];
        let more = ["-rate", "threads=4", "-pop", "seq=1..9", "--out", "x"];
        let found = typed(&[&words[..], &more].concat()).unwrap();
        assert_eq!(
            found.stress.words[..4],
            ["write", "n=9", "-rate", "threads=4"]
        );
        assert_eq!(found.stress.words[4..], ["-pop", "seq=1..9", "--out", "x"]);
        assert_eq!((found.load.seed, found.results.out), (Some(5), None));
        for words in [
            &["cassandra://h", "load", "--stress", "write"][..],
            &["cassandra://h", "--workload", "a", "--stress", "write"],
            &["cassandra://h", "--rate", "5", "--stress", "write"],
            &["cassandra://h", "--time", "5s", "--stress", "write"],
            &["cassandra://h", "--stress"],
        ] {
            assert!(typed(words).is_err(), "{words:?}");
        }
    }

    #[test]
    fn the_words_of_a_load_are_taken_and_those_that_exclude_one_another_refused() {
        let found = typed(&[
            "redis://h",
            "load",
            "--workload",
            "f",
            "-P",
            "one",
            "-P",
            "two",
            "-p",
            "a=b=c",
            "-p",
            "d=",
            "--rate",
            "5e3",
            "--burst",
            "9000",
            "--burst-time",
            "1min",
            "--arrivals",
            "poisson",
            "--connections",
            "3",
            "--policy",
            "drop",
        ]);
        let found = found.unwrap();
        assert_eq!(
            (&*found.address, found.phase),
            ("redis://h", Some(Phase::Load))
        );
        assert_eq!(found.ycsb.core, Some(Core::F));
        assert_eq!(found.ycsb.files, [PathBuf::from("one"), "two".into()]);
        assert_eq!(found.ycsb.properties, ["a=b=c", "d="]);
        let load = &found.load;
        assert_eq!((load.rate, load.burst), (Some(5000.0), Some(9000.0)));
        assert_eq!((load.burst_time, load.connections), (Some(60.0), Some(3)));
        assert_eq!(load.arrivals, Some(Arrivals::Poisson));
        assert_eq!(load.policy, Some(Policy::Drop));
        for words in [
            &["redis://h", "--ramp", "1..2", "--rate", "1"][..],
            &["redis://h", "--ramp", "1..2", "--burst", "1"],
            &["redis://h", "--burst-time", "1s"],
            &["redis://h", "--threads", "0"],
            &["redis://h", "--operations", "0"],
            &["redis://h", "dance"],
            &[],
        ] {
            assert!(typed(words).is_err(), "{words:?}");
        }
    }
}
