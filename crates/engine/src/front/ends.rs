//! When a load is over.

use wire::load::Phase;

use super::arguments::Load;
use super::given::Given;

/// After what, whichever is reached first; after neither a load phase ends with its last record.
#[derive(Debug, PartialEq)]
pub struct Ends {
    /// So many operations.
    pub operations: Option<u64>,
    /// So many seconds.
    pub seconds: Option<f64>,
}

impl Ends {
    /// Those that are typed, or else those of YCSB's properties; the error is one sentence. What a
    /// file says in vain is added to `notes`.
    pub fn of(
        load: &Load,
        given: &Given,
        phase: Phase,
        notes: &mut Vec<String>,
    ) -> Result<Self, String> {
        // A load phase of YCSB does not read it.
        let counted: Option<u64> = match phase {
            Phase::Load => None,
            Phase::Run => given.number("operationcount")?.filter(|count| *count > 0),
        };
        let timed: Option<u32> = given.number("maxexecutiontime")?.filter(|time| *time > 0);
        if load.time.is_some() || load.operations.is_some() {
            let vain = [
                ("operationcount", counted.is_some()),
                ("maxexecutiontime", timed.is_some()),
            ];
            let vain = vain.into_iter().filter(|(_, given)| *given);
            let names: Vec<&str> = vain.map(|(name, _)| name).collect();
            let why = "`--time` and `--operations` say when this load is over";
            notes.extend(given.idle(&names, why));
            return Ok(Self {
                operations: load.operations,
                seconds: load.time,
            });
        }
        if phase == Phase::Run && counted.is_none() && timed.is_none() {
            return Err(
                "nothing says when the load is over; type --time 30s, or a workload that says it, such as \
                 --workload a"
                    .to_owned(),
            );
        }
        Ok(Self {
            operations: counted,
            seconds: timed.map(f64::from),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::given::tests::given;
    use super::super::workloads::Core;
    use super::*;

    fn of(load: &Load, given: &Given, phase: Phase) -> (Result<Ends, String>, Vec<String>) {
        let mut notes = Vec::new();
        let found = Ends::of(load, given, phase, &mut notes);
        (found, notes)
    }

    fn ends(operations: Option<u64>, seconds: Option<f64>) -> Ends {
        Ends {
            operations,
            seconds,
        }
    }

    #[test]
    fn properties_say_when_a_load_is_over_as_in_ycsb() {
        let given = given(&["operationcount=5", "maxexecutiontime=7"]);
        let none = Load::default();
        let (found, notes) = of(&none, &given, Phase::Run);
        assert_eq!((found, notes.len()), (Ok(ends(Some(5), Some(7.0))), 0));
        let (found, _) = of(&none, &given, Phase::Load);
        assert_eq!(found, Ok(ends(None, Some(7.0))));
    }

    #[test]
    fn a_load_phase_has_an_end_and_a_run_needs_one() {
        let zero = given(&["operationcount=0", "maxexecutiontime=0"]);
        let none = Load::default();
        assert_eq!(of(&none, &zero, Phase::Load).0, Ok(ends(None, None)));
        let said = of(&none, &zero, Phase::Run).0.unwrap_err();
        assert!(said.contains("--time 30s"), "{said}");
        let wrong = given(&["maxexecutiontime=1.5"]);
        let said = of(&none, &wrong, Phase::Run).0.unwrap_err();
        assert!(said.contains("a whole number"), "{said}");
    }

    #[test]
    fn what_is_typed_stands_in_place_of_properties_which_are_told() {
        let timed = Load {
            time: Some(3.0),
            ..Load::default()
        };
        let properties = given(&["operationcount=5", "maxexecutiontime=7"]);
        let (found, notes) = of(&timed, &properties, Phase::Run);
        assert_eq!(found, Ok(ends(None, Some(3.0))));
        assert_eq!(notes.len(), 2, "{notes:?}");
        assert!(notes[0].starts_with("no effect: `operationcount` (`-p`)"));
        let counted = Load {
            operations: Some(9),
            ..Load::default()
        };
        let core = Given::read(Some(Core::A), &[], &[]).unwrap();
        let (found, notes) = of(&counted, &core, Phase::Run);
        assert_eq!((found, notes.len()), (Ok(ends(Some(9), None)), 0));
    }
}
