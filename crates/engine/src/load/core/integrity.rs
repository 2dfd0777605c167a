//! Values that follow from the key and the field, so that what is read can be judged: YCSB's
//! `dataintegrity`.

use wire::load::{FieldLengths, Ycsb};

use super::names;
use crate::drive::found::Found;
use crate::drive::{Failure, Fault};
use crate::load::hash::java;
use crate::load::mix::Operation;

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
