//! The Redis protocol (RESP2), as much of it as a client needs.
//!
//! A scanner finds the end of a reply without building it: most replies are only looked at for
//! being an error or empty.

/// The first line of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Head {
    /// `+OK`
    Status,
    /// `-ERR …`
    Error,
    /// `:3`
    Integer(i64),
    /// `$5`; None is the null string.
    Bulk(Option<usize>),
    /// `*2`; None is the null array.
    Array(Option<usize>),
}

/// Longest string of a reply: what servers take and give, if nothing else is said.
const LONGEST_STRING: usize = 512 << 20;
/// Most elements of one array.
const MOST_ELEMENTS: usize = 1 << 30;
/// Longest first line of a reply.
const LONGEST_LINE: usize = 64 << 10;
/// Arrays inside arrays that a tree may have.
const DEEPEST: usize = 16;

/// Bytes that are no reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed;

/// A whole reply: `bytes[..length]` of what was scanned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply {
    /// Its first line.
    pub head: Head,
    /// Its length in bytes.
    pub length: usize,
    /// Null strings among its elements.
    pub nulls: usize,
}

/// Where the scan of one reply stands; goes on where it stopped when more bytes have come.
#[derive(Debug, Default)]
pub struct Scanner {
    at: usize,
    head: Option<Head>,
    /// Elements still to come, nested ones included.
    missing: usize,
    nulls: usize,
}

impl Scanner {
    /// Scan `bytes`, which begin where the reply begins; None when it is not yet whole.
    pub fn scan(&mut self, bytes: &[u8]) -> Result<Option<Reply>, Malformed> {
        loop {
            if let Some(head) = self.head
                && self.missing == 0
            {
                let reply = Reply {
                    head,
                    length: self.at,
                    nulls: self.nulls,
                };
                *self = Self::default();
                return Ok(Some(reply));
            }
            let Some((head, next)) = line(bytes, self.at)? else {
                return Ok(None);
            };
            let end = match head {
                Head::Bulk(Some(length)) => next + length + 2,
                _ => next,
            };
            if end > bytes.len() {
                return Ok(None);
            }
            match self.head {
                None => self.head = Some(head),
                Some(_) => self.missing -= 1,
            }
            match head {
                Head::Array(Some(elements)) => self.missing += elements,
                Head::Bulk(None) => self.nulls += 1,
                _ => {}
            }
            self.at = end;
        }
    }
}

/// The line at `at` and where the next one begins.
fn line(bytes: &[u8], at: usize) -> Result<Option<(Head, usize)>, Malformed> {
    let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) else {
        return Ok(None);
    };
    // Seen at the first byte, so that nobody waits for the rest of what is no reply.
    if !b"+-:$*".contains(&rest[0]) {
        return Err(Malformed);
    }
    let Some(end) = rest.iter().position(|byte| *byte == b'\r') else {
        return if rest.len() > LONGEST_LINE {
            Err(Malformed)
        } else {
            Ok(None)
        };
    };
    if end + 1 >= rest.len() {
        return Ok(None);
    }
    if rest[end + 1] != b'\n' {
        return Err(Malformed);
    }
    let number = || number(&rest[1..end]).ok_or(Malformed);
    let head = match rest[0] {
        b'+' => Head::Status,
        b'-' => Head::Error,
        b':' => Head::Integer(number()?),
        b'$' => Head::Bulk(length(number()?, LONGEST_STRING)?),
        _ => Head::Array(length(number()?, MOST_ELEMENTS)?),
    };
    Ok(Some((head, at + end + 2)))
}

/// A length that may not be more than `most`; None where it is negative, which stands for nothing.
fn length(number: i64, most: usize) -> Result<Option<usize>, Malformed> {
    match usize::try_from(number) {
        Ok(length) if length > most => Err(Malformed),
        length => Ok(length.ok()),
    }
}

fn number(digits: &[u8]) -> Option<i64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Append a command of `arguments` words, whose words follow by [`word`].
pub fn command(out: &mut Vec<u8>, arguments: usize) {
    out.push(b'*');
    digits(out, arguments as u64);
    out.extend_from_slice(b"\r\n");
}

