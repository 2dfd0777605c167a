//! The instant at which all parts of a load begin.
