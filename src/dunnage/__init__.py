"""Dunnage: what a platform costs a database, with its uncertainty and its cause."""

__version__ = "0.1.0"
