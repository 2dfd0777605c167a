"""Whole studies of Redis by the real command: clusters, writes that wait, daemons and images of
someone else's."""

from __future__ import annotations

import os
import shutil
import signal
import tarfile
import uuid
from io import BytesIO
from pathlib import Path

import pytest
from orchestrated import finished
from study_process import answered, driven, insist_nothing_left, started, under_way
from their_daemon import TheirDaemon, write_secured

from dunnage.contracts.software import Tree
from dunnage.model.check import Status
from dunnage.model.layout import Software
from dunnage.model.parity import Aspect, Cause
from dunnage.model.path import HopKind
from dunnage.model.record import Measurement, Record, StayRecord
from dunnage.opened import OpenedResult, open_at
from dunnage.software.trees import DebianSoftware
from dunnage.substrates.contexts import write_contexts
from dunnage.substrates.kubernetes.certificates import Authority
from dunnage.wording.parity import sentence

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

STUDY = """
dunnage: 1
name: {name}
testbed: {{kind: namespace, hosts: {{db: {members}, client: 1}}, cores: shared}}
database: {{kind: redis, members: {members}, {database}}}
substrate: {{{substrate}}}
deployments:
  native: {{platform: native}}
{deployments}
workloads: [{workloads}]
order: published
records: 1000
load: {{threads: [4], warmup: 500ms, duration: {duration}, timeout: 1s}}
blocks: 1
deadline: 60s
patience: 0s
"""
BRIDGE = "  bridge: {platform: docker, network: bridge}"
USER_DEFINED = """\
  user-defined: {platform: docker, network: user-defined}
  inside: {platform: docker, network: user-defined, client: container}"""
REPLICAS = "topology: replicas"
WAITING = f"{REPLICAS}, consistency: {{write: 1}}"
IMAGE, PROGRAMS = "test/redis:own", "/usr/local/bin"
"""An image that no software of ours is in the way to, and where it has its programs."""
SLOTS = {
    "redis-1": "0-5460",
    "redis-2": "5461-10922",
    "redis-3": "10923-16383",
}


def written(
    directory: Path,
    members: int,
    database: str,
    deployments: str = "",
    substrate: str = "",
    workloads: str = "A",
    duration: str = "2s",
) -> tuple[str, Path]:
    """A study under a name of its own."""
    name, path = f"redis-{uuid.uuid4().hex[:8]}", directory / "study.yaml"
    path.write_text(
        STUDY.format(
            name=name,
            members=members,
            database=database,
            deployments=deployments,
            substrate=substrate,
            workloads=workloads,
            duration=duration,
        )
    )
    return name, path


def carried_out(name: str, path: Path) -> OpenedResult:
    """The result of a study that nobody touches, which leaves nothing behind."""
    results = path.parent
    with started(name, results, str(path), "--results", str(results)) as running:
        lab = running.until(running.lab)
        finished(running)
    insist_nothing_left(name, {lab})
    return open_at(results / name)


def record(opened: OpenedResult, deployment: str) -> tuple[Record, Measurement]:
    """The only run of a deployment."""
    (found,) = (each for each in opened.records if each.deployment == deployment)
    assert found.measurement is not None
    return found, found.measurement


def stay(opened: OpenedResult, deployment: str) -> StayRecord:
    """Its only stay."""
    (found,) = (each for each in opened.stays if each.deployment == deployment)
    return found


def insist_answered_inside(opened: OpenedResult, *deployments: str) -> None:
    """Each of them, and no other, was driven at its endpoint alone, without an error."""
    assert {each.deployment for each in opened.records} == set(deployments)
    for deployment in deployments:
        found, measured = record(opened, deployment)
        everything = measured.operations["all"]
        assert everything.count > 100
        assert not any(everything.errors.values()), (deployment, everything.errors)
        assert measured.remotes
        assert set(measured.remotes) <= set(stay(opened, deployment).endpoint)
        gates = {check.check: check.status for check in found.checks}
        assert gates["connections"] is Status.VALID


def unexplained(opened: OpenedResult) -> list[str]:
    """Differences that nothing under study explains."""
    found = (each.difference for each in opened.analysis.parity.differences)
    spoiling = (Cause.UNDECLARED, Cause.UNKNOWN)
    return [sentence(each) for each in found if each.cause in spoiling]


