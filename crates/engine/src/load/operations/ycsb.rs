//! What is printed of an operation of YCSB.

use wire::load::Ycsb;

use super::Line;
use crate::load::core::values::Values;
use crate::load::operation::{Fields, Kind, Operation};

/// Records of YCSB.
pub struct Records {
    values: Values,
}

impl Records {
    /// Those of a workload.
    pub fn new(workload: &Ycsb) -> Self {
        Self {
            values: Values::new(workload),
        }
    }

    /// The line of an operation whose kind has this name.
    pub fn line(&self, name: &'static str, operation: &Operation) -> Line {
        let (values, kind) = (&self.values, operation.kind);
        let reads = kind.reads_one() || kind == Kind::Scan;
        let writes = matches!(kind, Kind::Update | Kind::Insert | Kind::ReadModifyWrite);
        let written = if writes {
            values.written(operation)
        } else {
            0..0
        };
        let named = || values.names()[values.read(operation)].join(",");
        Line {
            kind: name,
            key: operation.key.as_str().to_owned(),
            length: (kind == Kind::Scan).then_some(operation.length),
            reads: reads.then(|| match operation.read {
                Fields::All => "*".to_owned(),
                Fields::Named | Fields::One(_) => named(),
            }),
            writes: values.names()[written.clone()].to_vec(),
            values: written
                .map(|field| values.value(operation, field))
                .collect(),
        }
    }
}
