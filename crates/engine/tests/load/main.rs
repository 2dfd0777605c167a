//! The verb `load`, driven from outside against the server inside the engine.

mod counted;
mod driven;
mod ends;
mod schedule;
#[path = "../scratch/mod.rs"]
mod scratch;
mod server;
