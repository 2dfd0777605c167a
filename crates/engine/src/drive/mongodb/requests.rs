//! The commands for one record, in the shape in which YCSB's MongoDB binding keeps it: a document
//! with the key as `_id`, and each field as binary data.

use super::bson::Writer;
use super::message::{MORE_TO_COME, message};
use super::settings::{Acknowledged, Preference, Settings};
use crate::load::core::values::Values;
use crate::load::operation::{Fields, Operation};

/// Writes commands; made once per load.
pub struct Requests {
    values: Values,
    settings: Settings,
}

impl Requests {
    /// Commands for records with such values.
    pub fn new(values: Values, settings: Settings) -> Self {
        Self { values, settings }
    }

    /// Read one record.
    pub fn read(&self, out: &mut Vec<u8>, operation: &Operation) {
        message(out, 0, |body| {
            body.text("find", &self.settings.collection);
            body.document("filter", |filter| {
                filter.text("_id", operation.key.as_str());
            });
            self.projection(body, operation.read);
            body.integer("limit", 1);
            body.boolean("singleBatch", true);
            self.reading(body);
        });
    }

    /// Read records in the order of their keys. A batch of one more than are wanted is asked for,
    /// so that the server keeps no cursor when it has sent them all.
    pub fn scan(&self, out: &mut Vec<u8>, operation: &Operation) {
        let length = i32::try_from(operation.length).unwrap_or(i32::MAX);
        message(out, 0, |body| {
            body.text("find", &self.settings.collection);
            body.document("filter", |filter| {
                filter.document("_id", |range| {
                    range.text("$gte", operation.key.as_str());
                });
            });
            self.projection(body, operation.read);
            body.document("sort", |sort| sort.integer("_id", 1));
            body.integer("limit", length);
            body.integer("batchSize", length.saturating_add(1));
            self.reading(body);
        });
    }

    /// Read those records of a scan that were too many for one answer.
    pub fn more(&self, out: &mut Vec<u8>, cursor: i64) {
        message(out, 0, |body| {
            body.long("getMore", cursor);
            body.text("collection", &self.settings.collection);
            body.text("$db", &self.settings.database);
        });
    }

    /// Write fields of a record that is there.
    pub fn update(&self, out: &mut Vec<u8>, operation: &Operation) {
        message(out, self.flags(), |body| {
            body.text("update", &self.settings.collection);
            body.only("updates", |update| {
                update.document("q", |filter| filter.text("_id", operation.key.as_str()));
                update.document("u", |change| {
                    change.document("$set", |set| self.fields(set, operation));
                });
            });
            self.writing(body);
        });
    }

