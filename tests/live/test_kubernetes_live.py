"""Redis on a real Kubernetes of a lab: every endpoint, failures with their reasons, and a clash."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from driving import driven
from kubernetes_lab import TREES, Lab, deployed_as, formed, opened, traces
from lightkube import Client
from lightkube.codecs import from_dict
from lightkube.resources.apps_v1 import StatefulSet
from lightkube.resources.core_v1 import Namespace, Pod, Service
from living import REPLICAS, STAY
from recorded import recorded

from dunnage.clusters import begun
from dunnage.clusters.removal import delete
from dunnage.contracts.platform import GivesAccount, Seen
from dunnage.databases.redis.database import Redis
from dunnage.deadline import Deadline
from dunnage.errors import DunnageError, StayError, UnavailableError
from dunnage.findings.parity.compare import compare
from dunnage.findings.parity.factors import factors, keys
from dunnage.kubernetes_api import connect
from dunnage.model.choices import ClientPlace, Peers, Storage
from dunnage.model.deployment import Deployment
from dunnage.model.layout import Software, Stage
from dunnage.model.parity import Cause
from dunnage.model.path import HopKind
from dunnage.model.study import DatabaseSpec, Limits
from dunnage.platforms.docker import Docker
from dunnage.platforms.kubernetes.platform import Kubernetes
from dunnage.platforms.stay_names import StayNames
from dunnage.runner.formation import form
from dunnage.substrates.daemons import open_daemons
from dunnage.substrates.kubernetes.node import SANDBOX
from dunnage.wording.parity import origin, sentence

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

CLUSTER = DatabaseSpec(kind="redis", version="7.0", topology="cluster", members=3)
RING = DatabaseSpec(kind="cassandra", version="5.0", topology="ring", members=3, replication=3)
SINGLE = DatabaseSpec(kind="redis", version="7.0")
VXLAN = {"driver": "bridge", "encapsulation": "vxlan", "mtu": "1450", "proxy": "iptables"}


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with opened() as made:
        yield made


INSIDE = deployed_as("container-dns", ClientPlace.CONTAINER)


PROOF = pytest.mark.proof
ENDPOINTS = [
    pytest.param(deployed_as(), VXLAN, "10.77.0.", {"translation"}, id="host-port"),
    pytest.param(deployed_as("node-port"), VXLAN, "10.77.0.", {"translation"}, id="node-port"),
    pytest.param(
        deployed_as("service-ip"), VXLAN, "10.68.", {"translation", "tunnel"}, id="service-ip"
    ),
    pytest.param(INSIDE, VXLAN, "10.67.", {"tunnel"}, id="container-dns"),
    *(
        pytest.param(*case, id=name, marks=PROOF)
        for name, case in {
            "host-network": (deployed_as(network="host"), {"driver": "host"}, "10.77.0.", set()),
            "service-ip-inside": (
                deployed_as("service-ip", ClientPlace.CONTAINER),
                VXLAN,
                "10.68.",
                {"translation", "tunnel"},
            ),
            "host-name": (deployed_as("host-name"), VXLAN, "10.77.0.", {"translation"}),
            "floating-ip": (
                deployed_as("floating-ip"),
                VXLAN,
                "10.77.1.",
                {"translation", "router"},
            ),
            "direct-peers": (
                deployed_as(peers=Peers.DIRECT),
                VXLAN,
                "10.77.0.",
                {"translation"},
            ),
            "volume": (deployed_as(storage=Storage.VOLUME), VXLAN, "10.77.0.", {"translation"}),
            "tmpfs": (deployed_as(storage=Storage.TMPFS), VXLAN, "10.77.0.", {"translation"}),
            "cluster-dns": (
                INSIDE.model_copy(update={"database": CLUSTER}),
                VXLAN,
                "10.67.",
                {"tunnel"},
            ),
            "cluster-service-ip": (
                deployed_as("service-ip", database=CLUSTER),
                VXLAN,
                "10.68.",
                {"translation", "tunnel"},
            ),
            "cluster-host-port": (
                deployed_as(database=CLUSTER),
                VXLAN,
                "10.77.0.",
                {"translation"},
            ),
            "ring-dns": (
                INSIDE.model_copy(update={"database": RING}),
                VXLAN,
                "10.67.",
                {"tunnel"},
            ),
            "ring-host-port": (deployed_as(database=RING), VXLAN, "10.77.0.", {"translation"}),
            "ring-service-ip": (
                deployed_as("service-ip", database=RING),
                VXLAN,
                "10.68.",
                {"translation", "tunnel"},
            ),
        }.items()
    ),
]


@pytest.mark.parametrize(("deployment", "network", "within", "passed"), ENDPOINTS)
def test_load_stays_inside_of_the_endpoint_and_the_way_is_read_to_its_end(
    lab: Lab, deployment: Deployment, network: dict[str, str], within: str, passed: set[str]
) -> None:
    with formed(lab, deployment) as (platform, target, endpoint):
        found = platform.network()
        assert {name: found[name] for name in network} == network
        assert found["quality"] == "BestEffort"
        client = platform.client(lab.client)
        remotes = driven(client, target)
        assert remotes
        assert remotes <= endpoint
        assert all(each.startswith(within) for each in endpoint)
        for path in platform.paths(client):
            assert not path.unknown
            kinds = {str(hop.kind) for hop in path.hops}
            assert kinds & {"translation", "tunnel", "router"} == passed
            assert path.hops[-1].kind is HopKind.MEMBER


@pytest.mark.parametrize(
    "way",
    [
        pytest.param(("host-port",), id="way0"),
        pytest.param(("container-dns", ClientPlace.CONTAINER), id="way1", marks=PROOF),
    ],
)
def test_limits_are_in_force_in_the_members_control_group(lab: Lab, way: tuple[Any, ...]) -> None:
    limits = Limits(memory=200 * 2**20, cpus=0.5)
    with formed(lab, deployed_as(*way, database=SINGLE, limits=limits)) as (platform, *_):
        assert platform.network()["quality"] == "Guaranteed"
        (member,) = platform.running()
        assert isinstance(member.process, Seen)
        asked = [member.host.engine, "inspect", "--pid", str(member.process.pid), "--data", "/"]
        told = member.host.run(asked).stdout
        assert str(200 * 2**20) in told
        assert re.search('"seccomp":"2:[0-9a-f]{64}"', told), "the pod's filter is read back"


class Changed(Redis):
    """A Redis whose service is another."""

    change: dict[str, Any]

    def stages(self, spec: DatabaseSpec, reservation: Any) -> tuple[Stage, ...]:
        return tuple(
            replace(each, services=tuple(replace(one, **self.change) for one in each.services))
            for each in super().stages(spec, reservation)
        )


def failure(lab: Lab, deployment: Deployment, **change: Any) -> DunnageError:
    """How a stay fails whose members are changed; nothing is left of it."""
    database = Changed()
    database.change = change
    with (
        pytest.raises(DunnageError) as raised,
        formed(lab, deployment, database),
    ):
        raise AssertionError("it was formed")
    assert traces(lab) == []
    return raised.value


ONE = deployed_as(database=SINGLE)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What will not change is not waited for as long as what may."""
    monkeypatch.setattr(begun, "_PATIENCE", 3.0)


