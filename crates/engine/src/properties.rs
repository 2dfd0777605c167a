//! Java's property files, which YCSB's workload files are, as `java.util.Properties` reads them:
//! characters of ISO-8859-1, comments, lines that go on, escapes. Only where a file ends in a line
//! of a backslash alone, Java has a property without a name besides, which is left out here.

/// One property, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    /// Its name.
    pub name: String,
    /// All that follows, spaces at the end included.
    pub value: String,
    /// The line on which it begins, from 1.
    pub line: usize,
}

/// All properties in their order; of those of one name the last one counts. The error is one
/// sentence, and tells nothing of what stands in the file but the line.
pub fn parse(text: &[u8]) -> Result<Vec<Property>, String> {
    let mut found = Vec::new();
    let mut lines = (1..).zip(natural(text));
    while let Some((line, first)) = lines.next() {
        let mut logical = Vec::new();
        let mut piece = uncommented(without_indent(first));
        while let Some(kept) = continued(piece) {
            logical.extend_from_slice(kept);
            let next = lines.next().map_or(b"".as_slice(), |(_, next)| next);
            piece = without_indent(next);
            // As long as there is nothing, a comment can begin.
            if logical.is_empty() {
                piece = uncommented(piece);
            }
        }
        logical.extend_from_slice(piece);
        if !logical.is_empty() {
            found.push(property(&logical, line)?);
        }
    }
    Ok(found)
}

/// The value that counts of one property; None if it is not there. The error is that of [`parse`].
pub fn value(text: &[u8], name: &str) -> Result<Option<String>, String> {
    let of_name = |property: &Property| property.name == name;
    let found = parse(text)?.into_iter().rev().find(of_name);
    Ok(found.map(|property| property.value))
}

/// Lines as they are written: each ends at a line feed, a carriage return, or both.
fn natural(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(end) = text.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
            rest = None;
            return Some(text);
        };
        let both = text[end..].starts_with(b"\r\n");
        rest = Some(&text[end + 1 + usize::from(both)..]);
        Some(&text[..end])
    })
}

/// Whether Java takes a character for white space here.
fn white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | 0x0c)
}

fn without_indent(line: &[u8]) -> &[u8] {
    let start = line.iter().position(|byte| !white(*byte));
    &line[start.unwrap_or(line.len())..]
}

/// Nothing of a comment, which does not go on on the next line either.
fn uncommented(line: &[u8]) -> &[u8] {
    match line {
        [b'#' | b'!', ..] => &[],
        line => line,
    }
}

/// A line without the backslash that lets it go on on the next one; None where it does not.
fn continued(line: &[u8]) -> Option<&[u8]> {
    let backslashes = line.iter().rev().take_while(|byte| **byte == b'\\').count();
    (backslashes % 2 == 1).then(|| &line[..line.len() - 1])
}

/// The name goes up to the first `=`, `:` or white space that is not escaped.
fn property(logical: &[u8], line: usize) -> Result<Property, String> {
    let mut escaped = false;
    let end = logical.iter().position(|byte| {
        let ends = !escaped && (matches!(byte, b'=' | b':') || white(*byte));
        escaped = !escaped && *byte == b'\\';
        ends
    });
    let (name, rest) = logical.split_at(end.unwrap_or(logical.len()));
    let rest = without_indent(rest);
    let value = match rest {
        [b'=' | b':', value @ ..] => without_indent(value),
        value => value,
    };
    Ok(Property {
        name: unescaped(name, line)?,
        value: unescaped(value, line)?,
        line,
    })
}

fn unescaped(text: &[u8], line: usize) -> Result<String, String> {
    let mut units: Vec<u16> = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [byte, after @ ..] = rest {
        rest = after;
        if *byte != b'\\' {
            units.push(u16::from(*byte));
            continue;
        }
        let [kind, after @ ..] = rest else {
            break;
        };
        rest = after;
        units.push(match kind {
            b't' => 0x09,
            b'n' => 0x0a,
            b'r' => 0x0d,
            b'f' => 0x0c,
            b'u' => {
                let (digits, after) = rest.split_at(rest.len().min(4));
                rest = after;
                unit(digits).ok_or_else(|| {
                    format!("line {line} has `\\u` without four hexadecimal digits after it")
                })?
            }
            other => u16::from(*other),
        });
    }
    String::from_utf16(&units).map_err(|_| format!("line {line} has half a character in `\\u`"))
}

