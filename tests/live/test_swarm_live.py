"""Redis on a real Swarm of a lab: every endpoint, a detour, failures, a Swarm of someone else's."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from driving import driven
from living import REPLICAS
from swarm_lab import Lab, deployed_as, formed, opened, traces
from their_daemon import INSIDE as ASKED_AT
from their_daemon import write_secured

from dunnage.contracts.docker import Daemon
from dunnage.databases.redis.database import Redis
from dunnage.docker_api import connect
from dunnage.errors import StayError, UnavailableError
from dunnage.model.choices import ClientPlace, Storage
from dunnage.model.deployment import Deployment
from dunnage.model.layout import Reservation, Stage
from dunnage.model.study import DatabaseSpec, Limits
from dunnage.platforms.swarm import Swarm
from dunnage.substrates.contexts import write_contexts
from dunnage.substrates.existing_swarm import ExistingSwarm, open_existing_swarm
from dunnage.substrates.kubernetes.certificates import Authority

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

CLUSTER = DatabaseSpec(kind="redis", version="7.0", topology="cluster", members=3)
RING = DatabaseSpec(kind="cassandra", version="5.0", topology="ring", members=3, replication=3)


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with opened() as made:
        yield made


INSIDE = deployed_as(endpoint="container-dns", client=ClientPlace.CONTAINER)


@pytest.mark.parametrize(
    ("deployment", "drivers"),
    [
        (deployed_as(), {"driver": "overlay", "proxies": "2", "translations": "1"}),
        (deployed_as("host"), {"driver": "host"}),
        (INSIDE, {"driver": "overlay", "proxies": "0", "translations": "0"}),
        pytest.param(
            deployed_as(client=ClientPlace.CONTAINER),
            {"driver": "overlay", "translations": "1"},
            marks=pytest.mark.proof,
        ),
        pytest.param(
            INSIDE.model_copy(update={"database": CLUSTER, "storage": Storage.VOLUME}),
            {"driver": "overlay"},
            marks=pytest.mark.proof,
        ),
        pytest.param(
            deployed_as(database=CLUSTER, storage=Storage.TMPFS),
            {"driver": "overlay"},
            marks=pytest.mark.proof,
        ),
        pytest.param(
            INSIDE.model_copy(update={"database": RING}),
            {"driver": "overlay"},
            marks=pytest.mark.proof,
        ),
        pytest.param(
            deployed_as(endpoint="host-name"), {"driver": "overlay"}, marks=pytest.mark.proof
        ),
        pytest.param(deployed_as(database=RING), {"driver": "overlay"}, marks=pytest.mark.proof),
        *(
            pytest.param(
                deployed_as(endpoint="floating-ip", database=database),
                {"driver": "overlay", "translations": str(ports)},
                marks=pytest.mark.proof,
            )
            for database, ports in ((REPLICAS, 1), (CLUSTER, 2), (RING, 2))
        ),
        pytest.param(
            deployed_as("host", database=RING), {"driver": "host"}, marks=pytest.mark.proof
        ),
        (
            INSIDE.model_copy(update={"network_options": {"com.docker.network.driver.mtu": 1400}}),
            {"driver": "overlay", "mtu": "1350", "option.com.docker.network.driver.mtu": "1400"},
        ),
    ],
    ids=[
        "host-port",
        "host-network",
        "container-dns",
        "inside",
        "cluster-dns",
        "cluster-port",
        "ring-dns",
        "host-name",
        "ring-port",
        "floating-ip",
        "cluster-floating-ip",
        "ring-floating-ip",
        "ring-host",
        "options",
    ],
)
def test_load_stays_inside_of_the_endpoint(
    lab: Lab, deployment: Deployment, drivers: dict[str, str]
) -> None:
    with formed(lab, deployment) as (platform, target, endpoint):
        network = platform.network()
        assert {name: network[name] for name in drivers} == drivers
        remotes = driven(platform.client(lab.client), target)
        assert remotes
        assert remotes <= endpoint
        in_overlay = deployment.endpoint == "container-dns"
        assert all(each.startswith("10.66.") for each in endpoint) == in_overlay
        floating = deployment.endpoint == "floating-ip"
        assert all(each.startswith("10.77.1.") for each in endpoint) == floating
        for path in platform.paths(platform.client(lab.client)):
            assert not path.unknown
            kinds = {hop.kind for hop in path.hops}
            assert ("tunnel" in kinds, "router" in kinds) == (in_overlay, floating)


class Published(Swarm):
    """Members in an overlay whose ports are ports of their hosts besides."""

    _published = "host"


class Meshed(Swarm):
    """A member whose ports are ports of all nodes besides, so that its service has an address in
    the routing mesh as well."""

    _published = "ingress"


def test_the_address_before_a_service_is_that_of_the_stays_network(lab: Lab) -> None:
    alone = DatabaseSpec(kind="redis", version="7.0", topology="single")
    deployment = deployed_as(endpoint="service-ip", client=ClientPlace.CONTAINER, database=alone)
    with formed(lab, deployment, platform=Meshed) as (platform, _, _):
        (service,) = platform._services.values()
        told = platform._api.inspect_service(service)["Endpoint"]["VirtualIPs"]
        named = {platform._api.inspect_network(each["NetworkID"])["Name"]: each for each in told}
        assert len(named) == 2
        own = named[platform._network]["Addr"].partition("/")[0]
        assert platform._stood_for() == {"redis-1": own}


class Astray(Redis):
    """A cluster whose members tell clients the addresses of their hosts."""

    hosts: dict[str, str]

    def stages(self, spec: DatabaseSpec, reservation: Reservation) -> tuple[Stage, ...]:
        return tuple(
            replace(stage, services=tuple(map(self._changed, stage.services)))
            for stage in super().stages(spec, reservation)
        )

    def _changed(self, service: Any) -> Any:
        told = f"cluster-announce-hostname {self.hosts[service.member]}"
        files = {
            path: re.sub(
                r"bind .*", "bind 0.0.0.0", re.sub(r"cluster-announce-hostname \S+", told, text)
            )
            for path, text in service.files.items()
        }
        return replace(service, files=files)


def test_a_cluster_that_announces_its_hosts_behind_an_overlay_is_found_out(lab: Lab) -> None:
    Astray.hosts = {f"redis-{n}": host.address for n, host in enumerate(lab.members, 1)}
    deployment = INSIDE.model_copy(update={"database": CLUSTER})
    with formed(lab, deployment, platform=Published, database=Astray()) as (platform, target, may):
        outside = driven(platform.client(lab.client), target) - may
        assert {each.rpartition(":")[0] for each in outside} <= set(Astray.hosts.values())
        assert outside


def test_a_service_that_cannot_start_is_told_with_its_tasks_last_error(lab: Lab) -> None:
    too_little = deployed_as(limits=Limits.model_construct(memory=5 * 2**20, cpus=None, pids=None))
    with pytest.raises(StayError) as raised, formed(lab, too_little):
        raise AssertionError("it started")
    assert "redis-1: its service did not start" in str(raised.value)
    assert "memory" in str(raised.value).lower()
    assert "docker service ps" in (raised.value.hint or "")
    assert traces(lab) == {}


def stays_there(lab: Lab, existing: ExistingSwarm) -> None:
    """Fail unless a Swarm of someone else's takes a stay, and keeps what is theirs."""
    with closing(connect(lab.swarm.manager)) as theirs:
        network = theirs.networks.create("theirs", driver="overlay")
        try:
            existing.freeze()
            assert existing.facts()["frozen_when_unused"] is False
            with formed(lab, INSIDE, existing) as (platform, target, endpoint):
                remotes = driven(platform.client(lab.client), target)
                assert remotes
                assert remotes <= endpoint
            assert [each.name for each in theirs.networks.list(names=["theirs"])] == ["theirs"]
        finally:
            network.remove()


