//! `dunnage-engine`: one static binary for load, sampling and what a host needs.

use clap::{Parser, Subcommand};

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
    /// Write the JSON Schemas of the border into a directory.
    Schema(schema::Arguments),
}

fn main() -> std::process::ExitCode {
    let result = match Arguments::parse().verb {
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
