"""Cassandra: a ring of one or more members."""
