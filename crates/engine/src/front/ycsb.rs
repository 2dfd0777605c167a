//! From YCSB's properties to a plan.
