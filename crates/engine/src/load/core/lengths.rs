//! How long the values of fields are: YCSB's `fieldlengthdistribution`.
