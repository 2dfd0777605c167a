"""Real members on a real lab: the same Redis natively and in containers, and what can go wrong."""

from __future__ import annotations

import json
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import living
import pytest
from group_files import content, is_held

from dunnage import lab_tool
from dunnage.contracts.host import Host
from dunnage.contracts.platform import Seen
from dunnage.contracts.software import Tree
from dunnage.contracts.substrate import Substrate
from dunnage.contracts.testbed import Testbed
from dunnage.databases.redis.database import Redis
from dunnage.docker_api import connect
from dunnage.errors import StayError, UnavailableError
from dunnage.hosts.namespace.testbed import open_namespace
from dunnage.model.choices import ClientPlace, Cores, Storage
from dunnage.model.deployment import Deployment
from dunnage.model.layout import Probe, Reservation, Service, Software
from dunnage.model.load import WatchOrder
from dunnage.model.study import Limits, TestbedSpec
from dunnage.platforms.client_container import ClientContainer
from dunnage.platforms.docker import Docker
from dunnage.platforms.native import Native
from dunnage.runner.endpoint import allowed, resolved
from dunnage.runner.formation import form
from dunnage.samplers.engine import EngineSampler
from dunnage.software.engine import engine_path
from dunnage.software.trees import DebianSoftware
from dunnage.substrates.daemons import Daemons, open_daemons
from dunnage.substrates.existing import open_existing

pytestmark = pytest.mark.live

TREES = DebianSoftware()
LIMITS = Limits(memory=2**28, cpus=0.5, pids=50)
NATIVE = living.deployed("native", "host", "host-port", name="native")
DOCKER_HOST = NATIVE.model_copy(update={"name": "docker-host", "platform": "docker"})
DOCKER_BRIDGE = DOCKER_HOST.model_copy(update={"name": "docker-bridge", "network": "bridge"})
USER_DEFINED = DOCKER_HOST.model_copy(update={"name": "docker-user", "network": "user-defined"})
VARIANTS = (NATIVE, DOCKER_HOST, DOCKER_BRIDGE, USER_DEFINED)
every_variant = pytest.mark.parametrize("deployment", VARIANTS, ids=lambda each: each.name)
native_and_docker = pytest.mark.parametrize(
    "deployment", (NATIVE, DOCKER_BRIDGE), ids=lambda each: each.name
)


@dataclass(frozen=True)
class Lab:
    testbed: Testbed
    substrate: Daemons

    @property
    def database_hosts(self) -> tuple[Host, ...]:
        return self.testbed.group("db")

    @property
    def client(self) -> Host:
        return self.testbed.group("client")[0]


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    spec = TestbedSpec(kind="namespace", hosts={"db": 2, "client": 1}, cores=Cores.SHARED)
    with (
        open_namespace(spec, name="platforms", engine=engine_path(), keep=False) as testbed,
        open_daemons(testbed, TREES.dockerd(), testbed.hosts) as substrate,
    ):
        yield Lab(testbed, substrate)


def tree() -> Tree:
    return TREES.tree(Software("redis", "7.0"))


def cli(host: Host, address: object, *words: str) -> str:
    """What redis-cli on a host prints."""
    where, _, port = str(address).rpartition(":")
    host.put_tree(tree().source, tree().prefix)
    done = host.run([f"{tree().prefix}/bin/redis-cli", "-h", where, "-p", port, *words])
    return done.stdout + done.stderr


@contextmanager
def deployed(
    lab: Lab, deployment: Deployment, substrate: Substrate | None = None
) -> Iterator[tuple[Native | Docker, Reservation]]:
    """A stay of one deployment, formed; gone afterwards, which is checked."""
    with prepared(lab, deployment, substrate) as (platform, reservation):
        walk = partial(Redis().stages, deployment.database)
        formed = form(platform, walk, reservation, lab.testbed.clock, deadline=30.0)
        yield platform, formed.reservation


@contextmanager
def prepared(
    lab: Lab, deployment: Deployment, substrate: Substrate | None = None
) -> Iterator[tuple[Native | Docker, Reservation]]:
    """A stay of one deployment, reserved; what comes up in it is gone afterwards."""
    make: type[Native | Docker] = Native if deployment.platform == "native" else Docker
    platform = make(deployment, lab.database_hosts, substrate or lab.substrate, TREES, "b1-live")
    try:
        yield platform, platform.reserve(Redis().layout(deployment.database))
    finally:
        platform.down()
    assert traces(lab) == {}