    /// Write a new record, or replace the one that is there if that is asked for.
    pub fn insert(&self, out: &mut Vec<u8>, operation: &Operation) {
        let record = |document: &mut Writer<'_>| {
            document.text("_id", operation.key.as_str());
            self.fields(document, operation);
        };
        message(out, self.flags(), |body| {
            if self.settings.upsert {
                body.text("update", &self.settings.collection);
                body.only("updates", |update| {
                    update.document("q", |filter| filter.text("_id", operation.key.as_str()));
                    update.document("u", record);
                    update.boolean("upsert", true);
                });
            } else {
                body.text("insert", &self.settings.collection);
                body.only("documents", record);
            }
            self.writing(body);
        });
    }

    /// Whether the server answers writes.
    pub fn acknowledged(&self) -> bool {
        self.settings.acknowledged()
    }

    fn flags(&self) -> u32 {
        if self.acknowledged() { 0 } else { MORE_TO_COME }
    }

    /// The fields that an operation writes.
    fn fields(&self, document: &mut Writer<'_>, operation: &Operation) {
        let names = self.values.names();
        for field in self.values.written(operation) {
            document.binary_by(&names[field], |out| {
                self.values.write(operation, field, out);
            });
        }
    }

    fn projection(&self, body: &mut Writer<'_>, fields: Fields) {
        if fields == Fields::All {
            return;
        }
        let names = self.values.names();
        body.document("projection", |projection| {
            for name in &names[fields.range(names.len())] {
                projection.integer(name, 1);
            }
        });
    }

    /// What every read ends with.
    fn reading(&self, body: &mut Writer<'_>) {
        body.text("$db", &self.settings.database);
        if let Some(level) = self.settings.read_concern {
            body.document("readConcern", |concern| concern.text("level", level));
        }
        // Without it only a primary answers.
        if self.settings.preference != Preference::Primary {
            body.document("$readPreference", |preference| {
                preference.text("mode", self.settings.preference.name());
            });
        }
    }

    /// What every write ends with.
    fn writing(&self, body: &mut Writer<'_>) {
        body.text("$db", &self.settings.database);
        body.document("writeConcern", |concern| {
            match self.settings.write {
                Acknowledged::By(members) => concern.integer("w", members),
                Acknowledged::ByMajority => concern.text("w", "majority"),
            }
            if self.settings.journal {
                concern.boolean("j", true);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::bson::{Document, Value};
    use super::*;
    use crate::load::mix::Operations;
    use crate::load::plan::tests::{plan, ycsb};
    use crate::load::stream::stream;
    use serde_json::json;
    use wire::load::{LoadPlan, Mix, Phase, ReadFields, ScanLengths};

    fn mongodb(options: &serde_json::Value) -> LoadPlan {
        let mut plan = plan();
        plan.target.driver = "mongodb".to_owned();
        plan.target.topology = "replicas".to_owned();
        plan.target.options = serde_json::from_value(options.clone()).unwrap();
        plan
    }

    /// The first operation of a plan, and the request that `write` makes of it.
    fn asked(
        plan: &mut LoadPlan,
        write: fn(&Requests, &mut Vec<u8>, &Operation),
    ) -> (Operation, Vec<u8>) {
        let mut random = stream(plan.seed, plan.part, 0);
        let operation = Operations::new(plan).unwrap().draw(&mut random).unwrap();
        let settings = Settings::of(plan).unwrap();
        let requests = Requests::new(Values::new(ycsb(plan)), settings);
        let mut out = Vec::new();
        write(&requests, &mut out, &operation);
        (operation, out)
    }

    fn body(request: &[u8]) -> Document<'_> {
        Document::first_of(&request[21..]).unwrap()
    }

    /// What stands below a path of names, each of which must be there.
    fn at<'a>(document: Document<'a>, path: &[&str]) -> Value<'a> {
        path.iter().fold(Value::Document(document), |value, name| {
            let Value::Document(document) = value else {
                panic!("`{name}` is in no document");
            };
            document.get(name).unwrap().unwrap()
        })
    }

    fn names(value: Value<'_>) -> Vec<String> {
        let Value::Document(document) = value else {
            panic!("a document was expected");
        };
        document
            .elements()
            .map(|element| String::from_utf8(element.unwrap().0.to_vec()).unwrap())
            .collect()
    }

    #[test]
    fn a_record_is_a_document_of_ten_fields_of_a_hundred_bytes_with_the_key_as_its_id() {
        let mut plan = mongodb(&json!({}));
        plan.phase = Phase::Load;
        let (_, request) = asked(&mut plan, Requests::insert);
        let body = body(&request);
        assert_eq!(at(body, &["insert"]), Value::Text(b"usertable"));
        assert_eq!(at(body, &["$db"]), Value::Text(b"ycsb"));
        assert_eq!(at(body, &["writeConcern", "w"]), Value::Integer(1));
        let id = at(body, &["documents", "0", "_id"]);
        assert_eq!(id, Value::Text(b"user6284781860667377211"));
        let written = names(at(body, &["documents", "0"]));
        assert_eq!(written.len(), 11);
        assert_eq!((&*written[0], &*written[10]), ("_id", "field9"));
        let Value::Binary(value) = at(body, &["documents", "0", "field7"]) else {
            panic!("a field is binary data");
        };
        assert_eq!(value.len(), 100);
    }

    #[test]
    fn an_insert_that_may_replace_is_an_update_of_the_whole_document() {
        let options = json!({"upsert": true, "w": "majority", "journal": true});
        let mut plan = mongodb(&options);
        plan.phase = Phase::Load;
        let (operation, request) = asked(&mut plan, Requests::insert);
        let body = body(&request);
        let key = Value::Text(operation.key.as_bytes());
        assert_eq!(at(body, &["updates", "0", "q", "_id"]), key);
        assert_eq!(names(at(body, &["updates", "0", "u"])).len(), 11);
        let upsert = at(body, &["updates", "0", "upsert"]);
        assert_eq!(upsert, Value::Boolean(true));
        let concern = at(body, &["writeConcern", "w"]);
        assert_eq!(concern, Value::Text(b"majority"));
        assert_eq!(at(body, &["writeConcern", "j"]), Value::Boolean(true));
    }

    #[test]
    fn an_update_sets_one_field_and_wants_no_answer_where_nobody_acknowledges() {
        let mut plan = mongodb(&json!({"w": 0}));
        let (operation, request) = asked(&mut plan, Requests::update);
        let body = body(&request);
        let Fields::One(field) = operation.write else {
            panic!("an update writes one field");
        };
        let set = names(at(body, &["updates", "0", "u", "$set"]));
        assert_eq!(set, [format!("field{field}")]);
        assert_eq!(request[16], 2, "the flag that no answer is wanted");
        let (_, request) = asked(&mut mongodb(&json!({})), Requests::update);
        assert_eq!(request[16], 0);
    }

    #[test]
    fn a_read_asks_for_all_fields_with_or_without_their_names_or_for_one() {
        let projected = [ReadFields::All, ReadFields::AllByName, ReadFields::One].map(|fields| {
            let mut plan = mongodb(&json!({}));
            ycsb(&mut plan).read_fields = fields;
            let (operation, request) = asked(&mut plan, Requests::read);
            let body = body(&request);
            let key = Value::Text(operation.key.as_bytes());
            assert_eq!(at(body, &["filter", "_id"]), key);
            assert_eq!(at(body, &["limit"]), Value::Integer(1));
            assert_eq!(body.get("$readPreference"), Ok(None));
            assert_eq!(body.get("readConcern"), Ok(None));
            let projection = body.get("projection").unwrap();
            projection.map_or(0, |projection| names(projection).len())
        });
        assert_eq!(projected, [0, 10, 1]);
    }

    #[test]
    fn a_scan_begins_at_its_key_and_goes_on_in_order() {
        let options = json!({"readPreference": "nearest", "readConcernLevel": "local"});
        let mut plan = mongodb(&options);
        ycsb(&mut plan).mix = Mix {
            read: 0.0,
            scan: 1.0,
            ..ycsb(&mut plan).mix
        };
        ycsb(&mut plan).scan_lengths = ScanLengths::Uniform {
            shortest: 7,
            longest: 7,
        };
        let (operation, request) = asked(&mut plan, Requests::scan);
        let body = body(&request);
        let key = Value::Text(operation.key.as_bytes());
        assert_eq!(at(body, &["filter", "_id", "$gte"]), key);
        assert_eq!(at(body, &["sort", "_id"]), Value::Integer(1));
        assert_eq!(at(body, &["limit"]), Value::Integer(7));
        assert_eq!(at(body, &["batchSize"]), Value::Integer(8));
        let mode = at(body, &["$readPreference", "mode"]);
        assert_eq!(mode, Value::Text(b"nearest"));
        let level = at(body, &["readConcern", "level"]);
        assert_eq!(level, Value::Text(b"local"));
    }

    #[test]
    fn what_is_left_of_a_scan_is_asked_for_by_its_cursor() {
        let mut plan = mongodb(&json!({"collection": "c", "database": "d"}));
        let (_, request) = asked(&mut plan, |requests, out, _| requests.more(out, 1 << 40));
        let body = body(&request);
        assert_eq!(at(body, &["getMore"]), Value::Integer(1 << 40));
        assert_eq!(at(body, &["collection"]), Value::Text(b"c"));
        assert_eq!(at(body, &["$db"]), Value::Text(b"d"));
    }
}
