"""The processes and addresses of containers, as their daemons and hosts tell them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import pytest
from docker import DockerClient
from docker.models.containers import Container
from platform_cases import service

from dunnage.contracts.docker import Daemon
from dunnage.contracts.host import Completed, Host
from dunnage.contracts.platform import Seen
from dunnage.contracts.software import Tree
from dunnage.errors import StayError
from dunnage.platforms import container_member
from dunnage.platforms.container_member import OUT_OF_SIGHT, ContainerMember
from dunnage.platforms.subnets import told_in


class ToldContainer:
    """A container of which its daemon tells a process id."""

    id = "3f2a"

    def __init__(self, pid: int, ends_after: int | None = None) -> None:
        self.attrs = {"State": {"Pid": pid, "Running": pid > 0}}
        self.left = ends_after

    def reload(self) -> None:
        """It stays as it is, or has ended when it was asked so many times."""
        if self.left == 0:
            self.attrs = {"State": {"Pid": 0, "Running": False}}
        self.left = self.left and self.left - 1


class Kernel:
    """A host whose processes are in known control groups; one of None cannot be read."""

    name, engine = "db-1", "/engine"

    def __init__(self, groups: Mapping[int, str | None]) -> None:
        self.groups = {f"/proc/{pid}": text for pid, text in groups.items()}

    def run(self, argv: list[str]) -> Completed:
        there = argv[-1].removesuffix("/cgroup")
        if argv[0] == "test":
            return Completed(0 if there in self.groups else 1, "", "")
        text = self.groups.get(there)
        return Completed(1, "", "cat: no") if text is None else Completed(0, text, "")


def contained(
    pid: int,
    groups: Mapping[int, str | None],
    *,
    ours: bool = False,
    ends_after: int | None = None,
) -> ContainerMember:
    """A member whose daemon tells a process id, on a host with these processes."""
    host = cast("Host", Kernel(groups))
    container = cast("Container", ToldContainer(pid, ends_after))
    daemon = Daemon("db-1", "unix:///socket", ours=ours)
    return ContainerMember(
        service(), host, cast("Tree", None), daemon, cast("DockerClient", None), container
    )


@pytest.mark.parametrize(
    ("groups", "process"),
    [
        ({7: "0::/host/containers/3f2a\n"}, Seen(7, "/host/containers/3f2a")),
        ({7: "3:cpu:/other\n2:memory:/host/3f2a\n"}, Seen(7, "/host/3f2a")),
        ({7: "3:cpu:/a/3f2a\n2:pids,memory:/b/3f2a\n0::/c/3f2a\n"}, Seen(7, "/b/3f2a")),
        ({7: "3:cpu:/a/3f2a\n2:memory:/\n0::/c/3f2a\n"}, Seen(7, "/c/3f2a")),
        ({7: "3:cpu:/a/3f2a\n2:memory:/\n"}, Seen(7, "/a/3f2a")),
        ({}, OUT_OF_SIGHT),
        ({7: "0::/host/someone/else\n"}, OUT_OF_SIGHT),
    ],
    ids=[
        "here",
        "by its memory",
        "by its memory beside others",
        "by the unified group",
        "by any other group",
        "no such process",
        "another process of that id",
    ],
)
def test_a_containers_process_is_seen_where_the_host_has_it_in_the_containers_group(
    groups: dict[int, str], process: object
) -> None:
    assert contained(7, groups).identified().process == process


def test_a_container_without_a_process_is_not_seen() -> None:
    groups = {0: "0::/host/containers/3f2a\n"}
    assert contained(0, groups).identified().process == OUT_OF_SIGHT


@pytest.mark.parametrize(
    ("out_of_memory", "error", "told"),
    [
        (False, "", "exit code 128"),
        (True, "", "exit code 128, out of memory"),
        (False, "no profile", "exit code 128, its daemon says: no profile"),
    ],
)
def test_a_container_that_its_daemon_could_not_start_ended_with_what_the_daemon_says(
    out_of_memory: bool, error: str, told: str
) -> None:
    member = contained(0, {})
    state = {"Running": False, "OOMKilled": out_of_memory, "ExitCode": 128, "Error": error}
    member.container.attrs = {"State": state}
    assert member.ended() == told


@pytest.mark.parametrize("groups", [{}, {7: "0::/host/someone/else\n"}])
def test_a_living_container_of_our_own_daemon_that_its_host_does_not_see_is_an_error(
    groups: dict[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(container_member, "_TOLD", 0.0)
    with pytest.raises(StayError, match="runs as process 7, but its host has no such process"):
        contained(7, groups, ours=True).identified()


def test_a_container_of_our_own_daemon_that_has_just_ended_is_no_error_of_sight() -> None:
    member = contained(7, {}, ours=True, ends_after=2)
    assert member.identified().process == OUT_OF_SIGHT


@pytest.mark.parametrize("ours", [True, False])
def test_control_groups_that_cannot_be_read_are_an_error_and_no_process_out_of_sight(
    ours: bool,
) -> None:
    with pytest.raises(StayError, match="control groups of process 7 cannot be read: cat: no"):
        contained(7, {7: None}, ours=ours).identified()


def test_the_address_that_a_daemon_tells_is_that_in_the_range() -> None:
    networks = {"bridge": {"IPAddress": "172.17.0.2"}, "own": {"IPAddress": "10.66.0.3"}}
    container = {"NetworkSettings": {"Networks": {"none": {"IPAddress": ""}, **networks}}}
    assert told_in("10.66.0.0/16", container) == "10.66.0.3"
    assert told_in("10.77.0.0/16", container) is None
    assert told_in("10.77.0.0/16", {"NetworkSettings": {}}) is None
