"""A study with Docker's bridge, and what this machine has of its own: before, during and after."""

from __future__ import annotations

import os
import subprocess
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from lab_traces import eventually
from machine_state import NFTABLES, changed, state_within
from orchestrated import finished
from study_process import under_way

from dunnage.software import docker
from dunnage.software.cache import Cache

# Studies beside this one would come and go in places that all of this machine share.
pytestmark = [pytest.mark.live, pytest.mark.proof, pytest.mark.quiet, pytest.mark.timeout(600)]

STUDY = """
dunnage: 1
name: {name}
testbed: {{kind: namespace, hosts: {{db: 2, client: 1}}, cores: shared}}
database: {{kind: redis, topology: replicas, members: 2}}
deployments:
  native: {{platform: native}}
  bridge: {{platform: docker, network: bridge}}
workloads: [A]
records: 1000
load: {{threads: [4], turns: 500ms, warmup: 500ms, duration: 4s}}
sampler: {{rate: 5Hz}}
blocks: 1
deadline: 60s
patience: 0s
"""
FURNISHED = """
set -e
echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6
ip link set lo up
echo bare
read go
ip link add own type bridge
ip link add port type veth peer name plug
ip link set port master own up
ip link set plug up
ip link set own up
ip address add 192.0.2.1/24 dev own
echo 1 > /proc/sys/net/ipv4/ip_forward
iptables-legacy -t nat -A POSTROUTING -s 192.0.2.0/24 -j MASQUERADE
iptables-legacy -P FORWARD DROP
ip6tables-legacy -P FORWARD DROP
iptables-nft -P FORWARD DROP
echo furnished
exec cat
"""
"""A network namespace that stands for a machine with a firewall, and a bridge of its own."""
PLACES = (Path("/etc"), Path("/opt"))
"""Where daemons that are unpacked put things besides their own directories."""


@pytest.fixture
def furnished(tmp_path: Path) -> Iterator[tuple[str, ...]]:
    """What runs a program in such a network. Each thing in it was seen when it came."""
    lock = {"XTABLES_LOCKFILE": str(tmp_path / "lock")}
    with subprocess.Popen(
        ["unshare", "--net", "sh", "-c", FURNISHED],
        stdin=subprocess.PIPE,  # it ends with this process
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **docker.unpacked(Cache()).environment, **lock},
    ) as holder:
        assert holder.stdin is not None and holder.stdout is not None
        within = ("nsenter", f"--target={holder.pid}", "--net")
        try:
            assert holder.stdout.readline() == "bare\n"
            bare = state_within(within)
            holder.stdin.write("go\n")
            holder.stdin.flush()
            assert holder.stdout.readline() == "furnished\n"
            assert eventually(lambda: links(within).count("state UP") == 3)
            came = changed(bare, state_within(within))
            assert {
                *("ip -oneline link", "ip -oneline address", "ip route show table all"),
                *("bridge link", "iptables-legacy-save", "ip6tables-legacy-save", NFTABLES),
                *("net/ipv4/ip_forward", "net/ipv4/conf/own/forwarding"),
            } <= set(came)
            yield within
        finally:
            holder.kill()


def links(within: tuple[str, ...]) -> str:
    """Its interfaces; the kernel takes a moment to see that they are up."""
    asked = [*within, "ip", "-oneline", "link"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout


def insist_untouched(
    within: tuple[str, ...], place: Path, record_property: Callable[[str, object], None]
) -> None:
    """Carry out a study, and fail if the machine differs in the middle of it or afterwards."""
    name, path = f"untouched-{uuid.uuid4().hex[:8]}", place / "study.yaml"
    path.write_text(STUDY.format(name=name))
    before, files = state_within(within), names()
    with under_way(name, path, lambda study: study.member("turns --plan"), within) as running:
        assert changed(before, state_within(within)) == {}
        assert running.program("docker-proxy"), "the bridge publishes no port"
        result = finished(running)
    assert {each.deployment for each in result.records} == {"native", "bridge"}
    assert changed(before, state_within(within)) == {}
    assert names() == files
    record_property("seen", f"{len(before)} settings and tables were the same")


def names() -> list[str]:
    """Everything below those places."""
    return sorted(str(each) for place in PLACES for each in place.rglob("*"))


def test_this_machine_is_the_same_in_a_study_behind_a_bridge_and_after_it(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    insist_untouched((), tmp_path, record_property)


def test_a_machine_with_a_firewall_and_a_bridge_of_its_own_keeps_them_as_they_are(
    furnished: tuple[str, ...], tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    insist_untouched(furnished, tmp_path, record_property)
