//! What is written is read again, and what is not whole is refused.

use super::*;
use proptest::prelude::*;

fn written(content: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
    let mut out = Vec::new();
    document(&mut out, content);
    out
}

#[test]
fn documents_are_written_as_the_specification_shows() {
    // The first example of bsonspec.org.
    let hello = written(|document| document.text("hello", "world"));
    assert_eq!(hello, b"\x16\0\0\0\x02hello\0\x06\0\0\0world\0\0");
    let all = written(|document| {
        document.integer("a", -2);
        document.long("b", 1 << 40);
        document.boolean("c", true);
        document.binary("d", &[0, 255]);
        document.only("e", |inner| inner.integer("f", 7));
    });
    let expected = [
        &b"\x3c\0\0\0"[..],
        b"\x10a\0\xfe\xff\xff\xff",
        b"\x12b\0\0\0\0\0\0\x01\0\0",
        b"\x08c\0\x01",
        b"\x05d\0\x02\0\0\0\0\0\xff",
        b"\x04e\0\x14\0\0\0\x030\0\x0c\0\0\0\x10f\0\x07\0\0\0\0\0",
        b"\0",
    ]
    .concat();
    assert_eq!(all, expected);
}

#[test]
fn what_was_written_is_found_by_its_name() {
    let bytes = written(|document| {
        document.text("text", "käse");
        document.document("inner", |inner| inner.boolean("true", true));
        document.binary("binary", b"\0x");
        document.long("long", -1);
    });
    let document = Document::first_of(&bytes).unwrap();
    let get = |name| document.get(name).unwrap();
    assert_eq!(get("text").unwrap().text().unwrap(), "käse");
    let Some(Value::Document(inner)) = get("inner") else {
        panic!("there is an inner document");
    };
    assert_eq!(inner.get("true"), Ok(Some(Value::Boolean(true))));
    assert_eq!(get("binary"), Some(Value::Binary(b"\0x")));
    assert_eq!(get("long").unwrap().integer(), Some(-1));
    assert_eq!((get("long").unwrap().text(), get("none")), (None, None));
    assert_eq!(get("text").unwrap().integer(), None);
}

/// A document of elements that are given as they are.
fn raw(elements: &[u8]) -> Vec<u8> {
    let length = elements.len() as u32 + 5;
    [&length.to_le_bytes()[..], elements, &[0]].concat()
}

#[test]
fn kinds_that_no_load_needs_are_passed_over() {
    let others: [&[u8]; 16] = [
        b"\x06a\0",
        b"\x0aa\0",
        b"\xffa\0",
        b"\x7fa\0",
        b"\x07a\x00abcdefghijkl",
        b"\x09a\x0012345678",
        b"\x11a\x0012345678",
        b"\x0ba\0x.*\0i\0",
        b"\x0ca\0\x02\0\0\0b\0abcdefghijkl",
        b"\x0da\0\x02\0\0\0b\0",
        b"\x0ea\0\x02\0\0\0b\0",
        b"\x0fa\0\x05\0\0\0\0",
        b"\x13a\x001234567812345678",
        b"\x05a\0\x01\0\0\0\x04x",
        b"\x01a\0\0\0\0\0\0\0\xf0\x3f",
        b"\x03a\0\x05\0\0\0\0",
    ];
    for other in others {
        let bytes = raw(&[other, b"\x10z\0\x05\0\0\0"].concat());
        let document = Document::first_of(&bytes).unwrap();
        assert_eq!(document.get("z"), Ok(Some(Value::Integer(5))), "{other:?}");
        assert_eq!(document.elements().count(), 2, "{other:?}");
    }
    let one = raw(others[14]);
    let found = Document::first_of(&one).unwrap().get("a").unwrap();
    assert_eq!(found.and_then(Value::integer), Some(1));
    let id = raw(others[4]);
    let found = Document::first_of(&id).unwrap().get("a").unwrap();
    assert_eq!(found, Some(Value::Id(b"abcdefghijkl")));
    let uuid = raw(others[13]);
    let found = Document::first_of(&uuid).unwrap().get("a").unwrap();
    assert_eq!(found, Some(Value::Other), "binary data of another subtype");
}

#[test]
fn what_is_no_bson_is_told() {
    let broken: [&[u8]; 7] = [
        b"\x10a",
        b"\x10a\0\0",
        b"\x02a\0\0\0\0\0",
        b"\x02a\0\x02\0\0\0bc",
        b"\x02a\0\xff\xff\xff\xff",
        b"\x03a\0\x04\0\0\0",
        b"\x55a\0",
    ];
    for elements in broken {
        let bytes = raw(elements);
        let mut found = Document::first_of(&bytes).unwrap().elements();
        assert_eq!(found.next(), Some(Err(Malformed)), "{elements:?}");
        assert_eq!(found.next(), None);
    }
    for bytes in [
        &b""[..],
        b"\x05\0\0",
        b"\x05\0\0\0\x01",
        b"\x04\0\0\0\0",
        b"\x06\0\0\0\0",
    ] {
        assert_eq!(Document::first_of(bytes), Err(Malformed), "{bytes:?}");
    }
}

proptest! {
    #[test]
    fn no_bytes_at_all_stop_the_engine(elements: Vec<u8>) {
        let bytes = raw(&elements);
        let document = Document::first_of(&bytes).unwrap();
        prop_assert!(document.elements().count() <= elements.len());
        // Anything, also without a length that fits.
        let _ = Document::first_of(&elements);
    }

    #[test]
    fn a_document_that_was_cut_is_none(cut in 0_usize..30) {
        let bytes = written(|document| document.text("a", "a text that is long"));
        prop_assert_eq!(bytes.len(), 32);
        prop_assert_eq!(Document::first_of(&bytes[..cut]), Err(Malformed));
    }
}
