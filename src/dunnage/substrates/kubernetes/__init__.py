"""A Kubernetes of our own: its control plane on the control host, every other host a node."""
