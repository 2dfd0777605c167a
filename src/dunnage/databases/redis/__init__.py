"""Redis: single, a primary with replicas, or a Redis Cluster of three or six."""
