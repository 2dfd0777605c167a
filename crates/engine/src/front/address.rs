//! The database as a URL. What is refused is not repeated: a password may be in it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::secrets;

/// What an address says of a database.
#[derive(Debug, PartialEq)]
pub struct Address {
    /// The driver.
    pub driver: &'static str,
    /// How the members belong together.
    pub topology: String,
    /// `host:port` of each member.
    pub members: Vec<String>,
    /// Driver options.
    pub options: BTreeMap<String, Value>,
    /// As whom to log in.
    pub user: Option<String>,
    /// Whether connections are encrypted.
    pub encrypted: bool,
}

struct Scheme {
    name: &'static str,
    driver: &'static str,
    /// If no other one is asked for.
    topology: &'static str,
    /// Those that can be asked for, by a switch of their name.
    others: &'static [&'static str],
    port: u16,
    encrypted: bool,
}

const SCHEMES: [Scheme; 5] = [
    Scheme {
        name: "redis",
        driver: "redis",
        topology: "single",
        others: &["replicas", "cluster"],
        port: 6379,
        encrypted: false,
    },
    Scheme {
        name: "rediss",
        driver: "redis",
        topology: "single",
        others: &["replicas", "cluster"],
        port: 6379,
        encrypted: true,
    },
    Scheme {
        name: "cassandra",
        driver: "cassandra",
        topology: "ring",
        others: &[],
        port: 9042,
        encrypted: false,
    },
    Scheme {
        name: "mongodb",
        driver: "mongodb",
        topology: "single",
        others: &["replicas", "sharded"],
        port: 27017,
        encrypted: false,
    },
    Scheme {
        name: "fake",
        driver: "fake",
        topology: "single",
        others: &[],
        port: 0,
        encrypted: false,
    },
];

impl Address {
    /// Read `SCHEME://[USER@]HOST[:PORT],…[/PLACE][?OPTION=VALUE&…]`; the error is one sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        if secrets::in_url(text) {
            return Err(secrets::refused("the address"));
        }
        let (name, rest) = text.split_once("://").ok_or_else(no_scheme)?;
        let scheme = SCHEMES
            .iter()
            .find(|scheme| scheme.name == name)
            .ok_or_else(no_scheme)?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, place) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, hosts) = match authority.rsplit_once('@') {
            Some((user, hosts)) => (Some(decoded(user)?), hosts),
            None => (None, authority),
        };
        if user.as_deref() == Some("") {
            return Err("the user in front of `@` in the address is empty".to_owned());
        }
        let mut address = Self {
            driver: scheme.driver,
            topology: scheme.topology.to_owned(),
            members: members(hosts, scheme)?,
            options: BTreeMap::new(),
            user,
            encrypted: scheme.encrypted,
        };
        address.place(&decoded(place)?)?;
        for option in query.split('&').filter(|option| !option.is_empty()) {
            let (key, value) = match option.split_once('=') {
                Some((key, value)) => (decoded(key)?, Some(decoded(value)?)),
                None => (decoded(option)?, None),
            };
            address.option(scheme, key, value)?;
        }
        // The driver would go to the first one alone.
        if address.topology == "single" && address.members.len() > 1 {
            let switches: Vec<String> = scheme
                .others
                .iter()
                .map(|name| format!("`?{name}`"))
                .collect();
            let switches = switches.join(" or ");
            return Err(format!(
                "several hosts belong together somehow; add {switches}"
            ));
        }
        Ok(address)
    }

    /// Take what stands after `/`.
    fn place(&mut self, place: &str) -> Result<(), String> {
        let key = match (self.driver, place) {
            // That one knows users, and YCSB keeps its records elsewhere, too.
            (_, "") | ("redis", "0") | ("mongodb", "admin") => return Ok(()),
            ("cassandra", _) => "keyspace",
            ("mongodb", _) => "database",
            ("redis", _) => {
                let what = "of a Redis only database 0 is driven; leave out what stands after `/`";
                return Err(what.to_owned());
            }
            _ => {
                return Err(format!(
                    "the driver `{}` has no databases; leave out what stands after `/`",
                    self.driver
                ));
            }
        };
        self.options.insert(key.to_owned(), place.into());
        Ok(())
    }

    /// Take one option; without a value it is a switch that is turned on.
    fn option(
        &mut self,
        scheme: &Scheme,
        key: String,
        value: Option<String>,
    ) -> Result<(), String> {
        let place = format!("the option `{key}` of the address");
        if secrets::told(&key, "") {
            return Err(secrets::refused(&place));
        }
        if key == "tls" || key == "ssl" {
            self.encrypted |= on(&place, value.as_deref())?;
            return Ok(());
        }
        if scheme.others.contains(&&*key) {
            if on(&place, value.as_deref())? {
                if self.topology != scheme.topology && self.topology != key {
                    return Err(format!("{place} is one topology too many"));
                }
                self.topology = key;
            }
            return Ok(());
        }
        if (self.driver, &*key) == ("mongodb", "replicaSet") {
            "replicas".clone_into(&mut self.topology);
        }
        let value = value.map_or(Value::Bool(true), |text| typed(&text));
        match self.options.insert(key, value) {
            Some(_) => Err(format!("{place} is there twice; write it once")),
            None => Ok(()),
        }
    }
}

