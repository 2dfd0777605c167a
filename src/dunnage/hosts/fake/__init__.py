"""Hosts that exist in memory, with a clock that runs ahead of ours."""
