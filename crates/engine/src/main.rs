//! `dunnage-engine`: one static binary for load, sampling and what a host needs.

use clap::{Parser, Subcommand};

mod drive;
mod enter;
mod init;
mod load;
mod mounts;
mod schema;

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
    /// Show a directory of this machine inside such a host, read-only.
    Graft(mounts::Arguments),
    /// Drive a database with the load of a plan.
    Load(load::Arguments),
    /// Write the JSON Schemas of the border into a directory.
    Schema(schema::Arguments),
}

fn main() -> std::process::ExitCode {
    let result = match Arguments::parse().verb {
        Verb::Init(arguments) => init::init(&arguments),
        Verb::Enter(arguments) => enter::enter(&arguments),
        Verb::Graft(arguments) => mounts::graft(&arguments),
        Verb::Load(arguments) => load::load(&arguments),
        Verb::Schema(arguments) => schema::write(&arguments),
    };
    match result {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("dunnage-engine: {error}");
            std::process::ExitCode::FAILURE
        }
    }
}
