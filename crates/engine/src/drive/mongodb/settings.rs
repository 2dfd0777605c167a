//! What a plan asks of this driver.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use wire::load::LoadPlan;

use crate::drive::no_option;

/// A server that is asked who it is may take so long, or half of the load's time-out where that is
/// shorter.
const PATIENCE: Duration = Duration::from_secs(1);

/// How the members belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topology {
    /// One server, whatever it is.
    Single,
    /// A replica set.
    Replicas,
    /// The routers (`mongos`) of a sharded cluster.
    Sharded,
}

/// Which members reads go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preference {
    /// The primary.
    Primary,
    /// The primary, or secondaries while there is none.
    PrimaryPreferred,
    /// Secondaries.
    Secondary,
    /// Secondaries, or the primary while there are none.
    SecondaryPreferred,
    /// Those that answer fastest.
    Nearest,
}

impl Preference {
    const ALL: [Self; 5] = [
        Self::Primary,
        Self::PrimaryPreferred,
        Self::Secondary,
        Self::SecondaryPreferred,
        Self::Nearest,
    ];

    /// The name in MongoDB.
    pub fn name(self) -> &'static str {
        [
            "primary",
            "primaryPreferred",
            "secondary",
            "secondaryPreferred",
            "nearest",
        ][self as usize]
    }
}

/// How many members must have a write before it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acknowledged {
    /// So many. With none the server does not answer at all.
    By(i32),
    /// More than half of them.
    ByMajority,
}

/// All options.
const OPTIONS: [&str; 9] = [
    "replicaSet",
    "database",
    "collection",
    "w",
    "journal",
    "readPreference",
    "readConcernLevel",
    "upsert",
    "authSource",
];

/// Levels of a read concern that need no session.
const READ_CONCERNS: [&str; 4] = ["local", "available", "majority", "linearizable"];

/// What a plan asks of this driver, checked.
#[derive(Debug, Clone)]
pub struct Settings {
    /// `host:port` of members, the first being the one to begin with.
    pub addresses: Vec<String>,
    /// How they belong together.
    pub topology: Topology,
    /// The name that the replica set must have; None: any.
    pub set: Option<String>,
    /// The database with the collection.
    pub database: String,
    /// The collection with the records.
    pub collection: String,
    /// How many members must have a write.
    pub write: Acknowledged,
    /// Whether they must have it in their journals.
    pub journal: bool,
    /// Which members reads go to.
    pub preference: Preference,
    /// Which writes reads may see; None: what the server does by itself.
    pub read_concern: Option<&'static str>,
    /// Whether an insert replaces a record that is there.
    pub upsert: bool,
    /// The database that knows the user.
    pub auth_source: String,
    /// How long a server may take to say who it is.
    pub patience: Duration,
}

impl Settings {
    /// Those of a plan; options have the names that they have in MongoDB's connection strings. The
    /// error is one sentence.
    pub fn of(plan: &LoadPlan) -> Result<Self, String> {
        let target = &plan.target;
        let mut settings = Self {
            addresses: target.addresses.clone(),
            topology: topology(&target.topology)?,
            set: None,
            database: "ycsb".to_owned(),
            collection: "usertable".to_owned(),
            write: Acknowledged::By(1),
            journal: false,
            preference: Preference::Primary,
            read_concern: None,
            upsert: false,
            auth_source: "admin".to_owned(),
            patience: Duration::from_secs_f64(plan.timeout / 2.0).min(PATIENCE),
        };
        for (key, value) in &target.options {
            match key.as_str() {
                "replicaSet" => settings.set = Some(name(key, value)?),
                "database" => settings.database = name(key, value)?,
                "collection" => settings.collection = name(key, value)?,
                "w" => settings.write = acknowledged(key, value)?,
                "journal" => settings.journal = boolean(key, value)?,
                "readPreference" => settings.preference = preference(key, value)?,
                "readConcernLevel" => settings.read_concern = Some(read_concern(key, value)?),
                "upsert" => settings.upsert = boolean(key, value)?,
                "authSource" => settings.auth_source = name(key, value)?,
                unknown => return Err(no_option("mongodb", unknown, &OPTIONS)),
            }
        }
        if settings.journal && !settings.acknowledged() {
            return Err(
                "the option `journal` needs a `w` of at least 1: nobody would tell".to_owned(),
            );
        }
        if settings.topology == Topology::Single && settings.preference != Preference::Primary {
            return Err(
                "the option `readPreference` needs the topology `replicas` or `sharded`: in \
                 `single` there is one server"
                    .to_owned(),
            );
        }
        if settings.topology != Topology::Replicas && settings.set.is_some() {
            return Err("the option `replicaSet` needs the topology `replicas`".to_owned());
        }
        Ok(settings)
    }

    /// Whether writes are answered.
    pub fn acknowledged(&self) -> bool {
        self.write != Acknowledged::By(0)
    }

    /// What `read` and `write` wait for, in the words of MongoDB.
    pub fn consistency(&self) -> BTreeMap<String, String> {
        let mut read = format!("readPreference={}", self.preference.name());
        if let Some(concern) = self.read_concern {
            read = format!("{read}, readConcernLevel={concern}");
        }
        let mut write = match self.write {
            Acknowledged::By(members) => format!("w={members}"),
            Acknowledged::ByMajority => "w=majority".to_owned(),
        };
        if self.journal {
            write.push_str(", journal=true");
        }
        BTreeMap::from([("read".to_owned(), read), ("write".to_owned(), write)])
    }
}

fn topology(name: &str) -> Result<Topology, String> {
    match name {
        "single" => Ok(Topology::Single),
        "replicas" => Ok(Topology::Replicas),
        "sharded" => Ok(Topology::Sharded),
        other => Err(format!(
            "the driver `mongodb` has no topology `{other}`; there are `single`, `replicas` and \
             `sharded`"
        )),
    }
}

