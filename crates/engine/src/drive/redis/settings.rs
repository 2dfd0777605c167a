//! What a plan asks of this driver.

use serde_json::Value;
use wire::load::{LoadPlan, Workload, Ycsb};

use super::shape::Shape;
use super::slots::Map;
use crate::drive::no_option;

/// What a server is to its records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It takes writes.
    Primary,
    /// It follows a primary.
    Replica,
}

/// All options.
const OPTIONS: [&str; 3] = ["read_from", "shape", "wait"];

/// What a plan asks of this driver, checked.
#[derive(Debug)]
pub struct Settings<'a> {
    /// What the operations are.
    pub workload: &'a Ycsb,
    /// Whether servers share the records by a map that they tell.
    pub cluster: bool,
    /// How records are kept.
    pub shape: Shape,
    /// Who is read from.
    pub reads: Role,
    /// Replicas that acknowledge each write, and for how many milliseconds they may take.
    pub wait: Option<(u32, u32)>,
}

impl<'a> Settings<'a> {
    /// Those of a plan; the error is one sentence.
    pub fn of(plan: &'a LoadPlan) -> Result<Self, String> {
        let Workload::Ycsb(workload) = &plan.workload else {
            return Err("the driver `redis` cannot make the load of cassandra-stress".to_owned());
        };
        let target = &plan.target;
        let cluster = match target.topology.as_str() {
            "single" | "replicas" => false,
            "cluster" => true,
            other => {
                return Err(format!(
                    "the driver `redis` has no topology `{other}`; there are `single`, `replicas` \
                     and `cluster`"
                ));
            }
        };
        let mut asked = target.options.keys();
        if let Some(unknown) = asked.find(|key| !OPTIONS.contains(&key.as_str())) {
            return Err(no_option("redis", unknown, &OPTIONS));
        }
        Ok(Self {
            workload,
            cluster,
            shape: Shape::of(target.options.get("shape"), plan, workload)?,
            reads: reads(plan)?,
            wait: wait(plan)?,
        })
    }

    /// Whom records belong to, as far as the plan says it.
    pub fn map(&self, plan: &LoadPlan) -> Map {
        let addresses = &plan.target.addresses;
        let replicas: &[String] = match self.reads {
            Role::Replica if !self.cluster => &addresses[1..],
            Role::Replica | Role::Primary => &[],
        };
        Map::single(&addresses[0], replicas)
    }
}

/// Who is read from.
fn reads(plan: &LoadPlan) -> Result<Role, String> {
    let target = &plan.target;
    match target.options.get("read_from").map(Value::as_str) {
        None | Some(Some("primary")) => Ok(Role::Primary),
        Some(Some("replica")) => match target.topology.as_str() {
            "single" => Err("a `single` server has no replica to read from".to_owned()),
            "replicas" if target.addresses.len() < 2 => Err(
                "name the replicas to read from after the primary, as HOST:PORT,HOST:PORT"
                    .to_owned(),
            ),
            _ => Ok(Role::Replica),
        },
        Some(_) => Err("the option `read_from` must be `primary` or `replica`".to_owned()),
    }
}

/// Replicas that acknowledge each write, within two fifths of the time-out, so that the server
/// answers before the time is over even for an operation of two writes.
fn wait(plan: &LoadPlan) -> Result<Option<(u32, u32)>, String> {
    let Some(value) = plan.target.options.get("wait") else {
        return Ok(None);
    };
    let replicas = Value::as_u64(value)
        .and_then(|number| u32::try_from(number).ok())
        .ok_or_else(|| "the option `wait` must be a number of replicas".to_owned())?;
    let milliseconds = (plan.timeout * 400.0).ceil() as u32;
    Ok((replicas > 0).then_some((replicas, milliseconds)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::plan::tests::{plan, stress};

    fn redis(topology: &str, options: &serde_json::Value) -> LoadPlan {
        let mut plan = plan();
        plan.target.driver = "redis".to_owned();
        plan.target.topology = topology.to_owned();
        plan.target.options = serde_json::from_value(options.clone()).unwrap();
        plan.target.addresses = vec!["10.0.0.1:6379".to_owned(), "10.0.0.2:6379".to_owned()];
        plan
    }

    fn refused(topology: &str, options: &serde_json::Value) -> String {
        Settings::of(&redis(topology, options)).unwrap_err()
    }

    #[test]
    fn without_options_a_hash_is_read_from_the_primary_and_nothing_is_waited_for() {
        let plan = redis("replicas", &serde_json::json!({}));
        let settings = Settings::of(&plan).unwrap();
        assert!(!settings.cluster);
        assert_eq!(
            (settings.shape, settings.reads),
            (Shape::Hash, Role::Primary)
        );
        assert_eq!(settings.wait, None);
        assert_eq!(settings.map(&plan).replica(0, 0), None);
    }

    #[test]
    fn options_are_taken_over() {
        let options = serde_json::json!({"wait": 2, "shape": "string", "read_from": "replica"});
        let plan = redis("replicas", &options);
        let settings = Settings::of(&plan).unwrap();
        assert_eq!(settings.wait, Some((2, 400)));
        assert_eq!(settings.shape.name(), "string");
        assert_eq!(settings.reads, Role::Replica);
        assert_eq!(settings.map(&plan).replica(0, 0), Some(1));

        let plan = redis(
            "cluster",
            &serde_json::json!({"wait": 0, "read_from": "replica"}),
        );
        let settings = Settings::of(&plan).unwrap();
        assert!(settings.cluster);
        assert_eq!(settings.wait, None);
        assert_eq!(settings.map(&plan).replica(0, 0), None, "its own map tells");
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_a_sentence() {
        let none = serde_json::json!({});
        assert!(refused("ring", &none).contains("no topology `ring`"));
        let other = serde_json::json!({"colour": "blue"});
        assert!(
            refused("single", &other)
                .contains("no option `colour`; there are `read_from`, `shape`")
        );
        let waiting = serde_json::json!({"wait": "long"});
        assert!(refused("single", &waiting).contains("`wait` must be a number"));
        let anyone = serde_json::json!({"read_from": "anyone"});
        assert!(refused("cluster", &anyone).contains("`primary` or `replica`"));
        let shape = serde_json::json!({"shape": "list"});
        assert!(refused("single", &shape).contains("`hash` or `string`"));
        let replica = serde_json::json!({"read_from": "replica"});
        assert!(refused("single", &replica).contains("has no replica"));
        let mut alone = redis("replicas", &replica);
        alone.target.addresses.truncate(1);
        let said = Settings::of(&alone).unwrap_err();
        assert!(said.contains("after the primary"), "{said}");
    }

    #[test]
    fn the_load_of_cassandra_stress_is_refused() {
        let mut plan = redis("single", &serde_json::json!({}));
        plan.workload = stress();
        let said = Settings::of(&plan).unwrap_err();
        assert!(
            said.contains("cannot make the load of cassandra-stress"),
            "{said}"
        );
    }
}
