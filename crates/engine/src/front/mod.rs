//! `drive`: load for an existing database, for people. It makes a plan, and `load` carries it out.

use std::io;

mod address;
mod arguments;
mod interrupt;
mod properties;
mod search;
mod secrets;
mod status;
mod stress;
mod summary;
mod ycsb;
mod ycsb_text;

/// Arguments of `drive`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The database, then what to do with it.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

/// Not there yet: says what to type instead.
pub fn drive(arguments: &Arguments) -> io::Result<()> {
    Err(io::Error::other(format!(
        "`drive {}` cannot be carried out yet; write a plan and type: \
         dunnage-engine load --plan FILE --out DIRECTORY",
        arguments.words.join(" ")
    )))
}
