//! The keyspace and its tables: `-schema`.

use super::words::{Group, wrong};

/// The tables with the rows, `standard1` and `counter1`.
#[derive(Debug, PartialEq, Eq)]
pub struct Tables {
    /// Whether they are made where they are not there.
    pub made: bool,
    /// Whether they are emptied before the load.
    pub truncated: bool,
    /// The keyspace, if it is said.
    pub keyspace: Option<String>,
    /// How the keyspace is replicated.
    pub replication: Strategy,
    /// The class that compresses the tables; None: they are not compressed.
    pub compression: Option<String>,
    /// How the tables are compacted; None leaves it to the server.
    pub compaction: Option<Strategy>,
}

/// A class of the server with its options.
#[derive(Debug, PartialEq, Eq)]
pub struct Strategy {
    /// The name of the class.
    pub class: String,
    /// Names and values, in order.
    pub options: Vec<(String, String)>,
}

impl Tables {
    /// What is to be executed before the load, in CQL, as cassandra-stress does.
    pub fn statements(&self, keyspace: &str, columns: &[String]) -> Vec<String> {
        let mut statements = Vec::new();
        if self.made {
            let replication = self.replication.text();
            statements.push(format!(
                "CREATE KEYSPACE IF NOT EXISTS \"{keyspace}\" WITH replication = {replication} AND \
                 durable_writes = true"
            ));
            for (table, kind) in TABLES {
                let columns = listed(columns.iter().map(|name| format!("\"{name}\" {kind}")));
                let stored = self.stored();
                statements.push(format!(
                    "CREATE TABLE IF NOT EXISTS \"{keyspace}\".{table} (key blob PRIMARY \
                     KEY{columns}) WITH COMPACT STORAGE AND {stored}"
                ));
            }
        }
        if self.truncated {
            let emptied = TABLES.map(|(table, _)| format!("TRUNCATE \"{keyspace}\".{table}"));
            statements.extend(emptied);
        }
        statements
    }

    /// How tables are stored.
    fn stored(&self) -> String {
        let compression = match &self.compression {
            Some(class) => format!("compression = {{'class': '{class}'}}"),
            None => "compression = {}".to_owned(),
        };
        match &self.compaction {
            Some(strategy) => format!("{compression} AND compaction = {}", strategy.text()),
            None => compression,
        }
    }
}

impl Strategy {
    /// A map in CQL.
    fn text(&self) -> String {
        let options = self.options.iter();
        let options = listed(options.map(|(name, value)| format!("'{name}': '{value}'")));
        format!("{{'class': '{}'{options}}}", self.class)
    }
}

/// Items that stand behind another one.
fn listed(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = std::iter::once(String::new()).chain(items).collect();
    items.join(", ")
}

/// The tables, and the type of their columns.
const TABLES: [(&str, &str); 2] = [("standard1", "blob"), ("counter1", "counter")];

/// The package of the replication strategies.
const PACKAGE: &str = "org.apache.cassandra.locator.";

/// Read `-schema`; the error is one sentence.
pub fn parse(mut group: Group, notes: &mut Vec<String>) -> Result<Tables, String> {
    let keyspace = group.value("keyspace=")?;
    let replication = group.settings("replication(")?.unwrap_or_default();
    let compression = group.value("compression=")?;
    let compaction = group.settings("compaction(")?;
    group.done(notes)?;

    if let Some(keyspace) = keyspace.as_ref()
        && (keyspace.is_empty()
            || !keyspace
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'_'))
    {
        let form = "a name of letters, digits and `_`, such as `keyspace=keyspace1`";
        return Err(wrong("-schema", "keyspace=", keyspace, form));
    }
    let replication = replicated(all_quoted("replication(", replication)?)?;
    let compression = compression
        .map(|class| quoted("compression=", class))
        .transpose()?;
    let compaction = compaction
        .map(|settings| compacted(all_quoted("compaction(", settings)?))
        .transpose()?;
    Ok(Tables {
        made: false,
        truncated: false,
        keyspace,
        replication,
        compression,
        compaction,
    })
}

fn replicated(mut options: Vec<(String, String)>) -> Result<Strategy, String> {
    let class = taken(&mut options, "strategy").unwrap_or_else(|| "SimpleStrategy".to_owned());
    let class = if class.contains('.') {
        class
    } else {
        format!("{PACKAGE}{class}")
    };
    let factor = taken(&mut options, "factor");
    if let Some(count) = factor
        .as_ref()
        .filter(|count| count.parse::<u32>().is_err())
    {
        return Err(wrong(
            "-schema",
            "replication(factor=",
            count,
            "`replication(factor=3)`",
        ));
    }
    let simple = class.strip_prefix(PACKAGE) == Some("SimpleStrategy");
    let told = options.iter().any(|(name, _)| name == "replication_factor");
    // Without any option cassandra-stress asks for one replica, whatever the strategy.
    if !told && (simple || factor.is_some() || options.is_empty()) {
        let factor = factor.unwrap_or_else(|| "1".to_owned());
        options.push(("replication_factor".to_owned(), factor));
    }
    Ok(Strategy { class, options })
}

fn compacted(mut options: Vec<(String, String)>) -> Result<Strategy, String> {
    let class = taken(&mut options, "strategy").ok_or_else(|| {
        "`-schema compaction(` needs a class; write \
         `compaction(strategy=LeveledCompactionStrategy)`"
            .to_owned()
    })?;
    Ok(Strategy { class, options })
}

/// Take the value of `name` out of the options.
fn taken(options: &mut Vec<(String, String)>, name: &str) -> Option<String> {
    let found = options
        .iter()
        .position(|(other, _)| other.eq_ignore_ascii_case(name));
    found.map(|index| options.remove(index).1)
}

fn all_quoted(
    group: &str,
    settings: Vec<(String, String)>,
) -> Result<Vec<(String, String)>, String> {
    settings
        .into_iter()
        .map(|(name, value)| Ok((quoted(group, name)?, quoted(group, value)?)))
        .collect()
}

/// A text that is safe between quotation marks in a statement.
fn quoted(name: &str, text: String) -> Result<String, String> {
    let safe = |byte: u8| byte.is_ascii_alphanumeric() || b"._-:/+".contains(&byte);
    if text.is_empty() || !text.bytes().all(safe) {
        let form = "letters, digits and `._-:/+`";
        return Err(wrong("-schema", name, &text, form));
    }
    Ok(text)
}
