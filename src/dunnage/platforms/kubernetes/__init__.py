"""Members as pods of a Kubernetes, each pinned to its host."""
