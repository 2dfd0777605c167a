"""What hosts, substrates and platforms need of a Kubernetes that is there already."""
