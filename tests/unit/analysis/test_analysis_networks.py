"""Facts of networks in two results: which differ, which nobody can compare, and which are left."""

from __future__ import annotations

from typing import Any

import pytest
from analysis_cases import stay
from analysis_study import STUDY, plan, stays

from dunnage.findings.networks.between import Networks, between
from dunnage.findings.networks.changed import networks_changed
from dunnage.findings.networks.sentences import networks_that_changed
from dunnage.findings.two_results.comparable import Circumstances, mismatches
from dunnage.findings.two_results.sentences import mismatch
from dunnage.model.agreement import agreed, by_host
from dunnage.model.record import StayRecord
from dunnage.model.study import DeploymentSpec

HOSTS = ("db-1", "db-2", "db-11")
NO_NFT, DENIED = "unknown: this host has no nft", "unknown: nft fails: denied"
TRACKED = {"conntrack": "tracked"}


def stays_of(deployment: str, *networks: dict[str, str]) -> list[StayRecord]:
    return [stay(deployment, block, network=facts) for block, facts in enumerate(networks, 1)]


def test_a_network_that_changes_between_stays_of_a_deployment_is_told() -> None:
    found = [
        *stays_of("native", {"mtu": "1500"}, {"mtu": "1500"}),
        *stays_of(
            "docker",
            {"mtu": "1500", "encapsulation": "none"},
            {"mtu": "1450", "encapsulation": "db-1: none, db-2: vxlan"},
            {"mtu": "1500", "encapsulation": "none"},
            {"mtu": "1450", "encapsulation": "none"},
        ),
    ]
    (changed,) = networks_changed(plan(), found, HOSTS)
    assert (changed.deployment, changed.facts) == ("docker", ("encapsulation", "mtu"))
    first, second, _, last = (each.stay for each in found[2:])
    (told,) = networks_that_changed([changed])
    assert told == (
        f"docker: `encapsulation` and `mtu` of its network differed from its first stay, "
        f"`{first}`, in 2 stays of 4: `{second}`, `{last}`. Its numbers are of all these networks "
        "together"
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"translations": "5", "proxies": "3"}, {"translations": "6", "proxies": "4"}),
        ({"bridge": "br-0123456789ab"}, {"bridge": "br-ba9876543210"}),
        ({"gateway": "10.64.0.1"}, {"gateway": "10.65.0.1"}),
        ({"proxy": "iptables"}, {"proxy": DENIED, "unread": "proxy: nft fails"}),
        ({}, TRACKED),
    ],
)
def test_chance_and_what_is_not_known_are_no_change_of_a_network(
    one: dict[str, str], other: dict[str, str]
) -> None:
    assert networks_changed(plan(), stays_of("docker", one, other), HOSTS) == ()


def networked(facts: dict[str, str]) -> StayRecord:
    """A stay whose network has these facts, and a driver."""
    network = {"driver": "veth", "mtu": "1500", **facts}
    return stays(plan())[0].model_copy(update={"network": network})


def compared(one: dict[str, str], other: dict[str, str]) -> Networks:
    return between(networked(one), networked(other), HOSTS)


@pytest.mark.parametrize(
    "by",
    [
        {"db-1": "tracked", "db-2": DENIED},
        {"db-11": "a, b: c", "db-1": "d"},
        {"db-2": "None", "db-1": ""},
    ],
)
def test_what_hosts_say_is_taken_apart_again(by: dict[str, str]) -> None:
    merged = agreed({host: {"fact": value} for host, value in by.items()})["fact"]
    assert by_host(str(merged), HOSTS) == by


