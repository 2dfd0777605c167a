//! The commands for one record, in the shape in which YCSB's Redis binding keeps it: a hash of the
//! fields, and the key in the sorted set `_indices` with its hash code as score.

use super::resp::{command, number_word, word};
use crate::load::core::values::Values;
use crate::load::hash::java;
use crate::load::mix::{Fields, Operation};

/// The sorted set of all keys.
pub const INDEX: &[u8] = b"_indices";

/// Writes commands; made once per load.
pub struct Requests {
    values: Values,
    wait: Option<(u32, u32)>,
}

impl Requests {
    /// `wait`: replicas that acknowledge each write, and for how many milliseconds they may take.
    pub fn new(values: Values, wait: Option<(u32, u32)>) -> Self {
        Self { values, wait }
    }

    /// Read fields of one record.
    pub fn read(&self, out: &mut Vec<u8>, key: &[u8], fields: Fields) {
        if fields == Fields::All {
            command(out, 2);
            word(out, b"HGETALL");
            word(out, key);
            return;
        }
        let all = self.values.names();
        let names = &all[fields.range(all.len())];
        command(out, 2 + names.len());
        word(out, b"HMGET");
        word(out, key);
        for name in names {
            word(out, name.as_bytes());
        }
    }

    /// Write the operation's fields. Returns the number of replies.
    pub fn write(&self, out: &mut Vec<u8>, operation: &Operation) -> usize {
        let written = self.values.written(operation);
        command(out, 2 + 2 * written.len());
        word(out, b"HSET");
        word(out, operation.key.as_bytes());
        for field in written {
            word(out, self.values.names()[field].as_bytes());
            word(out, self.values.value(operation, field).as_bytes());
        }
        1
    }

    /// Put the key into the index. Returns the number of replies.
    pub fn index(out: &mut Vec<u8>, key: &[u8]) -> usize {
        command(out, 4);
        word(out, b"ZADD");
        word(out, INDEX);
        number_word(out, i64::from(java(key)));
        word(out, key);
        1
    }

    /// Ask the index for the keys of a scan.
    pub fn scan(out: &mut Vec<u8>, operation: &Operation) {
        command(out, 7);
        word(out, b"ZRANGEBYSCORE");
        word(out, INDEX);
        number_word(out, i64::from(java(operation.key.as_bytes())));
        word(out, b"+inf");
        word(out, b"LIMIT");
        word(out, b"0");
        number_word(out, i64::from(operation.length));
    }

    /// Replicas that must acknowledge each write.
    pub fn replicas(&self) -> i64 {
        self.wait.map_or(0, |(replicas, _)| i64::from(replicas))
    }

    /// Wait until the replicas have every write of this connection so far, if that is asked for.
    /// Returns the number of replies.
    pub fn wait(&self, out: &mut Vec<u8>) -> usize {
        let Some((replicas, milliseconds)) = self.wait else {
            return 0;
        };
        command(out, 3);
        word(out, b"WAIT");
        number_word(out, i64::from(replicas));
        number_word(out, i64::from(milliseconds));
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::mix::{Operations, stream};
    use crate::load::plan::tests::{plan, ycsb};
    use wire::load::{LoadPlan, Phase, ReadFields};

    /// The first operation of a plan.
    fn first(plan: &LoadPlan) -> Operation {
        let mut random = stream(plan.seed, plan.part, 0);
        Operations::new(plan).unwrap().draw(&mut random).unwrap()
    }

    fn requests(plan: &mut LoadPlan, wait: Option<(u32, u32)>) -> Requests {
        Requests::new(Values::new(ycsb(plan)), wait)
    }

    #[test]
    fn an_insert_has_ten_fields_of_a_hundred_bytes_and_an_entry_in_the_index() {
        let mut plan = plan();
        plan.phase = Phase::Load;
        let operation = first(&plan);
        let requests = requests(&mut plan, Some((2, 900)));
        let mut out = Vec::new();
        assert_eq!(
            requests.write(&mut out, &operation) + requests.wait(&mut out),
            2
        );
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("*22\r\n$4\r\nHSET\r\n$23\r\nuser6284781860667377211\r\n"));
        assert_eq!(text.matches("\r\n$100\r\n").count(), 10);
        assert!(text.contains("$6\r\nfield0\r\n") && text.contains("$6\r\nfield9\r\n"));
        assert!(text.ends_with("*3\r\n$4\r\nWAIT\r\n$1\r\n2\r\n$3\r\n900\r\n"));
        let mut out = Vec::new();
        Requests::index(&mut out, operation.key.as_bytes());
        let score = java(b"user6284781860667377211");
        assert!(
            String::from_utf8(out)
                .unwrap()
                .contains(&format!("\r\n{score}\r\n$23\r\n"))
        );
    }

    #[test]
    fn an_update_writes_one_field() {
        let mut plan = plan();
        ycsb(&mut plan).mix.read = 0.0;
        ycsb(&mut plan).mix.update = 1.0;
        let operation = first(&plan);
        let mut out = Vec::new();
        let replies = requests(&mut plan, None).write(&mut out, &operation);
        assert_eq!(replies, 1);
        assert!(out.starts_with(b"*4\r\n$4\r\nHSET\r\n"));
    }

    #[test]
    fn a_read_asks_for_all_fields_with_or_without_their_names_or_for_one() {
        let asked = [ReadFields::All, ReadFields::AllByName, ReadFields::One].map(|fields| {
            let mut plan = plan();
            ycsb(&mut plan).read_fields = fields;
            let operation = first(&plan);
            let mut out = Vec::new();
            let requests = requests(&mut plan, None);
            requests.read(&mut out, operation.key.as_bytes(), operation.read);
            String::from_utf8(out).unwrap()
        });
        assert!(asked[0].starts_with("*2\r\n$7\r\nHGETALL\r\n"));
        assert!(asked[1].starts_with("*12\r\n$5\r\nHMGET\r\n"));
        assert!(asked[1].ends_with("$6\r\nfield8\r\n$6\r\nfield9\r\n"));
        assert!(asked[2].starts_with("*3\r\n$5\r\nHMGET\r\n"));
    }
}
