//! The line on a terminal that tells how the load is going.
