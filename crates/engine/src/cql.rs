//! `cql`: ask one server, exactly the one named, without looking for others.

use std::fmt::Display;
use std::io::{self, Write};
use std::time::Duration;

use wire::answer::Answer;

use self::link::Link;

mod link;
mod value;

/// Arguments of `cql`.
#[derive(clap::Args)]
pub struct Arguments {
    /// `host:port` of the server.
    #[arg(long)]
    address: String,
    /// Seconds for everything together, so that a server that hangs is not waited for.
    #[arg(long, default_value_t = 10.0)]
    timeout: f64,
    /// What to ask, in order; nothing is asked after an error.
    #[arg(required = true)]
    statements: Vec<String>,
}

/// Print the answer to each statement as a line of JSON; the error is one sentence.
pub fn cql(arguments: &Arguments) -> io::Result<()> {
    let limit = Duration::try_from_secs_f64(arguments.timeout)
        .map_err(|error| io::Error::other(format!("`--timeout`: {error}")))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let outcome = runtime.block_on(async {
        tokio::time::timeout(limit, ask(arguments))
            .await
            .unwrap_or_else(|_| Err(format!("no answer within {} s", arguments.timeout)))
    });
    outcome.map_err(|what| io::Error::other(format!("`{}`: {what}", arguments.address)))
}

async fn ask(arguments: &Arguments) -> Result<(), String> {
    let mut link = Link::open(&arguments.address).await?;
    for statement in &arguments.statements {
        tell(&link.query(statement).await?).map_err(said)?;
    }
    Ok(())
}

/// An error as one sentence.
fn said(error: impl Display) -> String {
    error.to_string()
}

fn tell(answer: &Answer) -> io::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, answer)?;
    out.write_all(b"\n")
}