@pytest.mark.usefixtures("impatient")
def test_an_image_that_is_missing_is_told_with_the_kubelets_words(lab: Lab) -> None:
    error = failure(lab, ONE, software=Software("redis", "7.0", image="nowhere/redis:7.0"))
    assert isinstance(error, StayError)
    assert str(error).startswith("redis-1: its pod did not start: ")
    assert "nowhere/redis:7.0" in str(error)
    assert error.hint.endswith("# then: dunnage lab shell control-1 -- kubectl describe nodes")


@pytest.mark.usefixtures("impatient")
def test_a_pod_that_fits_no_node_is_told_with_the_schedulers_words(lab: Lab) -> None:
    error = failure(lab, ONE.model_copy(update={"limits": Limits(memory=2**50)}))
    assert "Unschedulable" in str(error)
    assert "Insufficient memory" in str(error)


@pytest.mark.usefixtures("impatient")
def test_what_the_cluster_tells_of_a_stay_that_fails_can_be_kept_before_it_goes(lab: Lab) -> None:
    made = Kubernetes(
        ONE.model_copy(update={"limits": Limits(memory=2**50)}),
        lab.members,
        lab.kubernetes,
        TREES,
        STAY,
    )
    assert isinstance(made, GivesAccount)
    assert made.looking == ""
    try:
        reservation = made.reserve(Redis().layout(SINGLE))
        (stage,) = Redis().stages(SINGLE, reservation)
        with pytest.raises(StayError) as raised:
            made.up(stage.services, 30.0)
        assert raised.value.hint == made.looking
        told = made.account()
    finally:
        made.down()
    assert "pod redis-1-0 on no node: Pending" in told
    assert "PodScheduled is False: Unschedulable: " in told
    assert re.search("Warning Pod redis-1-0: FailedScheduling: .*Insufficient memory", told)
    assert all(f"node {host.name}" in told for host in lab.members)
    assert traces(lab) == []


