//! `start`: fill in the address that a member has only where it runs, and become its program.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use self::network::Network;
use self::own::{addresses, own};
use self::placeholder::Placeholder;

mod network;
mod own;
mod placeholder;

/// An interface that is plugged in after the start is waited for so long.
const LIMIT: Duration = Duration::from_secs(10);

/// Arguments of `start`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The member whose placeholder `@late:NAME@` is filled in.
    #[arg(long, value_name = "NAME")]
    member: String,
    /// The network in which its address lies, such as `10.0.0.0/24`.
    #[arg(long, value_name = "CIDR")]
    within: String,
    /// A file with the placeholder; may be given several times.
    #[arg(long = "file", value_name = "PATH")]
    files: Vec<PathBuf>,
    /// The program and its arguments, in which the placeholder may stand too.
    #[arg(last = true, required = true)]
    argv: Vec<OsString>,
}

/// Become the program; returns only what went wrong, as one sentence.
pub fn start(arguments: &Arguments) -> io::Result<()> {
    let network = Network::parse(&arguments.within).map_err(io::Error::other)?;
    let address = own(network, LIMIT, addresses)?;
    let placeholder = Placeholder::new(&arguments.member, address);
    for path in &arguments.files {
        placeholder.fill_file(path).map_err(|error| {
            io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
        })?;
    }
    let mut words = arguments.argv.iter().map(|word| filled(word, &placeholder));
    let program = words.next().unwrap_or_default();
    let error = Command::new(&program).args(words).exec();
    let what = format!("`{}`: {error}", program.to_string_lossy());
    Err(io::Error::new(error.kind(), what))
}

fn filled(word: &OsStr, placeholder: &Placeholder) -> OsString {
    let bytes = placeholder.fill(word.as_bytes());
    bytes.map_or_else(|| word.to_owned(), OsString::from_vec)
}