fn no_scheme() -> String {
    let known: Vec<String> = SCHEMES
        .iter()
        .map(|scheme| format!("`{}://`", scheme.name))
        .collect();
    format!(
        "the address of the database must begin with one of {}, such as `redis://127.0.0.1:6379`",
        known.join(", ")
    )
}

fn members(hosts: &str, scheme: &Scheme) -> Result<Vec<String>, String> {
    match (scheme.driver, hosts) {
        // Nothing is connected to; a plan must have an address.
        ("fake", "") => Ok(vec!["inside:0".to_owned()]),
        ("fake", _) => Err("the server inside the engine has no host; type `fake://`".to_owned()),
        _ => hosts
            .split(',')
            .map(|host| member(host, scheme.port))
            .collect(),
    }
}

/// `host:port` of `host`, `host:port`, `[IPv6]` or `[IPv6]:port`.
fn member(text: &str, usual: u16) -> Result<String, String> {
    let text = decoded(text)?;
    // The colons of an IPv6 address are in brackets.
    let inside = text.rfind(']').unwrap_or(0);
    let (host, port) = match text[inside..].find(':') {
        Some(colon) => (&text[..inside + colon], Some(&text[inside + colon + 1..])),
        None => (&*text, None),
    };
    if host.is_empty() {
        return Err("a host of the address is empty; an IPv6 address is written as `[::1]`".into());
    }
    let inside = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let sensible = match inside {
        Some(inside) => inside.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !host.contains(['[', ']']),
    };
    if !sensible {
        return Err("a host of the address is wrong; an IPv6 address is written as `[::1]`".into());
    }
    let port = match port {
        None => usual,
        Some(port) => port.parse::<u16>().ok().filter(|port| *port > 0).ok_or(
            "a port of the address is not a number from 1 to 65535; an IPv6 address is written \
                 as `[::1]`",
        )?,
    };
    Ok(format!("{host}:{port}"))
}

/// Whether a switch is turned on.
fn on(place: &str, value: Option<&str>) -> Result<bool, String> {
    match value {
        None | Some("true") => Ok(true),
        Some("false") => Ok(false),
        Some(_) => Err(format!("{place} must be `true` or `false`")),
    }
}

/// A value as what it looks like: a number, a switch or a text.
fn typed(text: &str) -> Value {
    if let Ok(number) = text.parse::<u64>() {
        return number.into();
    }
    let digits = text.starts_with(|letter: char| letter.is_ascii_digit());
    match text.parse::<f64>() {
        Ok(number) if digits && number.is_finite() => number.into(),
        _ => match text {
            "true" => true.into(),
            "false" => false.into(),
            _ => text.into(),
        },
    }
}

/// A part of a URL, where `%` and two digits stand for a byte; the error is one sentence.
fn decoded(text: &str) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [byte, after @ ..] = rest {
        rest = after;
        if *byte != b'%' {
            bytes.push(*byte);
            continue;
        }
        let digits = rest
            .get(..2)
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.ok_or("after `%` in the address two hexadecimal digits must follow")?);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).map_err(|_| "the address is not text of UTF-8".to_owned())
}

#[cfg(test)]
mod tests;
