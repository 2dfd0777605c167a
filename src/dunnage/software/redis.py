"""Redis as Debian 12 has it."""

from __future__ import annotations

from dunnage.software.recipe import Recipe

REDIS = Recipe(
    name="redis",
    version="7.0",
    revision=1,
    packages=(
        "redis-tools",
        "libatomic1",
        "libc6",
        "libcap2",
        "libgcc-s1",
        "libgcrypt20",
        "libgpg-error0",
        "libjemalloc2",
        "liblz4-1",
        "liblzf1",
        "liblzma5",
        "libssl3",
        "libstdc++6",
        "libsystemd0",
        "libzstd1",
    ),
    # One binary is server and checkers: it looks at the name that it was called by.
    programs={
        "redis-server": "usr/bin/redis-check-rdb",
        "redis-cli": "usr/bin/redis-cli",
        "redis-benchmark": "usr/bin/redis-benchmark",
    },
)
