//! The random numbers of Java, and those that cassandra-stress fills columns with.