def test_a_member_that_crashes_is_told_with_its_code_and_its_last_lines(lab: Lab) -> None:
    tree = TREES.tree(Software("redis", "7.0"))
    error = failure(lab, ONE, argv=(f"{tree.prefix}/bin/redis-server", "--no-such-option", "1"))
    assert "redis-1: ended before it was ready: exit code 1" in str(error)
    assert "no-such-option" in str(error)


def test_a_program_that_is_not_in_the_image_is_told(lab: Lab) -> None:
    error = failure(lab, ONE.model_copy(update={"network": "host"}), argv=("/nothing",))
    assert "redis-1: its pod did not start: " in str(error)
    assert "/nothing" in str(error)


@pytest.mark.proof
def test_a_member_that_is_killed_for_memory_is_told_with_its_own_last_lines(lab: Lab) -> None:
    spec = SINGLE.model_copy(update={"settings": {"enable-debug-command": "yes"}})
    limited = deployed_as(database=spec, limits=Limits(memory=32 * 2**20))
    with pytest.raises(StayError) as raised, formed(lab, limited) as (platform, *_):
        place = platform.running()[0]
        cli = f"{TREES.tree(Software('redis', '7.0')).prefix}/bin/redis-cli"
        asked = (cli, "-h", "127.0.0.1", "DEBUG")
        platform.run(place.member, (*asked, "LOG", "about to be full"), stdin="", timeout=60.0)
        fill = (*asked, "POPULATE", "2000000", "key", "100")
        platform.run(place.member, fill, stdin="", timeout=60.0)
        for _ in range(300):  # the kubelet tells of it when it looks
            platform.running()
            lab.testbed.clock.sleep(0.1)
    assert "redis-1: died: exit code 137, out of memory" in str(raised.value)
    assert "about to be full" in str(raised.value), "the server in its place never wrote that"
    assert traces(lab) == []


def theirs(namespace: str) -> list[dict[str, Any]]:
    """A namespace, and in it a set of one pod and a service that have a member's name."""
    inside, labels = {"name": "redis-1", "namespace": namespace}, {"app": "theirs"}
    container = {"name": "theirs", "image": SANDBOX, "imagePullPolicy": "Never"}
    pod = {"terminationGracePeriodSeconds": 0, "containers": [container]}
    chosen = {
        "serviceName": "redis-1",
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
    kinds: list[tuple[str, str, dict[str, Any]]] = [
        ("v1", "Service", {"clusterIP": "None"}),
        ("apps/v1", "StatefulSet", chosen),
    ]
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}},
        *(
            {"apiVersion": of, "kind": kind, "metadata": inside, "spec": spec}
            for of, kind, spec in kinds
        ),
    ]


