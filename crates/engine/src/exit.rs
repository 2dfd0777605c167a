//! With which code this program ends when it has not done what was typed.

use std::fmt;
use std::io;
use std::process::ExitCode;

use crate::load::told::{Told, told};

/// Why it ends with a code of its own, where that is no signal; every other error ends it with 1.
#[derive(Debug)]
pub enum Exit {
    /// What was typed is wrong; one sentence.
    Typed(String),
    /// The load was made, and no operation went well.
    Vain,
    /// The load was made, and at its end nothing was answered any more.
    Silent,
}

impl Exit {
    fn code(&self) -> u8 {
        match self {
            // As for what the command line itself does not take.
            Self::Typed(_) => 2,
            Self::Vain => 4,
            Self::Silent => 5,
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Typed(what) => out.write_str(what),
            Self::Vain => {
                out.write_str("not one operation went well; `messages` in `summary.json` says why")
            }
            Self::Silent => {
                out.write_str("the database did not answer any more when the load ended")
            }
        }
    }
}

impl std::error::Error for Exit {}

/// The exit code of a program that ends with an error.
pub fn code(error: &io::Error) -> ExitCode {
    let own: Option<&Exit> = error.get_ref().and_then(|error| error.downcast_ref());
    let signal = || told(error).map(Told::code);
    let code = own.map(Exit::code).or_else(signal);
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_has_its_code_and_signals_have_that_of_shells() {
        let shown = |error: io::Error| format!("{:?}", code(&error));
        for (error, expected) in [
            (io::Error::other("something else"), 1),
            (io::Error::other(Exit::Typed("wrong".to_owned())), 2),
            (io::Error::other(Told::Early), 3),
            (io::Error::other(Exit::Vain), 4),
            (io::Error::other(Exit::Silent), 5),
            (io::Error::other(Told::HungUp), 129),
            (io::Error::other(Told::Interrupted), 130),
            (io::Error::other(Told::Terminated), 143),
        ] {
            assert_eq!(shown(error), format!("{:?}", ExitCode::from(expected)));
        }
    }
}
