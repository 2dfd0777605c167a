"""Counters that moved with the difference."""