def living(client: Client, namespace: str) -> list[str]:
    """Ids of what is in a namespace and will stay there."""
    found = [each.metadata for each in client.list(Service, namespace=namespace)]
    found += [each.metadata for each in client.list(StatefulSet, namespace=namespace)]
    found += [each.metadata for each in client.list(Pod, namespace=namespace)]
    return [str(each.uid) for each in found if each and each.deletionTimestamp is None]


def pod_runs(client: Client, namespace: str) -> bool:
    return any(
        each.status and each.status.phase == "Running"
        for each in client.list(Pod, namespace=namespace)
    )


def test_a_namespace_of_someone_elses_is_refused_and_all_in_it_lives_on(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    stay = StayNames("theirs")
    monkeypatch.setattr(StayNames, "of", classmethod(lambda _cls, _stay: stay))
    with closing(connect(lab.kubernetes.api)) as client:
        try:
            for each in theirs(stay.network):
                client.create(from_dict(each))
            within = Deadline.after(60.0)
            while not pod_runs(client, stay.network):
                assert not within.passed, "their pod does not run"
                within.pause(0.1)
            before = living(client, stay.network)
            made = Kubernetes(ONE, lab.members, lab.kubernetes, TREES, "b1-live")
            reservation = made.reserve(Redis().layout(SINGLE))
            (stage,) = Redis().stages(SINGLE, reservation)
            with pytest.raises(UnavailableError, match="`dunnage-theirs`"):
                made.up(stage.services, 30.0)
            made.down()
            assert living(client, stay.network) == before
            assert len(before) == 3
        finally:
            delete(client, Namespace, stay.network)


@PROOF
def test_members_of_a_host_that_was_cut_are_forgotten(lab: Lab) -> None:
    """Last here: the host is restored, and its node anew."""
    made = Kubernetes(deployed_as(), lab.members, lab.kubernetes, TREES, "b1-live")
    reservation = made.reserve(Redis().layout(REPLICAS))
    form(made, partial(Redis().stages, REPLICAS), reservation, lab.testbed.clock, 60.0)
    host = lab.testbed.group("db")[1]
    lab.testbed.host(host.name).power_cut()
    with pytest.raises(DunnageError):
        made.running()
    made.down()
    lab.testbed.restore(host.name)
    lab.kubernetes.mend(host.name)
    assert traces(lab) == []
    with formed(lab, deployed_as()) as (platform, *_):
        assert len(platform.running()) == 2


SECURITY = ("seccomp", "capabilities", "no_new_privileges")
"""What parity calls the parts of a member's security that a container decides on."""


@PROOF
def test_a_member_differs_from_one_of_dockers_only_in_what_is_listed(
    lab: Lab, record_property: Callable[[str, object], None]
) -> None:
    """Filter for system calls, capabilities and privileges are compared as a study compares them,
    and the same member in Docker on the same host has what is not listed."""
    host, clock = lab.members[0], lab.testbed.clock
    pods = deployed_as(database=SINGLE, name="kubernetes")
    docker = pods.model_copy(update={"name": "docker", "platform": "docker", "network": "bridge"})
    with open_daemons(lab.testbed, TREES.dockerd(), (host,)) as daemons:
        there = Docker(docker, (host,), daemons, TREES, "b1-docker")
        with recorded(there, docker, clock) as (_, record):
            beside = record()
    with recorded(Kubernetes(pods, (host,), lab.kubernetes, TREES, STAY), pods, clock) as (_, told):
        seen = told()
    found = compare(beside, seen, keys(factors(docker, pods)))
    limits = [stay.processes[0].limits for stay in (beside, seen)]
    for name in SECURITY:
        values = [each[name] for each in limits]
        listed = [f"{sentence(each)}{origin(each)}" for each in found if each.name == name]
        assert bool(listed) is (values[0] != values[1])
        record_property("seen", "; ".join(listed) or f"{name} as in Docker: {values[0]}")
    assert [stay.processes[0].absent for stay in (beside, seen)] == [{}, {}]
    unexplained = [each for each in found if each.cause not in (Cause.FACTOR, Cause.INHERENT)]
    assert unexplained == [], list(map(sentence, unexplained))
