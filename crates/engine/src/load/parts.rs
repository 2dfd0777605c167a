//! A buffer for the parts of one record after another: keys, fields, columns.

/// Parts that follow one another in one piece of memory, which is kept for the next record's.
#[derive(Default)]
pub struct Parts {
    bytes: Vec<u8>,
    /// Of each part.
    ends: Vec<usize>,
}

impl Parts {
    /// Have none.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Have one more: all that `write` appends.
    pub fn add(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.bytes);
        self.ends.push(self.bytes.len());
    }

    /// Each in turn.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.ends.len()).map(|number| {
            let begin = number.checked_sub(1).map_or(0, |before| self.ends[before]);
            &self.bytes[begin..self.ends[number]]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_comes_back_in_its_order_and_nothing_of_the_record_before() {
        let mut parts = Parts::default();
        parts.add(|out| out.extend_from_slice(b"before"));
        parts.clear();
        assert_eq!(parts.iter().len(), 0);
        for word in ["key", "", "value"] {
            parts.add(|out| out.extend_from_slice(word.as_bytes()));
        }
        let all: Vec<&[u8]> = parts.iter().collect();
        assert_eq!(all, [&b"key"[..], b"", b"value"]);
    }
}
