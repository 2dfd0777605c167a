//! What a server answered to a command, and what its errors mean.

use std::borrow::Cow;

use super::bson::{Document, Malformed, Value};
use crate::drive::{Failure, Fault};

/// The server does not know the command.
pub const COMMAND_NOT_FOUND: i64 = 59;

/// Codes of those who are not, or no more, the primary, or are about to end: `NotWritablePrimary`,
/// `NotPrimaryNoSecondaryOk`, `NotPrimaryOrSecondary`, `InterruptedAtShutdown`,
/// `InterruptedDueToReplStateChange`, `PrimarySteppedDown`, `ShutdownInProgress`,
/// `LegacyNotPrimary`.
const ELSEWHERE: [i64; 8] = [10107, 13435, 13436, 11600, 11602, 189, 91, 10058];

/// Codes by which a server lets a user in or not, whoever asks again: `UserNotFound`,
/// `AuthenticationFailed`, `MechanismUnavailable`.
const UNKNOWN: [i64; 3] = [11, 18, 334];

/// An answer without an error.
#[derive(Debug)]
pub struct Answer<'a> {
    /// How many records a write found, or made.
    pub written: i64,
    cursor: Option<Document<'a>>,
}

/// Some of the records that a read found.
#[derive(Debug)]
pub struct Page<'a> {
    /// By what to ask for the others; 0 when there are none.
    pub cursor: i64,
    records: Document<'a>,
}

/// Why there is no such answer.
#[derive(Debug)]
pub struct Refusal {
    /// MongoDB's number of the error; 0 where the answer has none or makes no sense.
    pub code: i64,
    /// The same for the load.
    pub failure: Failure,
}

impl<'a> Answer<'a> {
    /// An error of the command, of its write, or of the acknowledgements that it waited for is a
    /// refusal.
    pub fn read(document: Document<'a>) -> Result<Self, Refusal> {
        let mut answer = Self {
            written: 0,
            cursor: None,
        };
        let (mut ok, mut error) = (None, None);
        for element in document.elements() {
            match element? {
                (b"ok", value) => ok = value.integer(),
                (b"n", value) => answer.written = value.integer().unwrap_or(0),
                (b"cursor", Value::Document(cursor)) => answer.cursor = Some(cursor),
                (b"writeErrors", Value::Document(errors)) => {
                    error = first(errors)?.or(error);
                }
                (b"writeConcernError", Value::Document(concern)) => {
                    error = error.or(Some(concern));
                }
                _ => {}
            }
        }
        if ok.ok_or(Malformed)? != 1 {
            return Err(Refusal::of(document));
        }
        match error {
            Some(error) => Err(Refusal::of(error)),
            None => Ok(answer),
        }
    }

    /// The records of a read.
    pub fn page(self) -> Result<Page<'a>, Malformed> {
        let (mut cursor, mut records) = (None, None);
        for element in self.cursor.ok_or(Malformed)?.elements() {
            match element? {
                (b"id", id) => cursor = id.integer(),
                (b"firstBatch" | b"nextBatch", Value::Document(batch)) => records = Some(batch),
                _ => {}
            }
        }
        Ok(Page {
            cursor: cursor.ok_or(Malformed)?,
            records: records.ok_or(Malformed)?,
        })
    }
}

impl<'a> Page<'a> {
    /// Its first record.
    pub fn first(&self) -> Result<Option<Document<'a>>, Malformed> {
        first(self.records)
    }

    /// How many there are.
    pub fn count(&self) -> Result<u64, Malformed> {
        let mut count = 0;
        for element in self.records.elements() {
            element?;
            count += 1;
        }
        Ok(count)
    }
}

