"""Every implementation of every contract: a new one is one line in one of these lists.

What needs root and real daemons is marked `live`; the rest runs anywhere in about a second.
"""

from __future__ import annotations

import pytest
from cases import DatabaseCase, GeneratorCase, SamplerCase
from fake_cases import FAKE_LATE, FAKE_PLAIN, FAKE_SHARDED, FAKE_SINGLE, FAKE_TESTBED, fake_bench
from real_cases import (
    CASSANDRA_ONE,
    CASSANDRA_RING,
    DOCKER_BRIDGE,
    DOCKER_HOST,
    DOCKER_USER_DEFINED,
    NAMESPACE,
    NATIVE,
    REDIS_CLUSTER,
    REDIS_REPLICAS,
    REDIS_SINGLE,
)

from dunnage.databases.cassandra import Cassandra
from dunnage.databases.fake import FakeDatabase
from dunnage.databases.redis import Redis
from dunnage.generators.fake import FakeGenerator
from dunnage.samplers.fake import FakeSampler

TESTBEDS = [
    pytest.param(FAKE_TESTBED, id="fake"),
    pytest.param(NAMESPACE, id="namespace", marks=pytest.mark.live),
]

PLATFORMS = [
    pytest.param(FAKE_PLAIN, id="fake-plain"),
    pytest.param(FAKE_LATE, id="fake-late-container"),
    pytest.param(NATIVE, id="native", marks=pytest.mark.live),
    pytest.param(DOCKER_HOST, id="docker-host", marks=pytest.mark.live),
    pytest.param(DOCKER_BRIDGE, id="docker-bridge", marks=pytest.mark.live),
    pytest.param(DOCKER_USER_DEFINED, id="docker-user-defined", marks=pytest.mark.live),
]

DATABASES = [
    pytest.param(DatabaseCase(FakeDatabase, FAKE_SINGLE), id="fake-single"),
    pytest.param(DatabaseCase(FakeDatabase, FAKE_SHARDED), id="fake-sharded"),
    pytest.param(DatabaseCase(Redis, REDIS_SINGLE), id="redis-single"),
    pytest.param(DatabaseCase(Redis, REDIS_REPLICAS), id="redis-replicas"),
    pytest.param(DatabaseCase(Redis, REDIS_CLUSTER), id="redis-cluster"),
    pytest.param(DatabaseCase(Cassandra, CASSANDRA_ONE), id="cassandra-one"),
    pytest.param(DatabaseCase(Cassandra, CASSANDRA_RING), id="cassandra-ring"),
]

GENERATORS = [pytest.param(GeneratorCase(FakeGenerator, fake_bench), id="fake")]

SAMPLERS = [pytest.param(SamplerCase(FakeSampler, FAKE_TESTBED), id="fake")]
