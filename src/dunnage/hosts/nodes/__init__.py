"""Hosts that are nodes of a Kubernetes of someone else's."""