/// The first document of an array.
fn first(array: Document<'_>) -> Result<Option<Document<'_>>, Malformed> {
    match array.elements().next() {
        None => Ok(None),
        Some(element) => match element? {
            (_, Value::Document(document)) => Ok(Some(document)),
            _ => Err(Malformed),
        },
    }
}

impl Refusal {
    /// What a document with an error says.
    fn of(error: Document<'_>) -> Self {
        Self::read(error).unwrap_or_else(Self::from)
    }

    fn read(error: Document<'_>) -> Result<Self, Malformed> {
        let code = error.get("code")?.and_then(Value::integer).unwrap_or(0);
        let said = error.get("errmsg")?.and_then(Value::text);
        let said = said.unwrap_or(Cow::Borrowed("the server told no reason"));
        let message = match error.get("codeName")?.and_then(Value::text) {
            Some(name) => format!("{said} ({name})"),
            None => format!("{said} ({code})"),
        };
        let failure = if UNKNOWN.contains(&code) {
            Failure {
                fault: fault(code),
                ..Failure::lasting(message)
            }
        } else {
            Failure::new(fault(code), message)
        };
        Ok(Self { code, failure })
    }

    /// Whether it is because another member is, or will be, the primary.
    pub fn primary_is_elsewhere(&self) -> bool {
        ELSEWHERE.contains(&self.code)
    }
}

impl From<Malformed> for Refusal {
    fn from(malformed: Malformed) -> Self {
        Self {
            code: 0,
            failure: malformed.into(),
        }
    }
}

/// The kind of an error by its code.
fn fault(code: i64) -> Fault {
    match code {
        // MaxTimeMSExpired, WriteConcernTimeout, ExceededTimeLimit.
        50 | 64 | 262 => Fault::Timeout,
        // UnsatisfiableWriteConcern, FailedToSatisfyReadPreference.
        100 | 133 => Fault::Unavailable,
        _ => Fault::Server,
    }
}

#[cfg(test)]
mod tests {
    use super::super::bson::{Writer, document};
    use super::*;

    fn written(content: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
        let mut out = Vec::new();
        document(&mut out, content);
        out
    }

    fn refusal(content: impl FnOnce(&mut Writer<'_>)) -> Refusal {
        let bytes = written(content);
        Answer::read(Document::first_of(&bytes).unwrap()).unwrap_err()
    }

    #[test]
    fn a_good_answer_tells_how_much_was_written_and_where_records_are() {
        let bytes = written(|answer| {
            answer.document("cursor", |cursor| {
                cursor.only("firstBatch", |record| record.text("_id", "user1"));
                cursor.long("id", 9);
            });
            answer.integer("n", 3);
            answer.integer("ok", 1);
        });
        let answer = Answer::read(Document::first_of(&bytes).unwrap()).unwrap();
        assert_eq!(answer.written, 3);
        let page = answer.page().unwrap();
        assert_eq!((page.cursor, page.count()), (9, Ok(1)));
        let record = page.first().unwrap().unwrap();
        let key = record.get("_id").unwrap().and_then(Value::text);
        assert_eq!(key.unwrap(), "user1");
    }

    #[test]
    fn an_answer_without_records_is_not_one_to_a_read() {
        let bytes = written(|answer| answer.integer("ok", 1));
        let answer = Answer::read(Document::first_of(&bytes).unwrap()).unwrap();
        assert_eq!(answer.page().unwrap_err(), Malformed);
        let bytes = written(|answer| {
            answer.document("cursor", |cursor| {
                cursor.document("nextBatch", |_| {});
                cursor.long("id", 0);
            });
            answer.integer("ok", 1);
        });
        let answer = Answer::read(Document::first_of(&bytes).unwrap()).unwrap();
        let page = answer.page().unwrap();
        assert_eq!((page.count(), page.first()), (Ok(0), Ok(None)));
    }

    #[test]
    fn errors_of_command_write_and_acknowledgement_are_told() {
        let command = refusal(|answer| {
            answer.integer("ok", 0);
            answer.text("errmsg", "not primary");
            answer.integer("code", 10107);
            answer.text("codeName", "NotWritablePrimary");
        });
        assert!(command.primary_is_elsewhere());
        assert_eq!(command.failure.fault, Fault::Server);
        assert_eq!(command.failure.message, "not primary (NotWritablePrimary)");

        let write = refusal(|answer| {
            answer.only("writeErrors", |error| {
                error.integer("index", 0);
                error.integer("code", 11000);
                error.text("errmsg", "E11000 duplicate key");
            });
            answer.integer("ok", 1);
        });
        assert!(!write.primary_is_elsewhere());
        assert_eq!(write.failure.message, "E11000 duplicate key (11000)");

        for (code, fault) in [(64, Fault::Timeout), (100, Fault::Unavailable)] {
            let concern = refusal(|answer| {
                answer.integer("n", 1);
                answer.document("writeConcernError", |error| error.integer("code", code));
                answer.integer("ok", 1);
            });
            assert_eq!(concern.failure.fault, fault);
            assert!(concern.failure.message.contains("no reason"));
        }
    }

    #[test]
    fn an_error_of_the_write_comes_before_one_of_its_acknowledgements() {
        let both = |write_first: bool| {
            refusal(|answer| {
                let write = |answer: &mut Writer<'_>| {
                    answer.only("writeErrors", |error| error.integer("code", 11000));
                };
                if write_first {
                    write(answer);
                }
                answer.document("writeConcernError", |error| error.integer("code", 64));
                if !write_first {
                    write(answer);
                }
                answer.integer("ok", 1);
            })
        };
        assert_eq!([both(true).code, both(false).code], [11000, 11000]);
    }

    #[test]
    fn an_answer_that_makes_no_sense_is_a_failure_of_the_protocol() {
        let silent = refusal(|answer| answer.integer("n", 1));
        let odd = refusal(|answer| {
            answer.document("writeErrors", |errors| errors.integer("0", 1));
            answer.integer("ok", 1);
        });
        let bytes = b"\x09\0\0\0\x10ok\0\0";
        let cut = Answer::read(Document::first_of(bytes).unwrap()).unwrap_err();
        for refused in [silent, odd, cut] {
            assert_eq!((refused.code, refused.failure.fault), (0, Fault::Protocol));
        }
    }
}
