"""Every implementation of every contract: a new one is one line in one of these lists.

What needs root and real daemons is marked `live`; the rest runs anywhere in about a second.
"""

from __future__ import annotations

from functools import partial

import pytest
from cases import (
    DatabaseCase,
    GeneratorCase,
    SamplerCase,
    SoftwareCase,
    SubstrateCase,
    bench,
)
from fake_cases import (
    FAKE_LATE,
    FAKE_NAMED,
    FAKE_PLAIN,
    FAKE_SHARDED,
    FAKE_SINGLE,
    FAKE_TESTBED,
    FAKE_UNSEEN,
    fake_substrate,
)
from real_cases import (
    CASSANDRA_ONE,
    CASSANDRA_RING,
    CHANNEL,
    CONTROLLED,
    DOCKER_BRIDGE,
    DOCKER_FLOATING_IP,
    DOCKER_HOST,
    DOCKER_USER_DEFINED,
    KUBERNETES_CONTAINER_DNS,
    KUBERNETES_HOST_PORT,
    KUBERNETES_NODE_PORT,
    KUBERNETES_SERVICE_IP,
    NAMESPACE,
    NATIVE,
    REDIS_CLUSTER,
    REDIS_REPLICAS,
    REDIS_SINGLE,
    SWARM_CONTAINER_DNS,
    SWARM_FLOATING_IP,
    SWARM_HOST_PORT,
    daemons,
    swarm,
)

from dunnage.databases.cassandra.database import Cassandra
from dunnage.databases.fake import FakeDatabase
from dunnage.databases.redis.database import Redis
from dunnage.generators.engine import EngineGenerator
from dunnage.generators.fake import FakeGenerator
from dunnage.model.layout import Software
from dunnage.samplers.engine import EngineSampler
from dunnage.samplers.fake import FakeSampler
from dunnage.software.fake import FakeTrees
from dunnage.software.trees import DebianSoftware

TESTBEDS = [
    pytest.param(FAKE_TESTBED, id="fake"),
    pytest.param(NAMESPACE, id="namespace", marks=pytest.mark.live),
    pytest.param(CHANNEL, id="channel", marks=pytest.mark.live),
]

PLATFORMS = [
    pytest.param(FAKE_PLAIN, id="fake-plain"),
    pytest.param(FAKE_LATE, id="fake-late-container"),
    pytest.param(FAKE_NAMED, id="fake-named-container"),
    pytest.param(FAKE_UNSEEN, id="fake-unseen-container"),
    pytest.param(NATIVE, id="native", marks=pytest.mark.live),
    pytest.param(DOCKER_BRIDGE, id="docker-bridge", marks=pytest.mark.live),
    # Docker without a network of its own does less than with a bridge, and a network of one's own
    # is a bridge too. What is special of floating addresses and of a Swarm is in tests/live, and
    # the whole contract takes minutes on them.
    *(
        pytest.param(case, id=name, marks=[pytest.mark.live, pytest.mark.proof])
        for name, case in (
            ("docker-host", DOCKER_HOST),
            ("docker-user-defined", DOCKER_USER_DEFINED),
            ("docker-floating-ip", DOCKER_FLOATING_IP),
            ("swarm-container-dns", SWARM_CONTAINER_DNS),
            ("swarm-host-port", SWARM_HOST_PORT),
            ("swarm-floating-ip", SWARM_FLOATING_IP),
            ("kubernetes-host-port", KUBERNETES_HOST_PORT),
            ("kubernetes-service-ip", KUBERNETES_SERVICE_IP),
            ("kubernetes-node-port", KUBERNETES_NODE_PORT),
            ("kubernetes-container-dns", KUBERNETES_CONTAINER_DNS),
        )
    ),
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

GENERATORS = [
    pytest.param(GeneratorCase(FakeGenerator, partial(bench, FAKE_PLAIN)), id="fake"),
    pytest.param(
        GeneratorCase(EngineGenerator, partial(bench, NATIVE)), id="engine", marks=pytest.mark.live
    ),
]

SAMPLERS = [
    pytest.param(SamplerCase(FakeSampler, FAKE_TESTBED), id="fake"),
    pytest.param(SamplerCase(EngineSampler, NAMESPACE), id="engine", marks=pytest.mark.live),
]

SUBSTRATES = [
    pytest.param(SubstrateCase(FAKE_TESTBED, fake_substrate), id="fake"),
    pytest.param(SubstrateCase(NAMESPACE, daemons), id="daemons", marks=pytest.mark.live),
    pytest.param(SubstrateCase(CONTROLLED, swarm), id="swarm", marks=pytest.mark.live),
]

SOFTWARE = [
    pytest.param(SoftwareCase(FakeTrees, Software("fake", "1.0")), id="fake"),
    pytest.param(
        SoftwareCase(DebianSoftware, Software("redis", "7.0")),
        id="debian",
        marks=pytest.mark.live,
    ),
    pytest.param(
        SoftwareCase(DebianSoftware, Software("cassandra", "5.0")),
        id="maven",
        marks=pytest.mark.live,
    ),
]
