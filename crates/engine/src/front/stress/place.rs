//! The servers, and how to speak with them: `-node`, `-port` and `-mode`.

use std::path::PathBuf;

use super::words::{Group, wrong};

/// The servers, and how to speak with them.
#[derive(Debug, PartialEq, Eq)]
pub struct Place {
    /// Names or addresses of members.
    pub members: Members,
    /// Whether no other members are spoken to.
    pub only_these: bool,
    /// The data centre whose members are spoken to.
    pub datacenter: Option<String>,
    /// The port of all members.
    pub port: u16,
    /// Connections to each node.
    pub connections: u32,
    /// Whether statements are prepared.
    pub prepared: bool,
    /// How frames are compressed; None leaves them as they are.
    pub compression: Option<&'static str>,
    /// The user; None does not log in.
    pub user: Option<String>,
}

/// Names or addresses of members.
#[derive(Debug, PartialEq, Eq)]
pub enum Members {
    /// They themselves.
    Listed(Vec<String>),
    /// A file with one of them on each line.
    File(PathBuf),
}

/// Where a password comes from instead.
const PASSWORD: &str = "all users of this machine can read a command line; put it into the variable \
     `DUNNAGE_PASSWORD`, or into a file for `--password-file`";

/// Read the three groups; the error is one sentence.
pub fn parse(
    members: Group,
    port: Group,
    mut mode: Group,
    notes: &mut Vec<String>,
) -> Result<Place, String> {
    let port = of_port(port, notes)?;
    for name in ["thrift", "simplenative", "smart"] {
        mode.refuse(name, "write `-mode native cql3`, or leave it out")?;
    }
    mode.refuse("password=", PASSWORD)?;
    mode.refuse("port=", "write `-port native=9042`")?;
    // They are what is spoken anyway.
    mode.switch("native")?;
    mode.switch("cql3")?;
    let unprepared = mode.switch("unprepared")?;
    if mode.switch("prepared")? && unprepared {
        return Err("`-mode` has both `prepared` and `unprepared`; write one of them".to_owned());
    }
    let user = mode.value("user=")?;
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
    if user.as_deref() == Some("") {
        return Err(wrong(
            "-mode",
            "user=",
            "",
            "`user=cassandra`, or leave it out",
        ));
    }
    if let Some(version) = version
        && !["4", "NEWEST_SUPPORTED"].contains(&version.as_str())
    {
        let form = "`protocolVersion=4`, or leave it out";
        return Err(wrong("-mode", "protocolVersion=", &version, form));
    }
    let connections = connections.unwrap_or_else(|| "8".to_owned());
    let form = "`connectionsPerHost=8`";
    let connections = connections
        .parse()
        .ok()
        .filter(|count: &u32| *count > 0)
        .ok_or_else(|| wrong("-mode", "connectionsPerHost=", &connections, form))?;
    let Which {
        members,
        only_these,
        datacenter,
    } = of_members(members, notes)?;
    Ok(Place {
        members,
        only_these,
        datacenter,
        port,
        connections,
        prepared: !unprepared,
        compression: of_compression(compression)?,
        user,
    })
}

fn of_compression(name: Option<String>) -> Result<Option<&'static str>, String> {
    let Some(name) = name else {
        return Ok(None);
    };
    match name.to_ascii_lowercase().as_str() {
        "none" => Ok(None),
        "lz4" => Ok(Some("lz4")),
        "snappy" => Ok(Some("snappy")),
        _ => {
            let form = "`compression=none`, `compression=lz4` or `compression=snappy`";
            Err(wrong("-mode", "compression=", &name, form))
        }
    }
}

fn of_port(mut group: Group, notes: &mut Vec<String>) -> Result<u16, String> {
    let native = group.value("native=")?;
    group.idle("thrift=", "Thrift is not spoken")?;
    group.idle("jmx=", "the servers' collectors are not asked")?;
    group.done(notes)?;
    let port = native.unwrap_or_else(|| "9042".to_owned());
    let number = port.parse().ok().filter(|number: &u16| *number > 0);
    number.ok_or_else(|| wrong("-port", "native=", &port, "`native=9042`"))
}

struct Which {
    members: Members,
    only_these: bool,
    datacenter: Option<String>,
}

fn of_members(mut group: Group, notes: &mut Vec<String>) -> Result<Which, String> {
    let only_these = group.switch("whitelist")?;
    let datacenter = group.value("datacenter=")?;
    let file = group.value("file=")?;
    let list = group.word();
    group.done(notes)?;
    let members = match (file, list) {
        (Some(_), Some(_)) => {
            return Err(
                "`-node` cannot have both members and `file=`; write one of them".to_owned(),
            );
        }
        (Some(path), None) => Members::File(path.into()),
        (None, Some(list)) => {
            if list.split(',').any(str::is_empty) {
                return Err(wrong("-node", "", &list, "`-node host1,host2`"));
            }
            Members::Listed(list.split(',').map(str::to_owned).collect())
        }
        (None, None) => Members::Listed(vec!["localhost".to_owned()]),
    };
    Ok(Which {
        members,
        only_these,
        datacenter,
    })
}
