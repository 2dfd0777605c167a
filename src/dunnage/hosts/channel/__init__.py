"""Hosts that are reached by a channel: commands and streams, and an agent at their other end."""
