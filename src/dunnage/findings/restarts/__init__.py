"""Stays in which programs of a lab's Kubernetes were restarted."""
