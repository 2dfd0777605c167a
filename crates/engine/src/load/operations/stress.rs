//! What is printed of an operation of cassandra-stress.

use wire::load::{Part, Stress};

use super::Line;
use crate::load::stress::adds::Adds;
use crate::load::stress::row::{self, Row};
use crate::load::stress::{Kind, Operation, Workload};

/// Rows of cassandra-stress.
pub struct Rows {
    makes: row::Rows,
    adds: Adds,
    columns: Vec<String>,
    /// Whether reads ask for all columns without their names.
    slice: bool,
    row: Row,
}

impl Rows {
    /// Those of one part of a workload; the error is one sentence.
    pub fn of(workload: &Stress, part: Part) -> Result<Self, String> {
        let workload = Workload::of(workload, part.of)?;
        Ok(Self {
            makes: row::Rows::new(&workload.layout),
            adds: Adds::new(&workload),
            columns: workload.layout.columns,
            slice: workload.slice,
            row: Row::default(),
        })
    }

    /// The line of an operation whose kind has this name.
    pub fn line(&mut self, name: &'static str, operation: &Operation) -> Line {
        let (kind, row) = (operation.kind, &mut self.row);
        let values: Vec<Vec<u8>> = match kind {
            Kind::Write => {
                self.makes.whole(operation.seed, row);
                row.columns().map(<[u8]>::to_vec).collect()
            }
            Kind::CounterWrite => {
                self.makes.key(operation.seed, row);
                let adds = self.adds.next(operation.adds);
                adds.iter().map(|add| add.to_be_bytes().to_vec()).collect()
            }
            Kind::Read | Kind::CounterRead => {
                self.makes.key(operation.seed, row);
                Vec::new()
            }
        };
        let columns = &self.columns;
        let named = kind == Kind::Read && !self.slice;
        Line {
            kind: name,
            key: String::from_utf8_lossy(row.key()).into_owned(),
            length: None,
            reads: (!kind.writes()).then(|| {
                if named {
                    columns.join(",")
                } else {
                    "*".to_owned()
                }
            }),
            writes: if kind.writes() {
                columns.clone()
            } else {
                Vec::new()
            },
            values,
        }
    }
}
