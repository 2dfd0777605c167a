//! Messages of MongoDB's wire protocol, `OP_MSG`: a header, flags, and a document.

use super::bson::{Document, Malformed, Writer, document};
use crate::drive::{Failure, Fault};

/// The flag that no answer is wanted, or that more answers follow.
pub const MORE_TO_COME: u32 = 1 << 1;
/// Length of the shortest message: header, flags, kind of section, an empty document.
pub const SHORTEST: usize = BODY + 5;
/// Length of the longest message that a server may send.
pub const LONGEST: usize = 48_000_000;

const OP_MSG: u32 = 2013;
/// The flag that a checksum of four bytes follows.
const CHECKSUM: u32 = 1;
/// A receiver must know the flags of these bits.
const REQUIRED: u32 = 0xFFFF;
/// Where the document begins.
const BODY: usize = 16 + 4 + 1;

/// Write a message in the place of what was in `out`. Its number comes when it is sent.
pub fn message(out: &mut Vec<u8>, flags: u32, content: impl FnOnce(&mut Writer<'_>)) {
    out.clear();
    out.extend_from_slice(&[0; 12]);
    out.extend_from_slice(&OP_MSG.to_le_bytes());
    out.extend_from_slice(&flags.to_le_bytes());
    out.push(0);
    document(out, content);
    let length = out.len() as u32;
    out[..4].copy_from_slice(&length.to_le_bytes());
}

/// Give a message its number.
pub fn stamp(message: &mut [u8], number: u32) {
    message[4..8].copy_from_slice(&number.to_le_bytes());
}

/// The document in a whole message that must answer the message `number`.
pub fn answer(message: &[u8], number: u32) -> Result<Document<'_>, Failure> {
    let field = |at: usize| {
        let rest = message.get(at..).and_then(<[u8]>::first_chunk);
        rest.map(|bytes| u32::from_le_bytes(*bytes))
            .ok_or(Malformed)
    };
    let (answered, operation, flags) = (field(8)?, field(12)?, field(16)?);
    if operation != OP_MSG || flags & REQUIRED & !CHECKSUM != 0 || message.get(20) != Some(&0) {
        return Err(Malformed.into());
    }
    if answered != number {
        return Err(Failure::new(
            Fault::Protocol,
            "the answer is one to another request",
        ));
    }
    Ok(Document::first_of(&message[BODY..])?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ping() -> Vec<u8> {
        let mut out = vec![1, 2, 3];
        message(&mut out, MORE_TO_COME, |body| body.integer("ping", 1));
        out
    }

    #[test]
    fn a_message_has_its_length_number_kind_and_flags_before_the_document() {
        let mut message = ping();
        stamp(&mut message, 258);
        let head = [
            &[36, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0][..],
            &[0xDD, 0x07, 0, 0, 2, 0, 0, 0, 0],
        ]
        .concat();
        assert_eq!(message[..BODY], head);
        assert_eq!(&message[BODY..], b"\x0f\0\0\0\x10ping\0\x01\0\0\0\0");
        assert_eq!(message.len(), 36);
    }

    /// An answer to the message 7.
    fn told() -> Vec<u8> {
        let mut out = Vec::new();
        message(&mut out, 0, |body| body.integer("ok", 1));
        out[8..12].copy_from_slice(&7_u32.to_le_bytes());
        out
    }

    #[test]
    fn the_document_of_an_answer_is_found_with_or_without_a_checksum() {
        let mut message = told();
        let ok = answer(&message, 7).unwrap().get("ok").unwrap();
        assert_eq!(ok.unwrap().integer(), Some(1));
        message[16] = 1;
        message.extend([1, 2, 3, 4]);
        assert!(answer(&message, 7).unwrap().get("ok").unwrap().is_some());
    }

    #[test]
    fn what_is_no_answer_to_the_request_is_told() {
        let said = |change: fn(&mut Vec<u8>)| {
            let mut message = told();
            change(&mut message);
            let failure = answer(&message, 7).unwrap_err();
            assert_eq!(failure.fault, Fault::Protocol);
            failure.message
        };
        let other = said(|message| message[8] = 6);
        assert!(other.contains("another request"), "{other}");
        let changes: [fn(&mut Vec<u8>); 5] = [
            |message| message[12] = 1,
            |message| message[16] = 2,
            |message| message[20] = 1,
            |message| message.truncate(BODY + 3),
            |message| message.truncate(17),
        ];
        for change in changes {
            let said = said(change);
            assert!(said.contains("does not follow the protocol"), "{said}");
        }
    }
}
