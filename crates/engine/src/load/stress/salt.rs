//! What keeps the values of one column apart from those of another.