def test_a_swarm_of_someone_elses_takes_a_stay_and_keeps_what_is_theirs(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    daemons = {host.name: lab.swarm.daemon(host.name) for host in lab.testbed.hosts}
    write_contexts(tmp_path, daemons)
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    with open_existing_swarm({name: name for name in daemons}, lab.testbed.hosts) as existing:
        stays_there(lab, existing)
    assert json.loads((tmp_path / "config.json").read_text()) == {}


@pytest.mark.proof
def test_a_swarm_whose_daemons_ask_for_certificates_takes_a_stay_and_refuses_strangers(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    daemons = {}
    for each in lab.testbed.hosts:
        port = lab.testbed.host(each.name).listen_outside(ASKED_AT)
        daemons[each.name] = Daemon(each.name, f"tcp://127.0.0.1:{port}", ours=False)
    contexts = {name: name for name in daemons}
    ours, strange = tmp_path / "ours", tmp_path / "strange"
    for directory in (ours, strange):
        write_contexts(directory, daemons)
        for name in contexts:
            stranger = directory == strange and name == "db-2"
            who = Authority("else") if stranger else lab.authority
            write_secured(directory, name, lab.authority, who)
    monkeypatch.setenv("DOCKER_CONFIG", str(ours))
    with open_existing_swarm(contexts, lab.testbed.hosts) as existing:
        reached = [existing.manager, *(existing.daemon(name) for name in contexts)]
        assert {each.url for each in reached} == {each.url for each in daemons.values()}
        assert all(each.certificates is not None for each in reached)
        stays_there(lab, existing)
    monkeypatch.setenv("DOCKER_CONFIG", str(strange))
    with (
        pytest.raises(UnavailableError, match="`db-2` does not answer") as refusal,
        open_existing_swarm(contexts, lab.testbed.hosts),
    ):
        raise AssertionError("unreachable: a daemon must not answer")
    assert refusal.value.where == "db-2"
    assert refusal.value.hint == "docker --context db-2 info"
