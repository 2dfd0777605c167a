//! Whether a row is the one that its seed makes, as cassandra-stress looks at it.

use std::cell::RefCell;

use super::row::{Layout, Row, Rows};
use crate::drive::found::Found;
use crate::drive::{Failure, Fault};

/// Judges rows that reads found.
pub struct Judge {
    rows: Rows,
    columns: Vec<String>,
    expected: RefCell<Row>,
}

impl Judge {
    /// For rows of a layout that was checked.
    pub fn of(layout: &Layout) -> Self {
        Self {
            rows: Rows::new(layout),
            columns: layout.columns.clone(),
            expected: RefCell::default(),
        }
    }

    /// Whether each column is what belongs to a seed.
    pub fn judge(&self, seed: i64, found: &Found) -> Result<(), Failure> {
        let mut expected = self.expected.borrow_mut();
        self.rows.whole(seed, &mut expected);
        let mut columns = self.columns.iter().zip(expected.columns());
        let other = columns.find(|(name, value)| found.value(name.as_bytes()) != Some(value));
        match other {
            None => Ok(()),
            Some((name, _)) => {
                let key = String::from_utf8_lossy(expected.key());
                let message = format!("the column `{name}` of `{key}` is not what was written");
                Err(Failure::new(Fault::Mismatch, message))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_right_if_each_of_its_columns_is() {
        let layout = Layout {
            key_size: 10,
            columns: Layout::numbered(2),
            size: "fixed(34)".parse().unwrap(),
        };
        let mut row = Row::default();
        Rows::new(&layout).whole(1, &mut row);
        let values: Vec<Vec<u8>> = row.columns().map(<[u8]>::to_vec).collect();
        let judged = |seed, first: &[u8], second: Option<&[u8]>| {
            let mut found = Found::new(true);
            found.add(b"C0", first);
            if let Some(value) = second {
                found.add(b"C1", value);
            }
            Judge::of(&layout).judge(seed, &found)
        };
        assert_eq!(judged(1, &values[0], Some(&values[1])), Ok(()));
        let said = |outcome: Result<(), Failure>| {
            let failure = outcome.unwrap_err();
            assert_eq!(failure.fault, Fault::Mismatch);
            failure.message
        };
        assert_eq!(
            said(judged(1, &values[0], Some(b"other"))),
            "the column `C1` of `0P37709P21` is not what was written"
        );
        assert!(said(judged(1, &values[0], None)).contains("`C1`"));
        assert!(said(judged(2, &values[0], Some(&values[1]))).contains("`O8LK79LO61`"));
    }
}
