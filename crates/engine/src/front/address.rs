//! The database as a URL.