@pytest.fixture(
    scope="module",
    params=[pytest.param(3, id="three"), pytest.param(6, id="six", marks=pytest.mark.proof)],
)
def cluster(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> OpenedResult:
    """One block of a Redis Cluster, natively and behind a bridge."""
    place = tmp_path_factory.mktemp("cluster")
    return carried_out(*written(place, request.param, "topology: cluster", BRIDGE))


def test_a_cluster_is_driven_at_its_endpoint_without_an_error(cluster: OpenedResult) -> None:
    insist_answered_inside(cluster, "native", "bridge")


def test_clients_reach_all_members_of_a_cluster_that_hold_slots(cluster: OpenedResult) -> None:
    for deployment in ("native", "bridge"):
        facts = stay(cluster, deployment).facts
        primaries = {str(facts[f"{member}.announced"]) for member in SLOTS}
        assert len(primaries) == 3
        assert primaries <= set(record(cluster, deployment)[1].remotes)


def test_members_of_a_cluster_tell_the_slots_roles_and_addresses_that_they_have(
    cluster: OpenedResult,
) -> None:
    for deployment in ("native", "bridge"):
        found = stay(cluster, deployment)
        names = [f"redis-{number}" for number in range(1, len(found.endpoint) + 1)]
        told = {each: str(found.facts[f"{each}.slots"]) for each in names}
        assert told == dict.fromkeys(names, "") | SLOTS
        assert {str(found.facts[f"{each}.announced"]) for each in names} == set(found.endpoint)
        copies = len(names) // len(SLOTS) - 1
        for each in names:
            role = "primary" if each in SLOTS else "replica"
            assert found.facts[f"{each}.cluster_role"] == role
            if role == "primary":
                assert found.facts[f"{each}.connected_slaves"] == str(copies)
            else:
                assert found.facts[f"{each}.master_link_status"] == "up"


def test_a_cluster_differs_in_nothing_that_is_not_under_study(cluster: OpenedResult) -> None:
    assert len(cluster.stays) == 2
    assert unexplained(cluster) == []


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> OpenedResult:
    """One block of replicas that are waited for: natively, and on networks of the study's own, once
    with the client on such a network too."""
    place = tmp_path_factory.mktemp("waiting")
    return carried_out(*written(place, 2, WAITING, USER_DEFINED))


@pytest.mark.proof
def test_writes_wait_for_replicas_on_every_network(waiting: OpenedResult) -> None:
    insist_answered_inside(waiting, "native", "user-defined", "inside")
    for each in waiting.records:
        assert each.measurement is not None
        assert each.measurement.operations["update"].count > 0
    assert unexplained(waiting) == []


@pytest.mark.proof
def test_a_client_in_a_container_begins_behind_a_bridge_of_its_own(waiting: OpenedResult) -> None:
    for deployment in ("native", "user-defined", "inside"):
        paths = stay(waiting, deployment).paths
        assert len(paths) == 2
        for path in paths:
            assert not path.unknown
            own = {hop.kind for hop in path.hops if hop.host == "client-1"}
            assert (HopKind.BRIDGE in own) == (deployment == "inside")


@pytest.mark.proof
def test_a_network_of_the_studys_own_is_read_back(waiting: OpenedResult) -> None:
    for deployment in ("user-defined", "inside"):
        network = stay(waiting, deployment).network
        assert network["driver"] == "bridge"
        assert network["bridge"] not in ("", "docker0")
        assert network["translations"] == "1"


@pytest.mark.proof
def test_writes_whose_replica_stands_still_are_errors_and_reads_are_not(tmp_path: Path) -> None:
    name, path = written(tmp_path, 2, WAITING, workloads="A, F", duration="4s")
    with under_way(name, path, driven) as running:
        replica = running.until(lambda: running.member("redis-2/home/redis.conf"))
        os.kill(replica, signal.SIGSTOP)
        running.until(lambda: not running.member("/runs/"))
        os.kill(replica, signal.SIGCONT)
        result = finished(running)
    hurt, whole = sorted(result.records, key=lambda each: each.position)
    assert hurt.measurement is not None and whole.measurement is not None
    gates = {check.check: check.status for check in hurt.checks}
    assert (hurt.status, gates["errors"]) == (Status.INVALID, Status.INVALID)
    assert hurt.measurement.operations["update"].errors["server"] > 0
    assert not any(hurt.measurement.operations["read"].errors.values())
    assert whole.measurement.operations["all"].count > 100
    assert not any(whole.measurement.operations["all"].errors.values())
    assert not [each for each in result.events() if each["event"] == "stay failed"]


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> OpenedResult:
    """One block natively, and on two daemons of someone else's, of which one asks for certificates.

    Their daemons have an image of someone else's too, which the study names.
    """
    place = tmp_path_factory.mktemp("theirs")
    contexts = "docker: {kind: existing, contexts: {db-1: plain, db-2: secured}}"
    name, path = written(place, 2, f'{REPLICAS}, image: "{IMAGE}"', BRIDGE, contexts)
    archive = image_of_theirs(DebianSoftware().tree(Software("redis", "7.0")), place)
    authority = Authority("theirs")
    with (
        TheirDaemon("db-1") as plain,
        TheirDaemon("db-2", authority) as secured,
        pytest.MonkeyPatch.context() as patch,
    ):
        write_contexts(place / "docker", {"plain": plain.reached, "secured": secured.reached})
        write_secured(place / "docker", "secured", authority, authority)
        patch.setenv("DOCKER_CONFIG", str(place / "docker"))
        with started(name, place, str(path), "--results", str(place)) as running:
            running.until(lambda: plain.asked)
            lab = running.lab()
            assert lab is not None
            for daemon in (plain, secured):
                daemon.start(lab)
                daemon.take_image(archive, IMAGE, PROGRAMS)
                daemon.answer()
            finished(running)
    insist_nothing_left(name, {lab})
    return open_at(place / name)


def image_of_theirs(tree: Tree, directory: Path) -> Path:
    """A root file system with another build of Redis, where official images have it.

    It tells another version of itself, and needs the same libraries.
    """
    archive = directory / "image.tar"
    shutil.copyfile(tree.archive, archive)
    with tarfile.open(archive, "a") as tar:
        for name, content in (
            ("redis-server", another_build(tree)),
            ("redis-cli", (tree.source / "bin/redis-cli").read_bytes()),
        ):
            entry = tarfile.TarInfo(f"{PROGRAMS}/{name}".lstrip("/"))
            entry.mode, entry.size = 0o755, len(content)
            tar.addfile(entry, BytesIO(content))
    return archive


def another_build(tree: Tree) -> bytes:
    """A tree's server with another last digit of its version."""
    server = (tree.source / "bin/redis-server").read_bytes()
    own, other = (f"{version}\0".encode() for version in versions(tree))
    assert own in server
    return server.replace(own, other)


def versions(tree: Tree) -> tuple[str, str]:
    """A tree's version, and that of the other build."""
    own = str(tree.facts["version"])
    return own, f"{own[:-1]}{(int(own[-1]) + 1) % 10}"


@pytest.mark.proof
def test_a_study_is_carried_out_on_daemons_of_contexts_one_of_them_over_tls(
    theirs: OpenedResult,
) -> None:
    insist_answered_inside(theirs, "native", "bridge")
    facts = theirs.result.environment
    assert facts["docker.context"] == "db-1: plain, db-2: secured"
    assert facts["docker.frozen_when_unused"] is False
    bridge = stay(theirs, "bridge")
    assert len(bridge.processes) == 2
    assert bridge.unseen == ()


@pytest.mark.proof
def test_an_image_of_someone_elses_is_listed_as_a_difference_and_spoils_no_run(
    theirs: OpenedResult,
) -> None:
    assert unexplained(theirs) == []
    brought = {
        (each.difference.aspect, each.difference.name): each.difference
        for each in theirs.analysis.parity.differences
        if each.difference.comes_with == "image"
    }
    executable = brought[Aspect.EXECUTABLE, ""]
    assert executable.cause is Cause.INHERENT
    assert str(executable.deployment).startswith(f"{PROGRAMS}/redis-server ")
    assert brought[Aspect.ARGUMENT, "0"].deployment == "redis-server"
    own, other = versions(DebianSoftware().tree(Software("redis", "7.0")))
    told = brought[Aspect.FACT, "redis-1.redis_version"]
    assert (told.baseline, told.deployment) == (own, other)
    answer = answered("report", str(theirs.path))
    page = Path(answer["page"]).read_text()
    assert "another executable" in page
    assert f"{PROGRAMS}/redis-server" in page
    assert "comes with the image" in page
