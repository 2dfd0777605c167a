//! What a row is: its key and its columns are functions of its seed.

use super::distribution::{Distribution, evenly};
use super::random::{FasterRandom, JavaRandom};
use super::salt::salt;
use crate::load::parts::Parts;

/// What rows look like.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// Bytes of a key.
    pub key_size: u16,
    /// Names of the columns, in the order of their bytes.
    pub columns: Vec<String>,
    /// Bytes of a column.
    pub size: Distribution,
}

/// Bound values of one statement that the protocol can count, less one for the key.
const MOST_COLUMNS: usize = 65_534;

impl Layout {
    /// The columns `C0`, `C1`, …, which is not the order of their numbers.
    pub fn numbered(count: usize) -> Vec<String> {
        let mut names: Vec<String> = (0..count).map(|number| format!("C{number}")).collect();
        names.sort_unstable();
        names
    }

    /// Whether rows can be made; the error is one sentence.
    pub fn check(&self) -> Result<(), String> {
        let Self { columns, size, .. } = self;
        if self.key_size == 0 {
            return Err("a key must have from 1 to 65535 bytes".to_owned());
        }
        if columns.is_empty() || columns.len() > MOST_COLUMNS {
            return Err(format!("there must be from 1 to {MOST_COLUMNS} columns"));
        }
        let usable = |name: &String| {
            !name.is_empty()
                && name != "key"
                && name.bytes().all(|byte| byte.is_ascii_graphic())
                && !name.contains('"')
        };
        if let Some(name) = columns.iter().find(|name| !usable(name)) {
            return Err(format!(
                "no column can be called `{name}`; use letters, digits and `_`, and not `key`"
            ));
        }
        if let Some([one, next, ..]) = columns.windows(2).find(|pair| pair[0] >= pair[1]) {
            return Err(format!(
                "`{one}` must not come before `{next}`; name columns once, in the order of their \
                 bytes"
            ));
        }
        if size.min() < 0 || size.max() > i64::from(i32::MAX) {
            return Err(format!(
                "columns cannot have the size `{size}`; it must be from 0 to {}",
                i32::MAX
            ));
        }
        if !size.repeats() {
            return Err(format!(
                "columns cannot have the size `{size}`, whose numbers no seed repeats; use \
                 `extreme`"
            ));
        }
        Ok(())
    }
}

/// Makes rows.
pub struct Rows {
    key_size: usize,
    key_salt: i64,
    column_salts: Vec<i64>,
    size: Distribution,
}

impl Rows {
    /// For rows of a layout that was checked.
    pub fn new(layout: &Layout) -> Self {
        let salted = |name: &String| salt(&format!("randomstr{name}"));
        Self {
            key_size: usize::from(layout.key_size),
            key_salt: salt("randomstrkey"),
            column_salts: layout.columns.iter().map(salted).collect(),
            size: layout.size.clone(),
        }
    }

    /// Make `row` the key of `seed`, without columns.
    pub fn key(&self, seed: i64, row: &mut Row) {
        let parts = &mut row.parts;
        parts.clear();
        let mut random = JavaRandom::new(seed ^ self.key_salt);
        // The first one chooses the size, which is fixed.
        identity(&mut random);
        parts.add(|out| {
            while out.len() < self.key_size {
                let mut digits = identity(&mut random);
                for _ in out.len()..self.key_size.min(out.len() + 16) {
                    let digit = (digits & 15) as u8;
                    // Ten is not `A` but `K`: the letter is ten further on.
                    let zero = if digit < 10 { b'0' } else { b'A' };
                    out.push(zero + digit);
                    digits >>= 4;
                }
            }
        });
    }

    /// Make `row` the key and the columns of `seed`.
    pub fn whole(&self, seed: i64, row: &mut Row) {
        self.key(seed, row);
        let key = row.key().iter().fold(0_i64, |sum, byte| {
            sum.wrapping_mul(31)
                .wrapping_add(i64::from(byte.cast_signed()))
        });
        for salt in &self.column_salts {
            let value = identity(&mut JavaRandom::new(key ^ salt));
            let mut left = self.size.of_seed(value) as usize;
            let mut random = FasterRandom::new(!value);
            row.parts.add(|out| {
                while left > 0 {
                    let bytes = random.next_long().to_le_bytes();
                    let some = left.min(bytes.len());
                    out.extend_from_slice(&bytes[..some]);
                    left -= some;
                }
            });
        }
    }
}

/// Which of its values a generator gives, from 1 to 100 thousand million.
fn identity(random: &mut JavaRandom) -> i64 {
    evenly(random, 1, 100_000_000_000)
}

/// A buffer for one row after another.
#[derive(Default)]
pub struct Row {
    /// The key, then each column.
    parts: Parts,
}

impl Row {
    /// The key.
    pub fn key(&self) -> &[u8] {
        self.parts.iter().next().unwrap_or_default()
    }

