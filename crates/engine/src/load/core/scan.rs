//! How many records a scan asks for: YCSB's `scanlengthdistribution`.
