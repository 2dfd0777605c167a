"""Cassandra: a ring of one or more members."""

from dunnage.databases.cassandra.database import Cassandra

__all__ = ["Cassandra"]
