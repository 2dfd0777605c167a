"""What hosts are told to join their switch."""

from __future__ import annotations

import pytest

from dunnage.hosts.namespace.network import (
    InForce,
    Plug,
    hosts_file,
    in_force,
    join_script,
    switch_batch,
)


def test_every_host_knows_every_name() -> None:
    text = hosts_file({"db-1": Plug(1), "client-1": Plug(2)})
    assert "127.0.0.1 localhost\n" in text
    assert "10.77.0.1 db-1\n" in text
    assert text.endswith("10.77.0.2 client-1\n")


def test_hosts_have_addresses_of_their_own_up_to_the_most_that_a_study_may_ask_for() -> None:
    plugs = [Plug(number) for number in range(1, 129)]
    for trait in ("address", "hardware", "port"):
        assert len({getattr(plug, trait) for plug in plugs}) == len(plugs)
    assert all(len(plug.port) <= 15 for plug in plugs)


def test_a_restored_host_has_its_address_on_another_port() -> None:
    before, after = Plug(3), Plug(3, generation=1)
    assert (before.address, before.hardware) == (after.address, after.hardware)
    assert before.port != after.port


def test_the_switch_makes_its_bridge_once() -> None:
    first = switch_batch({100: Plug(1), 101: Plug(2)}, bridge=True)
    later = switch_batch({102: Plug(1, 1)}, bridge=False)
    assert first.count("type bridge") == 1
    assert "type bridge" not in later
    assert "peer name eth0 address 02:00:0a:4d:00:02 netns 101" in first
    assert "link set p1-1 master lab0 up" in later


def test_packets_are_steered_only_when_asked_for() -> None:
    assert 'echo 2 > "$queue/rps_cpus"' in join_script(Plug(1), [1])
    assert "echo 2" not in join_script(Plug(1), None)


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ('{"mtu": 1500, "rps": "2"}\n', InForce(1500, "2")),
        ('noise\n{"mtu": 9000, "rps": "1 1"}\n', InForce(9000, "1 1")),
    ],
)
def test_what_is_in_force_is_read_back(output: str, expected: InForce) -> None:
    assert in_force(output) == expected
