//! The distributions of cassandra-stress and their texts, such as `gaussian(1..1000)`.
