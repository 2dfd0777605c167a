//! From a seed to the key and the columns of a row.
