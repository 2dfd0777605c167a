"""Latency distributions and their differences."""
