"""Redis natively and in Docker, in a lab: how it is reached, what it lies on, what is read back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from docker_lab import (
    DOCKER_BRIDGE,
    DOCKER_HOST,
    NATIVE,
    TREES,
    USER_DEFINED,
    Lab,
    cli,
    deployed,
    every_variant,
    first_services,
    native_and_docker,
    opened,
    prepared,
    traces,
    tree,
    until,
    write_context,
)
from group_files import content

from dunnage.contracts.host import Host
from dunnage.contracts.platform import Seen
from dunnage.databases.redis.database import Redis
from dunnage.docker_api import connect
from dunnage.errors import UnavailableError
from dunnage.model.choices import ClientPlace, Storage
from dunnage.model.deployment import Deployment
from dunnage.model.load import WatchOrder
from dunnage.model.study import Limits
from dunnage.platforms.client_container import ClientContainer
from dunnage.platforms.docker import Docker
from dunnage.runner.endpoint import allowed, resolved
from dunnage.runner.formation import form
from dunnage.samplers.engine import EngineSampler
from dunnage.substrates.existing import open_existing

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    """For all of this file."""
    with opened() as made:
        yield made


LIMITS = Limits(memory=2**28, cpus=0.5, pids=50)


@every_variant
def test_a_client_reaches_the_endpoint_and_replicas_follow(
    lab: Lab, deployment: Deployment
) -> None:
    with deployed(lab, deployment) as (platform, reservation):
        client = platform.client(lab.client)
        first = reservation.places[0].ports["redis"].contact
        assert cli(client, first, "SET", "key", "value") == "OK\n"
        for place in reservation.places:
            member = place.ports["redis"].contact
            until(lambda member=member: cli(client, member, "GET", "key") == "value\n")  # type: ignore[misc]
        running = platform.running()
        assert [each.member for each in running] == [p.member for p in reservation.places]
        for each in running:
            seen = each.process
            assert isinstance(seen, Seen)
            name = each.host.run(["cat", f"/proc/{seen.pid}/comm"]).stdout
            assert name == "redis-server\n"
            groups = each.host.run(["cat", f"/proc/{seen.pid}/cgroup"]).stdout
            assert seen.control_group in groups
            assert seen.control_group.startswith(each.host.control_group("") + "/")


@every_variant
def test_the_network_in_force_is_read_back(lab: Lab, deployment: Deployment) -> None:
    expected = {
        "host": {"driver": "host", "interface": "eth0", "mtu": "1500"},
        "bridge": {"driver": "bridge", "bridge": "docker0", "proxies": "1", "translations": "1"},
        "user-defined": {"driver": "bridge", "mtu": "1500", "proxies": "1", "translations": "1"},
    }[deployment.network]
    with deployed(lab, deployment) as (platform, _):
        assert expected.items() <= platform.network().items()


SENT = 8 * 2**20
"""Bytes of a value that is sent to the primary."""


def networked(host: Host, deed: Callable[[], object]) -> dict[str, float]:
    """By how much a host's network counters grew while something was done."""
    sampler, directory = EngineSampler(), f"{host.scratch}/watch-network"
    order = WatchOrder(host.name, host.address, {"": host.control_group("")}, rate=10.0)
    command = sampler.command(order, host.engine, directory)
    for name, text in command.files.items():
        host.put(f"{directory}/{name}", text.encode())
    process = host.start(command.argv, unit="sampler", log=f"{directory}/log")
    until(lambda: b'"sample"' in read(host, f"{directory}/samples.jsonl"))
    deed()
    process.signal("TERM")
    process.wait(10.0)
    samples = sampler.parse({"samples.jsonl": read(host, f"{directory}/samples.jsonl")}).samples
    host.remove(directory)
    first, last = samples[0].units[""], samples[-1].units[""]
    return {name: last[name] - first[name] for name in first}


def read(host: Host, path: str) -> bytes:
    try:
        return host.get(path)
    except FileNotFoundError:
        return b""


@native_and_docker
def test_a_known_number_of_bytes_counts_once_at_the_uplink(
    lab: Lab, deployment: Deployment
) -> None:
    with deployed(lab, deployment) as (platform, reservation):
        client = platform.client(lab.client)
        first = reservation.places[0]
        address = str(first.ports["redis"].contact)
        where, _, port = address.rpartition(":")
        cli(client, address, "PING")  # puts its program there
        client.put(f"{client.scratch}/value", b"x" * SENT)
        words = f"{tree().prefix}/bin/redis-cli -h {where} -p {port} -x SET known"
        send = ["sh", "-c", f"{words} < {client.scratch}/value"]
        host = next(each for each in lab.database_hosts if each.name == first.host)
        grew = networked(host, lambda: client.run(send))
        client.remove(f"{client.scratch}/value")
        assert cli(client, address, "STRLEN", "known") == f"{SENT}\n"
    # Headers, and acknowledgements of what goes to the replica, come on top.
    assert SENT <= grew["received"] <= 1.15 * SENT
    inner = grew["inner_received"] + grew["inner_sent"]
    if deployment.network == "bridge":
        assert inner >= 2 * SENT  # at the bridge and at the container's cable
    else:
        assert inner < 0.01 * SENT


