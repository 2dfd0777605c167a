//! What came of a load, for people.
