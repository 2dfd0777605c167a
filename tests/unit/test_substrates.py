"""What substrates decide about daemons, and read of Docker's contexts."""

from __future__ import annotations

import ipaddress
import shlex
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stand_in_daemon import write_context

from dunnage.contracts.docker import Certificates, DockerBinaries
from dunnage.contracts.host import Completed
from dunnage.errors import UnavailableError
from dunnage.model.agreement import agreed
from dunnage.substrates.daemons import Daemons, mounts_below
from dunnage.substrates.existing import endpoint
from dunnage.substrates.ranges import container_ranges


@given(
    st.lists(st.ip_addresses(v=4, network="10.64.0.0/10").map(str), max_size=20),
)
def test_containers_get_networks_away_from_every_host_and_each_other(addresses: list[str]) -> None:
    ranges = container_ranges(["10.77.0.1", *addresses])
    bridge = ipaddress.ip_interface(ranges.bridge).network
    others = (ranges.pool, ranges.overlay, ranges.pods, ranges.services)
    networks = [bridge, *map(ipaddress.ip_network, others)]
    assert not any(one.overlaps(other) for one, other in combinations(networks, 2))
    for network in networks:
        assert network.prefixlen == 16
        assert not any(ipaddress.ip_address(each) in network for each in addresses)


def test_mounts_below_a_directory_are_undone_in_reverse() -> None:
    table = (
        "overlay / overlay rw 0 0\n"
        "/dev/vda /s/docker/data ext4 rw 0 0\n"
        "nsfs /s/docker/data/netns/default nsfs rw 0 0\n"
        "tmpfs /s/docker-other/x tmpfs rw 0 0\n"
    )
    assert mounts_below(table, "/s/docker") == (
        "/s/docker/data/netns/default",
        "/s/docker/data",
    )


class Lasting:
    """A daemon's process that no signal ends."""

    def __init__(self) -> None:
        self.signals: list[str] = []

    def poll(self) -> None:
        return None

    def signal(self, name: str) -> None:
        self.signals.append(name)

    def wait(self, timeout: float) -> NoReturn:
        raise TimeoutError(f"process 7 still runs after {timeout:g} s")


class Leaving:
    """The host of a daemon, which notes what is asked of it."""

    name, scratch = "db-1", "/s/db-1"

    def __init__(self) -> None:
        self.told: list[str] = []

    def run(self, argv: Sequence[str]) -> Completed:
        self.told.append(" ".join(argv))
        mounts = "nsfs /s/db-1/docker/data/netns/default nsfs rw 0 0\n"
        return Completed(0, mounts if argv[0] == "cat" else "", "")

    def get(self, path: str) -> bytes:
        return f"the end of {path}\n".encode()

    def thaw(self, unit: str) -> None:
        self.told.append(f"thaw {unit}")

    def remove(self, path: str) -> None:
        self.told.append(f"remove {path}")
        raise OSError(f"{path} is busy")


def test_a_daemon_that_cannot_be_killed_is_told_and_all_else_of_it_is_removed() -> None:
    host, process = Leaving(), Lasting()
    testbed: Any = SimpleNamespace(lost=tuple)
    binaries = DockerBinaries(Path("/b/dockerd"), {}, "test", ("/etc/docker",))
    daemons = Daemons(testbed, binaries, [host])  # type: ignore[list-item]
    daemons._processes["db-1"] = process  # type: ignore[assignment]
    with pytest.raises(UnavailableError, match=r"lives 20 s after it was killed; its log") as told:
        daemons.stop()
    assert told.value.where == "db-1"
    assert process.signals == ["TERM", "KILL"]
    assert host.told == [
        "thaw daemon",
        "cat /proc/mounts",
        "umount /s/db-1/docker/data/netns/default",
        "remove /s/db-1/docker",
        "rm -f -d /etc/docker",
    ]


def test_facts_on_which_hosts_agree_stand_once() -> None:
    told = {"db-1": {"driver": "overlay2", "mtu": "1500"}, "db-2": {"driver": "overlay2"}}
    assert agreed(told) == {"driver": "overlay2", "mtu": "db-1: 1500, db-2: None"}
    assert agreed({}) == {}


def test_a_context_gives_its_address_and_its_certificates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    write_context(tmp_path, "plain", "unix:///run/mine.sock", certificates=False)
    write_context(tmp_path, "secret", "tcp://db.example:2376", certificates=True)
    assert endpoint("db-1", "plain") == ("unix:///run/mine.sock", None)
    url, certificates = endpoint("db-1", "secret")
    assert url == "tcp://db.example:2376"
    assert certificates is not None
    directory = Path(certificates.authority).parent
    assert certificates == Certificates(
        authority=f"{directory}/ca.pem",
        certificate=f"{directory}/cert.pem",
        key=f"{directory}/key.pem",
        verify=True,
    )


def test_an_unknown_context_is_refused_with_the_command_that_lists_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    write_context(tmp_path, "known", "unix:///run/mine.sock", certificates=False)
    with pytest.raises(UnavailableError, match="no Docker context `other`") as refused:
        endpoint("db-1", "other")
    assert refused.value.hint == "docker context ls"


def test_a_damaged_context_is_refused_with_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    write_context(tmp_path, "torn", "unix:///run/mine.sock", certificates=False)
    next(tmp_path.glob("contexts/meta/*/meta.json")).write_text("{")
    with pytest.raises(UnavailableError, match="context `torn` cannot be read"):
        endpoint("db-1", "torn")


def test_a_context_of_any_name_can_be_asked_about_with_the_command_that_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / "my docker"
    directory.mkdir()
    monkeypatch.setenv("DOCKER_CONFIG", str(directory))
    name = "torn; reboot"
    with pytest.raises(UnavailableError, match="cannot be found") as refused:
        endpoint("db-1", name)
    assert shlex.split(refused.value.hint) == ["echo", "{}", ">", f"{directory}/config.json"]
    write_context(directory, name, "unix:///run/mine.sock", certificates=False)
    next(directory.glob("contexts/meta/*/meta.json")).write_text("{")
    with pytest.raises(UnavailableError, match="cannot be read") as refused:
        endpoint("db-1", name)
    assert shlex.split(refused.value.hint) == ["docker", "context", "inspect", name]