@every_variant
def test_nothing_listens_beyond_the_hosts_own_address(lab: Lab, deployment: Deployment) -> None:
    with deployed(lab, deployment) as (_, reservation):
        for place in reservation.places:
            host = next(each for each in lab.database_hosts if each.name == place.host)
            listening = host.run(["ss", "--no-header", "--listening", "--tcp", "--numeric"]).stdout
            addresses = {line.split()[3] for line in listening.splitlines()}
            assert addresses == {str(place.ports["redis"].contact)}


LIMIT_FILES = {
    "memory": ("memory", "memory.limit_in_bytes", "memory.max"),
    "swap": ("memory", "memory.memsw.limit_in_bytes", "memory.swap.max"),
    "period": ("cpu", "cpu.cfs_period_us", "cpu.max"),
    "quota": ("cpu", "cpu.cfs_quota_us", "cpu.max"),
    "weight": ("cpu", "cpu.shares", "cpu.weight"),
    "pids": ("pids", "pids.max", "pids.max"),
    "cores": ("cpuset", "cpuset.cpus", "cpuset.cpus.effective"),
}
"""What limits a member, by its controller and the names of its file in versions 1 and 2."""


def test_a_container_has_the_limits_paths_and_arguments_of_a_process(lab: Lab) -> None:
    seen = []
    for deployment in (NATIVE, DOCKER_HOST):
        limited = deployment.model_copy(update={"limits": LIMITS})
        with deployed(lab, limited) as (platform, _):
            running = platform.running()[0]
            assert isinstance(running.process, Seen)
            host, group = running.host, running.process.control_group
            facts = {name: content(group, *files) for name, files in LIMIT_FILES.items()}
            proc = f"/proc/{running.process.pid}"
            facts["limits"] = host.run(["cat", f"{proc}/limits"]).stdout
            facts["arguments"] = host.run(["cat", f"{proc}/cmdline"]).stdout
            facts["executable"] = host.run(["readlink", f"{proc}/exe"]).stdout
            facts["directory"] = host.run(["readlink", f"{proc}/cwd"]).stdout
            facts["user"] = host.run(["sh", "-c", f"grep ^Uid {proc}/status"]).stdout
            seen.append(facts)
    native, container = seen
    assert native["memory"] == f"{2**28}\n"
    assert native["quota"].split()[0] == "5000"
    assert native["executable"].startswith(tree().prefix)
    assert container == native


@pytest.mark.parametrize(
    ("deployment", "file_system"),
    [
        (NATIVE, "ext"),
        (NATIVE.model_copy(update={"storage": Storage.TMPFS}), "tmpfs"),
        (DOCKER_HOST, "ext"),
        (DOCKER_HOST.model_copy(update={"storage": Storage.VOLUME}), "ext"),
        (DOCKER_HOST.model_copy(update={"storage": Storage.CONTAINER}), "overlay"),
        (DOCKER_HOST.model_copy(update={"storage": Storage.TMPFS}), "tmpfs"),
    ],
    ids=lambda each: f"{each.platform}-{each.storage}" if isinstance(each, Deployment) else each,
)
def test_data_lies_on_the_storage_that_was_asked_for(
    lab: Lab, deployment: Deployment, file_system: str
) -> None:
    with deployed(lab, deployment) as (platform, reservation):
        place, running = reservation.places[0], platform.running()[0]
        first = place.ports["redis"].contact
        assert cli(lab.client, first, "SET", "key", "value") == "OK\n"
        assert cli(lab.client, first, "SAVE") == "OK\n"
        assert isinstance(running.process, Seen)
        root = f"/proc/{running.process.pid}/root{place.data}"
        found = running.host.run(["stat", "--file-system", "--format=%T", root])
        assert file_system in found.stdout
        assert running.host.run(["ls", root]).stdout.split()


@native_and_docker
def test_a_client_may_begin_at_the_name_of_a_host(lab: Lab, deployment: Deployment) -> None:
    by_name = deployment.model_copy(update={"endpoint": "host-name"})
    with deployed(lab, by_name) as (platform, reservation):
        target = Redis().target(deployment.database, reservation)
        client = platform.client(lab.client)
        assert [address.host for address in target.addresses] == ["db-1", "db-2"]
        assert [cli(client, each, "PING") for each in target.addresses] == ["PONG\n"] * 2
        names = resolved(target, [client])
        assert names == {host.name: (host.address,) for host in lab.database_hosts}
        numbers = {str(place.ports["redis"].advertised) for place in reservation.places}
        assert allowed(target, names) == numbers


