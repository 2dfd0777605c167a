//! The words of cassandra-stress.
