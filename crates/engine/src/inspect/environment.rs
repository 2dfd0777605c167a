//! The variables that a process was started with, from `/proc/PID/environ`.

use std::collections::BTreeMap;
use std::io;

/// Every variable by its name.
///
/// The kernel shows the memory that they were handed over in. A server that writes a title over its
/// arguments writes over them too, and then nobody knows what they were: that is an error.
pub fn variables(environ: &[u8]) -> io::Result<BTreeMap<String, String>> {
    if environ.is_empty() {
        return Ok(BTreeMap::new());
    }
    let text = str::from_utf8(environ).map_err(|_| io::Error::other("they are not UTF-8"))?;
    text.strip_suffix('\0')
        .unwrap_or(text)
        .split('\0')
        .rev() // of two with one name the first counts, getenv(3)
        .map(|each| each.split_once('='))
        .map(|pair| pair.map(|(name, value)| (name.to_owned(), value.to_owned())))
        .collect::<Option<_>>()
        .ok_or_else(|| io::Error::other("the process has overwritten them"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_may_be_empty_and_hold_an_equals_sign() {
        let found = variables(b"LC_ALL=C\0EMPTY=\0JAVA_TOOL_OPTIONS=-Da=b\0").unwrap();
        assert_eq!(found["LC_ALL"], "C");
        assert_eq!(found["EMPTY"], "");
        assert_eq!(found["JAVA_TOOL_OPTIONS"], "-Da=b");
        assert_eq!(found.len(), 3);
    }

    #[test]
    fn of_two_with_one_name_the_first_counts() {
        assert_eq!(variables(b"A=1\0A=2\0").unwrap()["A"], "1");
    }

    #[test]
    fn no_variables_are_something_else_than_variables_written_over() {
        assert!(variables(b"").unwrap().is_empty());
        for over in [&b"\0\0\0\0"[..], b"6379\0\0\0\0", b"A=1\0\xff=2\0"] {
            assert!(variables(over).is_err());
        }
    }
}
