"""Hosts made of Linux namespaces on this machine, joined by a network of their own."""
