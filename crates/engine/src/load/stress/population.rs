//! Which row an operation is for: `-pop`.
