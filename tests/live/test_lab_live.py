"""`dunnage lab`: a real Swarm on this machine without a study, from its making to its end."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any

import docker
import pytest
from standing_labs import said, stands

from dunnage.errors import ExitCode

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def swarm() -> Iterator[dict[str, Any]]:
    with stands("--hosts", "2", "--swarm", "--expose") as lab:
        yield lab


def test_a_swarm_stands_with_its_manager_on_a_host_of_its_own(swarm: dict[str, Any]) -> None:
    insist_whole(swarm)


def insist_whole(swarm: dict[str, Any]) -> None:
    """All hosts of a Swarm's lab are nodes that are ready, and one of them is its manager."""
    assert list(swarm["hosts"]) == ["db-1", "db-2", "client-1", "control-1"]
    status = said("status", "--format", "json")
    (lab,) = (each for each in json.loads(status.stdout) if each["lab"] == swarm["lab"])
    assert lab["kept"]
    assert all(host["alive"] and host["daemon"] for host in lab["hosts"])
    (control,) = (host["daemon"] for host in lab["hosts"] if host["name"] == "control-1")
    with contextlib.closing(docker.DockerClient(base_url=control)) as client:
        nodes = client.nodes.list()
        assert sorted(node.attrs["Description"]["Hostname"] for node in nodes) == sorted(
            swarm["hosts"]
        )
        assert {node.attrs["Status"]["State"] for node in nodes} == {"ready"}
        assert [
            n.attrs["Description"]["Hostname"] for n in nodes if "ManagerStatus" in n.attrs
        ] == ["control-1"]


def test_the_contexts_that_it_wrote_lead_to_its_daemons(
    swarm: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_CONFIG", swarm["contexts"])
    for host in swarm["hosts"]:
        context = docker.ContextAPI.get_context(host)
        assert context is not None
        with contextlib.closing(docker.DockerClient(base_url=context.Host)) as client:
            assert client.info()["Name"] == host


def test_a_shell_is_inside_of_its_host(swarm: dict[str, Any]) -> None:
    where = said("shell", "--lab", swarm["lab"], "db-2", "--", "hostname")
    assert (where.returncode, where.stdout) == (0, "db-2\n")
    addresses = said("shell", "--lab", swarm["lab"], "db-2", "--", "ip", "-json", "address")
    assert swarm["hosts"]["db-2"] in addresses.stdout
    failed = said("shell", "--lab", swarm["lab"], "db-2", "--", "false")
    assert failed.returncode == 1
    unknown = said("shell", "--lab", swarm["lab"], "db-9")
    assert unknown.returncode == ExitCode.USAGE
    assert "db-1, db-2, client-1, control-1" in unknown.stderr


def test_two_labs_stand_side_by_side_and_must_be_named(swarm: dict[str, Any]) -> None:
    with stands("--hosts", "1") as second:
        assert second["lab"] != swarm["lab"]
        unclear = said("shell", "db-1", "--", "true")
        assert unclear.returncode == ExitCode.USAGE
        assert second["lab"] in unclear.stderr
        assert swarm["lab"] in unclear.stderr
    assert said("shell", "--lab", swarm["lab"], "db-1", "--", "true").returncode == 0


@pytest.mark.proof
@pytest.mark.kubernetes
def test_a_kubernetes_beside_a_swarm_is_whole_and_so_is_the_swarm_then_and_after_it(
    swarm: dict[str, Any],
) -> None:
    with stands("--hosts", "2", "--kubernetes") as cluster:
        asked = ("control-1", "--", "kubectl", "get", "nodes", "--output", "json")
        told = said("shell", "--lab", cluster["lab"], *asked)
        assert told.returncode == 0, told.stderr
        ready = {
            node["metadata"]["name"]: condition["status"]
            for node in json.loads(told.stdout)["items"]
            for condition in node["status"]["conditions"]
            if condition["type"] == "Ready"
        }
        assert ready == dict.fromkeys(("db-1", "db-2", "client-1"), "True")
        insist_whole(swarm)
    insist_whole(swarm)
