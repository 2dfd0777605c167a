//! The first interrupt ends the load with a result, the second one without.
