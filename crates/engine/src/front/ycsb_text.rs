//! What came of a load, as YCSB writes it.
