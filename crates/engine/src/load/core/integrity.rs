//! Values that follow from the key and the field, so that what is read can be judged: YCSB's
//! `dataintegrity`.

use wire::load::{FieldLengths, Ycsb};

use super::names;
use crate::drive::found::Found;
use crate::drive::{Failure, Fault};
use crate::load::hash::java;
use crate::load::operation::Operation;

/// Judges what reads found.
pub struct Integrity {
    names: Vec<String>,
    length: usize,
}

impl Integrity {
    /// None where the workload has no such values.
    pub fn of(workload: &Ycsb) -> Option<Self> {
        match workload.field_lengths {
            FieldLengths::Constant { length } if workload.integrity => Some(Self {
                names: names(workload),
                length: length as usize,
            }),
            _ => None,
        }
    }

    /// Whether every field that the operation asked for was found as it was written. Other columns,
    /// such as one of the key, do not matter.
    pub fn judge(&self, operation: &Operation, found: &Found) -> Result<(), Failure> {
        let key = operation.key.as_str();
        for name in &self.names[operation.read.range(self.names.len())] {
            let written = value(key, name, self.length);
            if found.value(name.as_bytes()) != Some(written.as_bytes()) {
                let message = format!("the field `{name}` of `{key}` is not what was written");
                return Err(Failure::new(Fault::Mismatch, message));
            }
        }
        Ok(())
    }
}

/// The value of a field: key and name, then hash codes of all so far, cut to `length`.
pub fn value(key: &str, field: &str, length: usize) -> String {
    let mut value = format!("{key}:{field}");
    while value.len() < length {
        value.push(':');
        let hash = java(value.as_bytes());
        value.push_str(&hash.to_string());
    }
    value.truncate(length);
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::mix::Operations;
    use crate::load::plan::tests::{plan, ycsb};
    use crate::load::stream::stream;
    use wire::load::ReadFields;

    /// A read of such fields, and what judges it.
    fn read(fields: ReadFields) -> (Operation, Integrity) {
        let mut plan = plan();
        (ycsb(&mut plan).integrity, ycsb(&mut plan).read_fields) = (true, fields);
        let mut random = stream(plan.seed, plan.part, 0);
        let operation = Operations::new(&plan).unwrap().draw(&mut random);
        let integrity = Integrity::of(ycsb(&mut plan));
        (operation.unwrap(), integrity.unwrap())
    }

    /// All fields of a record as they were written, and its key in a column of its own.
    fn stored(operation: &Operation) -> Vec<(String, String)> {
        let key = operation.key.as_str();
        let field = |number: u32| format!("field{number}");
        let fields = (0..10).map(|number| (field(number), value(key, &field(number), 100)));
        std::iter::once(("y_id".to_owned(), key.to_owned()))
            .chain(fields)
            .collect()
    }

    fn found(fields: &[(String, String)]) -> Found {
        let mut found = Found::new(true);
        for (name, value) in fields {
            found.add(name.as_bytes(), value.as_bytes());
        }
        found
    }

    #[test]
    fn what_was_written_is_accepted_in_any_order_with_the_key_beside_it() {
        let (operation, integrity) = read(ReadFields::All);
        let mut fields = stored(&operation);
        fields.reverse();
        assert_eq!(integrity.judge(&operation, &found(&fields)), Ok(()));
    }

    #[test]
    fn a_field_that_differs_or_is_missing_is_a_mismatch_that_is_named() {
        let (operation, integrity) = read(ReadFields::All);
        let mut fields = stored(&operation);
        fields[4].1.pop();
        let differs = integrity.judge(&operation, &found(&fields)).unwrap_err();
        fields.remove(4);
        let missing = integrity.judge(&operation, &found(&fields)).unwrap_err();
        assert_eq!(differs.fault, Fault::Mismatch);
        let key = operation.key.as_str();
        let said = format!("the field `field3` of `{key}` is not what was written");
        assert_eq!(differs.message, said);
        assert_eq!(missing, differs);
    }

    #[test]
    fn fields_that_were_not_asked_for_are_not_looked_at() {
        let (operation, integrity) = read(ReadFields::One);
        let asked = operation.read.range(10).start;
        let fields = stored(&operation);
        let one = &fields[asked + 1..asked + 2];
        assert_eq!(integrity.judge(&operation, &found(one)), Ok(()));
        let others = [&fields[..=asked], &fields[asked + 2..]].concat();
        assert!(integrity.judge(&operation, &found(&others)).is_err());
    }

    #[test]
    fn a_workload_that_compares_nothing_has_no_judge() {
        assert!(Integrity::of(ycsb(&mut plan())).is_none());
    }

    #[test]
    fn values_are_those_of_ycsb() {
        assert_eq!(
            value("user6284781860667377211", "field0", 100),
            "user6284781860667377211:field0:-56807877:2032869390:-165488160:1762371712:-169193395:\
             -1039977118:-10"
        );
        assert_eq!(
            value("user8517097267634966620", "field9", 100),
            "user8517097267634966620:field9:-557952544:-154748015:-999445747:39902524:407413116:\
             601987099:1564411"
        );
        assert_eq!(
            value("user6284781860667377211", "field0", 20),
            "user6284781860667377"
        );
    }
}
