//! What reads found, for those who compare it with what was written.

/// The fields that one operation found in a record.
pub struct Found {
    wanted: bool,
    fields: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Found {
    /// Drivers need not fill in what is not `wanted`.
    pub fn new(wanted: bool) -> Self {
        Self {
            wanted,
            fields: Vec::new(),
        }
    }

    /// Whether anybody will look.
    pub fn wanted(&self) -> bool {
        self.wanted
    }

    /// Forget everything, before the next operation.
    pub fn clear(&mut self) {
        self.fields.clear();
    }

    /// A field with its value.
    pub fn add(&mut self, name: &[u8], value: &[u8]) {
        self.fields.push((name.to_vec(), value.to_vec()));
    }

    /// The value of a field; None where it was not found.
    pub fn value(&self, name: &[u8]) -> Option<&[u8]> {
        let field = self.fields.iter().find(|(known, _)| known == name);
        field.map(|(_, value)| value.as_slice())
    }
}
