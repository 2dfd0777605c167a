//! `dunnage-engine`: one static binary for load, sampling and what a host needs.

use clap::{Parser, Subcommand};

mod agent;
mod arithmetic;
mod bpf;
mod cgroups;
mod control;
mod cql;
mod drive;
mod enter;
mod exit;
mod forward;
mod front;
mod init;
mod inspect;
mod load;
mod message;
mod moment;
mod mounts;
mod pause;
mod properties;
mod resolve;
mod rest;
mod sample;
mod schema;
mod speak;
mod start;
mod stop;
mod turns;

/// Generates load and watches hosts.
#[derive(Parser)]
#[command(name = "dunnage-engine", version)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Be the first process of a host made of namespaces.
    Init(init::Arguments),
    /// Run a program inside such a host.
    Enter(enter::Arguments),
    /// Carry connections from outside to addresses in the network of such a host.
    Forward(forward::Arguments),
    /// Show a directory of this machine inside such a host, read-only.
    Bind(mounts::Arguments),
    /// Act for the orchestration on a host that it reaches by a channel.
    Agent(agent::Arguments),
    /// Join standard input and output to such an agent.
    Speak(speak::Arguments),
    /// Measure what no deployment can change.
    Control(control::Arguments),
    /// Ask one Cassandra server, and print its answers as lines of JSON.
    Cql(cql::Arguments),
    /// Drive an existing database with a workload of YCSB or of cassandra-stress.
    Drive(Box<front::Arguments>),
    /// Drive a database with the load of a plan.
    Load(load::Arguments),
    /// Print the operations of a plan, without a database.
    Operations(load::operations::Arguments),
    /// Print what the kernel reports about a running process.
    Inspect(inspect::Arguments),
    /// Stop processes for a share of the time.
    Pause(pause::Arguments),
    /// Print the IPv4 addresses of names as JSON, as `load` finds them.
    Resolve(resolve::Arguments),
    /// Do nothing until TERM or INT, and hold a network namespace for others.
    Rest,
    /// Record a host's counters until it is stopped.
    Sample(sample::Arguments),
    /// Try to charge soft interrupts to networks; what keeps this machine from it is the error.
    SoftInterrupts,
    /// Fill in the address that a member has only where it runs, and become its program.
    Start(start::Arguments),
    /// Let processes run one after the other.
    Turns(turns::Arguments),
    /// Write the JSON Schemas of the border into a directory.
    Schema(schema::Arguments),
}

fn main() -> std::process::ExitCode {
    let result = match Arguments::parse().verb {
        Verb::Init(arguments) => init::init(&arguments),
        Verb::Enter(arguments) => enter::enter(&arguments),
        Verb::Forward(arguments) => forward::forward(&arguments),
        Verb::Bind(arguments) => mounts::bind(&arguments),
        Verb::Agent(arguments) => agent::agent(&arguments),
        Verb::Speak(arguments) => speak::speak(&arguments),
        Verb::Control(arguments) => control::control(&arguments),
        Verb::Cql(arguments) => cql::cql(&arguments),
        Verb::Drive(arguments) => front::drive(&arguments),
        Verb::Load(arguments) => load::load(&arguments),
        Verb::Operations(arguments) => load::operations::operations(&arguments),
        Verb::Inspect(arguments) => inspect::inspect(&arguments),
        Verb::Pause(arguments) => pause::pause(&arguments),
        Verb::Resolve(arguments) => resolve::resolve(&arguments),
        Verb::Rest => rest::rest(),
        Verb::Sample(arguments) => sample::sample(&arguments),
        Verb::SoftInterrupts => sample::try_soft_interrupts(),
        Verb::Start(arguments) => start::start(&arguments),
        Verb::Turns(arguments) => turns::turns(&arguments),
        Verb::Schema(arguments) => schema::write(&arguments),
    };
    match result {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            message::tell(&error);
            exit::code(&error)
        }
    }
}