    /// The columns, in the order of the layout.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.parts.iter().skip(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(columns: &[&str], size: &str) -> Layout {
        Layout {
            key_size: 10,
            columns: columns.iter().map(ToString::to_string).collect(),
            size: size.parse().unwrap(),
        }
    }

    fn bytes(hexadecimal: &str) -> Vec<u8> {
        let digits = (0..hexadecimal.len()).step_by(2);
        digits
            .map(|at| u8::from_str_radix(&hexadecimal[at..at + 2], 16).unwrap())
            .collect()
    }

    #[test]
    fn rows_are_those_of_cassandra_stress() {
        let expected = [
            (
                "0P37709P21",
                "85182fdfe7f86306cd58ce81aa53cca24c193841d6ae8a91646a4c304dd9f47892f9",
                "1f5c9f8c30a62ce4815e936de814514ea33ed4d85fa33f90222d58a5a0a49b38d2fe",
            ),
            (
                "O8LK79LO61",
                "b8e05320cd1037d6e317cce868ca7f9e679cf764169e9d0b3f5b2c0ffc3cb50dd5c4",
                "440b1bdefbc9932ec91daa7fbe985e951fd425c9ab069c4d9a398b1444984097f7c1",
            ),
            (
                "OP001L5930",
                "5ff08459ccd892a25f9189377eeee2a4f03827ef081b0c5909420a7ed9ad649929ad",
                "208ee47f58287238307277e66e81862e33bdd2e524afcf51eeb27516bb4a84cc5969",
            ),
            (
                "9N54NK4861",
                "10f1dd6febff8cbcf3ad91b9f9c1aab0231188a482f678c5f329ee8c9ecbf8e89d73",
                "8aa88581e34267312170391cc1edbffc6e09cbf499fb30ca3a862bf0058578e19541",
            ),
            (
                "77596MO230",
                "dc9e1bf05eab897f470a0777e3e3832852175016c58597038029ad7e2bc54d24086a",
                "cc4010fda2b4d80fbdb900134d27bf287d97df31875b848934d875a7ba248860a36f",
            ),
        ];
        let rows = Rows::new(&layout(&["C0", "C1"], "fixed(34)"));
        let mut row = Row::default();
        for (seed, (key, first, second)) in (1..).zip(expected) {
            rows.whole(seed, &mut row);
            assert_eq!(row.key(), key.as_bytes(), "seed {seed}");
            let columns: Vec<&[u8]> = row.columns().collect();
            assert_eq!(columns, [bytes(first), bytes(second)], "seed {seed}");
        }
    }

    #[test]
    fn a_long_key_goes_on_with_further_values() {
        let mut layout = layout(&["C0"], "fixed(34)");
        layout.key_size = 50;
        let mut row = Row::default();
        Rows::new(&layout).key(1, &mut row);
        let expected = b"0P37709P210000009LMK8N28N00000008KPPM853610000005L";
        assert_eq!(row.key(), expected);
        assert_eq!(row.columns().len(), 0);
    }

    #[test]
    fn a_short_column_is_the_beginning_of_a_long_one() {
        let mut row = Row::default();
        let columns = |size: &str, row: &mut Row| {
            Rows::new(&layout(&["C0", "C1"], size)).whole(7, row);
            row.columns().map(<[u8]>::to_vec).collect::<Vec<_>>()
        };
        let long = columns("fixed(300)", &mut row);
        let short = columns("fixed(21)", &mut row);
        assert_eq!(long[0][..21], short[0]);
        assert_eq!(long[1][..21], short[1]);
        assert_eq!(columns("fixed(0)", &mut row), [b"", b""]);
    }

    #[test]
    fn a_drawn_size_belongs_to_the_seed() {
        let rows = Rows::new(&layout(&["C0"], "uniform(1..50)"));
        let size = |seed| {
            let mut row = Row::default();
            rows.whole(seed, &mut row);
            row.columns().next().unwrap().len()
        };
        let sizes: Vec<usize> = (1..200).map(size).collect();
        assert_eq!(sizes, (1..200).map(size).collect::<Vec<_>>());
        assert!(sizes.iter().all(|size| (1..=50).contains(size)));
        assert!(sizes.iter().min() < Some(&5) && sizes.iter().max() > Some(&45));
    }

    #[test]
    fn columns_are_in_the_order_of_their_bytes() {
        assert_eq!(Layout::numbered(3), ["C0", "C1", "C2"]);
        assert_eq!(Layout::numbered(12)[..4], ["C0", "C1", "C10", "C11"]);
    }

    #[test]
    fn what_makes_no_row_is_refused() {
        assert_eq!(layout(&["C0", "C1"], "fixed(34)").check(), Ok(()));
        let refused = |columns: &[&str], size: &str| layout(columns, size).check().unwrap_err();
        assert!(refused(&[], "fixed(34)").contains("from 1 to 65534 columns"));
        assert!(refused(&["a\"b"], "fixed(34)").contains("`a\"b`"));
        assert!(refused(&["key"], "fixed(34)").contains("not `key`"));
        assert!(refused(&[""], "fixed(34)").contains("no column"));
        assert!(refused(&["b", "a"], "fixed(34)").contains("order of their bytes"));
        assert!(refused(&["a", "a"], "fixed(34)").contains("name columns once"));
        assert!(refused(&["a"], "uniform(-1..5)").contains("`uniform(-1..5)`"));
        assert!(refused(&["a"], "fixed(3b)").contains("2147483647"));
        assert!(refused(&["a"], "qextreme(1..50,2,5)").contains("use `extreme`"));
        let mut layout = layout(&["a"], "fixed(34)");
        layout.key_size = 0;
        assert!(
            layout
                .check()
                .unwrap_err()
                .contains("from 1 to 65535 bytes")
        );
    }
}
