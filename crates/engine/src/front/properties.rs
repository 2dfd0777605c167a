//! Java's property files, which YCSB's workload files are.
