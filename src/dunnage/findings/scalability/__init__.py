"""How throughput grows with threads."""