/// One unit of UTF-16 from its four digits.
fn unit(digits: &[u8]) -> Option<u16> {
    let four = digits.len() == 4 && digits.iter().all(u8::is_ascii_hexdigit);
    let text = std::str::from_utf8(digits).ok().filter(|_| four)?;
    u16::from_str_radix(text, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(String, String)> {
        let found = parse(text.as_bytes()).unwrap();
        found.into_iter().map(|p| (p.name, p.value)).collect()
    }

    #[test]
    fn files_are_read_as_java_reads_them() {
        let cases: [(&str, &[(&str, &str)]); 29] = [
            ("", &[]),
            ("a=b", &[("a", "b")]),
            ("a = b", &[("a", "b")]),
            ("a:b", &[("a", "b")]),
            ("a b", &[("a", "b")]),
            ("a\t:\x0c b", &[("a", "b")]),
            ("a==b", &[("a", "=b")]),
            ("a = = b", &[("a", "= b")]),
            ("a b = c", &[("a", "b = c")]),
            ("=b", &[("", "b")]),
            ("a", &[("a", "")]),
            ("a=", &[("a", "")]),
            ("  a=b  ", &[("a", "b  ")]),
            ("# a=b\n ! c=d\n\n \t\ne=f", &[("e", "f")]),
            ("# a=b \\\nc=d", &[("c", "d")]),
            ("a=b\r\nc=d\re=f\n", &[("a", "b"), ("c", "d"), ("e", "f")]),
            ("a=b,\\\n   c,\\\r\n\td", &[("a", "b,c,d")]),
            ("a=b\\\n\nc=d", &[("a", "b"), ("c", "d")]),
            ("a=b\\\r\n\r\nc=d", &[("a", "b"), ("c", "d")]),
            ("a=b\\\n# c", &[("a", "b# c")]),
            ("\\\n# b\\\nc=d", &[("c", "d")]),
            ("x\\\n# b", &[("x#", "b")]),
            ("\\\n\na=b", &[("a", "b")]),
            ("a=b\\", &[("a", "b")]),
            ("a=b\\\\\nc=d", &[("a", "b\\"), ("c", "d")]),
            ("a\\ b\\=\\:=c", &[("a b=:", "c")]),
            ("a\\\\=b", &[("a\\", "b")]),
            ("a=\\t\\n\\r\\f\\q\\\"\\u0041", &[("a", "\t\n\r\x0cq\"A")]),
            ("a=\\uD83D\\uDE00\\u00e4", &[("a", "\u{1f600}ä")]),
        ];
        for (text, expected) in cases {
            let expected: Vec<_> = expected
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect();
            assert_eq!(pairs(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_byte_is_a_character_of_iso_8859_1() {
        let found = parse(b"caf\xe9=\xfc\x80").unwrap();
        assert_eq!((&*found[0].name, &*found[0].value), ("café", "ü\u{80}"));
    }

    #[test]
    fn a_property_tells_the_line_on_which_it_begins() {
        let found = parse(b"# one\r\na=b\\\r\n c\r\n\r\nd=e").unwrap();
        let lines: Vec<usize> = found.iter().map(|property| property.line).collect();
        assert_eq!(lines, [2, 5]);
    }

    #[test]
    fn what_java_refuses_is_refused_with_the_line_alone() {
        for (text, what) in [
            ("a=1\nsecret=\\u12", "line 2 has `\\u` without four"),
            ("secret=\\u12x4", "line 1 has `\\u` without four"),
            ("secret=\\u+123", "line 1 has `\\u` without four"),
            ("secret=\\uD83D", "line 1 has half a character"),
        ] {
            let said = parse(text.as_bytes()).unwrap_err();
            assert!(said.starts_with(what), "{said}");
            assert!(!said.contains("secret"), "{said}");
        }
    }

    #[test]
    fn of_equal_names_the_last_one_counts() {
        let text = b"a=1\nb=2\na=3";
        assert_eq!(value(text, "a"), Ok(Some("3".to_owned())));
        assert_eq!(value(text, "c"), Ok(None));
    }
}
