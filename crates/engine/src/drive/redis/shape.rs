//! How a record is kept.

use serde_json::Value;
use wire::load::{FieldLengths, LoadPlan, Phase, ReadFields, Ycsb};

/// How a record is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// As YCSB's Redis binding keeps it: a hash of the fields, and the key in a sorted set, so that
    /// there are scans.
    Hash,
    /// A plain string: the values of the fields one after another.
    String {
        /// Bytes of each field; None where they differ: then records are read and written whole.
        field: Option<usize>,
    },
}

impl Shape {
    /// What the option `shape` asks for, if the workload can be made with it. The error is one
    /// sentence.
    pub fn of(option: Option<&Value>, plan: &LoadPlan, workload: &Ycsb) -> Result<Self, String> {
        match option.map(Value::as_str) {
            None | Some(Some("hash")) => Ok(Self::Hash),
            Some(Some("string")) => Self::string(plan, workload),
            Some(_) => Err("the option `shape` must be `hash` or `string`".to_owned()),
        }
    }

    fn string(plan: &LoadPlan, workload: &Ycsb) -> Result<Self, String> {
        let field = match workload.field_lengths {
            FieldLengths::Constant { length } if length > 0 => Some(length as usize),
            _ => None,
        };
        let mix = &workload.mix;
        let runs = plan.phase == Phase::Run;
        let reads = runs && mix.read + mix.read_modify_write > 0.0;
        let updates = runs && mix.update + mix.read_modify_write > 0.0;
        let parts = (reads && workload.read_fields == ReadFields::One)
            || (updates && !workload.write_all_fields);
        let refusals = [
            (
                runs && mix.scan > 0.0,
                "plain strings have no index to scan; use the `shape` `hash`, or a workload without \
                 scans",
            ),
            (
                reads && workload.read_fields == ReadFields::AllByName,
                "fields of plain strings have no names to read by; use the `shape` `hash`, or leave \
                 `readallfieldsbyname` out",
            ),
            (
                parts && field.is_none(),
                "fields of plain strings are found only where all have the same length, above 0; read and write all fields, or use the `shape` `hash`",
            ),
        ];
        match refusals.into_iter().find(|(refused, _)| *refused) {
            Some((_, what)) => Err(what.to_owned()),
            None => Ok(Self::String { field }),
        }
    }

    /// Its name in results and options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hash => "hash",
            Self::String { .. } => "string",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::plan::tests::{plan, ycsb};

    const STRING: Shape = Shape::String { field: Some(100) };

    /// The shape of a plan that was changed.
    fn asked(option: &str, change: fn(&mut LoadPlan)) -> Result<Shape, String> {
        let mut plan = plan();
        change(&mut plan);
        let workload = ycsb(&mut plan).clone();
        Shape::of(Some(&option.into()), &plan, &workload)
    }

    fn vary(plan: &mut LoadPlan) {
        ycsb(plan).field_lengths = FieldLengths::Uniform {
            shortest: 1,
            longest: 100,
        };
    }

    #[test]
    fn a_shape_is_asked_for_by_its_name() {
        let mut plan = plan();
        let workload = ycsb(&mut plan).clone();
        assert_eq!(Shape::of(None, &plan, &workload), Ok(Shape::Hash));
        assert_eq!(asked("hash", |_| ()), Ok(Shape::Hash));
        assert_eq!(asked("string", |_| ()), Ok(STRING));
        assert_eq!((Shape::Hash.name(), STRING.name()), ("hash", "string"));
        let said = asked("list", |_| ()).unwrap_err();
        assert_eq!(said, "the option `shape` must be `hash` or `string`");
        let number = Value::from(1);
        assert_eq!(Shape::of(Some(&number), &plan, &workload), Err(said));
    }

    #[test]
    fn what_plain_strings_cannot_do_is_refused_with_its_reason() {
        let said = asked("string", |plan| ycsb(plan).mix.scan = 0.1).unwrap_err();
        assert!(said.contains("no index to scan"), "{said}");
        let said = asked("string", |plan| {
            ycsb(plan).read_fields = ReadFields::AllByName;
        });
        let said = said.unwrap_err();
        assert!(said.contains("no names to read by"), "{said}");
        let changes: [fn(&mut LoadPlan); 3] = [
            |plan| {
                vary(plan);
                ycsb(plan).read_fields = ReadFields::One;
            },
            |plan| {
                vary(plan);
                ycsb(plan).mix.update = 0.1;
            },
            |plan| {
                ycsb(plan).field_lengths = FieldLengths::Constant { length: 0 };
                ycsb(plan).mix.read_modify_write = 0.1;
            },
        ];
        for change in changes {
            let said = asked("string", change).unwrap_err();
            assert!(said.contains("the same length, above 0"), "{said}");
        }
    }

    #[test]
    fn whole_records_may_be_of_any_length() {
        let whole = Ok(Shape::String { field: None });
        let written = asked("string", |plan| {
            vary(plan);
            let workload = ycsb(plan);
            (workload.mix.update, workload.write_all_fields) = (1.0, true);
        });
        assert_eq!(written, whole);
        let loaded = asked("string", |plan| {
            vary(plan);
            plan.phase = Phase::Load;
            ycsb(plan).mix.scan = 1.0;
        });
        assert_eq!(loaded, whole, "a load phase only inserts");
    }
}