/// Append one word of a command.
pub fn word(out: &mut Vec<u8>, bytes: &[u8]) {
    word_head(out, bytes.len());
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

/// Append one word: all that `write` appends.
pub fn word_by(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let begin = out.len();
    write(out);
    // How long it is, is known now, and stands before it.
    let end = out.len();
    word_head(out, end - begin);
    let head = out.len() - end;
    out[begin..].rotate_right(head);
    out.extend_from_slice(b"\r\n");
}

/// Append what comes before the `length` bytes of a word; a line end comes after them.
fn word_head(out: &mut Vec<u8>, length: usize) {
    out.push(b'$');
    digits(out, length as u64);
    out.extend_from_slice(b"\r\n");
}

/// Append a number as one word of a command.
pub fn number_word(out: &mut Vec<u8>, number: i64) {
    let mut text = Vec::with_capacity(20);
    if number < 0 {
        text.push(b'-');
    }
    digits(&mut text, number.unsigned_abs());
    word(out, &text);
}

fn digits(out: &mut Vec<u8>, mut number: u64) {
    let mut text = [0_u8; 20];
    let mut at = text.len();
    loop {
        at -= 1;
        text[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&text[at..]);
}

/// The strings of a whole reply, which is one or an array of them; an element is None where it is
/// the null string. None for anything else.
pub fn texts(bytes: &[u8]) -> Option<Vec<Option<&[u8]>>> {
    let (elements, mut at) = match line(bytes, 0).ok()?? {
        (Head::Array(Some(elements)), next) => (elements, next),
        (Head::Bulk(_), _) => (1, 0),
        _ => return None,
    };
    let mut texts = Vec::new();
    for _ in 0..elements {
        let (Head::Bulk(length), next) = line(bytes, at).ok()?? else {
            return None;
        };
        let Some(length) = length else {
            texts.push(None);
            at = next;
            continue;
        };
        texts.push(Some(bytes.get(next..next + length)?));
        at = next + length + 2;
    }
    Some(texts)
}

/// A reply as a tree, for the few that are read whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tree {
    /// A status, an error or a string.
    Text(String),
    /// A number.
    Integer(i64),
    /// Elements in order.
    Array(Vec<Tree>),
    /// Nothing.
    Null,
}

/// The tree of a whole reply, and where the next one begins. None for one that is cut, or has
/// arrays inside arrays deeper than any that is asked for.
pub fn tree(bytes: &[u8], at: usize) -> Option<(Tree, usize)> {
    branch(bytes, at, DEEPEST)
}

fn branch(bytes: &[u8], at: usize, depth: usize) -> Option<(Tree, usize)> {
    let (head, next) = line(bytes, at).ok()??;
    let text = |range: std::ops::Range<usize>| {
        Some(Tree::Text(
            String::from_utf8_lossy(bytes.get(range)?).into_owned(),
        ))
    };
    match head {
        Head::Status | Head::Error => Some((text(at + 1..next - 2)?, next)),
        Head::Integer(number) => Some((Tree::Integer(number), next)),
        Head::Bulk(None) | Head::Array(None) => Some((Tree::Null, next)),
        Head::Bulk(Some(length)) => Some((text(next..next + length)?, next + length + 2)),
        Head::Array(Some(elements)) => {
            let mut at = next;
            let mut children = Vec::new();
            for _ in 0..elements {
                let (child, next) = branch(bytes, at, depth.checked_sub(1)?)?;
                children.push(child);
                at = next;
            }
            Some((Tree::Array(children), at))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &[u8] =
        b"+OK\r\n-MOVED 3999 10.0.0.1:6379\r\n:-12\r\n$-1\r\n$5\r\nhe\r\no\r\n*0\r\n\
        *-1\r\n*3\r\n$3\r\nabc\r\n$-1\r\n*2\r\n:1\r\n$0\r\n\r\n";

    fn heads() -> Vec<(Head, usize, usize)> {
        vec![
            (Head::Status, 5, 0),
            (Head::Error, 27, 0),
            (Head::Integer(-12), 6, 0),
            (Head::Bulk(None), 5, 0),
            (Head::Bulk(Some(5)), 11, 0),
            (Head::Array(Some(0)), 4, 0),
            (Head::Array(None), 5, 0),
            (Head::Array(Some(3)), 32, 1),
        ]
    }

    /// Feed the stream in pieces that end at `cuts`.
    fn scan(cuts: &[usize]) -> Vec<(Head, usize, usize)> {
        let mut scanner = Scanner::default();
        let mut seen = Vec::new();
        let mut from = 0;
        for cut in cuts.iter().copied().chain([STREAM.len()]) {
            while let Some(reply) = scanner.scan(&STREAM[from..cut]).unwrap() {
                let nulls = if matches!(reply.head, Head::Array(_)) {
                    reply.nulls
                } else {
                    0
                };
                seen.push((reply.head, reply.length, nulls));
                from += reply.length;
                if from == STREAM.len() {
                    return seen;
                }
            }
        }
        seen
    }

    #[test]
    fn replies_are_found_whole() {
        assert_eq!(scan(&[]), heads());
    }

    #[test]
    fn replies_are_the_same_wherever_the_stream_is_split() {
        for first in 0..STREAM.len() {
            for second in first..STREAM.len() {
                assert_eq!(
                    scan(&[first, second]),
                    heads(),
                    "split at {first} and {second}"
                );
            }
        }
    }

    #[test]
    fn replies_are_the_same_byte_by_byte() {
        assert_eq!(scan(&(0..STREAM.len()).collect::<Vec<_>>()), heads());
    }

    #[test]
    fn bytes_that_are_no_reply_are_refused() {
        let endless = [&b"+"[..], &vec![b'x'; LONGEST_LINE]].concat();
        for wrong in [
            &b"hello\r\n"[..],
            b"h",
            b"$x\r\n",
            b"+OK\rX",
            b":\r\n",
            b"$9000000000000000000\r\n",
            b"*9000000000000000000\r\n",
            endless.as_slice(),
        ] {
            assert_eq!(Scanner::default().scan(wrong), Err(Malformed), "{wrong:?}");
        }
    }

    #[test]
    fn a_command_is_written_as_the_protocol_asks() {
        let mut out = Vec::new();
        command(&mut out, 2);
        word(&mut out, b"GET");
        number_word(&mut out, i64::from(i32::MIN));
        assert_eq!(out, b"*2\r\n$3\r\nGET\r\n$11\r\n-2147483648\r\n");
    }

    #[test]
    fn the_strings_of_a_reply_are_its_bytes() {
        let array = b"*3\r\n$2\r\na\n\r\n$-1\r\n$0\r\n\r\n";
        assert_eq!(texts(array), Some(vec![Some(&b"a\n"[..]), None, Some(b"")]));
        assert_eq!(
            texts(b"$2\r\n\xff\xfe\r\n"),
            Some(vec![Some(&b"\xff\xfe"[..])])
        );
        assert_eq!(texts(b"$-1\r\n"), Some(vec![None]));
        assert_eq!(texts(b"*0\r\n"), Some(Vec::new()));
        for other in [
            &b":1\r\n"[..],
            b"*1\r\n:1\r\n",
            b"*-1\r\n",
            b"$9\r\nshort\r\n",
        ] {
            assert_eq!(texts(other), None, "{other:?}");
        }
    }

    #[test]
    fn arrays_inside_arrays_without_end_are_no_tree() {
        let nested = [b"*1\r\n".repeat(1_000_000), b":1\r\n".to_vec()].concat();
        assert_eq!(tree(&nested, 0), None);
    }

    #[test]
    fn a_tree_keeps_order_and_nesting() {
        let (read, end) = tree(b"*2\r\n*1\r\n:7\r\n$2\r\nok\r\n", 0).unwrap();
        let nested = Tree::Array(vec![Tree::Integer(7)]);
        assert_eq!(read, Tree::Array(vec![nested, Tree::Text("ok".to_owned())]));
        assert_eq!(end, 20);
    }
}
