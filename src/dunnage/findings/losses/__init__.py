"""A loss of throughput that is known beforehand."""
