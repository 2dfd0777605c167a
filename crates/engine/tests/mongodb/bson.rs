//! BSON as JSON: bytes are `{"$binary": TEXT}`, an object's identifier `{"$id": TEXT}`.

use serde_json::{Map, Value, json};

/// A document as bytes. Whole numbers take 32 bits if they fit.
pub fn encode(document: &Value) -> Vec<u8> {
    let mut elements = Vec::new();
    match document {
        Value::Object(fields) => {
            for (name, value) in fields {
                element(&mut elements, name, value);
            }
        }
        Value::Array(values) => {
            for (number, value) in values.iter().enumerate() {
                element(&mut elements, &number.to_string(), value);
            }
        }
        other => panic!("{other} is no document"),
    }
    let length = u32::try_from(elements.len() + 5).unwrap().to_le_bytes();
    [&length[..], &elements, &[0]].concat()
}

fn element(out: &mut Vec<u8>, name: &str, value: &Value) {
    let length = |text: &str| u32::try_from(text.len()).unwrap();
    let (kind, bytes) = match value {
        Value::String(text) => {
            let length = (length(text) + 1).to_le_bytes();
            (0x02, [&length[..], text.as_bytes(), &[0]].concat())
        }
        Value::Object(special) if special.contains_key("$binary") => {
            let text = special["$binary"].as_str().unwrap();
            let length = length(text).to_le_bytes();
            (0x05, [&length[..], &[0], text.as_bytes()].concat())
        }
        Value::Object(special) if special.contains_key("$id") => {
            let text = special["$id"].as_str().unwrap();
            assert_eq!(text.len(), 12);
            (0x07, text.as_bytes().to_vec())
        }
        Value::Object(_) => (0x03, encode(value)),
        Value::Array(_) => (0x04, encode(value)),
        Value::Bool(truth) => (0x08, vec![u8::from(*truth)]),
        Value::Null => (0x0A, Vec::new()),
        Value::Number(number) => match number.as_i64() {
            None => (0x01, number.as_f64().unwrap().to_le_bytes().to_vec()),
            Some(number) => match i32::try_from(number) {
                Ok(number) => (0x10, number.to_le_bytes().to_vec()),
                Err(_) => (0x12, number.to_le_bytes().to_vec()),
            },
        },
    };
    out.push(kind);
    out.extend(name.as_bytes());
    out.push(0);
    out.extend(bytes);
}

/// The document that all of `bytes` are, and the name of its first element.
pub fn decode(bytes: &[u8]) -> (String, Value) {
    let elements = elements(bytes);
    let first = elements.first().map(|(name, _)| name.clone());
    (first.unwrap_or_default(), object(elements))
}

fn object(elements: Vec<(String, Value)>) -> Value {
    Value::Object(elements.into_iter().collect::<Map<_, _>>())
}

fn elements(bytes: &[u8]) -> Vec<(String, Value)> {
    assert_eq!(number(bytes), bytes.len());
    assert_eq!(bytes.last(), Some(&0));
    let mut rest = &bytes[4..bytes.len() - 1];
    let mut found = Vec::new();
    while let Some((kind, more)) = rest.split_first() {
        let end = more.iter().position(|byte| *byte == 0).unwrap();
        let (value, after) = value(*kind, &more[end + 1..]);
        found.push((text(&more[..end]), value));
        rest = after;
    }
    found
}

fn value(kind: u8, bytes: &[u8]) -> (Value, &[u8]) {
    let length = match kind {
        0x02 => 4 + number(bytes),
        0x03 | 0x04 => number(bytes),
        0x05 => 5 + number(bytes),
        0x08 => 1,
        0x10 => 4,
        0x12 => 8,
        other => panic!("the engine has no use for elements of the kind {other}"),
    };
    let (own, rest) = bytes.split_at(length);
    let value = match kind {
        0x02 => {
            assert_eq!(own.last(), Some(&0));
            json!(text(&own[4..length - 1]))
        }
        0x03 => object(elements(own)),
        0x04 => elements(own).into_iter().map(|(_, value)| value).collect(),
        0x05 => {
            assert_eq!(own[4], 0, "the subtype of binary data");
            json!({"$binary": text(&own[5..])})
        }
        0x08 => json!(own[0] == 1),
        0x10 => json!(i32::from_le_bytes(own.try_into().unwrap())),
        _ => json!(i64::from_le_bytes(own.try_into().unwrap())),
    };
    (value, rest)
}

fn number(bytes: &[u8]) -> usize {
    u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}
