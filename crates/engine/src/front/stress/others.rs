//! Commands and options of cassandra-stress that are not taken.

use super::words::{listed, without_value};

/// Commands that make no load of this kind, with what to do instead.
const OTHER_COMMANDS: [(&[&str], &str); 5] = [
    (
        &["user"],
        "profiles are not read here; write one of the commands below",
    ),
    (
        &["help", "-?"],
        "there is no text for each option; `dunnage-engine --help` shows the verbs",
    ),
    (
        &["version"],
        "this is not cassandra-stress; write `dunnage-engine --version`",
    ),
    (&["print"], "no distribution is printed here"),
    (
        &["legacy"],
        "the words of cassandra-stress before 2.1 are not read here",
    ),
];

/// Options that are not taken, with what to do instead.
const OTHER_OPTIONS: [(&[&str], &str); 5] = [
    (
        &["-insert"],
        "rows are written whole and one by one; leave it out",
    ),
    (
        &["-transport"],
        "key stores of Java are not read; give the certificates as a PEM file to `--tls-ca`",
    ),
    (
        &["-graph"],
        "no page is written; leave it out and take the result and the histograms",
    ),
    (
        &["-sendto", "-send-to"],
        "load is not sent to a daemon; start this engine on that host",
    ),
    (
        &["-tokenrange"],
        "it belongs to the command `user`; leave it out",
    ),
];

fn reason(others: &[(&[&str], &str)], name: &str) -> Option<String> {
    let (_, why) = others.iter().find(|(names, _)| names.contains(&name))?;
    Some(format!("`{name}` is not taken: {why}"))
}

/// The refusal of an option that is not known, or not taken.
pub fn no_option(name: &str, options: &[&str]) -> String {
    reason(&OTHER_OPTIONS, name).unwrap_or_else(|| {
        let name = without_value(name);
        format!(
            "there is no option `{name}`; the options are {}",
            listed(options)
        )
    })
}

/// The refusal of a command that is not known, or not taken.
pub fn no_command(name: &str, commands: &[&str]) -> String {
    let unknown = || format!("there is no command `{}`", without_value(name));
    let why = reason(&OTHER_COMMANDS, name).unwrap_or_else(unknown);
    format!("{why}; the commands are {}", listed(commands))
}