@pytest.mark.parametrize(
    "deployment", (DOCKER_HOST, DOCKER_BRIDGE, USER_DEFINED), ids=lambda each: each.name
)
def test_a_client_in_a_container_acts_as_a_host(lab: Lab, deployment: Deployment) -> None:
    inside = deployment.model_copy(update={"client": ClientPlace.CONTAINER})
    with deployed(lab, inside) as (platform, reservation):
        client = platform.client(lab.client)
        address = reservation.places[0].ports["redis"].contact
        assert isinstance(client, ClientContainer)
        # Its image holds the engine alone, so what speaks to the database is only in its network.
        lab.client.put_tree(tree().source, tree().prefix)
        within = ["nsenter", f"--target={client.pid}", "--net", f"{tree().prefix}/bin/redis-cli"]
        program = [*within, "-h", address.host, "-p", str(address.port), "PING"]
        assert lab.client.run(program).stdout == "PONG\n"
        resolved = client.run([client.engine, "resolve", address.host])
        assert json.loads(resolved.stdout) == {address.host: [address.host]}
        client.put(f"{client.scratch}/load/order", b"ECHO put\n")
        log = f"{client.scratch}/load/log"
        process = client.start([client.engine, "--version"], unit="generator", log=log)
        assert process.wait(30.0) == 0
        assert process.poll() == 0
        assert b"dunnage-engine" in client.get(log)
        assert client.get(f"{client.scratch}/load/order") == b"ECHO put\n"
        waiting = client.start([client.engine, "rest"], unit="generator", log=log + "2")
        group = client.control_group("generator")
        assert process.poll() == 0
        seen = lab.client.run(["cat", f"/proc/{waiting.pid}/cgroup"]).stdout
        assert f"{group}/" in seen
        with pytest.raises(TimeoutError):
            waiting.wait(0.2)
        waiting.signal("KILL")
        assert waiting.wait(30.0) == 137
        client.remove(f"{client.scratch}/load")


def test_a_named_image_runs_its_own_programs_from_its_path(lab: Lab) -> None:
    named = DOCKER_BRIDGE.model_copy(
        update={"database": NATIVE.database.model_copy(update={"image": "test/redis:own"})}
    )
    daemons = [connect(lab.substrate.daemon(host.name)) for host in lab.database_hosts]
    try:
        for daemon in daemons:
            daemon.api.import_image_from_file(
                str(tree().archive),
                repository="test/redis",
                tag="own",
                changes=f"ENV PATH={tree().prefix}/bin",
            )
        with deployed(lab, named) as (platform, _):
            running = platform.running()[0]
            assert isinstance(running.process, Seen)
            asked = ["cat", f"/proc/{running.process.pid}/cmdline"]
            arguments = running.host.run(asked).stdout
            assert arguments.startswith("redis-server")
    finally:
        for daemon in daemons:
            daemon.images.remove("test/redis:own", force=True)
            daemon.close()


def test_an_image_that_cannot_be_had_is_said_before_anything_starts(lab: Lab) -> None:
    named = DOCKER_BRIDGE.model_copy(
        update={"database": NATIVE.database.model_copy(update={"image": "localhost:1/no:such"})}
    )
    with (
        prepared(lab, named) as (platform, reservation),
        pytest.raises(UnavailableError, match="image `localhost:1/no:such` is not available"),
    ):
        platform.up(first_services(named, reservation), deadline=30.0)


def test_an_existing_daemon_keeps_what_is_not_ours(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contexts = {}
    for host in lab.database_hosts:
        contexts[host.name] = f"lab-{host.name}"
        write_context(tmp_path, f"lab-{host.name}", lab.substrate.daemon(host.name).url)
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    theirs = connect(lab.substrate.daemon(lab.database_hosts[0].name))
    volume = theirs.volumes.create("theirs")
    try:
        with open_existing(contexts, lab.database_hosts) as existing:
            existing.freeze()
            facts = existing.facts()
            assert facts["frozen_when_unused"] is False
            assert facts["storage_driver"] == "overlay2"
            platform = Docker(USER_DEFINED, lab.database_hosts, existing, TREES, "b1-theirs")
            try:
                reservation = platform.reserve(Redis().layout(USER_DEFINED.database))
                walk = partial(Redis().stages, USER_DEFINED.database)
                form(platform, walk, reservation, lab.testbed.clock, deadline=30.0)
                address = reservation.places[0].ports["redis"].contact
                assert cli(lab.client, address, "PING") == "PONG\n"
            finally:
                platform.down()
        assert traces(lab) == {"volumes": ["theirs"]}
    finally:
        volume.remove(force=True)
        theirs.close()