/// A name that is one everywhere in MongoDB.
fn name(key: &str, value: &Value) -> Result<String, String> {
    value
        .as_str()
        .filter(|name| {
            !name.is_empty()
                && name
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
        })
        .map(str::to_owned)
        .ok_or_else(|| format!("the option `{key}` must be a name of letters, digits, `_` and `-`"))
}

fn acknowledged(key: &str, value: &Value) -> Result<Acknowledged, String> {
    let members = value.as_u64().and_then(|number| i32::try_from(number).ok());
    match members {
        Some(members) => Ok(Acknowledged::By(members)),
        None if value == "majority" => Ok(Acknowledged::ByMajority),
        None => Err(format!(
            "the option `{key}` must be a number of members or `majority`"
        )),
    }
}

fn preference(key: &str, value: &Value) -> Result<Preference, String> {
    Preference::ALL
        .into_iter()
        .find(|preference| value == preference.name())
        .ok_or_else(|| one_of(key, &Preference::ALL.map(Preference::name)))
}

fn read_concern(key: &str, value: &Value) -> Result<&'static str, String> {
    READ_CONCERNS
        .into_iter()
        .find(|concern| value == concern)
        .ok_or_else(|| one_of(key, &READ_CONCERNS))
}

fn one_of(key: &str, names: &[&str]) -> String {
    format!("the option `{key}` must be one of `{}`", names.join("`, `"))
}

fn boolean(key: &str, value: &Value) -> Result<bool, String> {
    value
        .as_bool()
        .ok_or_else(|| format!("the option `{key}` must be true or false"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::plan::tests::plan;

    fn settings(topology: &str, options: &serde_json::Value) -> Result<Settings, String> {
        let mut plan = plan();
        plan.target.driver = "mongodb".to_owned();
        plan.target.topology = topology.to_owned();
        plan.target.options = serde_json::from_value(options.clone()).unwrap();
        Settings::of(&plan)
    }

    #[test]
    fn without_options_they_are_those_of_ycsb() {
        let found = settings("single", &serde_json::json!({})).unwrap();
        assert_eq!(
            (found.database.as_str(), found.collection.as_str()),
            ("ycsb", "usertable")
        );
        assert!(found.acknowledged() && !found.upsert);
        let told = found.consistency();
        assert_eq!(
            (&*told["read"], &*told["write"]),
            ("readPreference=primary", "w=1")
        );
        // The plan of the tests has a time-out of one second.
        assert_eq!(found.patience, Duration::from_millis(500));
    }

    #[test]
    fn options_are_taken_by_name() {
        let found = settings(
            "replicas",
            &serde_json::json!({
                "database": "d", "collection": "c-1", "w": "majority",
                "journal": true, "readPreference": "secondaryPreferred", "replicaSet": "rs0",
                "readConcernLevel": "majority", "upsert": true, "authSource": "people",
            }),
        )
        .unwrap();
        assert_eq!(found.topology, Topology::Replicas);
        assert_eq!(found.set.as_deref(), Some("rs0"));
        assert_eq!(
            (found.database.as_str(), found.collection.as_str()),
            ("d", "c-1")
        );
        assert_eq!((found.upsert, found.auth_source.as_str()), (true, "people"));
        assert_eq!(found.preference, Preference::SecondaryPreferred);
        let told = found.consistency();
        assert_eq!(
            told["read"],
            "readPreference=secondaryPreferred, readConcernLevel=majority"
        );
        assert_eq!(told["write"], "w=majority, journal=true");
        let none = settings("sharded", &serde_json::json!({"w": 0})).unwrap();
        assert!(!none.acknowledged());
        assert_eq!(none.consistency()["write"], "w=0");
    }

    #[test]
    fn each_preference_has_the_name_that_mongodb_gives_it() {
        for preference in Preference::ALL {
            let options = serde_json::json!({"readPreference": preference.name()});
            let found = settings("replicas", &options).unwrap();
            assert_eq!(found.preference, preference);
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_a_sentence() {
        let refused = |options| settings("single", &options).unwrap_err();
        let said = refused(serde_json::json!({"table": "t"}));
        assert!(
            said.starts_with("the driver `mongodb` has no option `table`"),
            "{said}"
        );
        for option in OPTIONS {
            // Each is known, whether it can be `[]` or not.
            let options = serde_json::json!({option: []});
            assert!(!refused(options).contains("no option"), "{option}");
        }
        let cases = [
            (serde_json::json!({"database": "a b"}), "letters, digits"),
            (serde_json::json!({"collection": ""}), "letters, digits"),
            (serde_json::json!({"w": "most"}), "`majority`"),
            (serde_json::json!({"w": -1}), "number of members"),
            (serde_json::json!({"journal": 1}), "true or false"),
            (serde_json::json!({"upsert": "yes"}), "true or false"),
            (
                serde_json::json!({"readPreference": "primary_preferred"}),
                "`primaryPreferred`",
            ),
            (
                serde_json::json!({"readConcernLevel": "snapshot"}),
                "`majority`",
            ),
            (
                serde_json::json!({"journal": true, "w": 0}),
                "nobody would tell",
            ),
            (
                serde_json::json!({"readPreference": "nearest"}),
                "needs the topology `replicas` or",
            ),
            (
                serde_json::json!({"replicaSet": "rs0"}),
                "`replicaSet` needs the topology `replicas`",
            ),
        ];
        for (options, part) in cases {
            let said = refused(options);
            assert!(said.contains(part), "{said}");
        }
        let said = settings("ring", &serde_json::json!({})).unwrap_err();
        assert!(said.contains("there are `single`, `replicas`"), "{said}");
    }
}
