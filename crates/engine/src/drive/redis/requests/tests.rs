use super::*;
use crate::load::mix::{Operations, stream};
use crate::load::plan::tests::{plan, ycsb};
use wire::load::{LoadPlan, Phase, ReadFields, Ycsb};

const STRING: Shape = Shape::String { field: Some(100) };

/// The first operation of a plan.
fn first(plan: &LoadPlan) -> Operation {
    let mut random = stream(plan.seed, plan.part, 0);
    Operations::new(plan).unwrap().draw(&mut random).unwrap()
}

fn requests(plan: &mut LoadPlan, shape: Shape, wait: Option<(u32, u32)>) -> Requests {
    Requests::new(Values::new(ycsb(plan)), shape, wait)
}

/// What is sent to read the first record of a plan.
fn read(shape: Shape, fields: ReadFields) -> String {
    let mut plan = plan();
    ycsb(&mut plan).read_fields = fields;
    let operation = first(&plan);
    let mut out = Vec::new();
    let requests = requests(&mut plan, shape, None);
    requests.read(&mut out, operation.key.as_bytes(), operation.read);
    String::from_utf8(out).unwrap()
}

/// What is sent to carry out the first write of a plan.
fn written(shape: Shape, change: fn(&mut Ycsb)) -> (String, Operation) {
    let mut plan = plan();
    ycsb(&mut plan).mix.read = 0.0;
    ycsb(&mut plan).mix.update = 1.0;
    change(ycsb(&mut plan));
    let operation = first(&plan);
    let mut out = Vec::new();
    let replies = requests(&mut plan, shape, None).write(&mut out, &operation);
    assert_eq!(replies, 1);
    (String::from_utf8(out).unwrap(), operation)
}

/// What is handed back of an answer to the first read of a plan with values of three bytes.
fn handed(shape: Shape, fields: Fields, answer: &[u8]) -> Vec<Option<String>> {
    let mut plan = plan();
    ycsb(&mut plan).fields = 3;
    let mut found = Found::new(true);
    let requests = requests(&mut plan, shape, None);
    requests.hand_back(answer, fields, &mut found).unwrap();
    ["field0", "field1", "field2"]
        .map(|name| {
            let value = found.value(name.as_bytes());
            value.map(|value| String::from_utf8(value.to_vec()).unwrap())
        })
        .to_vec()
}

fn some(values: [&str; 3]) -> Vec<Option<String>> {
    values.map(|value| Some(value.to_owned())).to_vec()
}

#[test]
fn an_insert_has_ten_fields_of_a_hundred_bytes_and_an_entry_in_the_index() {
    let mut plan = plan();
    plan.phase = Phase::Load;
    let operation = first(&plan);
    let requests = requests(&mut plan, Shape::Hash, Some((2, 900)));
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
    let (text, _) = written(Shape::Hash, |_| ());
    assert!(text.starts_with("*4\r\n$4\r\nHSET\r\n"));
}

#[test]
fn a_read_asks_for_all_fields_with_or_without_their_names_or_for_one() {
    let asked = [ReadFields::All, ReadFields::AllByName, ReadFields::One]
        .map(|fields| read(Shape::Hash, fields));
    assert!(asked[0].starts_with("*2\r\n$7\r\nHGETALL\r\n"));
    assert!(asked[1].starts_with("*12\r\n$5\r\nHMGET\r\n"));
    assert!(asked[1].ends_with("$6\r\nfield8\r\n$6\r\nfield9\r\n"));
    assert!(asked[2].starts_with("*3\r\n$5\r\nHMGET\r\n"));
}

#[test]
fn a_plain_string_holds_the_values_of_the_fields_one_after_another() {
    let (text, operation) = written(STRING, |workload| {
        workload.write_all_fields = true;
        workload.integrity = true;
    });
    let key = operation.key.as_str();
    let head = format!("*3\r\n$3\r\nSET\r\n${}\r\n{key}\r\n$1000\r\n", key.len());
    let record = text
        .strip_prefix(&head)
        .and_then(|rest| rest.strip_suffix("\r\n"));
    let record = record.unwrap();
    assert_eq!(record.len(), 1000);
    for field in 0..10 {
        assert!(record[100 * field..].starts_with(&format!("{key}:field{field}:")));
    }
}