def traces(lab: Lab) -> dict[str, list[str]]:
    """All that a stay could have left on the hosts, by what it is."""
    left: dict[str, list[str]] = {}

    def note(what: str, found: list[str]) -> None:
        if found:
            left.setdefault(what, []).extend(found)

    for host in lab.testbed.hosts:
        client = connect(lab.substrate.daemon(host.name))
        note("containers", [str(each.name) for each in client.containers.list(all=True)])
        note("volumes", [str(each.name) for each in client.volumes.list()])
        kinds = ("bridge", "host", "none")
        names = [str(each.name) for each in client.networks.list()]
        note("networks", [name for name in names if name not in kinds])
        client.close()
        processes = host.run(["sh", "-c", "cat /proc/[0-9]*/comm"]).stdout.split("\n")
        note("processes", [name for name in processes if name in ("redis-server", "docker-proxy")])
        mounts = host.run(["cat", "/proc/mounts"]).stdout.splitlines()
        note("mounts", [each for each in mounts if "/members/" in each or " overlay " in each])
        directories = host.run(["sh", "-c", f"ls {host.scratch}/members 2>/dev/null"]).stdout
        note("directories", directories.split())
    return left


def until(true: Callable[[], bool]) -> None:
    """Ask again and again, for ten seconds at most."""
    ends = time.monotonic() + 10.0
    while not true():
        assert time.monotonic() < ends, "it did not come true within ten seconds"


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


@every_variant
def test_a_crashed_member_is_noticed_with_its_log(lab: Lab, deployment: Deployment) -> None:
    with deployed(lab, deployment) as (platform, reservation):
        victim = reservation.places[1].member
        platform.crash(victim)
        with pytest.raises(StayError, match="died: exit code") as noticed:
            until(lambda: not platform.running())
        assert noticed.value.where == victim
        assert "its log ends:" in noticed.value.what
        assert "Configuration loaded" in noticed.value.what
        assert "Configuration loaded" in platform.log(victim, 200)


def altered(service: Service, **changes: Any) -> Service:
    return replace(service, **changes)


def first_services(deployment: Deployment, reservation: Reservation) -> tuple[Service, ...]:
    return Redis().stages(deployment.database, reservation)[0].services


@native_and_docker
def test_a_member_that_never_becomes_ready_is_given_up_with_its_log(
    lab: Lab, deployment: Deployment
) -> None:
    with prepared(lab, deployment) as (platform, reservation):
        services = first_services(deployment, reservation)
        never = Probe((*services[0].ready.argv[:-1], "ECHO", "no"), expect="yes")
        with pytest.raises(StayError, match=r"(?s)was not ready within 1 s.*Redis") as noticed:
            platform.up([altered(services[0], ready=never), *services[1:]], deadline=1.0)
        assert noticed.value.where == services[0].member


@native_and_docker
def test_a_member_that_ends_early_is_told_at_once(lab: Lab, deployment: Deployment) -> None:
    with prepared(lab, deployment) as (platform, reservation):
        services = first_services(deployment, reservation)
        broken = altered(services[0], argv=(services[0].argv[0], "--no-such-directive", "1"))
        with pytest.raises(StayError, match=r"(?s)ended before it was ready: exit code 1.*FATAL"):
            platform.up([broken], deadline=60.0)


@every_variant
def test_what_a_member_forked_is_gone_too(lab: Lab, deployment: Deployment) -> None:
    with deployed(lab, deployment) as (platform, reservation):
        first = reservation.places[0]
        address = first.ports["redis"].contact
        slowly = ("CONFIG", "SET", "rdb-key-save-delay", "10000000")
        assert cli(lab.client, address, *slowly) == "OK\n"
        assert cli(lab.client, address, "SET", "key", "value") == "OK\n"
        assert "started" in cli(lab.client, address, "BGSAVE")
        platform.crash(first.member)


@every_variant
def test_a_port_in_use_is_named_with_its_holder(lab: Lab, deployment: Deployment) -> None:
    with prepared(lab, deployment) as (platform, reservation):
        place = reservation.places[0]
        host = next(each for each in lab.database_hosts if each.name == place.host)
        address = place.ports["redis"].contact
        host.put_tree(tree().source, tree().prefix)
        squatter = host.start(
            [
                f"{tree().prefix}/bin/redis-server",
                *("--bind", address.host, "--port", str(address.port), "--protected-mode", "no"),
            ],
            unit="squatter",
            log=f"{host.scratch}/squatter.log",
        )
        try:
            until(lambda: cli(lab.client, address, "PING") == "PONG\n")
            with pytest.raises(StayError, match=f"port {address.port} .*redis-server.*pid"):
                platform.up(first_services(deployment, reservation), deadline=30.0)
        finally:
            squatter.signal("KILL")
            squatter.wait(10.0)


@native_and_docker
def test_commands_beside_a_member_have_input_outputs_and_code(
    lab: Lab, deployment: Deployment
) -> None:
    with deployed(lab, deployment) as (platform, reservation):
        member = reservation.places[0].member
        probe = first_services(deployment, reservation)[0].ready.argv
        words = [word for word in probe if word.upper() != "PING"]
        echoed = platform.run(member, words, stdin="ECHO hello\nECHO again\n", timeout=10.0)
        assert (echoed.code, echoed.stdout) == (0, "hello\nagain\n")
        failed = platform.run(member, [words[0], "-p", "1", "PING"], stdin="", timeout=10.0)
        assert failed.code == 1
        assert "refused" in failed.stderr


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


