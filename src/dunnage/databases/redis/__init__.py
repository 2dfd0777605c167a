"""Redis: single, a primary with replicas, or a Redis Cluster of three or six."""

from dunnage.databases.redis.database import Redis

__all__ = ["Redis"]
