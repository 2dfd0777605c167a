"""Whether deployments ran the same thing."""
