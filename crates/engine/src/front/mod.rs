//! `drive`: load for an existing database, for people. It makes a plan, and `load` carries it out.

use std::io;

mod address;
mod arguments;
mod interrupt;
mod properties;
mod search;
mod secrets;
mod status;
// `drive` is to ask for it.
#[allow(dead_code)]
mod stress;
mod summary;
mod ycsb;
mod ycsb_text;

/// Arguments of `drive`.
#[derive(clap::Args)]
pub struct Arguments {}

/// Not there yet: says what to type instead.
pub fn drive(_arguments: &Arguments) -> io::Result<()> {
    Err(io::Error::other(
        "`drive` is not there yet; write a plan and type: \
         dunnage-engine load --plan FILE --out DIRECTORY",
    ))
}