#[test]
fn one_field_of_a_plain_string_is_a_range_of_it() {
    let (text, operation) = written(STRING, |_| ());
    let Fields::One(field) = operation.write else {
        panic!("an update writes one field");
    };
    assert!(text.starts_with("*4\r\n$8\r\nSETRANGE\r\n"));
    let from = (100 * field).to_string();
    assert!(text.contains(&format!("\r\n${}\r\n{from}\r\n$100\r\n", from.len())));

    let mut plan = plan();
    let requests = requests(&mut plan, STRING, None);
    let mut out = Vec::new();
    requests.read(&mut out, b"user1", Fields::One(2));
    let range = "*4\r\n$8\r\nGETRANGE\r\n$5\r\nuser1\r\n$3\r\n200\r\n$3\r\n299\r\n";
    assert_eq!(String::from_utf8(out).unwrap(), range);
}

#[test]
fn a_whole_string_is_read_and_written_at_once_though_it_be_of_one_field() {
    assert!(read(STRING, ReadFields::All).starts_with("*2\r\n$3\r\nGET\r\n"));
    let (text, _) = written(STRING, |workload| workload.fields = 1);
    assert!(text.starts_with("*3\r\n$3\r\nSET\r\n"));
}

#[test]
fn what_is_not_there_is_not_found_in_either_shape() {
    let found = |shape, head, nulls| {
        let length = 0;
        let reply = Reply {
            head,
            length,
            nulls,
        };
        let found = requests(&mut plan(), shape, None).found(&reply);
        found.map_err(|failure| failure.fault)
    };
    assert_eq!(found(Shape::Hash, Head::Array(Some(20)), 0), Ok(()));
    assert_eq!(found(Shape::Hash, Head::Array(Some(2)), 1), Ok(()));
    assert_eq!(found(STRING, Head::Bulk(Some(1000)), 0), Ok(()));
    let missing = [
        (Shape::Hash, Head::Array(Some(0)), 0),
        (Shape::Hash, Head::Array(Some(2)), 2),
        (STRING, Head::Bulk(None), 1),
        (STRING, Head::Bulk(Some(0)), 0),
    ];
    for (shape, head, nulls) in missing {
        let outcome = found(shape, head, nulls);
        assert_eq!(outcome, Err(Fault::NotFound), "{shape:?} {head:?}");
    }
    let senseless = [
        (Shape::Hash, Head::Bulk(Some(1))),
        (STRING, Head::Array(Some(1))),
        (STRING, Head::Status),
    ];
    for (shape, head) in senseless {
        let outcome = found(shape, head, 0);
        assert_eq!(outcome, Err(Fault::Protocol), "{shape:?} {head:?}");
    }
}

#[test]
fn fields_of_a_hash_are_handed_back_by_their_names_in_whatever_order() {
    let pairs = b"*4\r\n$6\r\nfield2\r\n$1\r\nc\r\n$6\r\nfield0\r\n$1\r\na\r\n";
    let handed_back = handed(Shape::Hash, Fields::All, pairs);
    assert_eq!(
        handed_back,
        [Some("a".to_owned()), None, Some("c".to_owned())]
    );
    let values = b"*3\r\n$1\r\na\r\n$-1\r\n$1\r\nc\r\n";
    assert_eq!(handed(Shape::Hash, Fields::Named, values), handed_back);
    let one = handed(Shape::Hash, Fields::One(1), b"*1\r\n$1\r\nb\r\n");
    assert_eq!(one, [None, Some("b".to_owned()), None]);
}

#[test]
fn fields_of_a_string_are_handed_back_by_their_places() {
    let three = Shape::String { field: Some(3) };
    let all = |answer: &[u8]| handed(three, Fields::All, answer);
    assert_eq!(all(b"$9\r\naaabbbccc\r\n"), some(["aaa", "bbb", "ccc"]));
    assert_eq!(all(b"$4\r\naaab\r\n"), some(["aaa", "b", ""]), "too short");
    assert_eq!(
        all(b"$10\r\naaabbbcccc\r\n"),
        some(["aaa", "bbb", "cccc"]),
        "too long"
    );
    let one = handed(three, Fields::One(1), b"$3\r\nbbb\r\n");
    assert_eq!(one, [None, Some("bbb".to_owned()), None]);
}

#[test]
fn an_answer_that_is_no_record_cannot_be_handed_back() {
    let mut found = Found::new(true);
    let requests = requests(&mut plan(), Shape::Hash, None);
    let outcome = requests.hand_back(b":1\r\n", Fields::All, &mut found);
    assert_eq!(
        outcome.map_err(|failure| failure.fault),
        Err(Fault::Protocol)
    );
}