def test_held_daemons_use_no_processor_and_wake_again(lab: Lab) -> None:
    host = lab.database_hosts[0]
    lab.substrate.freeze()
    try:
        assert is_held(host.control_group("daemon"))
    finally:
        lab.substrate.wake()
    with deployed(lab, DOCKER_BRIDGE) as (platform, _):
        assert platform.running()


def test_a_host_without_a_context_is_refused(lab: Lab) -> None:
    with (
        pytest.raises(UnavailableError, match="no Docker context is named"),
        open_existing({}, lab.database_hosts),
    ):
        raise AssertionError("unreachable: the context is missing")


def test_contexts_without_a_configuration_file_are_told_what_is_missing(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    with (
        pytest.raises(UnavailableError, match=r"cannot be found without .*config\.json"),
        open_existing({"db-1": "mine"}, lab.database_hosts[:1]),
    ):
        raise AssertionError("unreachable: there is no configuration")


def test_a_context_whose_daemon_is_gone_is_refused(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_context(tmp_path, "gone", f"unix://{tmp_path}/none.sock")
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    with (
        pytest.raises(UnavailableError, match="context `gone` does not answer"),
        open_existing({"db-1": "gone"}, lab.database_hosts[:1]),
    ):
        raise AssertionError("unreachable: the daemon is gone")


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


def write_context(directory: Path, name: str, url: str) -> None:
    meta = directory / "contexts" / "meta" / sha256(name.encode()).hexdigest()
    meta.mkdir(parents=True)
    (directory / "config.json").write_text("{}")
    endpoint = {"docker": {"Host": url, "SkipTLSVerify": False}}
    (meta / "meta.json").write_text(
        json.dumps({"Name": name, "Metadata": {}, "Endpoints": endpoint})
    )


def answers(substrate: Daemons, host: str) -> bool:
    client = connect(substrate.daemon(host))
    try:
        return bool(client.ping())
    finally:
        client.close()


def test_kept_daemons_live_on_with_their_hosts() -> None:
    spec = TestbedSpec(kind="namespace", hosts={"db": 1})
    with open_namespace(spec, name="keeping", engine=engine_path(), keep=False) as testbed:
        with open_daemons(testbed, TREES.dockerd(), testbed.hosts, keep=True) as substrate:
            pass
        assert answers(substrate, "db-1")


@pytest.mark.quiet  # all labs share these places, so no other may be there
def test_daemons_leave_nothing_outside_their_lab() -> None:
    traces = [Path(trace) for trace in TREES.dockerd().traces]
    assert traces or shutil.which("dockerd")
    spec = TestbedSpec(kind="namespace", hosts={"db": 1})
    with (
        open_namespace(spec, name="traceless", engine=engine_path(), keep=False) as testbed,
        open_daemons(testbed, TREES.dockerd(), testbed.hosts) as substrate,
    ):
        assert answers(substrate, "db-1")
        made = [trace for trace in traces if trace.exists()]
    assert made == traces
    assert not [trace for trace in traces if trace.exists()]
    for trace in reversed(traces):  # as a daemon that was killed leaves them
        trace.touch() if trace.suffix else trace.mkdir()
    lab_tool.clean(kept=False)
    assert not [trace for trace in traces if trace.exists()]


def test_a_daemon_that_cannot_start_is_told_with_its_log() -> None:
    spec = TestbedSpec(kind="namespace", hosts={"db": 1})
    found = TREES.dockerd()
    broken = replace(found, environment={**found.environment, "PATH": "/nowhere"})
    with (
        open_namespace(spec, name="breaking", engine=engine_path(), keep=False) as testbed,
        pytest.raises(UnavailableError, match=r"(?s)dockerd ended .* its log ends:.*containerd"),
        open_daemons(testbed, broken, testbed.hosts),
    ):
        raise AssertionError("unreachable: containerd is not found")


def test_daemons_of_a_restored_host_come_back_and_all_vanish_with_the_lab() -> None:
    spec = TestbedSpec(kind="namespace", hosts={"db": 2})
    with open_namespace(spec, name="mending", engine=engine_path(), keep=False) as testbed:
        lost = testbed.host("db-1")
        with open_daemons(testbed, TREES.dockerd(), testbed.hosts) as substrate:
            lost.power_cut()
            until(lambda: testbed.lost() == ("db-1",))
            substrate.freeze()
            substrate.wake()
            testbed.restore("db-1")
            substrate.mend("db-1")
            assert answers(substrate, "db-1")
            sockets = [substrate.daemon(host.name).url for host in testbed.hosts]
        for url in sockets:
            with socket.socket(socket.AF_UNIX) as gone, pytest.raises(OSError, match="No such"):
                gone.connect(url.removeprefix("unix://"))
        assert not list(Path(lost.scratch).glob("docker*"))