@pytest.mark.parametrize("fact", ["tracked", DENIED, "on db-1: no", "db-3: strange, db-1: x"])
def test_what_all_hosts_say_is_taken_for_each(fact: str) -> None:
    assert by_host(fact, HOSTS) == {"": fact}
    assert by_host(fact, ()) == {"": fact}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (TRACKED, {}),
        (TRACKED, {"conntrack": NO_NFT}),
        (TRACKED, {"conntrack": "not known: nobody sees it"}),
        (TRACKED, {"conntrack": f"db-1: {NO_NFT}, db-2: tracked"}),
        ({"conntrack": DENIED}, {"conntrack": DENIED}),
        ({"conntrack": NO_NFT}, {"conntrack": DENIED}),
        ({"conntrack": f"{NO_NFT} and nft fails: denied"}, {"conntrack": NO_NFT}),
        (
            {"conntrack": f"db-1: {NO_NFT}, db-2: tracked"},
            {"conntrack": f"db-1: x, db-2: {NO_NFT}"},
        ),
        ({"conntrack": DENIED}, {"driver": "bridge"}),
    ],
)
def test_what_a_result_lacks_or_does_not_know_is_told_and_is_no_difference(
    one: dict[str, str], other: dict[str, str]
) -> None:
    for pair in ((one, other), (other, one)):
        found = compared(*pair)
        assert found.unread == {"conntrack"}
        assert not found.differing - {"driver"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"conntrack": NO_NFT}, {"conntrack": NO_NFT}),
        ({"conntrack": NO_NFT}, {}),
        ({"conntrack": f"{NO_NFT} and this host has no tc"}, {"conntrack": NO_NFT}),
        (
            {"conntrack": f"db-1: {NO_NFT}, db-2: tracked"},
            {"conntrack": f"db-1: {NO_NFT}, db-2: tracked"},
        ),
    ],
)
def test_of_what_neither_can_ever_know_nothing_is_said(
    one: dict[str, str], other: dict[str, str]
) -> None:
    for pair in ((one, other), (other, one)):
        found = compared(*pair)
        assert not found.unread | found.differing


@pytest.mark.parametrize(
    ("other", "differing"),
    [
        ({"conntrack": "not tracked"}, {"conntrack"}),
        ({**TRACKED, "option.mtu": "1400"}, {"option.mtu"}),
        ({**TRACKED, "driver": "bridge", "bridge": "cni0"}, {"driver", "bridge"}),
        ({"conntrack": f"db-1: {NO_NFT}, db-2: not tracked"}, {"conntrack"}),
        ({"conntrack": "db-1: tracked, db-2: not tracked"}, {"conntrack"}),
    ],
)
def test_what_differs_on_a_host_is_a_difference_whatever_is_unknown_of_others(
    other: dict[str, str], differing: set[str]
) -> None:
    for pair in ((TRACKED, other), (other, TRACKED)):
        found = compared(*pair)
        assert found.differing == differing
        assert not found.unread


def test_a_member_on_another_host_is_a_difference() -> None:
    one = {"conntrack": "db-1: tracked, db-2: not tracked"}
    other = {"conntrack": "db-1: tracked, db-11: not tracked"}
    assert compared(one, other).differing == {"conntrack"}


def circumstances(configuration: dict[str, Any]) -> Circumstances:
    """A result with pods on a network of this configuration."""
    options = {"configuration": configuration}
    pods = DeploymentSpec(platform="kubernetes", network="cni", network_options=options)
    study = STUDY.model_copy(update={"deployments": {**STUDY.deployments, "pods": pods}})
    return Circumstances(study, plan(), {}, stays(plan()))


def test_a_configuration_that_differs_is_named_and_no_text_of_it_is_repeated() -> None:
    one, other = (
        circumstances({"name": "mine", "plugins": [{"type": "ptp", "token": token}]})
        for token in ("GEHEIM", "GEHEIM2")
    )
    assert mismatches(one, one) == ()
    (found,) = mismatches(one, other)
    told = mismatch(found)
    assert "GEHEIM" not in told
    assert told.count("mine (") == 2
    assert "network_options.configuration" in told


def test_a_known_difference_of_one_host_is_no_doubt() -> None:
    one, other = (
        Circumstances(STUDY, plan(), {}, [networked({"conntrack": fact})])
        for fact in ("db-1: tracked, db-2: not tracked", f"db-1: {NO_NFT}, db-2: tracked")
    )
    (found,) = mismatches(one, other)
    assert found.key == "conntrack"
