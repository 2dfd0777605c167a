//! How servers are spoken with: `-mode`, and `-node` and `-port`, which the address says.

use super::words::{Group, wrong};

/// Where a password comes from instead.
const PASSWORD: &str = "all users of this machine can read a command line; put it into the variable \
     `DUNNAGE_PASSWORD`, or into a file for `--password-file`";

/// The connections to each node, if they are said; the error is one sentence.
pub fn parse(
    members: &Group,
    port: Group,
    mut mode: Group,
    notes: &mut Vec<String>,
) -> Result<Option<u32>, String> {
    if members.given() {
        return Err(
            "`-node` is not taken: the address says where the servers are; write \
             `cassandra://host1,host2` after `drive`"
                .to_owned(),
        );
    }
    of_port(port, notes)?;
    for name in ["thrift", "simplenative", "smart"] {
        mode.refuse(name, "write `-mode native cql3`, or leave it out")?;
    }
    mode.refuse("password=", PASSWORD)?;
    mode.refuse("user=", "write `--user NAME` before `--stress`")?;
    mode.refuse("port=", "write `cassandra://host:9042` after `drive`")?;
    mode.refuse("unprepared", "statements are always prepared; leave it out")?;
    // They are what is done anyway.
    mode.switch("native")?;
    mode.switch("cql3")?;
    mode.switch("prepared")?;
    let provider = mode.value("auth-provider=")?;
    let compression = mode.value("compression=")?;
    let connections = mode.value("connectionsPerHost=")?;
    let version = mode.value("protocolVersion=")?;
    mode.idle("maxPending=", "each thread has one request on the way")?;
    mode.done(notes)?;

    if let Some(class) = provider
        && class.rsplit('.').next() != Some("PlainTextAuthProvider")
    {
        let form = "`auth-provider=PlainTextAuthProvider`, or leave it out";
        return Err(wrong("-mode", "auth-provider=", &class, form));
    }
    if let Some(name) = compression
        && !name.eq_ignore_ascii_case("none")
    {
        let form = "`compression=none`, or leave it out: frames are sent as they are";
        return Err(wrong("-mode", "compression=", &name, form));
    }
    if let Some(version) = version
        && !["4", "NEWEST_SUPPORTED"].contains(&version.as_str())
    {
        let form = "`protocolVersion=4`, or leave it out";
        return Err(wrong("-mode", "protocolVersion=", &version, form));
    }
    connections
        .map(|text| {
            let count = text.parse().ok().filter(|count: &u32| *count > 0);
            let form = "`connectionsPerHost=8`";
            count.ok_or_else(|| wrong("-mode", "connectionsPerHost=", &text, form))
        })
        .transpose()
}

fn of_port(mut group: Group, notes: &mut Vec<String>) -> Result<(), String> {
    group.refuse("native=", "write `cassandra://host:9042` after `drive`")?;
    group.idle("thrift=", "Thrift is not spoken")?;
    group.idle("jmx=", "the servers' collectors are not asked")?;
    group.done(notes)
}
